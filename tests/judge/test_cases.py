"""Every case with a known verdict gets it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from lcbgrid.config.judge_spec import JudgeSpec
from lcbgrid.core.errors import DataError
from lcbgrid.judge.cases import Case, judge_case, read_cases, run_cases
from lcbgrid.judge.judge import Judge
from lcbgrid.judge.submissions import run_submissions

_DEFAULT = Path(__file__).resolve().parents[2].parent / "shared" / "data"
_FILE = Path(os.environ.get("LCBGRID_SHARED", _DEFAULT)) / "judge_cases.jsonl"
_CASES = read_cases(_FILE) if _FILE.is_file() else []
_ABSENT = f"no judge cases at {_FILE} (set LCBGRID_SHARED)"


@pytest.mark.skipif(not _CASES, reason=_ABSENT)
@pytest.mark.parametrize("case", _CASES, ids=lambda case: case.case_id)
def test_case_gets_its_verdict(bwrap_judge: Judge, case: Case) -> None:
    verdict = judge_case(bwrap_judge, case)
    assert verdict.status == case.expect, verdict.message


@pytest.mark.slow
@pytest.mark.skipif(not _CASES, reason=_ABSENT)
def test_all_cases_get_their_verdicts_without_namespaces_too() -> None:
    said: list[str] = []
    report = run_cases(_FILE, JudgeSpec(sandbox="rlimits"), say=said.append)
    assert report.exit_status == 0, said


RIGHT = {"id": "right", "mode": "stdin", "fn_name": None, "code": "print(int(input())+1)",
         "tests": [{"input": "1\n", "output": "2\n"}], "expect": "pass"}  # fmt: skip
WRONG = RIGHT | {"id": "wrong", "code": "print(0)"}
SLOW = RIGHT | {"id": "slow", "code": "while True: pass", "expect": "time_limit",
                "options": {"time_s": 0.3, "memory_mb": 64}}  # fmt: skip


def _write(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_mismatches_are_named_in_order(tmp_path: Path) -> None:
    path = _write(tmp_path / "cases.jsonl", SLOW, WRONG, RIGHT, WRONG | {"id": "again"})
    said: list[str] = []
    report = run_cases(path, JudgeSpec(), jobs=2, say=said.append)
    assert said == [
        "wrong: expected passed, got wrong_answer (test 0: line 1 differs)",
        "again: expected passed, got wrong_answer (test 0: line 1 differs)",
        "matched 2 of 4",
    ]
    assert report.exit_status == 1
    assert report.mismatched == ("wrong", "again")


def test_a_line_that_is_no_case_is_named(tmp_path: Path) -> None:
    path = _write(tmp_path / "cases.jsonl", RIGHT, {"id": "broken", "mode": "stdin"})
    with pytest.raises(DataError, match="broken"):
        run_cases(path, JudgeSpec())


# What officially depends on the expected output being in the program's own process, or on a
# network; docs/design/judge.md explains each.
_NOT_REPRODUCED = {"sec-network", "sec-read-expected-frame", "sec-list-subclass"}


@pytest.mark.slow
@pytest.mark.skipif(not _CASES, reason=_ABSENT)
@pytest.mark.parametrize("tier", ["bwrap", "rlimits"])
def test_official_verdicts_are_the_recorded_ones_but_for_the_explained(tier: str) -> None:
    said: list[str] = []
    spec = JudgeSpec.model_validate({"sandbox": tier})
    report = run_cases(_FILE, spec, rules=["official"], say=said.append)
    assert set(report.mismatched) <= _NOT_REPRODUCED, said
    assert report.matched >= 0.95 * report.total


def test_rule_sets_are_compared_with_their_own_field(tmp_path: Path) -> None:
    odd = RIGHT | {"id": "odd", "code": "print(int(input())+1)\nraise SystemExit(3)",
                   "expect": "runtime_error", "official": "pass"}  # fmt: skip
    lost = RIGHT | {"id": "lost", "code": "import os\nos._exit(0)", "expect": "wrong_answer",
                    "official": "harness_error"}  # fmt: skip
    path = _write(tmp_path / "cases.jsonl", RIGHT, odd, lost, odd | {"official": "wrong_answer"})
    said: list[str] = []
    report = run_cases(path, JudgeSpec(), rules=["real", "official"], repeat=2, say=said.append)
    assert said == [
        "real: 4 of 4",
        "odd: expected wrong_answer, got passed (no reason)",
        "official: 2 of 3",
        "the same in 2 repeats: 7",
        "matched 6 of 7",
    ]
    assert report.exit_status == 1


def test_a_moving_verdict_is_named(tmp_path: Path) -> None:
    moving = RIGHT | {"code": "import os\nprint(int.from_bytes(os.urandom(8)))",
                      "expect": "wrong_answer"}  # fmt: skip
    said: list[str] = []
    report = run_cases(
        _write(tmp_path / "c.jsonl", moving), JudgeSpec(), repeat=3, say=said.append
    )
    assert said[0] == "right: unstable, wrong_answer and then ['wrong_answer']"
    assert report.unstable == ("right",)
    assert report.exit_status == 1


@pytest.mark.parametrize("text", ["", "\n\n"])
def test_an_empty_file_is_an_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text(text)
    with pytest.raises(DataError, match="holds no cases"):
        run_cases(path, JudgeSpec())
    with pytest.raises(DataError, match="holds no submissions"):
        run_submissions({}, path, JudgeSpec())
