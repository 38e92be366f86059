"""Several tests in one process: jobs for that, and answers that are judged as they come.

The process sends an answer for each test, in order, and holds no expected output. An answer is
compared and forgotten at once, so that the judge's memory does not grow with the tests.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from typing import Any

from lcbgrid.judge.inside.parts import OUTPUT
from lcbgrid.judge.job import Job, Report
from lcbgrid.judge.limits import MAX_RESULT_BYTES
from lcbgrid.judge.outcome import decide_output, decide_value, error_of
from lcbgrid.judge.suites import CallTest, StdinTest
from lcbgrid.judge.trial import Trial
from lcbgrid.judge.verdict import Status, TestOutcome

_HEADER_BYTES = 16
_BATCH_SHARE_OF_TIME = 0.25
_FRAME_BYTES = 1 << 12

Tests = Sequence[StdinTest | CallTest]


class Answers:
    """Judges answers of consecutive tests until one is not right.

    Args:
        tests: The tests, in the order in which they are run.
        first: Index of the first of them in the suite.
        trial: Limits and tolerance.
    """

    def __init__(self, tests: Tests, first: int, trial: Trial) -> None:
        self.outcomes: list[TestOutcome] = []
        self._tests = tests
        self._first = first
        self._trial = trial
        self._over = False

    @property
    def complete(self) -> bool:
        """Whether nothing more can be learnt: all tests passed, or one failed."""
        if len(self.outcomes) == len(self._tests):
            return True
        return bool(self.outcomes) and not self.outcomes[-1].passed

    def consume(self, kept: bytearray) -> bool:
        """Judge all whole answers at the front of ``kept`` and remove them."""
        while not (self.complete or self._over):
            frame = self._take(kept)
            if frame is None:
                return self._over
            self._decide(frame)
        kept.clear()
        return True

    def _take(self, kept: bytearray) -> bytes | None:
        end = kept.find(b"\n", 0, _HEADER_BYTES + 1)
        if end < 0 or not kept[:end].isdigit():
            # Not ours: whatever comes after it cannot be told apart from it.
            self._over = end >= 0 or len(kept) > _HEADER_BYTES
            return None
        size = int(kept[:end])
        if len(kept) < end + 1 + size:
            return None
        frame = bytes(memoryview(kept)[end + 1 : end + 1 + size])
        del kept[: end + 1 + size]
        return frame

    def _decide(self, frame: bytes) -> None:
        test = self._tests[len(self.outcomes)]
        failure, got = self._failure(test, frame)
        status, detail = failure or ("passed", None)
        self.fail_or_pass(status, detail, got)

    def fail_or_pass(self, status: Status, detail: str | None, got: str | None = None) -> None:
        """Note the outcome of the next test."""
        index = self._first + len(self.outcomes)
        self.outcomes.append(TestOutcome(index, status, detail, got, 0.0, 0.0, None))

    def _failure(
        self, test: StdinTest | CallTest, frame: bytes
    ) -> tuple[tuple[Status, str] | None, str | None]:
        tolerance = self._trial.float_tol
        if frame[:1] == OUTPUT and isinstance(test, StdinTest):
            return decide_output(test, frame[1:], tolerance)
        fields = _fields_of(frame)
        if fields.get("kind") == "result" and isinstance(test, CallTest):
            return decide_value(test, fields.get("value"), tolerance)
        if fields.get("kind") == "time":
            return ("time_limit", f"more than {self._trial.limits.time_s:g} s"), None
        if fields.get("kind") == "error":
            _, reason = error_of(fields, self._trial.limits)
            where = "while loading: " if fields.get("loading") else ""
            return ("runtime_error", where + reason), None
        return ("runtime_error", "a damaged answer"), None

    def measured(self, report: Report) -> list[TestOutcome]:
        """Return the outcomes with the process's time shared out evenly."""
        count = max(1, len(self.outcomes))
        return [
            dataclasses.replace(
                outcome,
                wall_s=report.wall_s / count,
                cpu_s=report.cpu_s / count,
                memory_mb=report.memory_mb,
            )
            for outcome in self.outcomes
        ]


def _fields_of(frame: bytes) -> dict[str, Any]:
    try:
        fields = json.loads(frame)
    except (ValueError, RecursionError):
        return {}
    return fields if isinstance(fields, dict) else {}


def official_job(program: str, tests: Tests, trial: Trial, answers: Answers) -> Job:
    """Return the job that runs a whole program by the official habits."""
    return Job(
        "official",
        b"",
        trial.limits,
        report_cap_bytes=_cap_bytes(tests, trial),
        function=trial.suite.fn_name or "",
        # How long the official runner waits for a whole program before it gives up.
        total_s=(trial.limits.time_s + 1) * len(tests) + 5,
        parts=(test.data for test in tests),
        has_solution_class="class Solution" in program,
        consume=answers.consume,
    )


def official_outcomes(answers: Answers, report: Report, total_s: float) -> list[TestOutcome]:
    """Say what became of the test whose answer never came, if there is one."""
    if not answers.complete:
        if report.ended_by == "output":
            answers.fail_or_pass("wrong_answer", "output_limit")
        elif report.ended_by is not None:
            answers.fail_or_pass("runtime_error", f"no answer from the process in {total_s:g} s")
        else:
            answers.fail_or_pass("runtime_error", "the process ended without an answer")
    return answers.measured(report)


def batch_job(tests: Tests, trial: Trial, answers: Answers) -> Job:
    """Return the job that calls a function on many tests in one process.

    It may take a quarter of the time of one test: then every call in it has surely taken less
    than its own limit, loading and all.
    """
    return Job(
        "batch",
        b"",
        trial.limits,
        report_cap_bytes=_cap_bytes(tests, trial),
        function=trial.suite.fn_name or "",
        total_s=trial.limits.time_s * _BATCH_SHARE_OF_TIME,
        parts=(test.data for test in tests),
        consume=answers.consume,
    )


def _cap_bytes(tests: Tests, trial: Trial) -> int:
    """What may wait in the channel: one whole answer."""
    longest = max(test.expected_bytes for test in tests)
    return min(trial.limits.output_cap_bytes(longest), MAX_RESULT_BYTES) + _FRAME_BYTES
