"""The last stages of a grid that has optimizers: frames, figures, the list, the last lines."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from lcbgrid.config.effective import Effective, resolve
from lcbgrid.core.errors import DataError
from lcbgrid.stages.paths import Layout
from lcbgrid.stages.report import finish_all, redraw_all

from .conftest import build_cell
from .job_files import write_job

MARKS = {"identity": "+---", "gepa": "+++-", "mipro": "+---"}


@pytest.fixture
def effective(tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch) -> Effective:
    """A grid of three optimizers; mipro has been searched and has not been run."""
    monkeypatch.chdir(tmp_path)
    found = resolve(
        {
            "dataset": {"name": "embedded", "source": "embedded", "split": "test"},
            "grid": {"topologies": ["single"], "models": ["simulated"], "optimizers": [*MARKS]},
            "optimize": {"budget": 30, "without": ["held_out_gate"]},
        },
        folders=(repository / "config",),
        where="test",
        environment={},
    )
    layout = Layout(Path("results"))
    for cell in found.cells:
        if cell.optimizes:
            write_job(layout.optimized(cell), "", "", method=cell.optimizer, phase="selected")
        if cell.optimizer != "mipro":
            marks = list(MARKS[cell.optimizer])
            build_cell(tmp_path, marks, changes={"simulated": True}, **cell.axes())
            layout.run(cell).parent.mkdir(parents=True)
            (tmp_path / "runs/cell").rename(layout.run(cell))
    return found


def _supply(effective: Effective, layout: Layout) -> None:
    """Write what earlier stages would have written and the list names."""
    problems = layout.problems("embedded")
    names = [layout.effective_config]
    names += [problems / n for n in ("manifest.json", "problems.jsonl", "splits.json")]
    for cell in effective.cells:
        run, search = layout.run(cell), layout.optimized(cell)
        names += [run / n for n in ("transcript.jsonl", "timing.jsonl", "judge_timing.jsonl")]
        if cell.optimizes:
            names += [search / n for n in ("bundle.json", "transcript.jsonl", "timing.jsonl")]
            names += [search / "times.jsonl"]
    for path in names:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def test_a_grid_ends_with_its_gains(effective: Effective) -> None:
    layout = Layout(Path("results"))
    redraw_all(effective, layout, Path("figures"))
    [gepa, mipro] = _rows(Path("results/tables/optimizers.md"))
    assert gepa[0] == "gepa"
    assert any(cell.startswith("+50.0 [") for cell in gepa)
    assert mipro[0] == "mipro"
    rows = Path("results/aggregate/gains.csv").read_text().splitlines()
    assert "30,improved,no held_out_gate,simulated,4" in rows[1]
    assert "not run" in rows[2]
    assert "mipro: not run" in Path("figures/optimizer_gains.md").read_text()
    assert "gepa" in Path("figures/optimizer_curves.csv").read_text()
    _supply(effective, layout)
    with pytest.raises(DataError, match=r"mipro.*a product is missing"):
        finish_all(effective, layout, Path("figures"))


def test_the_list_names_searches_and_the_last_lines_gains(effective: Effective) -> None:
    layout = Layout(Path("results"))
    grid = effective.config.grid.model_copy(update={"optimizers": ("identity", "gepa")})
    config = effective.config.model_copy(update={"grid": grid})
    smaller = effective.model_copy(update={"config": config})
    [gepa] = [cell for cell in smaller.cells if cell.optimizes]
    redraw_all(smaller, layout, Path("figures"))
    _supply(smaller, layout)
    told = finish_all(smaller, layout, Path("figures"))
    [line] = [line for line in told.splitlines() if line.startswith("gepa on")]
    assert re.fullmatch(
        r"gepa on single: \+50\.0 pp \[0\.0, \+100\.0\] over 4 problems \(1 seed\), p = 0\.500 "
        r"\(simulated\)",
        line,
    )
    listed = json.loads(Path("results/all").read_text())
    paths = [product["path"] for product in listed["products"]]
    search = layout.optimized(gepa)
    assert [path for path in paths if path.startswith(str(search))] == [
        f"{search}/{name}"
        for name in ("bundle.json", "job.json", "optimization.json", "selection.json")
    ]
    assert f"{search}/transcript.jsonl" in listed["measured"]
    assert "figures/optimizer_forest.svg" in paths
    assert "results/aggregate/curves.parquet" in paths


def _rows(path: Path) -> list[list[str]]:
    lines = [line for line in path.read_text().splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[2:]]
