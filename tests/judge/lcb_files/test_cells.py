"""Cells of a grid as result files."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from lcbgrid.cli.main import main
from lcbgrid.config.problem_spec import DatasetSpec
from lcbgrid.core.errors import DataError
from lcbgrid.core.files import write_json, write_jsonl
from lcbgrid.judge.lcb_files.cells import export_cell
from lcbgrid.judge.lcb_files.read import read_results
from lcbgrid.problems.prepare import prepare
from lcbgrid.problems.store import PreparedProblems

from .files import RIGHT, WRONG, row, write_rows
from .official import compute_scores, repair_feedback

PATH = "lcb/code_generation/direct/r1-freeform/identity/sim/seed0"


@pytest.fixture
def store(tmp_path: Path) -> PreparedProblems:
    rows = write_rows(tmp_path, row("a"), row("b", difficulty="hard"), row("c"))
    spec = DatasetSpec(name="lcb", source="local", files=(str(rows),))
    prepare(spec, tmp_path / "prepared")
    return PreparedProblems(tmp_path / "prepared")


def _verdict(status: str, failing: int | None) -> dict[str, Any]:
    tests = [{"index": i, "status": "passed", "detail": None, "got": None} for i in range(2)]
    if failing is not None:
        tests = tests[: failing + 1]
        tests[failing] |= {"status": status, "detail": "line 1 differs", "got": "0\n"}
    elif status != "passed":
        tests = []
    return {
        "schema_version": 1,
        "status": status,
        "n_passed": 2 if failing is None else failing,
        "n_total": 2,
        "first_failing": failing,
        "message": None if failing is None else f"test {failing}: line 1 differs",
        "tests": tests,
        "rules": "real",
        "unanswered": False,
    }


def _cell(folder: Path, samples: list[tuple[str, int, str | None, dict[str, Any]]]) -> Path:
    cell = folder / "cell"
    cell.mkdir()
    run = {"n_samples": 2, "sampling": {"temperature": 0.2}}
    write_json(cell / "cell.json", {"path": PATH, "model": "sim", "run": run})
    keys = [{"question_id": q, "sample_index": i} for q, i, _, _ in samples]
    programs = [{"predicted_code": code} for _, _, code, _ in samples]
    write_jsonl(cell / "predictions.jsonl", [k | p for k, p in zip(keys, programs, strict=True)])
    write_jsonl(cell / "verdicts.jsonl", [v | k for (*_, v), k in zip(samples, keys, strict=True)])
    times = {"tests": [{"index": 0, "wall_s": 0.25}, {"index": 1, "wall_s": 0.5}]}
    write_jsonl(cell / "judge_timing.jsonl", [times | k for k in keys])
    return cell


PASSED, PUBLIC, HIDDEN = (
    _verdict("passed", None),
    _verdict("wrong_answer", 0),
    _verdict("wrong_answer", 1),
)


def test_a_cell_becomes_three_files(tmp_path: Path, store: PreparedProblems) -> None:
    cell = _cell(
        tmp_path,
        [
            ("b", 0, RIGHT, PASSED),
            ("b", 1, WRONG, PUBLIC),
            ("a", 0, WRONG, HIDDEN),
            ("a", 1, None, _verdict("no_code", None)),
        ],
    )
    done = export_cell(cell, store, tmp_path / "out")
    assert (done.n_problems, done.n_samples, done.left_out) == (2, 4, {})
    name = PATH.replace("/", "__")
    assert done.names.eval_all == tmp_path.joinpath(
        "out", name, "Scenario.codegeneration_2_0.2_eval_all.json"
    )
    assert compute_scores(done.names.eval_all, ks=(1, 2)) == {
        "all": {1: 0.25, 2: 0.5},
        "easy": {1: 0.0, 2: 0.0},
        "hard": {1: 0.5, 2: 1.0},
    }
    first, second = read_results(done.names.eval_all).questions
    assert first.facts["question_title"] == "Sum a"
    hidden, no_code = (json.loads(s.metadata or "") for s in first.samples)
    assert (hidden["inputs"], hidden["expected"], hidden["output"]) == ("", "", "0\n")
    assert no_code["error_code"] == -4
    assert [s.code for s in first.samples] == [WRONG, ""]
    passed, public = (json.loads(s.metadata or "") for s in second.samples)
    assert passed == {"execution time": 0.75}
    assert (public["inputs"], public["expected"]) == ("1 2\n", "3\n")
    assert all(repair_feedback(s.metadata or "") for s in first.samples)
    verdict = second.samples[0].verdict
    assert verdict is not None
    assert verdict["question_id"] == "b"
    assert "unanswered" not in verdict
    results = json.loads(done.names.evaluation.read_text())[1]
    assert results == {"0": [[True, -2], [-4]], "1": [[True, True], [-2]]}


def test_hidden_tests_are_shown_only_if_asked_for(tmp_path: Path, store: PreparedProblems) -> None:
    cell = _cell(tmp_path, [("a", 0, WRONG, HIDDEN)])
    done = export_cell(cell, store, tmp_path / "open", model="m", with_hidden_tests=True)
    assert done.names.eval_all.parent == tmp_path / "open" / "m"
    note = json.loads(read_results(done.names.eval_all).questions[0].samples[0].metadata or "")
    assert (note["inputs"], note["expected"]) == ("10 20\n", "30\n")
    done = export_cell(cell, store, tmp_path / "closed", model="m")
    assert "30" not in done.names.eval_all.read_text()


def test_lost_answers_are_left_out_and_listed(tmp_path: Path, store: PreparedProblems) -> None:
    lost = _verdict("infra_error", None)
    cell = _cell(tmp_path, [("a", 0, None, lost), ("b", 0, RIGHT, PASSED)])
    done = export_cell(cell, store, tmp_path / "out")
    assert (done.n_problems, done.left_out) == (1, {"a": "infra_error"})


def test_an_unfinished_cell_is_refused(tmp_path: Path, store: PreparedProblems) -> None:
    cell = _cell(tmp_path, [("a", 0, RIGHT, PASSED), ("b", 0, RIGHT, PASSED)])
    verdicts = (cell / "verdicts.jsonl").read_text().splitlines(keepends=True)
    (cell / "verdicts.jsonl").write_text(verdicts[0])
    with pytest.raises(DataError, match="predictions and verdicts differ"):
        export_cell(cell, store, tmp_path / "out")
    (cell / "verdicts.jsonl").write_text(verdicts[0] * 2)
    with pytest.raises(DataError, match="stands twice"):
        export_cell(cell, store, tmp_path / "out")


def test_uneven_cells_are_refused(tmp_path: Path, store: PreparedProblems) -> None:
    samples = [("a", 0, RIGHT, PASSED), ("b", 0, RIGHT, PASSED), ("b", 1, RIGHT, PASSED)]
    with pytest.raises(DataError, match="different numbers of samples"):
        export_cell(_cell(tmp_path, samples), store, tmp_path / "out")


def test_the_command(tmp_path: Path, repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(repository / "config", tmp_path / "config")
    rows = write_rows(tmp_path, row("a"), row("b"))
    dataset = {"name": "lcb", "source": "local", "files": [str(rows)]}
    grid = {"topologies": ["direct"], "models": ["sim"]}
    write_json(tmp_path / "config/config.yaml", {"grid": grid, "dataset": dataset})
    sim = {"sim": {"provider": "simulated", "model_id": "sim"}}
    write_json(tmp_path / "config/models.yaml", {"models": sim})
    results = tmp_path / "results"
    prepare(DatasetSpec.model_validate(dataset), results / "problems" / "lcb")
    folder = results / "runs" / PATH
    folder.parent.mkdir(parents=True)
    lost = _verdict("infra_error", None)
    _cell(tmp_path, [("a", 0, RIGHT, PASSED), ("b", 0, None, lost)]).rename(folder)
    options = ["--config", str(tmp_path / "config/config.yaml"), "--results", str(results)]
    status = main(["export", "lcb", "--cell", PATH, "--out", str(tmp_path / "out"), *options])
    assert status == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0].endswith("_eval_all.json: 1 problems, 1 samples")
    assert said[1] == "left out: b (infra_error: the official form has no word for it)"
