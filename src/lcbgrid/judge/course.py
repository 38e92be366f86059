"""The way of one program through its tests, in a worker's sandboxes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from lcbgrid.judge.job import Job, Report
from lcbgrid.judge.limits import MAX_RESULT_BYTES, Limits
from lcbgrid.judge.outcome import error_of, outcome_of
from lcbgrid.judge.plain import decode_report
from lcbgrid.judge.pool import Quiet, Worker
from lcbgrid.judge.sandbox import Sandbox
from lcbgrid.judge.suites import CallTest, StdinTest
from lcbgrid.judge.together import Answers, batch_job, official_job, official_outcomes
from lcbgrid.judge.trial import Trial
from lcbgrid.judge.verdict import TestOutcome, Verdict

_COMPILE_LIMITS = Limits(time_s=30.0, memory_mb=2048)
_NUMPY = re.compile(r"\bnumpy\b")
_MOST_BATCH_FAILURES = 3

Tests = Sequence[StdinTest | CallTest]


def names_numpy(program: str) -> bool:
    """Return whether a program needs the kind of sandbox that has numpy loaded."""
    return _NUMPY.search(program) is not None


def compile_job(program: str, shape: str = "") -> Job:
    """Return the job that compiles a source, shaped as the rule set wants it."""
    return Job("compile", program.encode("utf-8", "surrogatepass"), _COMPILE_LIMITS, shape=shape)


def compile_error(report: Report) -> str:
    """Say why a source did not compile."""
    frame: dict[str, Any] = decode_report(report.report) or {}
    if report.ended_by is not None:
        return f"compiling ran into a limit ({report.ended_by})"
    if frame.get("kind") == "error":
        return error_of(frame, _COMPILE_LIMITS)[1]
    return f"the compiler ended with {report.signal_name or report.exit_code}"


class Course:
    """Compiles a program, runs its tests, decides.

    Args:
        worker: Sandboxes of one caller.
        quiet: Lets tests run beside others or alone.
        program: The source.
        trial: Rules, limits and suite.
    """

    def __init__(self, worker: Worker, quiet: Quiet, program: str, trial: Trial) -> None:
        self._worker = worker
        self._quiet = quiet
        self._program = program
        self._trial = trial
        self._numpy = names_numpy(program)
        self._loaded: Sandbox | None = None
        self._shape = ""

    def judge(self, tests: Tests) -> Verdict:
        """Return the verdict.

        Raises:
            SandboxLostError: The sandbox died; says nothing about the program.
        """
        trial = self._trial
        self._shape = _shape(tests, trial)
        self._loaded = self._worker.sandbox(numpy=self._numpy)
        compiled = self._loaded.run(compile_job(self._program, self._shape))
        if compiled.exit_code != 0:
            message = compile_error(compiled)
            if trial.official:  # that runner knows no such status
                return trial.verdict("runtime_error", message=f"while loading: {message}")
            return trial.verdict("compile_error", message=message)
        if trial.official:
            return trial.verdict_of(self._official(tests))
        frame = decode_report(compiled.report) or {}
        return trial.verdict_of(self._real(tests, may_batch=frame.get("keeps_nothing") is True))

    def _sandbox(self) -> Sandbox:
        """Return a sandbox that holds the program; a new one needs the source again."""
        sandbox = self._worker.sandbox(numpy=self._numpy)
        if sandbox is not self._loaded:
            sandbox.run(compile_job(self._program, self._shape))
            self._loaded = sandbox
        return sandbox

    def _real(self, tests: Tests, *, may_batch: bool) -> list[TestOutcome]:
        """Run each test in a process of its own; what may share one and passes there is done."""
        outcomes: list[TestOutcome] = []
        batch_failures = 0
        while len(outcomes) < len(tests):
            first = len(outcomes)
            if may_batch and batch_failures < _MOST_BATCH_FAILURES and first + 1 < len(tests):
                outcomes += self._passed_in_a_batch(tests[first:], first)
                if len(outcomes) == len(tests):
                    break
            index = len(outcomes)
            report = self._run_fairly(_test_job(tests[index], self._trial))
            limits, tolerance = self._trial.limits, self._trial.float_tol
            outcomes.append(outcome_of(index, tests[index], report, limits, tolerance))
            if not outcomes[-1].passed and self._trial.stop_at_first_failure:
                break
            batch_failures += index == first or not outcomes[-1].passed
        return outcomes

    def _passed_in_a_batch(self, tests: Tests, first: int) -> list[TestOutcome]:
        answers = Answers(tests, first, self._trial)
        sandbox = self._sandbox()
        with self._quiet.beside_others():
            report = sandbox.run(batch_job(tests, self._trial, answers))
        return [outcome for outcome in answers.measured(report) if outcome.passed]

    def _official(self, tests: Tests) -> list[TestOutcome]:
        outcomes, contended = self._once_officially(tests)
        if contended and outcomes[-1].status == "time_limit":
            with self._quiet.alone():
                outcomes, _ = self._once_officially(tests)
        return outcomes

    def _once_officially(self, tests: Tests) -> tuple[list[TestOutcome], bool]:
        answers = Answers(tests, 0, self._trial)
        job = official_job(self._program, tests, self._trial, answers)
        report = self._sandbox().run(job)
        outcomes = official_outcomes(answers, report, job.total_s or 0.0)
        return outcomes, report.contended

    def _run_fairly(self, job: Job) -> Report:
        """Run a test; once more, alone, if it was late while the machine was busy.

        A program that is late alone, too, gets no second chance on its other tests.
        """
        sandbox = self._sandbox()
        with self._quiet.beside_others():
            report = sandbox.run(job)
        late = report.ended_by in ("cpu", "wall")
        if late and report.contended and sandbox.usable and not self._trial.known_to_be_slow:
            with self._quiet.alone():
                report = sandbox.run(job)
            self._trial.known_to_be_slow = report.ended_by is not None
        return report


def _shape(tests: Tests, trial: Trial) -> str:
    functional = trial.suite.mode == "functional"
    if trial.official:
        return "official-call" if functional else "official-stdin"
    return "batch" if functional and len(tests) > 1 else ""


def _test_job(test: StdinTest | CallTest, trial: Trial) -> Job:
    cap_bytes = trial.limits.output_cap_bytes(test.expected_bytes)
    if isinstance(test, CallTest):
        return Job(
            "call",
            test.data,
            trial.limits,
            report_cap_bytes=min(cap_bytes, MAX_RESULT_BYTES),
            function=trial.suite.fn_name or "",
        )
    return Job("stdin", test.data, trial.limits, stdout_cap_bytes=cap_bytes)
