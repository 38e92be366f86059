"""A pool of plain HTTP/1.1 connections: many calls in flight, little CPU a call.

The general transport of httpx scans its whole pool for every request; with 64 connections a call
costs some 2 ms of CPU, and the event loop becomes the bottleneck of a run (figures in
``docs/reference/models.md``). This pool keeps a list of idle connections and a queue of ready
requests: a connection that has read a whole reply writes the next request at once, before any
task wakes up.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from dataclasses import dataclass

from lcbgrid.models.http_reply import BadReply, ReplyParser

CONNECT_TIMEOUT_S = 10.0
IDLE_EXPIRY_S = 4.0  # below the 5 s after which common servers close an idle connection


class CutReply(ConnectionError):
    """The connection ended, or what came over it made no sense, before the reply was whole."""


@dataclass(frozen=True, slots=True)
class HttpReply:
    """One reply, read whole; header names in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes
    latency_s: float


@dataclass(slots=True, eq=False)
class _Exchange:
    """One request on its way: its bytes and who waits for the reply."""

    payload: bytes
    done: asyncio.Future[HttpReply]

    def fail(self, error: Exception) -> None:
        if not self.done.done():
            self.done.set_exception(error)
            self.done.exception()  # seen: whoever waited may have been interrupted meanwhile


class _Connection(asyncio.Protocol):
    """A keep-alive connection that carries one exchange at a time."""

    def __init__(self, pool: HttpPool) -> None:
        self._pool = pool
        self._parser = ReplyParser()
        self._exchange: _Exchange | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._sent_at_s = 0.0
        self.idle_since_s = 0.0
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def start(self, exchange: _Exchange) -> None:
        """Write the request; the time-out of the call starts now."""
        assert self._transport is not None
        self._exchange = exchange
        self._parser = ReplyParser()
        self._sent_at_s = time.perf_counter()
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self._pool.timeout_s, self._expire)
        self._transport.write(exchange.payload)

    def data_received(self, data: bytes) -> None:
        if self._exchange is None:
            self.close()  # bytes that nobody asked for: never trust this connection again
            return
        try:
            if self._parser.feed(data):
                self._finish(None)
        except BadReply as error:
            self._finish(CutReply(str(error)))

    def connection_lost(self, error: Exception | None) -> None:
        self._pool.lost(self)
        if self._exchange is None:
            return
        if self._parser.ends_with_connection():
            self._finish(None)
        else:
            reason = str(error) if error else "the server closed the connection"
            self._finish(CutReply(f"{reason} before the reply was whole"))

    def _expire(self) -> None:
        self._finish(TimeoutError(f"no reply within {self._pool.timeout_s:g} s"))

    def abandon(self, exchange: _Exchange) -> None:
        """Close if this exchange is still on the way; its reply must not meet the next one."""
        if self._exchange is exchange:
            self._exchange = None
            self.close()

    def _finish(self, error: Exception | None) -> None:
        exchange, self._exchange = self._exchange, None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if exchange is None:
            return
        if error is not None:
            exchange.fail(error)
        elif not exchange.done.done():
            exchange.done.set_result(self._reply())
        if error is None and self._parser.keep_alive:
            self._pool.free(self)
        else:
            self.close()

    def _reply(self) -> HttpReply:
        parser = self._parser
        latency_s = time.perf_counter() - self._sent_at_s
        return HttpReply(parser.status, parser.headers, bytes(parser.body), latency_s)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._transport is not None:
            self._transport.close()


class HttpPool:
    """At most ``limit`` connections to one host, so at most ``limit`` requests in flight.

    Args:
        host: Host name or address.
        port: TCP port.
        limit: Connections, at most.
        timeout_s: From sending a request to the end of its reply.
    """

    def __init__(self, host: str, port: int, *, limit: int, timeout_s: float) -> None:
        self.timeout_s = timeout_s
        self._host = host
        self._port = port
        self._limit = limit
        self._ready: deque[_Exchange] = deque()
        self._idle: list[_Connection] = []
        self._all: set[_Connection] = set()
        self._connecting: set[asyncio.Task[None]] = set()
        self._closed = False

    async def send(self, payload: bytes) -> HttpReply:
        """Send the bytes of one request and return its reply.

        Raises:
            TimeoutError: The reply was not whole in time.
            OSError: No connection could be made, or it was lost (``CutReply``).
        """
        exchange = _Exchange(payload, asyncio.get_running_loop().create_future())
        self._ready.append(exchange)
        self._serve()
        try:
            return await exchange.done
        except asyncio.CancelledError:
            self._abandon(exchange)
            raise

    def _serve(self) -> None:
        """Give ready requests to idle connections; open new ones while some are missing."""
        oldest_s = time.perf_counter() - IDLE_EXPIRY_S
        while self._ready and self._idle:
            connection = self._idle.pop()
            if connection.idle_since_s < oldest_s:
                connection.close()
            else:
                connection.start(self._ready.popleft())
        room = self._limit - len(self._all) - len(self._connecting)
        for _ in range(min(room, len(self._ready) - len(self._connecting))):
            task = asyncio.get_running_loop().create_task(self._connect())
            self._connecting.add(task)

    async def _connect(self) -> None:
        task = asyncio.current_task()
        assert task is not None
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(min(CONNECT_TIMEOUT_S, self.timeout_s)):
                _, connection = await loop.create_connection(
                    lambda: _Connection(self), self._host, self._port
                )
        except TimeoutError:
            self._connecting.discard(task)
            self._fail_next(ConnectionError("no connection in time"))
        except OSError as error:
            self._connecting.discard(task)
            self._fail_next(error)
        except BaseException:
            self._connecting.discard(task)
            raise
        else:
            self._connecting.discard(task)
            self._all.add(connection)
            self.free(connection)

    def _fail_next(self, error: OSError) -> None:
        if self._ready:
            self._ready.popleft().fail(error)
        if not self._closed:
            self._serve()

    def free(self, connection: _Connection) -> None:
        """Take back a connection: it serves the next ready request at once or becomes idle."""
        while self._ready:
            exchange = self._ready.popleft()
            if not exchange.done.done():
                connection.start(exchange)
                return
        if self._closed:
            connection.close()
            return
        connection.idle_since_s = time.perf_counter()
        self._idle.append(connection)

    def lost(self, connection: _Connection) -> None:
        """Forget a closed connection."""
        self._all.discard(connection)
        if connection in self._idle:
            self._idle.remove(connection)
        if self._ready and not self._closed:
            self._serve()

    def _abandon(self, exchange: _Exchange) -> None:
        if exchange in self._ready:
            self._ready.remove(exchange)
            return
        for connection in list(self._all):
            connection.abandon(exchange)

    async def close(self) -> None:
        """Close all connections and wait until they are gone."""
        self._closed = True
        connecting = list(self._connecting)
        for task in connecting:
            task.cancel()
        await asyncio.gather(*connecting, return_exceptions=True)
        while self._ready:
            self._ready.popleft().fail(CutReply("the client was closed"))
        for connection in list(self._all):
            connection.close()
        for _ in range(100):  # connection_lost comes with the next turns of the event loop
            if not self._all:
                return
            await asyncio.sleep(0)
