"""The simulated model without an address: a server of our own in a thread of this process."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

from lcbgrid.config.model_spec import ModelSpec, SimulateSpec
from lcbgrid.models.channels import PlainChannel
from lcbgrid.models.openai import OpenAIProvider
from lcbgrid.models.provider import NO_KEY, Endpoint, RawReply


class SimulatedProvider:
    """Starts the server when opened and stops it when closed.

    Requests go over real HTTP, so faults take the same ways as with a real server.
    """

    def __init__(self, spec: ModelSpec, endpoint: Endpoint) -> None:
        self._spec = spec
        self._endpoint = endpoint
        self._stack = contextlib.ExitStack()
        self._inner: OpenAIProvider | None = None
        self.lookahead = PlainChannel.lookahead

    async def open(self) -> None:
        """Start the server and connect to it."""
        from lcbgrid.models.simulate import serve_in_thread

        base_url = self._stack.enter_context(
            serve_in_thread(
                self._spec.simulate or SimulateSpec(), model_ids=(self._endpoint.model_id,)
            )
        )
        endpoint = Endpoint(base_url, self._endpoint.model_id, NO_KEY)
        self._inner = OpenAIProvider(self._spec, endpoint)
        await self._inner.open()

    async def complete(self, content: Mapping[str, Any]) -> RawReply:
        """Make one request to the server."""
        assert self._inner is not None, "not opened"
        return await self._inner.complete(content)

    async def close(self) -> None:
        """Close the connections, then stop the server."""
        inner, self._inner = self._inner, None
        try:
            if inner is not None:
                await inner.close()
        finally:
            self._stack.close()
