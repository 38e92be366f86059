"""What the simulated model says, before it becomes a response."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field

from lcbgrid.models.simulate.chance import count_tokens
from lcbgrid.models.types import ToolCall


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer, or a scripted error or fault in its place.

    Attributes:
        status: An HTTP status to send instead of an answer; ``text`` is its message.
        headers: Further response headers.
        fault: Kind of transient fault to meet, as in ``SimulateSpec.faults``.
        tokens: Completion tokens to report; ``None``: counted.
    """

    text: str | None
    reasoning: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str = "stop"
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    fault: str | None = None
    tokens: int | None = None

    @property
    def completion_tokens(self) -> int:
        """Return the tokens that the answer is said to have cost."""
        if self.tokens is not None:
            return self.tokens
        texts = [self.text or "", self.reasoning or ""]
        texts += [call.name + call.arguments for call in self.tool_calls]
        return sum(map(count_tokens, texts))

    def cut(self, stop: str | list[str] | None, max_tokens: int) -> Answer:
        """Return the answer as stop texts and the token limit leave it."""
        text = self.text
        if not text:
            return self
        answer = self
        for mark in [stop] if isinstance(stop, str) else stop or ():
            place = text.find(mark) if mark else -1
            if place >= 0:
                text = text[:place]
                answer = dataclasses.replace(answer, text=text)
        if max_tokens and count_tokens(text) > max_tokens:
            kept = text.encode("utf-8", "surrogatepass")[: 4 * max_tokens]
            text = kept.decode("utf-8", "ignore")
            answer = dataclasses.replace(answer, text=text, finish_reason="length")
        return answer
