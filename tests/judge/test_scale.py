"""Keys of kept verdicts, and the judge's own memory on large questions."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from lcbgrid.config.judge_spec import JudgeSpec
from lcbgrid.judge import keys


def test_keys_change_with_everything_that_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = {
        keys.rules_key(JudgeSpec(), "tests"),
        keys.rules_key(JudgeSpec(), "other tests"),
        keys.rules_key(JudgeSpec(rules="official"), "tests"),
        keys.rules_key(JudgeSpec(time_s=7), "tests"),
        keys.rules_key(JudgeSpec(sandbox="userns"), "tests"),
        keys.rules_key(JudgeSpec(float_tol=1e-6), "tests"),
        keys.rules_key(JudgeSpec(checkers=False), "tests"),
        keys.rules_key(JudgeSpec(), "tests", "other checkers"),
    }
    monkeypatch.setenv("LCB_FUNCTIONAL_MEMORY_BYTES", "1000000")
    seen.add(keys.rules_key(JudgeSpec(), "tests"))
    monkeypatch.setattr(keys, "JUDGE_VERSION", "next")
    seen.add(keys.rules_key(JudgeSpec(), "tests"))
    assert len(seen) == 10


def test_programs_are_told_apart() -> None:
    seen = {
        keys.program_key("q", "print(1)"),
        keys.program_key("q", "print(2)"),
        keys.program_key("r", "print(1)"),
        keys.program_key("q", None),
        keys.program_key("q", None, lost=True),
    }
    assert len(seen) == 5
    assert keys.program_key("q", "print(1)") in seen


_LARGE = """
import json, sys
from lcbgrid.config.judge_spec import JudgeSpec
from lcbgrid.judge.judge import Judge
from lcbgrid.problems.schema import TestCase, TestSuite
mode, rules = sys.argv[1:]
texts = [chr(97 + i) * (10 << 20) for i in range(10)]
if mode == "functional":
    suite = TestSuite("q", "f", tuple(
        TestCase('"' + t + '"', str(len(t)), mode) for t in texts), 0)
    code = "def f(text): return len(text)"
else:
    suite = TestSuite("q", None, tuple(TestCase(t, str(len(t)), mode) for t in texts), 0)
    code = "import sys\\nprint(len(input()))"
del texts
with Judge(JudgeSpec(rules=rules), workers=1) as judge:
    verdict = judge.judge(code, suite)
# Not ru_maxrss: that remembers the process which started this one.
status = open("/proc/self/status").read()
peak_mb = int(status.split("VmHWM:")[1].split()[0]) / 1024
text_mb = sum(len(t.input) for t in suite.tests) / (1 << 20)
print(json.dumps([verdict.status, peak_mb - text_mb]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("rules", ["real", "official"])
@pytest.mark.parametrize("mode", ["stdin", "functional"])
def test_memory_stays_flat_on_a_hundred_megabytes_of_tests(mode: str, rules: str) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", _LARGE, mode, rules], capture_output=True, text=True, timeout=300
    )
    assert ran.returncode == 0, ran.stderr
    status, own_mb = json.loads(ran.stdout)
    assert status == "passed"
    assert own_mb <= 150
