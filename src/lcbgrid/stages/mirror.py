"""The reflection model of a search, behind the one model client.

Optimizers specification, sections 1 (reflection client) and 3.6 (context fitting).
"""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass

from lcbgrid.config.model_spec import ModelSpec, SamplingSpec
from lcbgrid.config.optimize_spec import OptimizeSpec
from lcbgrid.core.errors import InfrastructureError
from lcbgrid.models.failures import ModelCallError
from lcbgrid.models.types import CallId, ChatReply, ChatRequest, Message
from lcbgrid.optimize.context import (
    CHARACTERS,
    EXTRA,
    FACTOR,
    FLOOR,
    MARGIN,
    OUTPUT,
    WINDOW,
    Window,
)
from lcbgrid.optimize.reflection import Reply, Request
from lcbgrid.optimize.texts import clip
from lcbgrid.scenarios.extract import strip_thinking
from lcbgrid.stages.rollouts import failed_call, stopped
from lcbgrid.teams.work import Client

logger = logging.getLogger(__name__)

EMBEDDED_MAX_TOKENS = 600
REFITS, LEAST_REPLY = 5, 16_384
AGENT = "reflection"
_WINDOW = re.compile(r"the context of the model holds (\d+)")


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
        usual = own or (EMBEDDED_MAX_TOKENS if embedded else OUTPUT)
        self.max_tokens = optimize.reflection_max_tokens or usual
        self._answered = False
        self.window_tokens = model.context_tokens if embedded else WINDOW
        self.window = Window(self.window_tokens, self.max_tokens)

    async def reflect(self, request: Request) -> Reply:
        """Ask the model; a reply that does not fit its window is empty.

        Raises:
            InfrastructureError: This call was lost.
            WorldFailed: The endpoint does not answer at all, or the disk failed.
        """
        size = _Size(self.window_tokens, self.max_tokens)
        for refit in range(REFITS + 1):
            reply = await self._ask(request, size, refit)
            if reply.status != "context_limit":
                break
            size = size.smaller(reply.message or "", request)
            if refit < REFITS:
                logger.info(
                    "a reflection request did not fit (%s); trying a reply of %d tokens in a "
                    "window of %d",
                    reply.message,
                    size.reply,
                    size.window,
                )
        else:
            logger.warning("a reflection request did not fit: %s", reply.message)
        return Reply(
            text=strip_thinking(reply.text or "")[0].strip(),
            input_tokens=reply.usage.prompt_tokens or None,
            output_tokens=reply.usage.completion_tokens or None,
            finish_reason=reply.finish_reason,
        )

    async def _ask(self, request: Request, size: _Size, refit: int) -> ChatReply:
        messages: list[Message] = []
        if request.system is not None:
            messages.append({"role": "system", "content": request.system})
        room = size.room(request)
        if len(request.prompt) > room:
            logger.info(
                "a reflection prompt of %d characters was cut to %d", len(request.prompt), room
            )
        messages.append({"role": "user", "content": clip(request.prompt, room)})
        sampling = SamplingSpec(temperature=request.temperature, top_p=1.0, max_tokens=size.reply)
        call = CallId(AGENT, 0, AGENT, refit)
        asked = ChatRequest(tuple(messages), sampling, request.request_seed, call)
        try:
            reply = await self._client.chat(asked)
        except ModelCallError as error:
            raise failed_call(error, answered=self._answered) from error
        except InfrastructureError as error:  # the disk: no word of the model
            raise stopped(error) from error
        self._answered = True
        return reply


@dataclass(frozen=True, slots=True)
class _Size:
    """What a request may take.

    Attributes:
        window: Tokens of prompt and reply together.
        reply: Longest reply, in tokens.
    """

    window: int
    reply: int

    def room(self, request: Request) -> int:
        """Return how many characters of a prompt fit (section 3.6)."""
        tokens = (self.window - self.reply - MARGIN - EXTRA) / FACTOR
        return max(FLOOR, int(tokens * CHARACTERS) - len(request.system or ""))

    def smaller(self, refusal: str, request: Request) -> _Size:
        """Return the next size to try: first a shorter reply, then a shorter prompt.

        Args:
            refusal: What the server said; perhaps it names its window.
            request: Its prompt takes what it takes.
        """
        named = _WINDOW.search(refusal)
        if named and int(named[1]) < self.window:
            window = int(named[1])
            needed = int(len(request.prompt) / CHARACTERS * FACTOR) + EXTRA + MARGIN
            least = min(LEAST_REPLY, window // 2)
            return _Size(window, max(1, min(self.reply, max(least, window - needed))))
        if self.reply > LEAST_REPLY:
            return _Size(self.window, LEAST_REPLY)
        window = self.window * 6 // 10
        return _Size(window, max(1, min(self.reply, window // 2)))
