"""A strict little HTTP/1.1 server protocol: keep-alive, known lengths, replies after a delay."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

MAX_HEAD_BYTES = 1 << 16
MAX_BODY_BYTES = 1 << 25
TIMER_LEAD_S = 0.0005
"""The event loop's timers fire up to 1 ms late; aiming half of it early keeps the mean right."""

_REASONS = {
    200: b"OK",
    400: b"Bad Request",
    401: b"Unauthorized",
    404: b"Not Found",
    405: b"Method Not Allowed",
    411: b"Length Required",
    413: b"Content Too Large",
    429: b"Too Many Requests",
    500: b"Internal Server Error",
    503: b"Service Unavailable",
}


@dataclass(slots=True)
class Request:
    """One HTTP request, read whole."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass(slots=True)
class Response:
    """What to send, when, and how it is to go wrong.

    Attributes:
        delay_s: Time between the arrival of the request and the first byte of the reply.
        cut_after: Send only so many bytes of the body, then close the connection.
        never: Send nothing; close the connection after the delay.
    """

    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    cut_after: int | None = None
    never: bool = False

    def to_bytes(self) -> bytes:
        """Return head and body as they go over the connection."""
        head = b"HTTP/1.1 %d %s\r\ncontent-type: application/json\r\ncontent-length: %d\r\n" % (
            self.status,
            _REASONS.get(self.status, b"Status"),
            len(self.body),
        )
        for name, value in self.headers.items():
            head += f"{name}: {value}\r\n".encode("latin-1")
        body = self.body if self.cut_after is None else self.body[: self.cut_after]
        return head + b"\r\n" + body


class BadHttp(Exception):
    """The client's bytes are no request; answered with ``status`` and closed."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class HttpProtocol(asyncio.Protocol):
    """One connection; requests on it are answered one after the other.

    Args:
        handle: Called for each request; must return at once.
        refuse: Makes the response to bytes that are no request.
        connections: Set that holds the open connections.
    """

    def __init__(
        self,
        handle: Callable[[Request], Response],
        refuse: Callable[[int, str], Response],
        connections: set[HttpProtocol],
    ) -> None:
        self._handle = handle
        self._refuse = refuse
        self._connections = connections
        self._buffer = bytearray()
        self._busy = False
        self._timer: asyncio.TimerHandle | None = None
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember the connection."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._connections.add(self)

    def connection_lost(self, error: Exception | None) -> None:
        """Forget it; a reply that was still due is dropped."""
        self._connections.discard(self)
        if self._timer is not None:
            self._timer.cancel()

    def data_received(self, data: bytes) -> None:
        """Collect bytes and answer the request when it is whole."""
        self._buffer += data
        if not self._busy:
            self._next()

    def _next(self) -> None:
        loop = asyncio.get_running_loop()
        arrived_s = loop.time()
        try:
            request = self._take()
            if request is None:
                return
            response = self._handle(request)
            close = request.headers.get("connection", "").lower() == "close"
        except BadHttp as error:
            response, close = self._refuse(error.status, str(error)), True
        self._busy = True
        if response.delay_s <= 0.0:
            self._send(response, close)
        else:
            due_s = arrived_s + response.delay_s - TIMER_LEAD_S
            self._timer = loop.call_at(due_s, self._send, response, close)

    def _send(self, response: Response, close: bool) -> None:
        transport = self._transport
        assert transport is not None
        self._timer = None
        if not response.never:
            transport.write(response.to_bytes())
        if close or response.never or response.cut_after is not None:
            transport.close()
            return
        self._busy = False
        if self._buffer:
            self._next()

    def _take(self) -> Request | None:
        buffer = self._buffer
        end = buffer.find(b"\r\n\r\n")
        if end < 0:
            if len(buffer) > MAX_HEAD_BYTES:
                raise BadHttp(400, "the request's head has no end")
            return None
        lines = bytes(buffer[:end]).decode("latin-1").split("\r\n")
        parts = lines[0].split(" ")
        if len(parts) != 3 or not parts[2].startswith("HTTP/1."):
            raise BadHttp(400, f"not an HTTP request line: {lines[0][:80]!r}")
        headers: dict[str, str] = {}
        for line in lines[1:]:
            name, colon, value = line.partition(":")
            if not colon:
                raise BadHttp(400, f"not a header line: {line[:80]!r}")
            headers[name.lower()] = value.strip()
        size = self._body_size(headers)
        if len(buffer) < end + 4 + size:
            if headers.get("expect", "").lower() == "100-continue" and len(buffer) == end + 4:
                assert self._transport is not None
                self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            return None
        body = bytes(buffer[end + 4 : end + 4 + size])
        del buffer[: end + 4 + size]
        return Request(parts[0], parts[1], headers, body)

    @staticmethod
    def _body_size(headers: dict[str, str]) -> int:
        if "transfer-encoding" in headers:
            raise BadHttp(411, "send the body with a Content-Length, not chunked")
        text = headers.get("content-length", "0")
        if not text.isascii() or not text.isdigit():
            raise BadHttp(400, f"bad Content-Length: {text[:20]!r}")
        if int(text) > MAX_BODY_BYTES:
            raise BadHttp(413, f"the body is larger than {MAX_BODY_BYTES} bytes")
        return int(text)

    def abort(self) -> None:
        """Close the connection without sending what is due."""
        if self._transport is not None:
            self._transport.abort()
