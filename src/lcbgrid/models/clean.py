"""Text that UTF-8 cannot hold: lone surrogates are replaced before anything is stored."""

from __future__ import annotations

from typing import Any


def clean_text(text: str) -> str:
    """Return ``text`` with each lone surrogate replaced by U+FFFD, and pairs joined.

    Servers and tools can produce them (half an emoji, undecodable bytes); no JSON file in UTF-8
    can hold them, and a reply must be the same when it is read again.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def clean(value: Any) -> Any:
    """Return a JSON value with every text in it cleaned."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, dict):
        return {clean(key): clean(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [clean(item) for item in value]
    return value
