"""One program on one suite: what its verdict will say besides the outcomes."""

from __future__ import annotations

from collections.abc import Sequence

from lcbgrid.config.judge_spec import JudgeSpec, RuleSet
from lcbgrid.judge.limits import Limits
from lcbgrid.judge.verdict import Status, TestOutcome, Verdict
from lcbgrid.problems.schema import TestSuite

OFFICIAL_MEMORY_MB = 4096
"""The official runner sets no limit on memory; this one only protects the machine."""


class Trial:
    """A program being judged.

    Args:
        suite: The tests.
        rules: The rule set.
        limits: Limits of a test. Under the official rules there is no memory limit, so the
            budget is at least what protects the machine.
        float_tol: Tolerance; the official rules know none.
        spec: The judge's configuration.
    """

    def __init__(
        self,
        suite: TestSuite,
        rules: RuleSet,
        limits: Limits,
        float_tol: float | None,
        spec: JudgeSpec,
    ) -> None:
        self.official = rules == "official"
        if self.official:
            memory_mb = limits.memory_mb and max(limits.memory_mb, OFFICIAL_MEMORY_MB)
            limits = Limits(limits.time_s, memory_mb, limits.output_bytes)
        self.suite = suite
        self.rules: RuleSet = rules
        self.limits = limits
        self.float_tol = None if self.official else float_tol
        self.stop_at_first_failure = self.official or spec.stop_at_first_failure
        self.known_to_be_slow = False
        self._tier = spec.sandbox

    def verdict(
        self,
        status: Status,
        *,
        outcomes: Sequence[TestOutcome] = (),
        first_failing: int | None = None,
        message: str | None = None,
    ) -> Verdict:
        """Return a verdict with everything that is known beforehand."""
        return Verdict(
            question_id=self.suite.question_id,
            status=status,
            outcomes=tuple(outcomes),
            n_passed=sum(outcome.passed for outcome in outcomes),
            n_total=len(self.suite.tests),
            first_failing=first_failing,
            message=message,
            rules=self.rules,
            tier=self._tier,
            limits={
                "time_s": self.limits.time_s,
                "memory_mb": self.limits.memory_mb,
                "output_bytes": self.limits.output_bytes,
                "float_tol": self.float_tol,
                "stop_at_first_failure": self.stop_at_first_failure,
            },
        )

    def verdict_of(self, outcomes: Sequence[TestOutcome]) -> Verdict:
        """Let the first failing test decide."""
        for outcome in outcomes:
            if not outcome.passed:
                message = f"test {outcome.index}: {outcome.detail}"
                return self.verdict(
                    outcome.status,
                    outcomes=outcomes,
                    first_failing=outcome.index,
                    message=message,
                )
        return self.verdict("passed", outcomes=outcomes)
