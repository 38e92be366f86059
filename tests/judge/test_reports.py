"""Faults that users of other judges reported, turned into tests (the number is the report's)."""

from __future__ import annotations

import asyncio
import os
import resource
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lcbgrid.config.judge_spec import JudgeSpec
from lcbgrid.core.errors import SandboxError
from lcbgrid.judge.doctor import check_judge
from lcbgrid.judge.judge import Judge
from lcbgrid.judge.limits import Limits
from lcbgrid.problems.schema import TestCase, TestSuite

ECHO = TestSuite("echo", None, (TestCase("hello\n", "hello\n", "stdin"),), n_public=1)


def test_r02_the_tolerance_is_named_and_spares_integers(ask) -> None:
    strict = ask("print(2/3)", ("", "0.6666666667"))
    fixed = ask("print(2/3)", ("", "0.6666666667"), float_tol=1e-6)
    assert (strict.status, strict.limits["float_tol"]) == ("wrong_answer", None)
    assert (fixed.status, fixed.limits["float_tol"]) == ("passed", 1e-6)
    assert ask("print(1000002)", ("", "1000001"), float_tol=1e-6).status == "wrong_answer"


@pytest.mark.parametrize(
    ("code", "given", "expected"),
    [
        (
            "import sys; n=int(sys.stdin.buffer.readline()); "
            "a=sys.stdin.buffer.readline().split(); print(n, len(a), repr(sys.stdin.read()))",
            "2\n5 6\n",
            "2 2 ''",
        ),
        ("import sys\nfor line in sys.stdin: print(line.strip())", "a\nb\n", "a\nb"),
        ("import sys; sys.stdout.buffer.write(b'ok\\n')", "", "ok"),
        ("import sys; print(input(), sys.stdin.readline())", "1\n2\n3", "1 2\n"),
    ],
)  # fmt: skip
def test_r03_text_and_byte_readers_share_one_cursor(ask, code, given, expected) -> None:
    assert ask(code, (given, expected)).passed


def test_r05_a_crash_is_the_programs_own(ask) -> None:
    recursion = "def f(n): return f(n+1)\nf(0)"
    endless = "import sys\nsys.setrecursionlimit(10**9)\n" + recursion
    programs = ["print(1)", "import ctypes; ctypes.string_at(0)", recursion, endless, "print(1)"]
    verdicts = [ask(code, ("", "1"), memory_mb=512, time_s=2.0) for code in programs]
    assert [v.status for v in verdicts[:3]] == ["passed", "runtime_error", "runtime_error"]
    assert verdicts[1].outcomes[0].detail == "SIGSEGV"
    assert verdicts[2].outcomes[0].detail.startswith("RecursionError")
    assert verdicts[3].status in {"memory_limit", "time_limit"}
    assert verdicts[4].passed


def test_r07_the_memory_limit_is_the_programs_alone(ask) -> None:
    ballast = bytearray(1 << 30)
    ballast[:: resource.getpagesize()] = b"x" * len(ballast[:: resource.getpagesize()])
    verdict = ask("print(1)", ("", "1"), memory_mb=512)
    assert verdict.passed
    assert 0 <= verdict.outcomes[0].memory_mb < 100
    del ballast
    assert ask("x=bytearray(700<<20)", ("", "1"), memory_mb=512).status == "memory_limit"
    measured = ask("x=bytearray(b'x')*(100<<20); print(1)", ("", "1"), memory_mb=512)
    assert 90 < measured.outcomes[0].memory_mb < 130


STUBBORN = "while True:\n    try:\n        while True: pass\n    except BaseException: pass"


def test_r10_no_test_takes_longer_than_its_limit() -> None:
    tests = tuple(TestCase("", "1", "stdin") for _ in range(20))
    suite = TestSuite("q", None, tests, n_public=0)
    first = JudgeSpec(stop_at_first_failure=True)
    with Judge(first, workers=1) as judge:
        judge.probe()
        started = time.monotonic()
        verdict = judge.judge(STUBBORN, suite, limits_override=Limits(1.0, 100))
        took_s = time.monotonic() - started
    assert (verdict.status, len(verdict.outcomes), verdict.pass_rate) == ("time_limit", 1, None)
    # CPU seconds are what is limited: on a busy machine they take longer to pass, and a program
    # that was late there is run once more.
    assert took_s < 3.0 or os.getloadavg()[0] > 1.5


@pytest.mark.slow
def test_r10_all_tests_of_a_stubborn_program() -> None:
    tests = tuple(TestCase("", "1", "stdin") for _ in range(20))
    with Judge(JudgeSpec(), workers=1) as judge:
        verdict = judge.judge(
            STUBBORN, TestSuite("q", None, tests, 0), limits_override=Limits(1.0, 100)
        )
    assert {o.status for o in verdict.outcomes} == {"time_limit"}
    assert sum(outcome.cpu_s for outcome in verdict.outcomes) < 21.0


def test_r11_many_threads_and_an_event_loop(bwrap_judge: Judge) -> None:
    with ThreadPoolExecutor(32) as threads:
        verdicts = list(
            threads.map(lambda _: bwrap_judge.judge("print(input())", ECHO), range(200))
        )
    assert sum(v.passed for v in verdicts) == 200

    async def many() -> list[bool]:
        limit = asyncio.Semaphore(32)

        async def one() -> bool:
            async with limit:
                return (await asyncio.to_thread(bwrap_judge.judge, "print(input())", ECHO)).passed

        return await asyncio.gather(*(one() for _ in range(200)))

    assert sum(asyncio.run(many())) == 200


@pytest.mark.parametrize(
    ("tests", "fn_name", "says"),
    [
        ((), None, "no tests"),
        ((TestCase("1", "1", "functional"),), None, "names none"),
        ((TestCase("1", "[1", "functional"),), "f", "not JSON"),
        ((TestCase("", "1", "functional"),), "f", "not JSON"),
        ((TestCase("1\n\n2", "1", "functional"),), "f", "not JSON"),
    ],
)
def test_r12_broken_tests_are_no_score(bwrap_judge: Judge, tests, fn_name, says) -> None:
    suite = TestSuite("q12", fn_name, tests, n_public=0)
    verdict = bwrap_judge.judge("raise SystemExit", suite)
    assert (verdict.status, verdict.pass_rate) == ("data_error", None)
    assert says in verdict.message
    assert "q12" in verdict.message


@pytest.mark.parametrize(
    "code",
    [
        'print("TEST_PASSED")',
        'print(\'{"result": "success"}\')',
        "import sys; sys.exit(0)",
        "import os\nfor fd in range(3, 256):\n    try: os.write(fd, b'7')\n"
        "    except OSError: pass",
        'import os\nos.write(198, b\'27\\n{"kind":"result","value":7}\')',
    ],
)
def test_r14_success_cannot_be_claimed(ask, code: str) -> None:
    assert ask(code, ("", "7")).status in {"wrong_answer", "runtime_error"}


def test_r14_an_object_that_equals_everything_equals_nothing(ask) -> None:
    code = "class A:\n    def __eq__(self, other): return True\ndef f(n): return A()"
    assert ask(code, ("1", "7"), fn_name="f").status == "wrong_answer"


def test_r15_class_state_does_not_survive(ask) -> None:
    code = (
        "class Solution:\n    seen = []\n    def add(self, x):\n"
        "        self.seen.append(x); return len(self.seen)"
    )
    assert ask(code, ("5", "1"), ("6", "1"), fn_name="add").passed


def _burner(cpu_s: float) -> str:
    return f"import time\nwhile time.process_time() < {cpu_s}: pass\nprint(1)"


def test_r16_a_busy_machine_makes_nobody_late(bwrap_judge: Judge, ask) -> None:
    command = [sys.executable, "-c", "while True: pass"]
    others = [subprocess.Popen(command) for _ in range(3 * (os.cpu_count() or 1))]
    try:
        verdict = ask(_burner(0.7), ("", "1"), time_s=1.0)
    finally:
        for other in others:
            other.kill()
            other.wait()
    assert verdict.passed, verdict


@pytest.mark.slow
def test_r16_more_callers_than_cores() -> None:
    suite = TestSuite("q", None, (TestCase("", "1", "stdin"),), 0)
    with Judge(JudgeSpec(), workers=32) as judge, ThreadPoolExecutor(32) as threads:
        assert judge.workers <= (os.cpu_count() or 1)
        code = _burner(1.2)
        verdicts = list(
            threads.map(
                lambda _: judge.judge(code, suite, limits_override=Limits(2.0, 100)), range(32)
            )
        )
    assert all(v.passed for v in verdicts), [v.message for v in verdicts]


def test_r18_endless_output_is_cut(ask) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    verdict = ask('while True: print("y"*1000)', ("", "1"), output_bytes=1 << 20)
    grown_mb = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    outcome = verdict.outcomes[0]
    assert (outcome.status, outcome.detail) == ("wrong_answer", "output_limit")
    assert outcome.got.startswith("yyy")
    assert "cut" in outcome.got
    assert grown_mb < 20
    assert outcome.wall_s < 6.0


def _stub(folder: Path, text: str) -> Path:
    stub = folder / "bwrap"
    stub.write_text(f"#!/bin/sh\n{text}\n")
    stub.chmod(0o755)
    return stub


UID_MAP = "echo 'bwrap: setting up uid map: Permission denied' >&2; exit 1"


@pytest.mark.parametrize("how", ["PATH", "LCBGRID_BWRAP"])
def test_r19_a_tool_that_does_not_work_is_refused(how: str, tmp_path: Path, monkeypatch) -> None:
    stub = _stub(tmp_path, UID_MAP)
    monkeypatch.delenv("LCBGRID_BWRAP", raising=False)
    monkeypatch.setenv(*(("PATH", f"{tmp_path}:{os.environ['PATH']}") if how == "PATH" else
                         (how, str(stub))))  # fmt: skip
    with Judge(JudgeSpec()) as judge, pytest.raises(SandboxError) as caught:
        judge.judge("print(input())", ECHO)
    message = str(caught.value)
    for part in (str(stub), "setting up uid map: Permission denied", "LCBGRID_BWRAP",
                 "--sandbox rlimits"):  # fmt: skip
        assert part in message
    assert caught.value.exit_status == 3
    assert not all(row.ok for row in check_judge("bwrap"))
    with Judge(JudgeSpec(sandbox="rlimits")) as judge:
        verdict = judge.judge("print(input())", ECHO)
    assert (verdict.status, verdict.tier) == ("passed", "rlimits")


def test_r19_a_named_tool_that_is_not_there(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("LCBGRID_BWRAP", str(tmp_path / "nowhere"))
    with Judge(JudgeSpec()) as judge, pytest.raises(SandboxError, match="LCBGRID_BWRAP"):
        judge.probe()


def test_s14_a_tool_that_only_knows_its_version_is_refused(tmp_path: Path, monkeypatch) -> None:
    stub = _stub(tmp_path, '[ "$1" = --version ] && echo "bubblewrap 0.11.0"; exit 0')
    monkeypatch.setenv("LCBGRID_BWRAP", str(stub))
    with Judge(JudgeSpec()) as judge, pytest.raises(SandboxError, match="does not work here"):
        judge.probe()


def test_s06_the_same_program_gets_the_same_verdict_every_time(ask) -> None:
    code = "import random, sys\nprint(random.randrange(10**9), set('abc'), hash('x'))"
    records = [ask(code, ("", "1")).to_record() for _ in range(5)]
    assert all(record == records[0] for record in records)
