"""What the judge says about one program."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Status = Literal[
    "passed",
    "wrong_answer",
    "runtime_error",
    "time_limit",
    "memory_limit",
    "compile_error",
    "no_code",
    "data_error",
    "infra_error",
]

JUDGE_VERSION = "2"
"""Changes whenever a program could get another verdict; part of every record."""

NOT_A_SCORE: frozenset[Status] = frozenset({"data_error", "infra_error"})
"""Statuses that say something about the judge or the data, never about the program."""

_NEAR = 0.8
_FAILED_UNRUN: frozenset[Status] = frozenset({"compile_error", "no_code"})


@dataclass(frozen=True, slots=True)
class TestOutcome:
    """One test of one program.

    Attributes:
        index: Position in the suite, from 0.
        status: Outcome of this test.
        detail: Short reason that is the same in every run: exception type and message, first
            differing line, ``output_limit``, a signal's name. Never holds expected output, so
            that it may be shown to agents and optimizers. ``None`` if the test passed.
        got: Excerpt of what the program gave, marked where it was cut; ``None`` if it passed.
        wall_s: Measured seconds on the clock.
        cpu_s: Measured CPU seconds of the program with its children.
        memory_mb: Measured peak memory above the loaded interpreter, MiB.
    """

    __test__ = False  # not a pytest class

    index: int
    status: Status
    detail: str | None
    got: str | None
    wall_s: float
    cpu_s: float
    memory_mb: float | None

    @property
    def passed(self) -> bool:
        """Whether this test passed."""
        return self.status == "passed"


@dataclass(frozen=True, slots=True)
class Verdict:
    """All that the judge found out about one program.

    Attributes:
        question_id: The problem.
        status: ``passed``, or why not; of several failing tests the first one counts.
        outcomes: One entry for each test that was run, in order.
        n_passed: Tests that passed.
        n_total: Tests of the suite, run or not.
        first_failing: Index of the first failing test that was run.
        message: One line for a person; ``None`` if the program passed.
        rules: Name of the rule set.
        tier: Name of the isolation tier.
        limits: The limits in force, with units in the keys.
    """

    question_id: str
    status: Status
    outcomes: tuple[TestOutcome, ...]
    n_passed: int
    n_total: int
    first_failing: int | None
    message: str | None
    rules: str
    tier: str
    limits: dict[str, Any]

    @property
    def passed(self) -> bool:
        """Whether the program passed every test."""
        return self.status == "passed"

    @property
    def is_score(self) -> bool:
        """Whether this verdict may enter a score; a broken judge or broken data may not."""
        return self.status not in NOT_A_SCORE

    @property
    def pass_rate(self) -> float | None:
        """Share of tests passed; ``None`` when that is not known.

        A program without code, or one that does not compile, fails every test: 0.0.
        """
        if self.status in _FAILED_UNRUN:
            return 0.0
        if self.n_total == 0 or len(self.outcomes) < self.n_total or not self.is_score:
            return None
        return self.n_passed / self.n_total

    @property
    def near_limit(self) -> bool:
        """Whether a test took so much of its time that another machine might say time_limit."""
        most_s = self.limits.get("time_s")
        return most_s is not None and any(
            t.status != "time_limit" and t.cpu_s > _NEAR * most_s for t in self.outcomes
        )

    def to_record(self) -> dict[str, Any]:
        """Return the part that is the same in every run; holds no measurement."""
        return {
            "question_id": self.question_id,
            "status": self.status,
            "n_passed": self.n_passed,
            "n_total": self.n_total,
            "pass_rate": self.pass_rate,
            "first_failing": self.first_failing,
            "message": self.message,
            "tests": [
                {"index": t.index, "status": t.status, "detail": t.detail, "got": t.got}
                for t in self.outcomes
            ],
            "rules": self.rules,
            "tier": self.tier,
            "limits": dict(self.limits),
            "judge_version": JUDGE_VERSION,
        }

    def timing_record(self) -> dict[str, Any]:
        """Return the measured part: differs from run to run."""
        return {
            "question_id": self.question_id,
            "load": round(os.getloadavg()[0], 2),
            "near_limit": self.near_limit,
            "tests": [
                {
                    "index": t.index,
                    "wall_s": round(t.wall_s, 4),
                    "cpu_s": round(t.cpu_s, 4),
                    "memory_mb": None if t.memory_mb is None else round(t.memory_mb, 1),
                }
                for t in self.outcomes
            ],
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Verdict:
        """Rebuild a verdict from ``to_record``; measurements come back as zero."""
        outcomes = tuple(
            TestOutcome(
                index=test["index"],
                status=test["status"],
                detail=test["detail"],
                got=test["got"],
                wall_s=0.0,
                cpu_s=0.0,
                memory_mb=None,
            )
            for test in record["tests"]
        )
        names = ("question_id", "status", "n_passed", "n_total", "first_failing", "message")
        fields = {name: record[name] for name in (*names, "rules", "tier")}
        return cls(outcomes=outcomes, limits=dict(record["limits"]), **fields)
