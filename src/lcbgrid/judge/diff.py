"""Programs whose verdict depends on the rule set, and why."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from lcbgrid.config.judge_spec import JudgeSpec, RuleSet
from lcbgrid.core.errors import EXIT_DIFFERENCE, EXIT_OK
from lcbgrid.judge.judge import Judge
from lcbgrid.judge.limits import Limits
from lcbgrid.judge.verdict import Verdict
from lcbgrid.problems.schema import TestSuite

BOTH: tuple[RuleSet, RuleSet] = ("real", "official")


@dataclass(frozen=True, slots=True)
class Sample:
    """A program and its tests.

    Attributes:
        name: What to call it in a report.
        code: The source; ``None`` if there is none.
        suite: The tests.
        limits: Limits instead of the configured ones.
        float_tol: Tolerance instead of the configured one.
    """

    name: str
    code: str | None
    suite: TestSuite
    limits: Limits | None = None
    float_tol: float | None = None


@dataclass(frozen=True, slots=True)
class RuleDifference:
    """A sample on which two rule sets say different things."""

    sample: Sample
    left: Verdict
    right: Verdict
    why: str

    def __str__(self) -> str:
        return (
            f"{self.sample.name}: {self.left.rules} {self.left.status}, "
            f"{self.right.rules} {self.right.status}: {self.why}"
        )


@dataclass(frozen=True, slots=True)
class DiffReport:
    """Outcome of a comparison of rule sets."""

    total: int
    differences: tuple[RuleDifference, ...]

    @property
    def exit_status(self) -> int:
        """Status for the command line: 1 if the rule sets differ anywhere."""
        return EXIT_DIFFERENCE if self.differences else EXIT_OK


def diff_rules(
    samples: Iterable[Sample],
    spec: JudgeSpec,
    *,
    rules: Sequence[RuleSet] = BOTH,
    jobs: int | None = None,
    say: Callable[[str], object] = print,
) -> DiffReport:
    """Judge samples by two rule sets; print those that get different statuses, and why.

    The last line is ``differ M of N``, with how many pass by only one of the two.

    Args:
        samples: What to judge; read as needed.
        spec: Limits and isolation.
        rules: Two rule sets.
        jobs: Sandboxes side by side; default: all cores.
        say: Receives each line.
    """
    left_rules, right_rules = rules
    found: list[RuleDifference] = []
    total = 0

    def both(sample: Sample) -> tuple[Sample, Verdict, Verdict]:
        left, right = (
            judge.judge(
                sample.code,
                sample.suite,
                limits_override=sample.limits,
                float_tol=sample.float_tol,
                rules=name,
            )
            for name in (left_rules, right_rules)
        )
        return sample, left, right

    with Judge(spec, workers=jobs) as judge, ThreadPoolExecutor(judge.workers) as threads:
        for sample, left, right in threads.map(both, samples):
            total += 1
            if left.status != right.status:
                found.append(explained(sample, left, right))
                say(str(found[-1]))
    return close_report(total, found, (left_rules, right_rules), say)


def close_report(
    total: int,
    found: Sequence[RuleDifference],
    rules: tuple[str, str],
    say: Callable[[str], object],
) -> DiffReport:
    """Print the last two lines of a comparison, and return it."""
    left, right = (sum(getattr(d, side).passed for d in found) for side in ("left", "right"))
    say(f"passed by {rules[0]} only: {left}, by {rules[1]} only: {right}")
    say(f"differ {len(found)} of {total}")
    return DiffReport(total, tuple(found))


def explained(
    sample: Sample, left: Verdict, right: Verdict, why: str | None = None
) -> RuleDifference:
    """Return a difference with its reason, without the tests, which can be large."""
    why = why or explain(sample, left, right)
    return RuleDifference(replace(sample, suite=replace(sample.suite, tests=())), left, right, why)


def because_of_checker(checker: str | None) -> str:
    """Say that a checker accepts what the official runner does not."""
    return f"officially only the stored answer is right; checker {checker} accepts"


def explain(sample: Sample, left: Verdict, right: Verdict) -> str:
    """Return the likeliest reason of a difference, from the statuses and the source."""
    by_rules = {verdict.rules: verdict for verdict in (left, right)}
    real, official = by_rules.get("real", left), by_rules.get("official", right)
    code = sample.code or ""
    if real.status == "compile_error":
        return "officially a source that does not compile is a runtime error"
    if real.status in ("time_limit", "memory_limit") and not official.passed:
        return "officially the process was lost, which is a runtime error"
    if real.status == "memory_limit":
        return "officially memory has no limit"
    if real.status == "time_limit":
        return "officially a program can switch its alarm off, or leave threads running"
    if real.status == "runtime_error" and official.passed:
        return "officially exit codes do not count"
    if sample.float_tol is not None and official.status == "wrong_answer":
        return "officially numbers have to be exact"
    functional = sample.suite.mode == "functional"
    if official.message and "ended without an answer" in official.message:
        return "officially the process was lost, which is a runtime error"
    if real.passed and official.status == "wrong_answer" and official.first_failing:
        return "officially all tests share one process, with its state and its files"
    if any("\r" in test.input for test in sample.suite.tests):
        return "officially carriage returns in the input stay"
    if "getppid" in code:
        return "officially the parent is an ordinary process"
    for pattern, modes, reason in _HABITS:
        if functional in modes and re.search(pattern, code, re.MULTILINE):
            return reason
    return official.message or real.message or "not explained"


_EITHER, _STDIN, _CALL = (False, True), (False,), (True,)
_HABITS: tuple[tuple[str, tuple[bool, ...], str], ...] = (
    (r"^\s*from __future__", _EITHER, "officially lines stand in front of a __future__ import"),
    (r"class Solution", _STDIN, "officially a class Solution is looked for outside the program"),
    (r"\b[Tt]hread", _STDIN, "officially nobody waits for a thread that is not joined"),
    (r"^\s*global\s", _STDIN, "officially the program is a function body, so its globals are not"),
    (r"\.buffer|sys\.stdin\b|from sys import|open\(0|\bstdin\b|\bstdout\b", _STDIN,
     "officially the streams are stand-ins: bytes, iteration, mixed reads, closing do not work"),
    (r"\bquit\b|\bos\.|\bshutil\b|subprocess|multiprocessing", _EITHER,
     "officially many functions of os, shutil and subprocess, and quit, are taken away"),
    (r"__name__", _STDIN, "officially only a main guard at the very end is run"),
    (r"recursion|lru_cache|@cache", _EITHER, "officially the stack is small"),
    (r"\(.*,.*\)", _CALL, "officially an inner tuple is no list"),
)  # fmt: skip
