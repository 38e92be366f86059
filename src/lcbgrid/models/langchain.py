"""Between langchain-core messages and the wire form; langchain is imported only when used.

Histories that come out are valid for strict servers: a tool message stands only after the call it
answers, and a call whose answer was cut away is given one that says so.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from lcbgrid.core.files import dump_json
from lcbgrid.models.types import ChatReply, Message, ToolCall

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage, BaseMessage

NO_RESULT = "(no result: the tool was not run)"
_ROLES = {"system": "system", "human": "user", "ai": "assistant", "tool": "tool"}


def to_wire(messages: Iterable[BaseMessage]) -> tuple[Message, ...]:
    """Convert langchain messages into a valid history in the wire form.

    Raises:
        ValueError: A message is of a kind that models do not know.
    """
    return valid_history([_to_wire(message) for message in messages])


def _to_wire(message: BaseMessage) -> Message:
    role = _ROLES.get(message.type)
    if role is None:
        text = f"a message of type {message.type!r} cannot be sent to a model"
        raise ValueError(text)
    wire: Message = {"role": role, "content": _text(message.content)}
    if role == "tool":
        wire["tool_call_id"] = getattr(message, "tool_call_id", "")
    calls = _calls(message) if role == "assistant" else []
    if calls:
        wire["tool_calls"] = calls
        wire["content"] = wire["content"] or None
    return wire


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = (part if isinstance(part, str) else part.get("text", "") for part in content)
    return "".join(parts)


def _calls(message: Any) -> list[dict[str, Any]]:
    """Return all calls, the ones with malformed arguments included, as the model wrote them."""
    raw = message.additional_kwargs.get("tool_calls")
    if raw:
        return [dict(call) for call in raw]
    calls = [
        ToolCall(call["id"] or "", call["name"], dump_json(call["args"])).to_wire()
        for call in message.tool_calls
    ]
    calls += [
        ToolCall(call["id"] or "", call["name"] or "", call["args"] or "").to_wire()
        for call in message.invalid_tool_calls
    ]
    return calls


def valid_history(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Drop tool messages without their call, and answer calls that were left open."""
    valid: list[Message] = []
    waiting: list[str] = []

    def answer_open_calls() -> None:
        for identity in waiting:
            valid.append({"role": "tool", "content": NO_RESULT, "tool_call_id": identity})
        waiting.clear()

    for message in messages:
        if message["role"] == "tool":
            identity = message.get("tool_call_id")
            if identity in waiting:
                waiting.remove(identity)
                valid.append(message)
            continue
        answer_open_calls()
        valid.append(message)
        waiting.extend(call["id"] for call in message.get("tool_calls") or ())
    answer_open_calls()
    return tuple(valid)


def from_wire(messages: Iterable[Message]) -> list[BaseMessage]:
    """Convert a history in the wire form into langchain messages."""
    from langchain_core.messages import HumanMessage, SystemMessage, ToolMessage

    converted: list[BaseMessage] = []
    for message in messages:
        role, content = message["role"], _text(message.get("content") or "")
        if role == "assistant":
            calls = [
                ToolCall(call["id"], call["function"]["name"], call["function"]["arguments"])
                for call in message.get("tool_calls") or ()
            ]
            converted.append(_ai_message(content, calls))
        elif role == "tool":
            converted.append(ToolMessage(content, tool_call_id=message["tool_call_id"]))
        elif role in ("system", "developer"):
            converted.append(SystemMessage(content))
        else:
            converted.append(HumanMessage(content))
    return converted


def to_ai_message(reply: ChatReply) -> AIMessage:
    """Return a reply as an ``AIMessage`` with usage, finish reason and status."""
    message = _ai_message(reply.text or "", reply.tool_calls)
    message.usage_metadata = {
        "input_tokens": reply.usage.prompt_tokens,
        "output_tokens": reply.usage.completion_tokens,
        "total_tokens": reply.usage.total_tokens,
    }
    message.response_metadata = {"finish_reason": reply.finish_reason, "status": reply.status}
    return message


def _ai_message(content: str, calls: Sequence[ToolCall]) -> AIMessage:
    from langchain_core.messages import AIMessage, InvalidToolCall
    from langchain_core.messages import ToolCall as LangchainToolCall

    good: list[LangchainToolCall] = []
    bad: list[InvalidToolCall] = []
    for call in calls:
        try:
            arguments = json.loads(call.arguments)
        except ValueError:
            arguments = None
        if isinstance(arguments, dict):
            good.append(LangchainToolCall(name=call.name, args=arguments, id=call.id))
        else:
            bad.append(
                InvalidToolCall(
                    type="invalid_tool_call",
                    name=call.name,
                    args=call.arguments,
                    id=call.id,
                    error="the arguments are no JSON object",
                )
            )
    # The raw calls go along, so that the next request repeats the model's own bytes.
    raw = {"tool_calls": [call.to_wire() for call in calls]} if calls else {}
    return AIMessage(content, tool_calls=good, invalid_tool_calls=bad, additional_kwargs=raw)
