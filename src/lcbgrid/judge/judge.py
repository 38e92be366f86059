"""The judge: programs and tests in, verdicts out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from types import TracebackType
from typing import Any

from lcbgrid.config.judge_spec import JudgeSpec, functional_memory_mb
from lcbgrid.core.errors import DataError, SandboxError, UserError
from lcbgrid.judge.execution import Execution, execution_of, failed_to_compile
from lcbgrid.judge.limits import MAX_RESULT_BYTES, Limits
from lcbgrid.judge.outcome import error_of, outcome_of
from lcbgrid.judge.plain import decode_report
from lcbgrid.judge.pool import Pool, Quiet, Worker, usable_cores
from lcbgrid.judge.sandbox import Job, Report, Sandbox, SandboxLostError
from lcbgrid.judge.suites import CallTest, StdinTest, prepare
from lcbgrid.judge.verdict import Status, TestOutcome, Verdict
from lcbgrid.problems.schema import TestSuite

_COMPILE_LIMITS = Limits(time_s=30.0, memory_mb=2048)
_NUMPY = re.compile(r"\bnumpy\b")
_ATTEMPTS = 2
_BYTES_PER_CHAR = 4


class Judge:
    """Judges programs in sandboxes; may be shared by any number of threads.

    Args:
        spec: Rule set, limits, isolation tier.
        workers: Sandboxes that run side by side; never more than there are cores, because a
            program that waits for a core cannot be timed fairly. Default: all cores.

    Raises:
        UserError: The rule set is not available.
    """

    def __init__(self, spec: JudgeSpec, *, workers: int | None = None) -> None:
        if spec.rules != "real":
            raise UserError(
                f"rule set {spec.rules!r} is not implemented in this version",
                where="judge.rules",
                remedy="use rules: real",
            )
        self.spec = spec
        cores = usable_cores()
        self.workers = max(1, min(cores if workers is None else workers, cores))
        self._pool = Pool(self.workers, lambda: Worker(spec.sandbox))
        self._quiet = Quiet()

    def __enter__(self) -> Judge:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End all sandboxes; waits for programs that are being judged."""
        self._pool.close()

    def probe(self) -> None:
        """Start a sandbox now.

        Raises:
            SandboxError: Isolation does not work here; says why and what to do.
        """
        with self._pool.worker() as worker:
            worker.sandbox(numpy=False)

    def judge(
        self,
        program: str | None,
        suite: TestSuite,
        *,
        limits_override: Limits | None = None,
        float_tol: float | None = None,
    ) -> Verdict:
        """Judge one program.

        Args:
            program: The source; ``None`` if no code could be had from the answer.
            suite: The tests.
            limits_override: Limits instead of the configured ones.
            float_tol: Tolerance of this problem instead of the configured one.

        Raises:
            SandboxError: No sandbox can be started.
        """
        limits = limits_override or self._limits(suite)
        tolerance = self.spec.float_tol if float_tol is None else float_tol
        case = _Case(self, suite, limits, tolerance)
        try:
            tests = prepare(suite)
        except DataError as error:
            return case.verdict("data_error", message=str(error))
        if program is None:
            return case.verdict("no_code", message="no program was found in the answer")
        return self._with_a_sandbox(program, tests, case)

    def execute(
        self,
        code: str,
        stdin: str = "",
        *,
        time_s: float = 10.0,
        output_chars: int = 4000,
        memory_mb: int = 1024,
    ) -> Execution:
        """Run code as a tool for agents; cut its streams instead of judging them.

        Raises:
            SandboxError: No sandbox can be started, or it was lost twice.
        """
        limits = Limits(time_s, memory_mb)
        job = Job(
            kind="stdin",
            data=stdin.encode("utf-8", "surrogatepass"),
            limits=limits,
            stdout_cap_bytes=_BYTES_PER_CHAR * output_chars + 1,
            stderr_cap_bytes=_BYTES_PER_CHAR * output_chars + 1,
            keep_going=True,
        )
        numpy = _names_numpy(code)
        lost = ""
        with self._pool.worker() as worker:
            for _ in range(_ATTEMPTS):
                sandbox = worker.sandbox(numpy=numpy)
                try:
                    compiled = sandbox.run(_compile_job(code))
                    if compiled.exit_code != 0:
                        return failed_to_compile(_compile_error(compiled), compiled)
                    return execution_of(self._run_quietly(sandbox, job), output_chars)
                except SandboxLostError as error:
                    worker.drop(numpy=numpy)
                    lost = str(error)
        raise SandboxError("the sandbox was lost twice", value=lost)

    def _limits(self, suite: TestSuite) -> Limits:
        memory_mb = self.spec.memory_mb
        if suite.mode == "functional":
            memory_mb = functional_memory_mb(memory_mb)
        return Limits(self.spec.time_s, memory_mb)

    def _with_a_sandbox(
        self, program: str, tests: Sequence[StdinTest | CallTest], case: _Case
    ) -> Verdict:
        """Judge, once more in a new sandbox if the first one is lost."""
        numpy = _names_numpy(program)
        lost = ""
        with self._pool.worker() as worker:
            for _ in range(_ATTEMPTS):
                try:
                    return self._judge_in(worker, numpy, program, tests, case)
                except SandboxLostError as error:
                    worker.drop(numpy=numpy)
                    lost = str(error)
        return case.verdict("infra_error", message=f"the sandbox was lost twice: {lost}")

    def _judge_in(
        self,
        worker: Worker,
        numpy: bool,
        program: str,
        tests: Sequence[StdinTest | CallTest],
        case: _Case,
    ) -> Verdict:
        compiled = worker.sandbox(numpy=numpy).run(_compile_job(program))
        if compiled.exit_code != 0:
            return case.verdict("compile_error", message=_compile_error(compiled))
        outcomes: list[TestOutcome] = []
        sandbox = worker.sandbox(numpy=numpy)
        for index, test in enumerate(tests):
            if not sandbox.usable:  # the last program left it soiled: a new one needs the source
                sandbox = worker.sandbox(numpy=numpy)
                sandbox.run(_compile_job(program))
            report = self._run_fairly(sandbox, _test_job(test, case), case)
            outcomes.append(outcome_of(index, test, report, case.limits, case.float_tol))
            if self.spec.stop_at_first_failure and not outcomes[-1].passed:
                break
        return case.verdict_of(outcomes)

    def _run_fairly(self, sandbox: Sandbox, job: Job, case: _Case) -> Report:
        """Run a test; once more, alone, if it was late while the machine was busy.

        A program that is late alone, too, gets no second chance on its other tests.
        """
        report = self._run_quietly(sandbox, job)
        late = report.ended_by in ("cpu", "wall")
        if late and report.contended and sandbox.usable and not case.known_to_be_slow:
            with self._quiet.alone():
                report = sandbox.run(job)
            case.known_to_be_slow = report.ended_by is not None
        return report

    def _run_quietly(self, sandbox: Sandbox, job: Job) -> Report:
        with self._quiet.beside_others():
            return sandbox.run(job)


class _Case:
    """One program on one suite: what its verdict will say besides the outcomes."""

    def __init__(
        self, judge: Judge, suite: TestSuite, limits: Limits, float_tol: float | None
    ) -> None:
        self.suite = suite
        self.limits = limits
        self.float_tol = float_tol
        self.known_to_be_slow = False
        self._spec = judge.spec

    def verdict(
        self,
        status: Status,
        *,
        outcomes: Sequence[TestOutcome] = (),
        first_failing: int | None = None,
        message: str | None = None,
    ) -> Verdict:
        return Verdict(
            question_id=self.suite.question_id,
            status=status,
            outcomes=tuple(outcomes),
            n_passed=sum(outcome.passed for outcome in outcomes),
            n_total=len(self.suite.tests),
            first_failing=first_failing,
            message=message,
            rules=self._spec.rules,
            tier=self._spec.sandbox,
            limits={
                "time_s": self.limits.time_s,
                "memory_mb": self.limits.memory_mb,
                "output_bytes": self.limits.output_bytes,
                "float_tol": self.float_tol,
                "stop_at_first_failure": self._spec.stop_at_first_failure,
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


def _names_numpy(program: str) -> bool:
    return _NUMPY.search(program) is not None


def _compile_job(program: str) -> Job:
    return Job("compile", program.encode("utf-8", "surrogatepass"), _COMPILE_LIMITS)


def _test_job(test: StdinTest | CallTest, case: _Case) -> Job:
    cap_bytes = case.limits.output_cap_bytes(test.expected_bytes)
    if isinstance(test, CallTest):
        return Job(
            "call",
            test.data,
            case.limits,
            report_cap_bytes=min(cap_bytes, MAX_RESULT_BYTES),
            function=case.suite.fn_name or "",
        )
    return Job("stdin", test.data, case.limits, stdout_cap_bytes=cap_bytes)


def _compile_error(report: Report) -> str:
    frame: dict[str, Any] = decode_report(report.report) or {}
    if report.ended_by is not None:
        return f"compiling ran into a limit ({report.ended_by})"
    if frame.get("kind") == "error":
        return error_of(frame, _COMPILE_LIMITS)[1]
    return f"the compiler ended with {report.signal_name or report.exit_code}"
