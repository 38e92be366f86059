"""The reflection model of a search, behind the one model client.

Optimizers specification, sections 1 (reflection client) and 3.6 (context fitting).
"""

from __future__ import annotations

import logging

from lcbgrid.config.model_spec import ModelSpec, SamplingSpec
from lcbgrid.config.optimize_spec import OptimizeSpec
from lcbgrid.models.failures import ModelCallError
from lcbgrid.models.types import CallId, ChatRequest, Message
from lcbgrid.optimize.reflection import Reply, Request
from lcbgrid.optimize.texts import clip
from lcbgrid.scenarios.extract import strip_thinking
from lcbgrid.stages.rollouts import failed_call
from lcbgrid.teams.work import Client

logger = logging.getLogger(__name__)

MAX_TOKENS = 48_000
WINDOW_TOKENS = 65_536  # where the endpoint does not say
EMBEDDED_MAX_TOKENS = 600
CHARS_A_TOKEN, SLACK, OVERHEAD, SPARE = 1.5, 1.02, 512, 256
AGENT = "reflection"


class Mirror:
    """Asks the reflection model.

    Args:
        client: Answers.
        model: How the model is reached.
        optimize: Says how long replies may be.
    """

    def __init__(self, client: Client, model: ModelSpec, optimize: OptimizeSpec) -> None:
        self._client = client
        own = model.sampling.max_tokens if model.sampling else None
        embedded = model.provider == "embedded"
        usual = own or (EMBEDDED_MAX_TOKENS if embedded else MAX_TOKENS)
        self.max_tokens = optimize.reflection_max_tokens or usual
        self.window_tokens = model.context_tokens if embedded else WINDOW_TOKENS

    async def reflect(self, request: Request) -> Reply:
        """Ask the model; a reply that does not fit its window is empty.

        Raises:
            InfrastructureError: This call was lost.
            EndpointGone: The endpoint does not answer at all.
        """
        messages: list[Message] = []
        if request.system is not None:
            messages.append({"role": "system", "content": request.system})
        messages.append({"role": "user", "content": self._fitted(request)})
        sampling = SamplingSpec(
            temperature=request.temperature, top_p=1.0, max_tokens=self.max_tokens
        )
        call = CallId(AGENT, 0, AGENT, 0)
        asked = ChatRequest(tuple(messages), sampling, request.request_seed, call)
        try:
            reply = await self._client.chat(asked)
        except ModelCallError as error:
            raise failed_call(error) from error
        return Reply(
            text=strip_thinking(reply.text or "")[0].strip(),
            input_tokens=reply.usage.prompt_tokens or None,
            output_tokens=reply.usage.completion_tokens or None,
            finish_reason=reply.finish_reason,
        )

    def _fitted(self, request: Request) -> str:
        """Return the prompt, with its middle left out if it would not fit (section 3.6)."""
        tokens = (self.window_tokens - self.max_tokens - SPARE - OVERHEAD) / SLACK
        room = max(500, int(tokens * CHARS_A_TOKEN) - len(request.system or ""))
        if len(request.prompt) > room:
            logger.info(
                "a reflection prompt of %d characters was cut to %d", len(request.prompt), room
            )
        return clip(request.prompt, room)
