"""The judge stage: checkers decide, verdicts are kept, and say nothing of hidden tests."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lcbgrid.analysis.score import score_cell
from lcbgrid.config.base import validate
from lcbgrid.config.effective import Effective
from lcbgrid.config.grid import Cell
from lcbgrid.config.judge_spec import JudgeSpec
from lcbgrid.core.errors import ConfigError, DataError, UserError
from lcbgrid.core.files import write_jsonl
from lcbgrid.core.jsonl import read_jsonl
from lcbgrid.judge.cell_diff import diff_cell
from lcbgrid.judge.checked import Checked, judge_checked
from lcbgrid.judge.errata import Errata, load_errata
from lcbgrid.problems.store import PreparedProblems
from lcbgrid.stages import judge as stage
from lcbgrid.stages import workflow
from lcbgrid.stages.judge import _read_predictions, judge_cell, without_hidden

sys.path.insert(0, str(Path(__file__).parent))
from small_grid import SmallGrid


def record(index: int, detail: str | None, got: str | None) -> dict[str, object]:
    return {"index": index, "status": "runtime_error", "detail": detail, "got": got}


def test_of_hidden_tests_only_the_kind_of_failure_stays() -> None:
    verdict = {
        "first_failing": 1,
        "message": "test 1: ValueError: 5 4 9",
        "tests": [
            record(0, "ValueError: 1 2 (line 3)", "public"),
            record(1, "ValueError: 5 4 9", "LEAK"),
            record(2, "7 lines instead of 3", "LEAK"),
            record(3, "line 3 differs", "LEAK"),
            record(4, None, None),
        ],
    }
    shown = without_hidden(verdict, n_public=1)
    assert [test["detail"] for test in shown["tests"]] == [
        "ValueError: 1 2 (line 3)",
        "ValueError",
        "another number of lines",
        "line 3 differs",
        None,
    ]
    assert [test["got"] for test in shown["tests"]] == ["public", None, None, None, None]
    assert shown["message"] == "test 1: ValueError"


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([{"x": 1}], "no prediction"),
        (
            [{"question_id": "a", "sample_index": 0, "status": "ok", "predicted_code": ""}] * 2,
            "twice",
        ),
        ([], "1 answers are wanted"),
    ],
)
def test_damaged_predictions_are_refused(
    tmp_path: Path, lines: list[dict[str, object]], words: str
) -> None:
    path = tmp_path / "predictions.jsonl"
    write_jsonl(path, lines)
    with pytest.raises(DataError, match=words):
        _read_predictions(path, 1)


OTHER_DIGIT = "a, b = map(int, input().split()); print((a + b + 1) % 10)"
PROGRAMS = {
    "abc343_a": OTHER_DIGIT,  # right by the statement, not the stored answers
    "abc337_e": "print('?', 1)",
    "plain": "print(2 * int(input()))",
}


def judged(grid: SmallGrid, cell: Cell, effective: Effective | None = None) -> dict[str, Any]:
    """Judge a cell; returns its verdicts by question."""
    judge_cell(effective or grid.effective, cell, grid.layout, workers=2)
    lines = read_jsonl(grid.layout.run(cell) / "verdicts.jsonl")
    return {record["question_id"]: record for record in lines}


def test_checkers_decide_in_the_grid_and_the_score_says_both(
    small_grid: Callable[..., SmallGrid],
) -> None:
    grid = small_grid()
    cell = grid.cells[0]
    folder = grid.answer(cell, PROGRAMS)
    found = judged(grid, cell)
    assert found["abc343_a"]["status"] == "passed"
    assert found["abc343_a"]["checker"] == "digit_other_than_sum"
    assert found["abc343_a"]["passed_by_comparison"] is False
    assert found["abc343_a"]["errata"] == "several_answers"
    assert found["abc337_e"]["undecided"] == found["abc337_e"]["errata"] == "interactive"
    plain = {"checker": None, "errata": None, "undecided": None, "passed_by_comparison": True}
    assert plain.items() <= found["plain"].items()
    assert "checker" not in found["plain"]["limits"]
    score = score_cell(folder)
    assert score["pass_at_k"]["1"]["value"] == pytest.approx(2 / 3)
    both = score["with_and_without"]
    values = {
        (checkers, problems): value["value"]
        for checkers in ("with_checkers", "without_checkers")
        for problems, value in both[checkers].items()
    }
    assert values == {
        ("with_checkers", "every_problem"): pytest.approx(2 / 3),
        ("with_checkers", "decided_problems"): 1.0,
        ("with_checkers", "no_errata"): 1.0,
        ("without_checkers", "every_problem"): pytest.approx(1 / 3),
        ("without_checkers", "no_errata"): 1.0,
    }
    assert both["checkers"] == {"abc343_a": "digit_other_than_sum"}
    assert both["errata"] == {"abc337_e": "interactive", "abc343_a": "several_answers"}


def test_without_checkers_the_comparison_decides(small_grid: Callable[..., SmallGrid]) -> None:
    grid = small_grid(checkers=False)
    cell = grid.cells[0]
    folder = grid.answer(cell, PROGRAMS)
    found = judged(grid, cell)
    assert found["abc343_a"]["status"] == "wrong_answer"
    assert found["abc343_a"]["checker"] is None
    assert found["abc343_a"]["undecided"] == "needs_checker"
    both = score_cell(folder)["with_and_without"]
    assert both["with_checkers"]["every_problem"]["value"] is None
    assert "without checkers" in both["with_checkers"]["every_problem"]["reason"]
    assert both["without_checkers"]["every_problem"]["value"] == pytest.approx(1 / 3)


def test_other_checkers_mean_judging_again(
    small_grid: Callable[..., SmallGrid], monkeypatch: pytest.MonkeyPatch
) -> None:
    grid = small_grid()
    cell = grid.cells[0]
    grid.answer(cell, PROGRAMS)
    assert judged(grid, cell)["abc343_a"]["status"] == "passed"
    known = load_errata()
    fewer = {key: entry for key, entry in known.checkers.items() if key != "abc343_a"}
    monkeypatch.setattr(stage, "load_errata", lambda *, with_checkers: Errata(known.kinds, fewer))
    assert judged(grid, cell)["abc343_a"]["status"] == "wrong_answer"


def test_snakemake_judges_again_when_checkers_or_the_judge_change(
    small_grid: Callable[..., SmallGrid], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    small_grid()
    config = {
        "grid": {"topologies": ["direct"], "models": ["sim"]},
        "models_file": str(tmp_path / "models.yaml"),
    }
    source = Path(__file__).resolve().parents[2]
    seen = {workflow.Workflow(config, source).judge_digest}
    no_checkers = config | {"judge": {"checkers": False}}
    seen.add(workflow.Workflow(no_checkers, source).judge_digest)
    monkeypatch.setattr(workflow, "load_errata", lambda *, with_checkers: Errata({"a": "x"}))
    seen.add(workflow.Workflow(config, source).judge_digest)
    monkeypatch.setattr(workflow, "JUDGE_VERSION", "next")
    seen.add(workflow.Workflow(config, source).judge_digest)
    assert len(seen) == 4


def test_a_checkers_reason_says_nothing_of_hidden_tests() -> None:
    verdict = {
        "first_failing": 0,
        "message": "test 0: any_order: 3 elements instead of 5",
        "tests": [record(0, "any_order: 3 elements instead of 5", "[1, 2, 3]")],
    }
    shown = without_hidden(verdict, n_public=0)
    assert shown["message"] == "test 0: any_order"
    assert shown["tests"][0] == record(0, "any_order", None)


def test_a_program_is_judged_once_for_all_cells(
    small_grid: Callable[..., SmallGrid], monkeypatch: pytest.MonkeyPatch
) -> None:
    grid = small_grid()
    first, second = grid.cells
    mine = PROGRAMS | {"plain": "print(3 * int(input()))"}
    grid.answer(first, PROGRAMS)
    grid.answer(second, mine)
    judged(grid, second)
    alone = (grid.layout.run(second) / "verdicts.jsonl").read_bytes()
    shutil.rmtree(grid.layout.all_work)
    judged(grid, first)
    asked: list[str] = []

    def counting(*arguments: Any, **options: Any) -> Checked:
        asked.append(arguments[2].question_id)
        return judge_checked(*arguments, **options)

    monkeypatch.setattr(stage, "judge_checked", counting)
    judged(grid, second)
    assert asked == ["plain"]
    assert (grid.layout.run(second) / "verdicts.jsonl").read_bytes() == alone
    timing = list(read_jsonl(grid.layout.run(second) / "judge_timing.jsonl"))
    assert [record.get("cached", False) for record in timing] == [True, True, False]
    judged(grid, first, grid.with_judge({"time_s": 4.0}))
    assert sorted(asked) == ["abc337_e", "abc343_a", "plain", "plain"]


def test_jobs_at_the_same_time_share_the_work(small_grid: Callable[..., SmallGrid]) -> None:
    grid = small_grid()
    for cell in grid.cells:
        grid.answer(cell, PROGRAMS)
    config = grid.folder / "effective.json"
    config.write_text(grid.effective.dump())
    program = Path(sys.executable).parent / "lcbgrid"
    command = [str(program), "judge", "run", "--config", str(config)]
    jobs = [
        subprocess.Popen([*command, "--results", str(grid.layout.results), "--cell", cell.path])
        for cell in grid.cells
    ]
    assert [job.wait(120) for job in jobs] == [0, 0]
    verdicts = {(grid.layout.run(c) / "verdicts.jsonl").read_bytes() for c in grid.cells}
    assert len(verdicts) == 1
    timing = [
        record
        for cell in grid.cells
        for record in read_jsonl(grid.layout.run(cell) / "judge_timing.jsonl")
    ]
    assert sum(record.get("cached", False) for record in timing) == len(PROGRAMS)


def test_both_rule_sets_stand_in_a_verdict_and_their_difference_is_explained(
    small_grid: Callable[..., SmallGrid], monkeypatch: pytest.MonkeyPatch
) -> None:
    grid = small_grid()
    cell = grid.cells[0]
    exits = "import sys\nprint(int(input()))\nsys.exit(3)"
    folder = grid.answer(cell, PROGRAMS | {"abc337_e": exits})
    store = PreparedProblems(grid.layout.problems("mine"))
    real = judged(grid, cell)
    with pytest.raises(UserError, match="one rule set only"):
        diff_cell(folder, store)
    asked: list[str] = []

    def counting(judge: Any, *arguments: Any, **options: Any) -> Checked:
        asked.append(judge.spec.rules)
        return judge_checked(judge, *arguments, **options)

    monkeypatch.setattr(stage, "judge_checked", counting)
    both = judged(grid, cell, grid.with_judge({"rules": ["real", "official"]}))
    assert asked == ["official"] * 3  # verdicts by the first rule set are kept
    for question_id, record in both.items():
        assert record["by_rules"].keys() == {"official"}
        assert {k: v for k, v in record.items() if k != "by_rules"} == real[question_id]
    officially = {key: record["by_rules"]["official"]["status"] for key, record in both.items()}
    assert officially == {
        "abc343_a": "wrong_answer",
        "abc337_e": "passed",
        "plain": "passed",
    }
    hidden = [
        test
        for record in both.values()
        for test in record["by_rules"]["official"]["tests"]
        if test["index"] > 0
    ]
    assert all(test["got"] is None for test in hidden)
    said: list[str] = []
    assert diff_cell(folder, store, say=said.append).exit_status == 1
    assert said == [
        "abc337_e sample 0: real runtime_error, official passed: "
        "officially exit codes do not count",
        "abc343_a sample 0: real passed, official wrong_answer: "
        "officially only the stored answer is right; checker digit_other_than_sum accepts",
        "passed by real only: 1, by official only: 1",
        "differ 2 of 3",
    ]
    other = score_cell(folder)["by_other_rules"]["official"]
    assert other["value"] == pytest.approx(2 / 3)
    assert (other["n_different"], other["n_only_main_passed"]) == (2, 1)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"rules": []}, "empty list"),
        ({"rules": ["real", "real"]}, "stands twice"),
        ({"rules": ["real", "oficial"]}, "also_rules"),
        ({"rules": ["real"], "also_rules": ["official"]}, "not both"),
    ],
)
def test_lists_of_rule_sets_that_cannot_be_are_refused(given: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        validate(JudgeSpec, given, where="x")


def test_a_list_of_rule_sets_has_a_main_one_and_survives_being_written() -> None:
    spec = validate(JudgeSpec, {"rules": ["official", "real"]}, where="x")
    assert (spec.rules, spec.rule_sets) == ("official", ("official", "real"))
    assert validate(JudgeSpec, spec.model_dump(mode="json"), where="x") == spec
    assert spec.by("real") == JudgeSpec()
