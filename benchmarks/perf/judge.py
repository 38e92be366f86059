"""Speed of the judge beside a fresh interpreter for each test.

    python benchmarks/perf/judge.py [--rounds N] [--tests 1,10,50,200] [--submissions N]
                                    [--judge COMMAND]

All ways run the same programs on the same tests, in turn within each round, so that a busy machine
slows all of them. Single times mean little; the ratios are the result. The last lines of each
table are ``RATIO name value``: below 1 the judge is faster, but for ``throughput`` names, where
above 1 is faster. ``fixed_cost_ms`` is in milliseconds: a warm submission less its test.

A judge given as a command is started once for each submission. It gets a JSON object on its
input (mode, fn_name, code, time_s, tests with input and output) and prints ``passed`` last.
"""

from __future__ import annotations

import argparse
import json
import shlex
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor

from fresh_workers import FreshWorker, fresh_program

from lcbgrid.config.judge_spec import JudgeSpec
from lcbgrid.judge.judge import Judge
from lcbgrid.problems.schema import TestCase, TestSuite

PROGRAM = "a, b = map(int, input().split())\nprint(a + b)\n"
FUNCTION = "class Solution:\n    def add(self, a, b):\n        return a + b\n"
HEAVY = "a, b = map(int, input().split())\nsum(range(2_000_000))\nprint(a + b)\n"
HEAVY_FUNCTION = (
    "class Solution:\n    def add(self, a, b):\n"
    "        sum(range(2_000_000))\n        return a + b\n"
)
READER = "import sys\nprint(len(sys.stdin.read()))\n"
MEASURER = "class Solution:\n    def size(self, text):\n        return len(text)\n"
HUGE_CHARS = 10 << 20

Ways = Mapping[str, Callable[[], None]]


def suite_of(count: int, fn_name: str | None = None) -> TestSuite:
    """Return a suite of ``count`` additions."""
    mode, glue = ("functional", "\n") if fn_name else ("stdin", " ")
    tests = tuple(TestCase(f"{i}{glue}{2 * i}", str(3 * i), mode) for i in range(count))
    return TestSuite("add", fn_name, tests, n_public=0)


def huge_suite(fn_name: str | None = None) -> TestSuite:
    """Return two tests of 10 MB each."""
    text = "x" * HUGE_CHARS
    given = json.dumps(text) if fn_name else text
    test = TestCase(given, str(HUGE_CHARS), "functional" if fn_name else "stdin")
    return TestSuite("size", fn_name, (test, test), n_public=0)


def run_fresh(program: str, suite: TestSuite) -> None:
    """Run every test in an interpreter of its own, without any sandbox."""
    command = [sys.executable, "-I", "-c", fresh_program(program, suite.fn_name)]
    for test in suite.tests:
        ran = subprocess.run(
            command, input=test.input, capture_output=True, text=True, timeout=60, check=True
        )
        assert ran.stdout.strip() == test.output


def run_judged(judge: Judge, program: str, suite: TestSuite, **named: str) -> None:
    """Judge the program on all tests."""
    verdict = judge.judge(program, suite, **named)  # type: ignore[arg-type]
    assert verdict.passed, verdict


def run_command(command: str, program: str, suite: TestSuite) -> None:
    """Let another judge decide."""
    tests = [{"input": test.input, "output": test.output} for test in suite.tests]
    request = {"mode": suite.mode, "fn_name": suite.fn_name, "code": program, "tests": tests}
    ran = subprocess.run(
        shlex.split(command),
        input=json.dumps(request | {"time_s": 6.0}),
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.split()[-1:] == ["passed"], ran.stdout


def medians(ways: Ways, rounds: int) -> dict[str, list[float]]:
    """Return the seconds that each way took, in every round."""
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, work in ways.items():
            started = time.perf_counter()
            work()
            taken[name].append(time.perf_counter() - started)
    return taken


def compare(
    title: str, judge: Judge, program: str, suite: TestSuite, options: argparse.Namespace
) -> dict[str, float]:
    """Print one table and return the medians in seconds."""
    ways: dict[str, Callable[[], None]] = {
        "fresh": lambda: run_fresh(program, suite),
        "judge": lambda: run_judged(judge, program, suite),
        "official": lambda: run_judged(judge, program, suite, rules="official"),
    }
    if options.judge:
        ways["command"] = lambda: run_command(options.judge, program, suite)
    taken = medians(ways, options.rounds)
    middle = {name: statistics.median(times) for name, times in taken.items()}
    count = len(suite.tests)
    shown = ", ".join(f"{name} {1000 * s / count:.2f}" for name, s in middle.items())
    print(f"{title}, ms a test: {shown}")
    for name in middle:
        if name != "fresh":
            pairs = zip(taken[name], taken["fresh"], strict=True)
            ratios = sorted(own / other for own, other in pairs)
            print(f"  {name} over fresh: {ratios[0]:.3f} to {ratios[-1]:.3f}")
            print(f"RATIO {title}_{name}_over_fresh {middle[name] / middle['fresh']:.3f}")
    return middle


def fixed_cost(judge: Judge, rounds: int) -> None:
    """Print what a warm submission costs beyond its tests."""
    one, many = suite_of(1), suite_of(41)
    ways: Ways = {
        "one": lambda: run_judged(judge, PROGRAM, one),
        "many": lambda: run_judged(judge, PROGRAM, many),
    }
    taken = medians(ways, max(9, rounds))
    costs = sorted(
        1000 * (first - (all_ - first) / 40)
        for first, all_ in zip(taken["one"], taken["many"], strict=True)
    )
    print(f"fixed cost of a submission, ms: {costs[0]:.2f} to {costs[-1]:.2f}")
    print(f"RATIO fixed_cost_ms {statistics.median(costs):.2f}")


def mixed(count: int) -> list[tuple[str, TestSuite]]:
    """Return submissions of several kinds, 20 tests each; four of five are right."""
    plain, called = suite_of(20), suite_of(20, "add")
    loop = "a, b = map(int, input().split())\nfor i in range(20_000): pass\nprint(a + b)\n"
    importing = "import collections, heapq\n" + PROGRAM
    wrong = PROGRAM.replace("a + b", "a - b")
    kinds = [(PROGRAM, plain), (FUNCTION, called), (loop, plain), (importing, plain),
             (wrong, plain)]  # fmt: skip
    return [kinds[i % len(kinds)] for i in range(count)]


def throughput(workers: int, options: argparse.Namespace) -> None:
    """Print how many submissions a second go through our judge and through fresh interpreters."""
    work = mixed(options.submissions)
    seconds: dict[str, float] = {}
    with Judge(JudgeSpec(), workers=workers) as judge, ThreadPoolExecutor(workers) as threads:
        list(threads.map(lambda each: judge.judge(*each), work[: 2 * workers]))
        started = time.perf_counter()
        list(threads.map(lambda each: judge.judge(*each), work))
        seconds["judge"] = time.perf_counter() - started
    for name, sandboxed in (("sandboxed_fresh", True), ("bare_fresh", False)):
        pool = [FreshWorker(sandboxed=sandboxed) for _ in range(workers)]
        with ThreadPoolExecutor(workers) as threads:
            started = time.perf_counter()
            shares = [work[i::workers] for i in range(workers)]
            list(
                threads.map(lambda pair: pair[0].run_all(pair[1]), zip(pool, shares, strict=True))
            )
            seconds[name] = time.perf_counter() - started
        for worker in pool:
            worker.close()
    shown = ", ".join(f"{name} {len(work) / s:.1f}" for name, s in seconds.items())
    print(f"{len(work)} mixed submissions x 20 tests, {workers} workers, a second: {shown}")
    for name in ("sandboxed_fresh", "bare_fresh"):
        gain = seconds[name] / seconds["judge"]
        print(f"RATIO throughput_over_{name}_{workers}_workers {gain:.2f}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tests", default="1,10,50,200", help="numbers of tests, by comma")
    parser.add_argument("--submissions", type=int, default=1000, help="for the throughput")
    parser.add_argument("--judge", default="", help="another judge, as a command")
    options = parser.parse_args()
    with Judge(JudgeSpec(), workers=1) as judge:
        judge.probe()
        fixed_cost(judge, options.rounds)
        for count in map(int, options.tests.split(",")):
            compare(f"stdin_{count}", judge, PROGRAM, suite_of(count), options)
            compare(f"functional_{count}", judge, FUNCTION, suite_of(count, "add"), options)
        compare("heavy_stdin_10", judge, HEAVY, suite_of(10), options)
        compare("heavy_functional_10", judge, HEAVY_FUNCTION, suite_of(10, "add"), options)
        compare("stdin_10MB", judge, READER, huge_suite(), options)
        compare("functional_10MB", judge, MEASURER, huge_suite("size"), options)
    if options.submissions:
        for workers in (1, 2):
            throughput(workers, options)


if __name__ == "__main__":
    main()
