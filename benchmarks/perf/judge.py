"""Speed of the judge beside a fresh interpreter for each test.

    python benchmarks/perf/judge.py [--rounds N] [--tests 1,10,50]

Both ways run the same trivial program on the same tests, in turn within each round, so that a
busy machine slows both. Single times mean little; the ratio is the result: below 1 the judge is
faster. For each number of tests the last lines are ``RATIO judge_over_fresh_python_N value``.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

from lcbgrid.config.judge_spec import JudgeSpec
from lcbgrid.judge.judge import Judge
from lcbgrid.problems.schema import TestCase, TestSuite

PROGRAM = "a, b = map(int, input().split())\nprint(a + b)\n"
FUNCTION = "class Solution:\n    def add(self, a, b):\n        return a + b\n"


def suite_of(count: int, fn_name: str | None = None) -> TestSuite:
    """Return a suite of ``count`` additions."""
    mode, glue = ("functional", "\n") if fn_name else ("stdin", " ")
    tests = tuple(TestCase(f"{i}{glue}{2 * i}", str(3 * i), mode) for i in range(count))
    return TestSuite("add", fn_name, tests, n_public=0)


def run_fresh(suite: TestSuite) -> None:
    """Run every test in an interpreter of its own."""
    command = [sys.executable, "-I", "-c", PROGRAM]
    for test in suite.tests:
        ran = subprocess.run(
            command, input=test.input, capture_output=True, text=True, timeout=60, check=True
        )
        assert ran.stdout.strip() == test.output


def run_judged(judge: Judge, program: str, suite: TestSuite) -> None:
    """Judge the program on all tests."""
    verdict = judge.judge(program, suite)
    assert verdict.passed, verdict


def seconds(work: Callable[[], None]) -> float:
    """Return how long ``work`` takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--tests", default="1,10,50", help="numbers of tests, comma separated")
    options = parser.parse_args()
    ratios = []
    with Judge(JudgeSpec(), workers=1) as judge:
        judge.probe()
        for count in map(int, options.tests.split(",")):
            plain, called = suite_of(count), suite_of(count, "add")
            ways: dict[str, Callable[[], None]] = {
                "fresh python": lambda suite=plain: run_fresh(suite),
                "judge stdin": lambda suite=plain: run_judged(judge, PROGRAM, suite),
                "judge call": lambda suite=called: run_judged(judge, FUNCTION, suite),
            }
            taken: dict[str, list[float]] = {name: [] for name in ways}
            for _ in range(options.rounds):
                for name, work in ways.items():
                    taken[name].append(seconds(work))
            medians = {name: statistics.median(times) for name, times in taken.items()}
            shown = ", ".join(f"{n} {1000 * s / count:.2f}" for n, s in medians.items())
            print(f"{count} tests, ms a test: {shown}")
            fresh_s = medians["fresh python"]
            ratios += [
                (f"judge_over_fresh_python_{count}", medians["judge stdin"] / fresh_s),
                (f"judge_call_over_fresh_python_{count}", medians["judge call"] / fresh_s),
            ]
    for name, ratio in ratios:
        print(f"RATIO {name} {ratio:.3f}")


if __name__ == "__main__":
    main()
