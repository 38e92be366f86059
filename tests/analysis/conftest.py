"""Small cell folders with hand-made answers, as the run and judge stages write them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from lcbgrid.analysis.frames import Frames, aggregate
from lcbgrid.analysis.score import write_score
from lcbgrid.core.files import write_json, write_jsonl

AXES: dict[str, Any] = {
    "dataset": "embedded",
    "scenario": "code_generation",
    "topology": "direct",
    "team_size": 1,
    "communication": "freeform",
    "optimizer": "identity",
    "model": "model-a",
    "seed": 0,
}
JUDGE = {"rules": "real", "sandbox": "bwrap", "stop_at_first_failure": False}
DIFFICULTIES = ("easy", "medium", "hard")

MakeCell = Callable[..., Path]
MakeGrid = Callable[..., Frames]


def answer(index: int, sample: int, mark: str) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Return prediction and verdict of one mark.

    ``+`` passed, ``-`` wrong, ``n`` no code, ``t`` truncated and wrong, ``i`` infrastructure
    error without a verdict, ``I`` the same with one, ``d`` data error, ``r`` passed with the same
    program as every other ``r``.
    """
    question_id = f"q{index:03d}"
    status = {"n": "no_code", "t": "truncated", "i": "infra_error", "I": "infra_error"}
    verdict = {"+": "passed", "r": "passed", "n": "no_code", "d": "data_error"}
    has_code = mark in "+-trd"
    program = "print(0)" if mark == "r" else f"print({sample})"
    prediction = {
        "schema_version": 1,
        "question_id": question_id,
        "sample_index": sample,
        "difficulty": DIFFICULTIES[index % 3],
        "platform": "leetcode" if index % 2 else "atcoder",
        "mode": "functional" if index % 2 else "stdin",
        "predicted_code": program if has_code else None,
        "extraction": "last_fence",
        "status": status.get(mark, "ok"),
        "finish_reason": "length" if mark == "t" else "stop",
        "usage": {
            "prompt_tokens": 100,
            "completion_tokens": 20,
            "total_tokens": 120,
            "n_llm_calls": 1,
            "n_tool_calls": 0,
        },
        "error": None,
    }
    if mark == "i":
        return prediction, None
    passed = verdict.get(mark) == "passed"
    return prediction, {
        "schema_version": 1,
        "question_id": question_id,
        "sample_index": sample,
        "status": "infra_error" if mark == "I" else verdict.get(mark, "wrong_answer"),
        "n_passed": 4 if passed else 1 if has_code else 0,
        "n_total": 4,
        "first_failing": None if passed else 1,
        "rules": "real",
        "tier": "bwrap",
    }


def cell_json(axes: Mapping[str, Any], n_problems: int, n_samples: int) -> dict[str, Any]:
    """Return what the run stage writes about a cell."""
    return {
        **axes,
        "simulated": False,
        "config_sha256": "0" * 64,
        "versions": {"lcbgrid": "0.1.0"},
        "run": {"n_samples": n_samples, "sampling": {"max_tokens": 512}},
        "dataset_manifest": {
            "release": "embedded-1",
            "split": "test",
            "start_date": "2025-01-01",
            "end_date": "2026-01-01",
            "n_problems": n_problems,
            "first_id": "q000",
            "last_id": f"q{n_problems - 1:03d}",
        },
    }


def build_cell(
    root: Path,
    problems: Sequence[str],
    *,
    name: str = "cell",
    changes: Mapping[str, Any] | None = None,
    reverse: bool = False,
    n_problems: int | None = None,
    n_samples: int | None = None,
    **axes: Any,
) -> Path:
    """Write a cell folder: one text of marks a problem, one mark a sample (see ``answer``)."""
    folder = root / "runs" / name
    pairs = [
        answer(index, sample, mark)
        for index, marks in enumerate(problems)
        for sample, mark in enumerate(marks)
    ]
    if reverse:
        pairs.reverse()
    write_jsonl(folder / "predictions.jsonl", [prediction for prediction, _ in pairs])
    write_jsonl(folder / "verdicts.jsonl", [verdict for _, verdict in pairs if verdict])
    record = cell_json(
        {**AXES, **axes},
        n_problems or len(problems),
        n_samples or max(len(marks) for marks in problems),
    )
    write_json(folder / "cell.json", {**record, **(changes or {})})
    write_json(folder / "judge.json", JUDGE)
    return folder


def build_grid(
    root: Path,
    cells: Sequence[tuple[Mapping[str, Any], Sequence[str] | None]],
    *,
    backwards: bool = False,
    changes: Mapping[str, Any] | None = None,
    **options: Any,
) -> Frames:
    """Write and aggregate cells: a list of (axes, marks or ``None`` for a cell never run)."""
    scores, expected = [], []
    for number, (axes, marks) in enumerate(cells):
        expected.append({**AXES, **axes})
        target = root / "scores" / f"{number}.json"
        scores.append(target)
        if marks is not None:
            folder = build_cell(root, marks, name=str(number), changes=changes, **axes)
            write_score(folder, target)
    step = -1 if backwards else 1
    return aggregate(scores[::step], expected[::step], **options)


@pytest.fixture
def make_cell(tmp_path: Path) -> MakeCell:
    """Return ``build_cell`` below the test's own folder."""
    return partial(build_cell, tmp_path)


@pytest.fixture
def make_grid(tmp_path: Path) -> MakeGrid:
    """Return ``build_grid`` below the test's own folder."""
    return partial(build_grid, tmp_path)


@pytest.fixture(scope="session")
def make_grid_in() -> MakeGrid:
    """Return ``build_grid`` for fixtures that several tests share."""
    return build_grid
