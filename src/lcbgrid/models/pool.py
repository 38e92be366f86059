"""Several endpoints that serve one model, asked in turn.

Which of them answers a request follows from the request's seed, so that a resumed run asks the
same one and finds its answer in the transcript.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from types import TracebackType

from lcbgrid.models.client import ModelClient
from lcbgrid.models.types import ChatReply, ChatRequest


class ClientPool:
    """Answers like one client; use it as ``async with``.

    Args:
        clients: One for each endpoint, at least one.
    """

    def __init__(self, clients: Sequence[ModelClient]) -> None:
        if not clients:
            raise ValueError("a pool needs a client")
        self._clients = tuple(clients)
        self._open = contextlib.AsyncExitStack()

    @property
    def max_concurrency(self) -> int:
        """Calls that all endpoints take together."""
        return sum(client.spec.max_concurrency for client in self._clients)

    async def __aenter__(self) -> ClientPool:
        """Open all clients."""
        async with contextlib.AsyncExitStack() as stack:
            for client in self._clients:
                await stack.enter_async_context(client)
            self._open = stack.pop_all()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close all clients."""
        await self._open.aclose()

    async def chat(self, request: ChatRequest) -> ChatReply:
        """Answer one request; see ``ModelClient.chat``."""
        return await self._clients[request.seed % len(self._clients)].chat(request)
