"""The limit of calls in flight: first come, first served, one admission a turn of the event loop.

``asyncio.Semaphore`` admits all that fit at once; each of them then prepares its request before
the event loop can open a connection or read a reply. With one admission a turn, the first request
is on its way while the next is prepared. With 64 slots this is the difference between a
ramp of one request's preparation and one of sixty-four.
"""

from __future__ import annotations

import asyncio
import sys
from collections import deque
from types import TracebackType

UNLIMITED = sys.maxsize


class Gate:
    """An asynchronous context manager that at most ``limit`` tasks are inside of."""

    def __init__(self, limit: int) -> None:
        self._free = limit
        self._waiters: deque[asyncio.Future[None]] = deque()
        self._scheduled = False

    async def __aenter__(self) -> None:
        """Wait for a place."""
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[None] = loop.create_future()
        self._waiters.append(waiter)
        self._schedule(loop)
        try:
            await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled():
                self._leave()  # admitted and cancelled in the same turn
            raise

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Give the place to the next."""
        self._leave()

    def _leave(self) -> None:
        self._free += 1
        if self._waiters:
            self._schedule(asyncio.get_running_loop())

    def _schedule(self, loop: asyncio.AbstractEventLoop) -> None:
        if not self._scheduled and self._free > 0:
            self._scheduled = True
            loop.call_soon(self._admit, loop)

    def _admit(self, loop: asyncio.AbstractEventLoop) -> None:
        self._scheduled = False
        while self._waiters and self._free > 0:
            waiter = self._waiters.popleft()
            if not waiter.done():  # else it was cancelled while it waited
                self._free -= 1
                waiter.set_result(None)
                break
        if self._waiters:
            self._schedule(loop)
