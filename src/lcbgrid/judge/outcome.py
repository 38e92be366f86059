"""From what became of a run to the status of a test (judge specification, section 13.5)."""

from __future__ import annotations

import re
from typing import Any

from lcbgrid.judge.job import Report
from lcbgrid.judge.limits import Limits
from lcbgrid.judge.plain import clip, decode_report, decode_value, show
from lcbgrid.judge.suites import CallTest, StdinTest
from lcbgrid.judge.verdict import Status, TestOutcome

_DETAIL_CHARS = 300
_GOT_CHARS = 300
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}\b")


def outcome_of(
    index: int,
    test: StdinTest | CallTest,
    report: Report,
    limits: Limits,
    float_tol: float | None,
) -> TestOutcome:
    """Decide one test.

    The first of these that holds: out of time, out of memory, output over the cap, ended with
    an error, wrong answer, passed.
    """
    failure = _failure(report, limits)
    got: str | None = None
    if failure is None and isinstance(test, CallTest):
        failure, got = _judge_result(test, report, float_tol)
    elif failure is None and isinstance(test, StdinTest):
        failure, got = decide_output(test, report.stdout, float_tol)
    elif isinstance(test, StdinTest) and report.stdout and report.ended_by == "output":
        got = _excerpt(report)
    status, detail = failure or ("passed", None)
    return TestOutcome(
        index=index,
        status=status,
        detail=detail,
        got=got,
        wall_s=report.wall_s,
        cpu_s=report.cpu_s,
        memory_mb=report.memory_mb,
    )


def _failure(report: Report, limits: Limits) -> tuple[Status, str] | None:
    """Return what went wrong with the run itself, whatever it printed."""
    if report.ended_by in ("cpu", "wall", "sandbox"):
        where = " while loading" if report.loading else ""
        return "time_limit", f"more than {limits.time_s:g} s{where}"
    if report.ended_by == "memory":
        return "memory_limit", f"more than {limits.memory_mb} MiB"
    if report.ended_by == "output":
        return "wrong_answer", "output_limit"
    if report.signal_name is not None:
        return "runtime_error", report.signal_name
    if report.exit_code != 0:
        frame = decode_report(report.report) or {}
        if frame.get("kind") == "error":
            return error_of(frame, limits)
        return "runtime_error", f"exit code {report.exit_code}"
    return None


def error_of(frame: dict[str, Any], limits: Limits) -> tuple[Status, str]:
    """Turn the wrapper's report of an exception into a status and a short reason."""
    name, text = str(frame.get("type", "")), str(frame.get("text", ""))
    if name == "MemoryError":
        return "memory_limit", f"MemoryError ({limits.memory_mb} MiB)"
    line = frame.get("line")
    # Addresses differ from run to run, reasons must not.
    reason = _ADDRESS.sub("0x…", f"{name}: {text}" if text else name)
    reason = " ".join(reason.split())
    where = f" (line {line})" if isinstance(line, int) and line > 0 else ""
    return "runtime_error", clip(reason, _DETAIL_CHARS) + where


def _judge_result(
    test: CallTest, report: Report, float_tol: float | None
) -> tuple[tuple[Status, str] | None, str | None]:
    if "report" in report.cut:
        return ("wrong_answer", "output_limit"), None
    frame = decode_report(report.report)
    if frame is None or frame.get("kind") != "result":
        return ("runtime_error", "ended without a result"), None
    return decide_value(test, frame.get("value"), float_tol)


def decide_value(
    test: CallTest, tagged: Any, float_tol: float | None
) -> tuple[tuple[Status, str] | None, str | None]:
    """Compare a result in its tagged form; return the failure and an excerpt, or nothing."""
    try:
        got = decode_value(tagged)
    except RecursionError:
        return ("wrong_answer", "the result is nested too deeply"), None
    difference = test.difference(got, float_tol)
    if difference is None:
        return None, None
    return ("wrong_answer", difference), _without_addresses(show(got, _GOT_CHARS))


def decide_output(
    test: StdinTest, output: bytes, float_tol: float | None
) -> tuple[tuple[Status, str] | None, str | None]:
    """Compare an output; return the failure and an excerpt, or nothing."""
    # Bytes that are no UTF-8 become lone surrogates, which no expected text holds.
    got = output.decode("utf-8", "surrogateescape")
    difference = test.difference(got, float_tol)
    if difference is None:
        return None, None
    return ("wrong_answer", difference), _without_addresses(clip(got, _GOT_CHARS))


def _excerpt(report: Report) -> str:
    start = report.stdout[: 4 * _GOT_CHARS].decode("utf-8", "replace")[:_GOT_CHARS]
    return f"{start}... [cut at the output limit]"


def _without_addresses(text: str) -> str:
    return _ADDRESS.sub("0x…", text)
