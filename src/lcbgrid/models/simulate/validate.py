"""Strict checks of a chat-completions request: what a lenient server would let pass is refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_ROLES = ("system", "developer", "user", "assistant", "tool")
_NUMBERS = {
    "temperature": (0.0, 2.0),
    "top_p": (0.0, 1.0),
    "presence_penalty": (-2.0, 2.0),
    "frequency_penalty": (-2.0, 2.0),
}


class BadRequest(Exception):
    """The request is against the protocol; answered with status 400 and this text."""


def check_request(body: Any) -> None:
    """Check a decoded request body.

    Raises:
        BadRequest: Says which field is wrong and what was received.
    """
    if not isinstance(body, Mapping):
        raise BadRequest("the body must be a JSON object")
    if not isinstance(body.get("model"), str):
        raise BadRequest("'model' must be a text")
    if body.get("stream"):
        raise BadRequest("'stream' is not supported by the simulated server; send stream: false")
    if body.get("n", 1) != 1:
        raise BadRequest(f"'n' must be 1 (got {body['n']!r}); send one request a sample")
    for name, (low, high) in _NUMBERS.items():
        value = body.get(name)
        if value is not None and (not _is_number(value) or not low <= value <= high):
            raise BadRequest(f"'{name}' must be between {low:g} and {high:g} (got {value!r})")
    for name in ("max_tokens", "max_completion_tokens"):
        value = body.get(name)
        if value is not None and (not isinstance(value, int) or value < 1):
            raise BadRequest(f"'{name}' must be a whole number above 0 (got {value!r})")
    seed = body.get("seed")
    if seed is not None and (not isinstance(seed, int) or isinstance(seed, bool)):
        raise BadRequest(f"'seed' must be a whole number (got {seed!r})")
    _check_stop(body.get("stop"))
    _check_tools(body.get("tools"))
    _check_messages(body.get("messages"))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _check_stop(stop: Any) -> None:
    if stop is None or isinstance(stop, str):
        return
    if not isinstance(stop, list) or not all(isinstance(text, str) for text in stop):
        raise BadRequest("'stop' must be a text or a list of texts")


def _check_tools(tools: Any) -> None:
    if tools is None:
        return
    if not isinstance(tools, list) or not tools:
        raise BadRequest("'tools' must be a list with at least one tool")
    for index, tool in enumerate(tools):
        function = tool.get("function") if isinstance(tool, Mapping) else None
        if not isinstance(function, Mapping) or tool.get("type") != "function":
            raise BadRequest(f"tools[{index}] must be of type function with a 'function' object")
        if not isinstance(function.get("name"), str) or not function["name"]:
            raise BadRequest(f"tools[{index}].function.name must be a text")
        if not isinstance(function.get("parameters", {}), Mapping):
            raise BadRequest(f"tools[{index}].function.parameters must be a JSON schema")


def _check_messages(messages: Any) -> None:
    if not isinstance(messages, list) or not messages:
        raise BadRequest("'messages' must be a list with at least one message")
    open_calls: list[str] = []
    for index, message in enumerate(messages):
        where = f"messages[{index}]"
        if not isinstance(message, Mapping):
            raise BadRequest(f"{where} must be an object")
        role = message.get("role")
        if role not in _ROLES:
            raise BadRequest(f"{where}.role must be one of {', '.join(_ROLES)} (got {role!r})")
        if role == "tool":
            identity = message.get("tool_call_id")
            if identity not in open_calls:
                raise BadRequest(f"{where} answers the tool call {identity!r}, which is not open")
            open_calls.remove(identity)
        elif open_calls:
            raise BadRequest(f"{where}: the tool call {open_calls[0]!r} has no tool message yet")
        calls = message.get("tool_calls")
        if calls is not None:
            open_calls = _call_ids(calls, role, where)
        _check_content(message.get("content"), role, bool(calls), where)
    if open_calls:
        raise BadRequest(f"the last tool call {open_calls[0]!r} has no tool message")


def _call_ids(calls: Any, role: str, where: str) -> list[str]:
    if role != "assistant":
        raise BadRequest(f"{where}: only the assistant can have tool_calls")
    if not isinstance(calls, list) or not calls:
        raise BadRequest(f"{where}.tool_calls must be a list with at least one call, or be absent")
    identities: list[str] = []
    for call in calls:
        function = call.get("function") if isinstance(call, Mapping) else None
        if not isinstance(function, Mapping) or not isinstance(call.get("id"), str):
            raise BadRequest(f"{where}.tool_calls need 'id' and 'function'")
        if not isinstance(function.get("name"), str):
            raise BadRequest(f"{where}.tool_calls need function.name")
        if not isinstance(function.get("arguments"), str):
            raise BadRequest(f"{where}.tool_calls need function.arguments as JSON text")
        identities.append(call["id"])
    return identities


def _check_content(content: Any, role: str, has_calls: bool, where: str) -> None:
    if isinstance(content, str):
        return
    if content is None:
        if role == "assistant" and has_calls:
            return
        raise BadRequest(f"{where}.content must not be null")
    if not isinstance(content, list):
        raise BadRequest(f"{where}.content must be a text or a list of parts")
    for part in content:
        if not isinstance(part, Mapping) or part.get("type") != "text":
            raise BadRequest(f"{where}.content has a part that is no text")
        if not isinstance(part.get("text"), str):
            raise BadRequest(f"{where}.content has a text part without 'text'")


def text_of(message: Mapping[str, Any]) -> str:
    """Return the text of a checked message, parts joined."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    return "".join(part["text"] for part in content or ())
