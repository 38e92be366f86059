"""How model calls fail: one exception inside the package, one that leaves it.

A provider raises ``CallFailure``; the client retries it, or turns it into ``ModelCallError``,
which is an ``EndpointError`` with a kind. No failure is ever stored or scored.
"""

from __future__ import annotations

import email.utils
import time
from collections.abc import Mapping
from typing import Any, Literal

from lcbgrid.core.errors import EndpointError, LcbGridError
from lcbgrid.models.overflow import find_overflow

FailureKind = Literal[
    "rate_limit",
    "server_error",
    "timeout",
    "connection",
    "bad_body",
    "empty_choices",
    "auth",
    "not_found",
    "quota",
    "bad_request",
    "context_limit",
]

RETRYABLE: frozenset[str] = frozenset(
    {"rate_limit", "server_error", "timeout", "connection", "bad_body", "empty_choices"}
)
FATAL: frozenset[str] = frozenset({"auth", "not_found", "quota"})
"""Kinds that every other call to this endpoint would meet as well."""

_RETRYABLE_STATUS = {408: "timeout", 409: "server_error", 425: "server_error", 429: "rate_limit"}


class CallFailure(Exception):
    """One attempt failed.

    Args:
        kind: What went wrong.
        message: The server's or our own words, on one line.
        retry_after_s: Wait that the server asked for.
    """

    def __init__(
        self, kind: FailureKind, message: str, *, retry_after_s: float | None = None
    ) -> None:
        super().__init__(message)
        self.kind: FailureKind = kind
        self.message = " ".join(message.split())[:600]
        self.retry_after_s = retry_after_s

    @property
    def retryable(self) -> bool:
        """True if another attempt may succeed."""
        return self.kind in RETRYABLE


class ModelCallError(EndpointError):
    """A call failed for good; an infrastructure error, never an answer.

    Attributes:
        kind: What went wrong, one of ``FailureKind``.
        fatal: Every other call would fail the same way, so the run should stop.
    """

    def __init__(
        self,
        what: str,
        *,
        where: object = None,
        value: object = None,
        remedy: str | None = None,
        kind: FailureKind = "connection",
        fatal: bool = False,
    ) -> None:
        super().__init__(what, where=where, value=value, remedy=remedy)
        self.kind: FailureKind = kind
        self.fatal = fatal

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle with kind and fatal, so that the error crosses process pools whole."""
        return (
            _rebuild,
            (self.what, self.where, self.value, self.remedy, self.kind, self.fatal),
        )


def _rebuild(
    what: str, where: object, value: object, remedy: str | None, kind: FailureKind, fatal: bool
) -> LcbGridError:
    return ModelCallError(what, where=where, value=value, remedy=remedy, kind=kind, fatal=fatal)


def failure_of_status(status: int, body: Any, headers: Mapping[str, str]) -> CallFailure:
    """Name the failure behind an HTTP status of 400 or more.

    Args:
        status: The HTTP status.
        body: The decoded JSON body, or its text if it is no JSON.
        headers: Response headers; ``Retry-After`` is read.
    """
    text = error_text(body) or f"HTTP status {status}"
    code = error_code(body)
    retry_after_s = parse_retry_after(headers.get("retry-after"))
    if code == "insufficient_quota":
        return CallFailure("quota", text)
    if status in _RETRYABLE_STATUS:
        return CallFailure(
            _RETRYABLE_STATUS[status],  # type: ignore[arg-type]
            f"HTTP {status}: {text}",
            retry_after_s=retry_after_s,
        )
    overflow = find_overflow(text, code, body)
    if overflow is not None:  # some servers say it with 413, 422 or 500
        return CallFailure("context_limit", overflow)
    if status >= 500:
        return CallFailure("server_error", f"HTTP {status}: {text}", retry_after_s=retry_after_s)
    if status in (401, 403):
        return CallFailure("auth", text)
    if status == 404 or code == "model_not_found":
        return CallFailure("not_found", text)
    return CallFailure("bad_request", f"HTTP {status}: {text}")


def error_text(body: Any) -> str:
    """Return the message inside an error body, whatever its shape."""
    if isinstance(body, Mapping):
        error = body.get("error", body)
        if isinstance(error, Mapping):
            for field in ("message", "detail", "error", "msg"):
                if isinstance(error.get(field), str):
                    return str(error[field])
        if isinstance(error, str):
            return error
        if isinstance(body.get("message"), str):
            return str(body["message"])
        return ""
    return body.strip()[:400] if isinstance(body, str) else ""


def error_code(body: Any) -> str | None:
    """Return the machine-readable code inside an error body, if it has one."""
    if isinstance(body, Mapping):
        error = body.get("error", body)
        if isinstance(error, Mapping):
            for field in ("code", "type"):
                if isinstance(error.get(field), str):
                    return str(error[field])
    return None


def parse_retry_after(value: str | None, *, now_s: float | None = None) -> float | None:
    """Return the seconds that a ``Retry-After`` header asks for (a number or an HTTP date)."""
    if value is None:
        return None
    value = value.strip()
    try:
        seconds = float(value)
    except ValueError:
        try:
            moment = email.utils.parsedate_to_datetime(value).timestamp()
        except (TypeError, ValueError):
            return None
        seconds = moment - (time.time() if now_s is None else now_s)
    return max(0.0, seconds) if seconds == seconds and seconds < 1e9 else None
