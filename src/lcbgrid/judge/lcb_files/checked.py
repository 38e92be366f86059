"""The judge with checkers: a wrong answer by comparison may be a right one by the statement.

The judge compares. Where it says ``wrong_answer`` and the problem has a checker, the answer itself
is checked: the program is run once more on that input (runs are the same every time) to have its
whole output, or the result of the call is taken from the verdict if it stands there in full.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace

from lcbgrid.core.errors import DataError
from lcbgrid.judge.checkers import CheckerEntry
from lcbgrid.judge.errata import NEEDS_CHECKER, Errata
from lcbgrid.judge.judge import Judge
from lcbgrid.judge.plain import parse_json
from lcbgrid.judge.verdict import TestOutcome, Verdict
from lcbgrid.problems.schema import TestCase, TestSuite

_OUTPUT_CHARS = 16 << 20  # the longest answers have a million numbers
_SHOWN_CHARS = 300


@dataclass(frozen=True, slots=True)
class Checked:
    """A verdict, the checker that had a say in it, and why it may say nothing.

    Attributes:
        verdict: The judge's verdict, with tests that the checker accepts as passed.
        checker: The checker that is named for the problem.
        undecided: Why a failure says nothing about the program: ``needs_checker``, or the kind
            of the problem's fault; ``None`` if the verdict stands.
    """

    verdict: Verdict
    checker: str | None = None
    undecided: str | None = None


def judge_checked(judge: Judge, program: str | None, suite: TestSuite, errata: Errata) -> Checked:
    """Judge one program; let the problem's checker, if it has one, look at wrong answers.

    Raises:
        SandboxError: No sandbox can be started.
    """
    entry = errata.checkers.get(suite.question_id)
    if entry is None:
        verdict = judge.judge(program, suite)
        failed = verdict.status == "wrong_answer"
        return Checked(verdict, undecided=errata.undecided(suite.question_id) if failed else None)
    verdict = judge.judge(program, suite, float_tol=entry.float_tol)
    verdict = replace(verdict, limits=verdict.limits | {"checker": entry.label})
    if entry.float_tol is not None or program is None or verdict.status != "wrong_answer":
        return Checked(verdict, entry.label)
    return _second_look(judge, program, suite, entry, verdict)


def _second_look(
    judge: Judge, program: str, suite: TestSuite, entry: CheckerEntry, verdict: Verdict
) -> Checked:
    outcomes: list[TestOutcome] = []
    for index, test in enumerate(suite.tests):
        if index < len(verdict.outcomes):
            outcome = verdict.outcomes[index]
        else:  # the judge had stopped at a failure that is none
            outcome = replace(_alone(judge, program, suite, test), index=index)
        if outcome.status == "wrong_answer" and outcome.detail != "output_limit":
            try:
                outcome = _look(judge, program, suite, entry, test, outcome, verdict)
            except DataError as error:
                reason = f"{verdict.message}; not checked: {error}"
                return Checked(replace(verdict, message=reason), entry.label, NEEDS_CHECKER)
        outcomes.append(outcome)
        if not outcome.passed and verdict.limits.get("stop_at_first_failure"):
            break
    return Checked(_verdict_of(verdict, outcomes), entry.label)


def _alone(judge: Judge, program: str, suite: TestSuite, test: TestCase) -> TestOutcome:
    return judge.judge(program, replace(suite, tests=(test,), n_public=0)).outcomes[0]


def _look(
    judge: Judge,
    program: str,
    suite: TestSuite,
    entry: CheckerEntry,
    test: TestCase,
    outcome: TestOutcome,
    verdict: Verdict,
) -> TestOutcome:
    """Check one wrong answer.

    Raises:
        DataError: The answer is not there in full, or the checker cannot read the test.
    """
    if suite.mode == "functional":
        got = _shown_result(outcome)
        reason = entry.reason(test.input, got, parse_json(test.output), call=True)
    else:
        ran = judge.execute(
            program,
            test.input,
            time_s=verdict.limits["time_s"],
            memory_mb=verdict.limits["memory_mb"],
            output_chars=_OUTPUT_CHARS,
        )
        if ran.exit_code != 0 or ran.stdout_truncated:
            return outcome
        reason = entry.reason(test.input, ran.stdout, test.output, call=False)
    if reason is None:
        return replace(outcome, status="passed", detail=None, got=None)
    return replace(outcome, detail=f"{entry.checker}: {reason}")


def _shown_result(outcome: TestOutcome) -> object:
    """Return the result that an outcome shows whole; ``None`` if it is no plain data."""
    text = outcome.got
    if text is None or len(text) > _SHOWN_CHARS:
        raise DataError("the result is too long to be kept whole")
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None


def _verdict_of(verdict: Verdict, outcomes: list[TestOutcome]) -> Verdict:
    failing = next((outcome for outcome in outcomes if not outcome.passed), None)
    return replace(
        verdict,
        status="passed" if failing is None else failing.status,
        outcomes=tuple(outcomes),
        n_passed=sum(outcome.passed for outcome in outcomes),
        first_failing=None if failing is None else failing.index,
        message=None if failing is None else f"test {failing.index}: {failing.detail}",
    )
