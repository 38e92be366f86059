"""Recognise "the prompt does not fit into the context" in the words of many servers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_CODES = {"context_length_exceeded", "exceed_context_size_error"}
_N = r"([\d,]+)"
_LIMIT_FIRST = re.compile(
    rf"(?:maximum |model's )?context (?:length|size|window)(?: of| is|\s*\()?\s*(?:only )?"
    rf"{_N} tokens?.*?(?:requested|resulted in|contains?|has|have|passed|got)\D*?{_N}",
    re.IGNORECASE | re.DOTALL,
)
_LENGTH_FIRST = tuple(
    re.compile(text, re.IGNORECASE | re.DOTALL)
    for text in (
        rf"prompt is too long:\s*{_N} tokens?\s*>\s*{_N}",
        rf"\(?{_N} tokens?\)? (?:exceeds?|is (?:longer|larger) than|is greater than)"
        rf"[^\d]*context[^\d]*{_N}",
        rf"input token count \(?{_N}\)? exceeds[^\d]*{_N}",
        rf"prompt contains {_N} tokens?.*?too large for[^\d]*{_N} maximum context",
        rf"(?:prompt|input)(?: length)? (?:of |has )?\(?{_N}\)?(?: tokens?)?[^\d]{{0,60}}"
        rf"(?:exceeds?|longer than|larger than)[^\d]*{_N}",
    )
)
_TGI = re.compile(rf"tokens \+ `?max_new_tokens`? must be <= {_N}\. Given: {_N}", re.IGNORECASE)
_WORDS = re.compile(
    r"maximum context length|context length exceeded|context_length_exceeded"
    r"|exceeds? the (?:available |model'?s? )?(?:maximum )?context"
    r"|prompt is too long|input is too long|too many tokens in the prompt"
    r"|reduce the length of the (?:messages|prompt|input)"
    r"|longer than the model's context",
    re.IGNORECASE,
)


def find_overflow(text: str, code: str | None = None, body: Any = None) -> str | None:
    """Return our one-line message if an error says that the prompt is too long, else ``None``.

    Args:
        text: The error's message.
        code: The error's machine-readable code.
        body: The whole decoded error; llama.cpp puts the numbers in fields of it.
    """
    numbers = _numbers_in_body(body) or _numbers_in(text)
    if numbers is None and code not in _CODES and not _WORDS.search(text):
        return None
    if numbers is None:
        return (
            "the prompt does not fit into the context of the model (the server names no numbers)"
        )
    length, limit = numbers
    return f"the prompt and reply need {length} tokens, the context of the model holds {limit}"


def _numbers_in(text: str) -> tuple[int, int] | None:
    found = _LIMIT_FIRST.search(text) or _TGI.search(text)
    if found:
        return _number(found[2]), _number(found[1])
    for pattern in _LENGTH_FIRST:
        found = pattern.search(text)
        if found:
            return _number(found[1]), _number(found[2])
    return None


def _numbers_in_body(body: Any) -> tuple[int, int] | None:
    error = body.get("error", body) if isinstance(body, Mapping) else None
    if isinstance(error, Mapping):
        length, limit = error.get("n_prompt_tokens"), error.get("n_ctx")
        if isinstance(length, int) and isinstance(limit, int):
            return length, limit
    return None


def _number(text: str) -> int:
    return int(text.replace(",", ""))
