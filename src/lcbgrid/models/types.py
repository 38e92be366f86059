"""What is asked of a model and what it answers; plain frozen data, no behaviour."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from lcbgrid.config.model_spec import SamplingSpec

Message = dict[str, Any]
"""One message in the OpenAI wire form: role, content, and tool_calls or tool_call_id."""

ReplyStatus = Literal["ok", "truncated", "empty", "context_limit"]


@dataclass(frozen=True, slots=True)
class CallId:
    """Who asks: it is part of the cache key, so two samples never share one reply."""

    question_id: str
    sample_index: int
    agent: str
    step: int

    def __str__(self) -> str:
        """Return the form that messages and logs show."""
        return f"{self.question_id}#{self.sample_index} {self.agent} step {self.step}"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that the model wants to be run; ``arguments`` is its raw JSON text, unrepaired."""

    id: str
    name: str
    arguments: str

    def to_wire(self) -> dict[str, Any]:
        """Return the OpenAI wire form, for the assistant message of the next request."""
        function = {"name": self.name, "arguments": self.arguments}
        return {"id": self.id, "type": "function", "function": function}


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One model call."""

    messages: tuple[Message, ...]
    sampling: SamplingSpec
    seed: int
    call: CallId
    tools: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the server counted them; 0 where it counted nothing."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    total_tokens: int = 0


@dataclass(frozen=True, slots=True)
class ChatReply:
    """What came back, in a form that can be stored and read again without loss.

    Attributes:
        text: The answer; ``None`` if the server sent no content.
        reasoning: Thinking text that some servers send beside the content.
        tool_calls: Tools the model wants to be run.
        finish_reason: As the server said it (``stop``, ``length``, ``tool_calls``, …).
        usage: Tokens of this reply.
        status: ``ok``; ``truncated`` (cut by the token limit); ``empty`` (neither content nor
            tool call, after all attempts); ``context_limit`` (the prompt does not fit).
        message: Says more about a status other than ``ok``.
        cached: It came from the transcript, no request was made.
        latency_s: From sending the request to the end of the reply, last attempt only.
        retries: Attempts after the first.
        waited_s: Time spent waiting between attempts.
    """

    text: str | None
    reasoning: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str = "stop"
    usage: Usage = Usage()
    status: ReplyStatus = "ok"
    message: str | None = None
    cached: bool = False
    latency_s: float = 0.0
    retries: int = 0
    waited_s: float = 0.0

    def to_record(self) -> dict[str, Any]:
        """Return the lasting part as JSON; measured values are not in it."""
        return {
            "text": self.text,
            "reasoning": self.reasoning,
            "tool_calls": [asdict(call) for call in self.tool_calls],
            "finish_reason": self.finish_reason,
            "usage": asdict(self.usage),
            "status": self.status,
            "message": self.message,
        }

    def to_timing(self) -> dict[str, Any]:
        """Return the measured part as JSON."""
        return {
            "latency_s": round(self.latency_s, 6),
            "retries": self.retries,
            "waited_s": round(self.waited_s, 6),
        }

    @classmethod
    def from_record(
        cls, record: dict[str, Any], timing: dict[str, Any] | None, *, cached: bool
    ) -> ChatReply:
        """Rebuild a reply from ``to_record``'s and ``to_timing``'s forms."""
        timing = timing or {}
        return cls(
            text=record["text"],
            reasoning=record["reasoning"],
            tool_calls=tuple(ToolCall(**call) for call in record["tool_calls"]),
            finish_reason=record["finish_reason"],
            usage=Usage(**record["usage"]),
            status=record["status"],
            message=record["message"],
            cached=cached,
            latency_s=timing.get("latency_s", 0.0),
            retries=timing.get("retries", 0),
            waited_s=timing.get("waited_s", 0.0),
        )

    def to_message(self) -> Message:
        """Return the assistant message that stands for this reply in the next request."""
        message: Message = {"role": "assistant", "content": self.text}
        if self.tool_calls:
            message["tool_calls"] = [call.to_wire() for call in self.tool_calls]
        elif self.text is None:
            message["content"] = ""
        return message
