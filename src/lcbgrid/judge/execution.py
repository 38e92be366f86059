"""Running a piece of code for a tool: no tests, no verdict."""

from __future__ import annotations

import signal
from dataclasses import dataclass

from lcbgrid.judge.job import Report


@dataclass(frozen=True, slots=True)
class Execution:
    """What a run printed and how it ended.

    Attributes:
        stdout: Output, cut to the budget.
        stderr: Error text, cut to the budget.
        exit_code: Exit code; minus the signal's number if a signal ended it; ``None`` if the
            time limit did.
        timed_out: Whether the time limit ended it.
        stdout_truncated: Whether output was left out.
        stderr_truncated: Whether error text was left out.
        wall_s: Seconds it took.
    """

    stdout: str
    stderr: str
    exit_code: int | None
    timed_out: bool
    stdout_truncated: bool
    stderr_truncated: bool
    wall_s: float


def execution_of(report: Report, output_chars: int) -> Execution:
    """Turn the end of a run into texts of at most ``output_chars`` characters each."""
    stdout, stdout_truncated = _text(report, "stdout", output_chars)
    stderr, stderr_truncated = _text(report, "stderr", output_chars)
    timed_out = report.ended_by in ("cpu", "wall", "sandbox")
    exit_code = report.exit_code
    if report.signal_name is not None:
        exit_code = -int(getattr(signal, report.signal_name, signal.SIGKILL))
    return Execution(
        stdout=stdout,
        stderr=stderr,
        exit_code=None if timed_out else exit_code,
        timed_out=timed_out,
        stdout_truncated=stdout_truncated,
        stderr_truncated=stderr_truncated,
        wall_s=report.wall_s,
    )


def failed_to_compile(reason: str, report: Report) -> Execution:
    """Return what Python would have given for a source that does not compile."""
    return Execution(
        stdout="",
        stderr=reason + "\n",
        exit_code=1,
        timed_out=False,
        stdout_truncated=False,
        stderr_truncated=False,
        wall_s=report.wall_s,
    )


def _text(report: Report, name: str, limit_chars: int) -> tuple[str, bool]:
    data: bytes = getattr(report, name)
    text = data.decode("utf-8", "replace")
    return text[:limit_chars], name in report.cut or len(text) > limit_chars
