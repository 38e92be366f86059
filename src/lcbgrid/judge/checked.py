"""The judge with checkers: a wrong answer by comparison may be a right one by the statement.

The judge compares; an answer that differs from the stored one is shown, whole, to the problem's
checker, which has the last word. So a program runs no more often with a checker than without.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

from lcbgrid.config.judge_spec import RuleSet
from lcbgrid.core.errors import DataError
from lcbgrid.judge.checkers import CheckerEntry
from lcbgrid.judge.compare import first_differing_line, same_value
from lcbgrid.judge.errata import NEEDS_CHECKER, Errata
from lcbgrid.judge.judge import Judge
from lcbgrid.judge.verdict import Verdict
from lcbgrid.problems.schema import TestSuite

_MOST_CHARS: Final = 16 << 20  # the longest answers have a million numbers
_NOT_CHECKED: Final = "not checked"


@dataclass(frozen=True, slots=True)
class Checked:
    """A verdict, the checker that had a say in it, and why it may say nothing.

    Attributes:
        verdict: The judge's verdict; tests that the checker accepts have passed.
        checker: The checker that is in force for the problem.
        passed_by_comparison: Whether the program would have passed without the checker.
        errata: Kind of the problem's fault in the errata list; ``None`` if it is not there.
        undecided: Why a failure says nothing about the program: ``needs_checker``, or the kind
            of the problem's fault; ``None`` if the verdict stands.
    """

    verdict: Verdict
    checker: str | None = None
    passed_by_comparison: bool = False
    errata: str | None = None
    undecided: str | None = None

    def to_record(self) -> dict[str, Any]:
        """Return what stands beside the verdict in a record of it."""
        return {
            "checker": self.checker,
            "passed_by_comparison": self.passed_by_comparison,
            "errata": self.errata,
            "undecided": self.undecided,
        }


def judge_checked(
    judge: Judge,
    program: str | None,
    suite: TestSuite,
    errata: Errata,
    *,
    rules: RuleSet | None = None,
) -> Checked:
    """Judge one program; let the problem's checker, if it has one, look at wrong answers.

    The official runner has neither checkers nor doubts, so under its rules the comparison decides.

    Args:
        judge: The judge.
        program: The source; ``None`` if there is none.
        suite: The tests.
        errata: What is known about faulty problems, and the checkers in force.
        rules: Rule set instead of the judge's own.

    Raises:
        SandboxError: No sandbox can be started.
    """
    kind = errata.kinds.get(suite.question_id)
    official = (rules or judge.spec.rules) == "official"
    entry = None if official else errata.checkers.get(suite.question_id)
    if entry is None:
        verdict = judge.judge(program, suite, rules=rules)
        doubtful = verdict.status == "wrong_answer" and not official
        reason = errata.undecided(suite.question_id) if doubtful else None
        return Checked(verdict, None, verdict.passed, kind, reason)
    look = _Look(entry)
    verdict = judge.judge(program, suite, rules=rules, check=look)
    in_force: dict[str, Any] = {"checker": entry.label}
    if entry.float_tol is not None:
        in_force["float_tol"] = entry.float_tol
    verdict = replace(verdict, limits=verdict.limits | in_force)
    by_comparison = verdict.passed and not look.has_accepted
    return Checked(verdict, entry.label, by_comparison, kind, _doubt(verdict))


class _Look:
    """One program's differing answers, as the problem's checker sees them.

    Args:
        entry: The problem's checker.
    """

    def __init__(self, entry: CheckerEntry) -> None:
        self.has_accepted = False
        self._entry = entry

    def __call__(self, given: str, got: Any, expected: Any, *, call: bool) -> str | None:
        """Return why an answer is wrong, or ``None`` if it is right."""
        try:
            reason = self._reason(given, got, expected, call=call)
        except DataError as error:
            return f"{_NOT_CHECKED}: {error.what}"
        self.has_accepted |= reason is None
        return None if reason is None else f"{self._entry.checker}: {reason}"

    def _reason(self, given: str, got: Any, expected: Any, *, call: bool) -> str | None:
        tolerance = self._entry.float_tol
        if tolerance is None:
            if isinstance(got, str) and len(got) > _MOST_CHARS:
                return "more text than a checker reads"
            return self._entry.reason(given, got, expected, call=call)
        if call:
            return None if same_value(got, expected, tolerance) else "the result differs"
        return first_differing_line(got, expected, tolerance)


def _doubt(verdict: Verdict) -> str | None:
    """Say why a failure says nothing: the checker could not read any of the failed tests."""
    if verdict.status != "wrong_answer":
        return None
    failed = (outcome.detail or "" for outcome in verdict.outcomes if not outcome.passed)
    unread = all(detail.startswith(_NOT_CHECKED) for detail in failed)
    return NEEDS_CHECKER if unread else None
