"""Every case with a known verdict gets it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from lcbgrid.config.judge_spec import JudgeSpec
from lcbgrid.core.errors import DataError, UserError
from lcbgrid.judge.cases import Case, judge_case, read_cases, run_cases
from lcbgrid.judge.judge import Judge

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


def test_a_rule_set_that_is_not_there_is_refused() -> None:
    with pytest.raises(UserError, match="official"):
        Judge(JudgeSpec(rules="official"))
