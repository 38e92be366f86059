"""Any endpoint that speaks the OpenAI chat-completions protocol, through the OpenAI SDK.

The SDK knows addresses, keys and headers; retries, time-outs of the whole call and the reading of
the body are ours, because every field of a reply is checked and because the SDK's typed path
costs milliseconds of CPU a call.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from lcbgrid.config.model_spec import ModelSpec
from lcbgrid.models.channels import Channel, PlainChannel, SdkChannel, is_plain
from lcbgrid.models.failures import CallFailure, failure_of_status
from lcbgrid.models.provider import Endpoint, RawReply
from lcbgrid.models.wire import request_body


class OpenAIProvider:
    """Calls one endpoint over kept-alive connections.

    Args:
        spec: The model.
        endpoint: Address, model name and key.
    """

    def __init__(self, spec: ModelSpec, endpoint: Endpoint) -> None:
        self._spec = spec
        self._endpoint = endpoint
        self._plain = is_plain(endpoint.base_url or "")
        self._channel: Channel | None = None
        self.lookahead = PlainChannel.lookahead if self._plain else SdkChannel.lookahead

    async def open(self) -> None:
        """Get ready to call; no connection is opened before the first call."""
        limit, timeout_s = self._spec.max_concurrency, self._spec.retry.timeout_s
        if self._plain:
            self._channel = await PlainChannel.open(
                self._endpoint, limit=limit, timeout_s=timeout_s
            )
        else:
            self._channel = SdkChannel(self._endpoint, limit=limit, timeout_s=timeout_s)

    async def complete(self, content: Mapping[str, Any]) -> RawReply:
        """Make one request.

        Raises:
            CallFailure: It failed; the kind says how.
        """
        assert self._channel is not None, "not opened"
        body = request_body(
            content, model_id=self._endpoint.model_id, supports_seed=self._spec.supports_seed
        )
        data = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
        reply = await self._channel.post(data)
        try:
            decoded: Any = json.loads(reply.body)
        except (ValueError, RecursionError) as error:
            decoded = reply.body.decode(errors="replace")
            if reply.status < 400:
                message = f"the reply is no JSON ({error}): {decoded[:80]!r}"
                raise CallFailure("bad_body", message) from None
        if reply.status >= 300:
            raise failure_of_status(reply.status, decoded, reply.headers)
        return RawReply(decoded, reply.latency_s)

    async def close(self) -> None:
        """Close every connection."""
        channel, self._channel = self._channel, None
        if channel is not None:
            await channel.close()
