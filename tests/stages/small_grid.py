"""A results folder with prepared problems and made-up predictions, without any model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lcbgrid.config.effective import Effective, resolve
from lcbgrid.config.grid import Cell
from lcbgrid.core.files import write_jsonl
from lcbgrid.problems.prepare import prepare
from lcbgrid.stages.paths import Layout

Tests = list[tuple[str, str]]


def row(question_id: str, public: Tests, hidden: Tests) -> dict[str, Any]:
    """Return a row of the hub's schema; a test is input and output."""

    def tests(pairs: Tests) -> str:
        return json.dumps([{"input": i, "output": o, "testtype": "stdin"} for i, o in pairs])

    return {
        "question_title": question_id,
        "question_content": "A statement.",
        "platform": "atcoder",
        "question_id": question_id,
        "contest_id": "c1",
        "contest_date": "2024-08-01T00:00:00",
        "starter_code": "",
        "difficulty": "easy",
        "public_test_cases": tests(public),
        "private_test_cases": tests(hidden),
        "metadata": "{}",
    }


class SmallGrid:
    """Cells of two seeds, as the run stage leaves them."""

    def __init__(self, folder: Path, repository: Path, judge: Mapping[str, Any]) -> None:
        self.folder = folder
        self.repository = repository
        self.layout = Layout(folder / "results")
        rows = folder / "rows.jsonl"
        problems = [
            row("abc343_a", [("2 5\n", "2\n")], [("0 0\n", "9\n")]),  # it has a checker
            row("abc337_e", [("1\n", "1\n")], [("2\n", "2\n")]),  # interactive
            row("plain", [("1\n", "2\n")], [("3\n", "6\n")]),
        ]
        write_jsonl(rows, problems)
        self.effective = self.with_judge(judge)
        prepare(self.effective.config.dataset, self.layout.problems("mine"))

    def with_judge(self, judge: Mapping[str, Any]) -> Effective:
        """Return the configuration with another way to judge."""
        config = {
            "dataset": {
                "name": "mine",
                "source": "local",
                "files": [str(self.folder / "rows.jsonl")],
            },
            "grid": {"topologies": ["direct"], "models": ["sim"], "seeds": [0, 1]},
            "judge": {"time_s": 5.0, **judge},
        }
        return resolve(
            config,
            folders=(self.folder, self.repository / "config"),
            where="test",
            environment={},
        )

    @property
    def cells(self) -> list[Cell]:
        """The cells, one a seed."""
        return self.effective.cells

    def answer(self, cell: Cell, programs: Mapping[str, str]) -> Path:
        """Write predictions of a cell; returns its folder."""
        folder = self.layout.run(cell)
        predictions = [
            {
                "question_id": question_id,
                "sample_index": 0,
                "status": "ok",
                "predicted_code": code,
                "difficulty": "easy",
                "platform": "atcoder",
                "mode": "stdin",
            }
            for question_id, code in programs.items()
        ]
        write_jsonl(folder / "predictions.jsonl", predictions)
        manifest = {"n_problems": len(programs)}
        (folder / "cell.json").write_text(
            json.dumps({**cell.axes(), "run": {"n_samples": 1}, "dataset_manifest": manifest})
        )
        return folder
