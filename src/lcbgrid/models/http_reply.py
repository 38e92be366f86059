"""Read one HTTP/1.1 reply from the bytes of a connection, as they come."""

from __future__ import annotations

MAX_HEAD_BYTES = 1 << 16
MAX_BODY_BYTES = 1 << 26


class BadReply(Exception):
    """The bytes are no HTTP/1.1 reply that this reader understands."""


class ReplyParser:
    """Collects one reply; ``feed`` returns True when it is whole.

    Attributes:
        status: The HTTP status.
        headers: By name in lower case; of repeated ones the last.
        body: The body, transfer coding removed, content coding kept.
        keep_alive: The connection can carry another request.
    """

    __slots__ = (
        "_buffer",
        "_chunked",
        "_head_done",
        "_length",
        "body",
        "headers",
        "keep_alive",
        "status",
    )

    def __init__(self) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.body = bytearray()
        self.keep_alive = True
        self._buffer = bytearray()
        self._head_done = False
        self._chunked = False
        self._length: int | None = None

    def feed(self, data: bytes) -> bool:
        """Take more bytes.

        Raises:
            BadReply: They cannot be part of a reply, or are too many.
        """
        self._buffer += data
        while not self._head_done:
            if not self._take_head():
                return False
        if self._chunked:
            return self._take_chunks()
        self.body += self._buffer
        self._buffer.clear()
        if len(self.body) > MAX_BODY_BYTES:
            raise BadReply(f"the reply is larger than {MAX_BODY_BYTES} bytes")
        if self._length is None:
            return False
        if len(self.body) > self._length:
            raise BadReply("more bytes than the reply announced")
        return len(self.body) == self._length

    def ends_with_connection(self) -> bool:
        """True if the end of the connection is the proper end of this reply."""
        return self._head_done and not self._chunked and self._length is None

    def _take_head(self) -> bool:
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            if len(self._buffer) > MAX_HEAD_BYTES:
                raise BadReply("the reply's head has no end")
            return False
        lines = bytes(self._buffer[:end]).split(b"\r\n")
        del self._buffer[: end + 4]
        version, _, rest = lines[0].partition(b" ")
        if version not in (b"HTTP/1.1", b"HTTP/1.0") or not rest[:3].isdigit():
            raise BadReply(f"not an HTTP reply: {lines[0][:60]!r}")
        self.status = int(rest[:3])
        if 100 <= self.status < 200:
            return bool(self._buffer)  # an interim reply; the real one follows
        self.keep_alive = version == b"HTTP/1.1"
        for line in lines[1:]:
            name, colon, value = line.partition(b":")
            if not colon:
                raise BadReply(f"not a header line: {line[:60]!r}")
            name, value = name.lower(), value.strip()
            self.headers[name.decode("latin-1")] = value.decode("latin-1")
            self._heed(name, value)
        if self.status in (204, 304):
            self._length = 0
        if not self._chunked and self._length is None:
            self.keep_alive = False
        self._head_done = True
        return True

    def _heed(self, name: bytes, value: bytes) -> None:
        if name == b"content-length":
            if not value.isdigit():
                raise BadReply(f"bad Content-Length: {value[:20]!r}")
            self._length = int(value)
        elif name == b"transfer-encoding":
            self._chunked = value.lower() == b"chunked"
            if not self._chunked:
                raise BadReply(f"unknown Transfer-Encoding: {value[:20]!r}")
        elif name == b"connection" and value.lower() == b"close":
            self.keep_alive = False

    def _take_chunks(self) -> bool:
        buffer = self._buffer
        while True:
            end = buffer.find(b"\r\n")
            if end < 0:
                return False
            try:
                size = int(bytes(buffer[:end]).split(b";")[0], 16)
            except ValueError:
                raise BadReply(f"bad chunk size: {bytes(buffer[:20])!r}") from None
            if size == 0:
                return self._take_trailer(end)
            if len(buffer) < end + 2 + size + 2:
                return False
            self.body += buffer[end + 2 : end + 2 + size]
            del buffer[: end + 2 + size + 2]
            if len(self.body) > MAX_BODY_BYTES:
                raise BadReply(f"the reply is larger than {MAX_BODY_BYTES} bytes")

    def _take_trailer(self, end: int) -> bool:
        if self._buffer[end : end + 4] == b"\r\n\r\n":
            return True
        return self._buffer.find(b"\r\n\r\n", end) >= 0
