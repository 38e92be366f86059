"""Samples on which the rule sets differ are listed with a reason."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lcbgrid.config.judge_spec import JudgeSpec
from lcbgrid.judge.diff import Sample, diff_rules
from lcbgrid.judge.samples import case_samples, submission_samples
from lcbgrid.problems.schema import TestCase, TestSuite

REASONS = {
    "print(int(input()))\nraise SystemExit(3)": "exit codes do not count",
    "import sys\nprint(int(sys.stdin.buffer.readline()))\nsys.stdout.flush()": None,
    "import sys\nsys.stdout.buffer.write(sys.stdin.buffer.readline())": "streams are stand-ins",
    "k = 0\ndef f():\n    global k\n    k += int(input())\nf()\nprint(k)": "function body",
    "class Solution: pass\nprint(input())": "class Solution is looked for",
    "from __future__ import annotations\nprint(input())": "__future__",
    "n = int(input()": "does not compile",
    "print(input())\nquit()": "taken away",
    "import os\nnew = not os.path.exists('x')\nopen('x', 'w')\nprint(input() if new else 0)":
        "share one process",
    "print(input())": None,
}  # fmt: skip


@pytest.mark.parametrize("code", REASONS, ids=range(len(REASONS)))
def test_differences_are_explained(code: str) -> None:
    tests = tuple(TestCase(f"{n}\n", f"{n}\n", "stdin") for n in (4, 5))
    said: list[str] = []
    report = diff_rules(
        [Sample("s", code, TestSuite("q", None, tests, 0))], JudgeSpec(), jobs=1, say=said.append
    )
    reason = REASONS[code]
    assert said[-1] == f"differ {int(reason is not None)} of 1"
    assert report.exit_status == (reason is not None)
    if reason is not None:
        assert said[0].startswith("s: real ")
        assert reason in said[0]


def test_samples_come_from_the_files_of_other_commands(tmp_path: Path) -> None:
    case = {"id": "c", "mode": "stdin", "fn_name": None, "code": "print(1)", "expect": "pass",
            "tests": [{"input": "", "output": "1"}], "options": {"time_s": 2}}  # fmt: skip
    cases = tmp_path / "cases.jsonl"
    cases.write_text(json.dumps(case) + "\n")
    (sample,) = case_samples(cases)
    assert (sample.name, sample.limits.time_s) == ("c", 2.0)
    suite = TestSuite("q", None, (TestCase("", "1", "stdin"),), 0)
    submissions = tmp_path / "submissions.jsonl"
    known = {"id": "s", "question_id": "q", "code": "print(1)", "graded": True,
             "decidable": "yes"}  # fmt: skip
    submissions.write_text(
        json.dumps(known) + "\n" + json.dumps(known | {"question_id": "r"}) + "\n"
    )
    (sample,) = submission_samples({"q": suite}, submissions)
    assert (sample.name, sample.suite) == ("s q", suite)
