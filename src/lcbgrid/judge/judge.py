"""The judge: programs and tests in, verdicts out."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType

from lcbgrid.config.judge_spec import JudgeSpec, RuleSet, functional_memory_mb
from lcbgrid.core.errors import DataError, SandboxError
from lcbgrid.judge.course import Course, compile_error, compile_job, names_numpy
from lcbgrid.judge.execution import Execution, execution_of, failed_to_compile
from lcbgrid.judge.job import Job
from lcbgrid.judge.limits import Limits
from lcbgrid.judge.pool import Pool, Quiet, Worker, usable_cores
from lcbgrid.judge.sandbox import SandboxLostError
from lcbgrid.judge.suites import CallTest, Check, StdinTest, prepare
from lcbgrid.judge.trial import Trial
from lcbgrid.judge.verdict import Verdict
from lcbgrid.problems.schema import TestSuite

_ATTEMPTS = 2
_BYTES_PER_CHAR = 4


class Judge:
    """Judges programs in sandboxes; may be shared by any number of threads.

    Args:
        spec: Rule set, limits, isolation tier.
        workers: Sandboxes that run side by side; never more than there are cores, because a
            program that waits for a core cannot be timed fairly. Default: all cores.
    """

    def __init__(self, spec: JudgeSpec, *, workers: int | None = None) -> None:
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
        rules: RuleSet | None = None,
        check: Check | None = None,
    ) -> Verdict:
        """Judge one program.

        Args:
            program: The source; ``None`` if no code could be had from the answer.
            suite: The tests.
            limits_override: Limits instead of the configured ones.
            float_tol: Tolerance of this problem instead of the configured one.
            rules: Rule set instead of the configured one.
            check: Looks at answers that differ from the stored ones; not under the official
                rules, which know none.

        Raises:
            SandboxError: No sandbox can be started.
        """
        limits = limits_override or self._limits(suite)
        tolerance = self.spec.float_tol if float_tol is None else float_tol
        trial = Trial(suite, rules or self.spec.rules, limits, tolerance, self.spec)
        try:
            tests = prepare(suite, None if trial.official else check)
        except DataError as error:
            return trial.verdict("data_error", message=str(error))
        if program is None:
            return trial.verdict("no_code", message="no program was found in the answer")
        return self._with_a_sandbox(program, tests, trial)

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
        numpy = names_numpy(code)
        lost = ""
        with self._pool.worker() as worker:
            for _ in range(_ATTEMPTS):
                sandbox = worker.sandbox(numpy=numpy)
                try:
                    compiled = sandbox.run(compile_job(code))
                    if compiled.exit_code != 0:
                        return failed_to_compile(compile_error(compiled), compiled)
                    with self._quiet.beside_others():
                        report = sandbox.run(job)
                    return execution_of(report, output_chars)
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
        self, program: str, tests: Sequence[StdinTest | CallTest], trial: Trial
    ) -> Verdict:
        """Judge, once more in a new sandbox if the first one is lost."""
        lost = ""
        with self._pool.worker() as worker:
            for _ in range(_ATTEMPTS):
                try:
                    return Course(worker, self._quiet, program, trial).judge(tests)
                except SandboxLostError as error:
                    worker.drop(numpy=names_numpy(program))
                    lost = str(error)
        return trial.verdict("infra_error", message=f"the sandbox was lost twice: {lost}")
