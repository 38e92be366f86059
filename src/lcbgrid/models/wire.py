"""Between our types and the chat-completions wire format; every field of a reply is checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lcbgrid.core.files import dump_json
from lcbgrid.core.hashing import sha256_text
from lcbgrid.models.clean import clean_text
from lcbgrid.models.failures import CallFailure, error_text
from lcbgrid.models.types import ChatReply, ReplyStatus, ToolCall, Usage

MAX_SHOWN = 200


def request_body(
    content: Mapping[str, Any], *, model_id: str, supports_seed: bool
) -> dict[str, Any]:
    """Return the JSON body of a request, made from the content that the key is made of."""
    sampling, extra = content["sampling"], content["extra_body"]
    body: dict[str, Any] = {
        "model": model_id,
        "messages": content["messages"],
        "temperature": sampling["temperature"],
        "top_p": sampling["top_p"],
        "stream": False,
    }
    if "max_completion_tokens" not in extra:  # servers that know only this name get it there
        body["max_tokens"] = sampling["max_tokens"]
    if sampling["stop"]:
        body["stop"] = sampling["stop"]
    if supports_seed:
        body["seed"] = content["seed"]
    if content["tools"]:
        body["tools"] = content["tools"]
    body.update(extra)
    return body


def parse_reply(body: Any) -> ChatReply:
    """Turn a response body into a reply.

    Raises:
        CallFailure: The body is no chat completion (``bad_body``) or has no choice
            (``empty_choices``); both are worth another attempt.
    """
    if not isinstance(body, Mapping):
        raise _bad("the body is no JSON object", body)
    choices = body.get("choices")
    if choices is None or not isinstance(choices, list):
        said = error_text(body) if "error" in body else ""
        raise _bad(f"the body has no list of choices{': ' + said if said else ''}", body)
    if not choices:
        raise CallFailure("empty_choices", "the reply has no choices")
    choice = choices[0]
    message = choice.get("message") if isinstance(choice, Mapping) else None
    if not isinstance(message, Mapping):
        raise _bad("the first choice has no message", body)
    text = _content(message.get("content"))
    calls = _tool_calls(message.get("tool_calls"))
    finish_reason = choice.get("finish_reason")
    finish_reason = finish_reason if isinstance(finish_reason, str) else "stop"
    status, note = _status(text, calls, finish_reason)
    return ChatReply(
        text=text,
        reasoning=_reasoning(message),
        tool_calls=calls,
        finish_reason=finish_reason,
        usage=_usage(body.get("usage")),
        status=status,
        message=note,
    )


def _status(
    text: str | None, calls: tuple[ToolCall, ...], finish_reason: str
) -> tuple[ReplyStatus, str | None]:
    if finish_reason == "length":
        return "truncated", "the reply was cut by the token limit (max_tokens or the context)"
    if calls or (text is not None and text.strip()):
        return "ok", None
    return "empty", f"neither content nor a tool call came back (finish reason {finish_reason})"


def _content(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, list):  # some servers answer with parts
        texts = [part.get("text", "") for part in value if isinstance(part, Mapping)]
        return clean_text("".join(text for text in texts if isinstance(text, str)))
    raise _bad("the content is no text", value)


def _reasoning(message: Mapping[str, Any]) -> str | None:
    for field in ("reasoning_content", "reasoning"):
        value = message.get(field)
        if isinstance(value, str) and value:
            return clean_text(value)
    return None


def _tool_calls(value: Any) -> tuple[ToolCall, ...]:
    if not value:
        return ()
    if not isinstance(value, list):
        raise _bad("tool_calls is no list", value)
    calls = []
    for index, item in enumerate(value):
        function = item.get("function") if isinstance(item, Mapping) else None
        name = function.get("name") if isinstance(function, Mapping) else None
        if not isinstance(function, Mapping) or not isinstance(name, str) or not name:
            raise _bad(f"tool call {index} has no function name", item)
        arguments = function.get("arguments", "")
        if not isinstance(arguments, str):
            arguments = dump_json(arguments)
        identity = item.get("id")
        identity = (
            identity
            if isinstance(identity, str) and identity
            else _made_id(index, name, arguments)
        )
        calls.append(ToolCall(clean_text(identity), clean_text(name), clean_text(arguments)))
    return tuple(calls)


def _made_id(index: int, name: str, arguments: str) -> str:
    """Return an id for a call that came without one; the same call gets the same id."""
    return f"call_{index}_{sha256_text(name + arguments)[:8]}"


def _usage(value: Any) -> Usage:
    if not isinstance(value, Mapping):
        return Usage()
    prompt = _count(value.get("prompt_tokens"))
    completion = _count(value.get("completion_tokens"))
    return Usage(prompt, completion, _count(value.get("total_tokens")) or prompt + completion)


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _bad(what: str, shown: Any) -> CallFailure:
    return CallFailure("bad_body", f"{what}: {str(shown)[:MAX_SHOWN]}")
