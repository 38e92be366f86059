"""Tool calls that a model writes into its text, as Qwen2.5-Coder does.

The text of such a model holds ``{"name": ..., "arguments": {...}}``: bare, in a fence, or between
``<tool_call>`` tags. An object counts only if its JSON is valid as it stands (nothing is repaired)
and its name is a tool that was offered. What is left of the text stays the content.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from typing import Any

from lcbgrid.core.files import dump_json
from lcbgrid.models.types import ToolCall

_START = re.compile(r'\{\s*"(?:name|arguments|parameters)"\s*:')
_BEFORE = re.compile(r"(?:<tool_call>|```[a-z_]*[ \t]*\n)\s*\[?\s*\Z")
_AFTER = re.compile(r"\A\s*,?\s*\]?\s*(?:</tool_call>|```)")
_DECODER = json.JSONDecoder()


def extract_tool_calls(
    text: str, offered: Collection[str], *, id_prefix: str = "call"
) -> tuple[str | None, tuple[ToolCall, ...]]:
    """Split a text into what remains of it and the tool calls in it.

    Args:
        text: The model's text.
        offered: Names of the tools that were offered.
        id_prefix: Start of the calls' ids; should differ from turn to turn.

    Returns:
        The remaining text (``None`` if nothing remains) and the calls, in their order.
    """
    calls: list[ToolCall] = []
    kept: list[str] = []
    position = 0
    for match in _START.finditer(text):
        if match.start() < position:
            continue  # inside an object already taken
        call, end = _call_at(text, match.start(), offered, f"{id_prefix}_{len(calls)}")
        if call is None:
            continue
        before = text[position : match.start()]
        opening = _BEFORE.search(before)
        if opening:
            before = before[: opening.start()]
            closing = _AFTER.match(text[end:])
            end += closing.end() if closing else 0
        kept.append(before)
        calls.append(call)
        position = end
    if not calls:
        return text, ()
    kept.append(text[position:])
    remaining = "".join(kept).strip()
    return remaining or None, tuple(calls)


def _call_at(
    text: str, start: int, offered: Collection[str], identity: str
) -> tuple[ToolCall | None, int]:
    try:
        value, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None, start
    if not isinstance(value, dict) or value.get("name") not in offered:
        return None, start
    arguments = value.get("arguments", value.get("parameters"))
    if isinstance(arguments, Mapping):
        arguments = dump_json(arguments)
    if not isinstance(arguments, str):
        return None, start
    return ToolCall(identity, value["name"], arguments), end


def with_tool_calls(body: Any, offered: Collection[str], *, id_prefix: str = "call") -> Any:
    """Return a response body with the tool calls of its text moved to ``tool_calls``."""
    try:
        choice = body["choices"][0]
        message = choice["message"]
        text = message.get("content")
    except (KeyError, IndexError, TypeError, AttributeError):
        return body  # the checks of every reply will say what is wrong
    if not offered or not isinstance(text, str) or message.get("tool_calls"):
        return body
    remaining, calls = extract_tool_calls(text, offered, id_prefix=id_prefix)
    if not calls:
        return body
    message = {**message, "content": remaining, "tool_calls": [call.to_wire() for call in calls]}
    reason = choice.get("finish_reason")
    choice = {**choice, "message": message}
    choice["finish_reason"] = "length" if reason == "length" else "tool_calls"
    return {**body, "choices": [choice, *body["choices"][1:]]}
