"""Limits hold against a program that ignores everything, and spare one that waits for a core.

No time on the clock is compared on a machine that kept the program waiting: the sandbox says so
(``contended``), and then the CPU time is what counts.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from lcbgrid.config.judge_spec import JudgeSpec, Tier
from lcbgrid.judge.course import compile_job
from lcbgrid.judge.job import Job, Report
from lcbgrid.judge.judge import Judge
from lcbgrid.judge.limits import Limits
from lcbgrid.judge.sandbox import Sandbox
from lcbgrid.judge.tiers import launch
from lcbgrid.problems.schema import TestCase, TestSuite

LIMIT_S = 1.0
SLACK_S = 1.0
TIERS: list[Tier] = ["bwrap", "userns", "rlimits"]

DEAF = """
import os, signal, sys, time
for number in range(1, 65):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
def spin():
    while True:
        try:
            while True: pass
        except BaseException: pass
def sleep():
    while True:
        try: time.sleep(3600)
        except BaseException: pass
"""
IGNORE_EVERYTHING = {
    "spins": "spin()",
    "sleeps": "sleep()",
    "one-long-call": "sum(range(10 ** 15))",
    "stops-itself": "os.kill(os.getpid(), signal.SIGSTOP)\nspin()",
    "spinning-children": "for _ in range(4): os.fork()\nspin()",
    "sleeping-children": "for _ in range(4): os.fork()\nsleep()",
    "sessions": "for _ in range(8):\n    if os.fork() == 0:\n        os.setsid()\n"
    "        os.fork()\n        spin()\nsleep()",
    "forks-forever": "while True:\n    try:\n        if os.fork() == 0: os.setsid()\n"
    "    except OSError: pass",
    "threads": "import threading\nfor _ in range(8): threading.Thread(target=sleep).start()\n"
    "os.close(1)",
    "at-exit": "import atexit\natexit.register(spin)\natexit.register(sleep)",
    "in-a-destructor": "class A:\n    def __del__(self): sleep()\na = A()",
    "waits-for-a-stopped-child": "pid = os.fork()\nif pid == 0:\n"
    "    os.kill(os.getpid(), signal.SIGSTOP)\n    spin()\nos.waitpid(pid, 0)",
    "holds-a-flood-of-output": "os.set_blocking(1, True)\nif os.fork() == 0: sleep()\n"
    "while True: os.write(1, b'')",
}


@pytest.fixture(scope="module", params=TIERS)
def tier(request: pytest.FixtureRequest) -> Tier:
    request.getfixturevalue(f"{request.param}_judge")  # skips where this tier does not work
    chosen: Tier = request.param
    return chosen


@pytest.fixture(scope="module")
def sandbox(tier: Tier) -> Iterator[Sandbox]:
    opened = launch(tier, numpy=False)
    yield opened
    opened.close()


@pytest.fixture
def cores() -> Iterator[list[int]]:
    """Up to two cores, and this process and all that it starts on them only."""
    usable = os.sched_getaffinity(0)
    chosen = sorted(usable)[:2]
    os.sched_setaffinity(0, chosen)
    yield chosen
    os.sched_setaffinity(0, usable)


def timed_run(sandbox: Sandbox, code: str) -> tuple[Report, float]:
    assert sandbox.run(compile_job(code)).exit_code == 0
    started = time.monotonic()
    report = sandbox.run(Job("stdin", b"", Limits(LIMIT_S, 512), stdout_cap_bytes=1 << 20))
    return report, time.monotonic() - started


@pytest.mark.parametrize("name", IGNORE_EVERYTHING)
def test_a_program_that_ignores_everything_ends(sandbox: Sandbox, name: str) -> None:
    code = DEAF + IGNORE_EVERYTHING[name]
    for _ in range(3):
        report, taken_s = timed_run(sandbox, code)
        assert report.ended_by in ("cpu", "wall")
        assert report.cpu_s < LIMIT_S + SLACK_S * len(os.sched_getaffinity(0))
        if taken_s < LIMIT_S + SLACK_S:
            break
    else:
        assert report.contended, f"took {taken_s:.2f} s with cores to spare"
    assert sandbox.usable, "something of it is left"
    honest, _ = timed_run(sandbox, "import os\nprint(len(os.listdir()))")
    assert (honest.exit_code, honest.stdout) == (0, b"0\n")


def burn(cpu_s: float) -> str:
    return (
        "import time\nprint(input())\n"
        f"while time.process_time() < {cpu_s}:\n    for _ in range(10_000): pass\n"
    )


def judge_copies(tier: Tier, copies: int, cpu_s: float, limit_s: float) -> list[str]:
    suite = TestSuite("q", None, (TestCase("1\n", "1\n", "stdin"),), n_public=0)

    def judge_one(_: int) -> str:
        return judge.judge(burn(cpu_s), suite, limits_override=Limits(limit_s, 512)).status

    spec = JudgeSpec(sandbox=tier)
    with Judge(spec, workers=copies) as judge, ThreadPoolExecutor(copies) as threads:
        return list(threads.map(judge_one, range(copies)))


def test_waiting_for_a_core_costs_no_time(tier: Tier, cores: list[int]) -> None:
    copies = 4 * len(cores)
    assert judge_copies(tier, copies, 0.6, 1.0) == ["passed"] * copies


@pytest.mark.slow
def test_thirty_two_copies_on_two_cores_all_pass(tier: Tier, cores: list[int]) -> None:
    assert judge_copies(tier, 32, 1.2, 2.0) == ["passed"] * 32
