"""Plain data on both sides of the sandbox wall: JSON of tests, tagged JSON of results."""

from __future__ import annotations

import json
from typing import Any

from lcbgrid.judge.compare import Opaque

_CHUNK_DIGITS = 4000  # below CPython's limit for text conversion, which this process keeps


def parse_json(text: str) -> Any:
    """Parse JSON whose integers may have any number of digits.

    Raises:
        ValueError: The text is no JSON, or nested too deeply to be read.
    """
    try:
        return json.loads(text, parse_int=_integer)
    except RecursionError:
        message = "nested too deeply"
        raise ValueError(message) from None


def _integer(digits: str) -> int:
    if len(digits) <= _CHUNK_DIGITS:
        return int(digits)
    sign, digits = (-1, digits[1:]) if digits[0] == "-" else (1, digits)
    value = 0
    for start in range(0, len(digits), _CHUNK_DIGITS):
        chunk = digits[start : start + _CHUNK_DIGITS]
        value = value * 10 ** len(chunk) + int(chunk)
    return sign * value


def decode_report(data: bytes) -> dict[str, Any] | None:
    """Read the frame that a program's wrapper wrote on its descriptor of its own.

    The bytes come out of a hostile process: anything that is not exactly one of our frames at
    the start counts as no report at all.
    """
    header, separator, rest = data.partition(b"\n")
    if not separator or len(header) > 16 or not header.isdigit():
        return None
    size = int(header)
    if len(rest) < size:
        return None
    try:
        frame = json.loads(rest[:size])
    except (ValueError, RecursionError):
        return None
    return frame if isinstance(frame, dict) else None


def decode_value(tagged: Any) -> Any:
    """Turn tagged JSON into plain data; unknown tags become :class:`Opaque`."""
    if isinstance(tagged, list):
        return [decode_value(item) for item in tagged]
    if not isinstance(tagged, dict):
        return tagged
    try:
        return _decode_tag(tagged)
    except (ValueError, TypeError, OverflowError):
        return Opaque("damaged result")


def _decode_tag(tagged: dict[str, Any]) -> Any:
    if "int" in tagged:
        return int(tagged["int"], 16)  # base 16 has no limit on digits
    if "float" in tagged:
        return float.fromhex(tagged["float"])
    if "dict" in tagged:
        return {_hashable(decode_value(key)): decode_value(item) for key, item in tagged["dict"]}
    return Opaque(str(tagged.get("opaque", "damaged result"))[:80])


def _hashable(key: Any) -> Any:
    return Opaque("key") if isinstance(key, (list, dict)) else key


def show(value: Any, limit_chars: int) -> str:
    """Return a short text of a value for people, cut and marked at ``limit_chars``."""
    try:
        text = repr(value)
    except ValueError:  # an int over the limit of digits
        text = "a number of more than 4300 digits"
    return clip(text, limit_chars)


def clip(text: str, limit_chars: int) -> str:
    """Cut a text to ``limit_chars`` characters and say how many were left out.

    The result is valid UTF-8 whatever came in.
    """
    left_out = len(text) - limit_chars
    if left_out > 0:
        text = f"{text[:limit_chars]}... [{left_out} characters cut]"
    return text.encode("utf-8", "replace").decode("utf-8", "replace")
