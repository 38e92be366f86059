"""Decode the test lists and the metadata of a LiveCodeBench row.

``public_test_cases`` is JSON text. ``private_test_cases`` is JSON text too, or base64 of zlib of a
pickle of JSON text (data notes of the benchmark; the loader of the official runner tries them in
this order). Whatever cannot be decoded is a ``DataError`` with the question's id; an undecodable
test list never becomes an empty one, because an empty one is passed by every program.
"""

from __future__ import annotations

import base64
import binascii
import json
import keyword
import zlib
from typing import Any, Literal, cast

from lcbgrid.core.errors import DataError
from lcbgrid.problems.pickled_text import PickleRefusedError, read_pickled_text
from lcbgrid.problems.schema import Mode, TestCase

MAX_TESTS_BYTES = 1 << 30
"""Default cap on the decoded size of one test list: far above any real row (a few hundred MB)."""

UNKNOWN_ID = "(unknown id)"
_INFLATE_STEP_BYTES = 1 << 22
_MODES = ("stdin", "functional")

TestColumn = Literal["public_test_cases", "private_test_cases"]


def decode_tests(
    text: str,
    question_id: str = UNKNOWN_ID,
    *,
    column: TestColumn = "private_test_cases",
    max_bytes: int = MAX_TESTS_BYTES,
) -> tuple[TestCase, ...]:
    """Decode a test list, plain or encoded.

    Args:
        text: The column's text.
        question_id: Named in the error.
        column: Named in the error.
        max_bytes: Cap on the decoded size; decoding stops there, so a small text that inflates
            without end costs no more memory than this.

    Returns:
        The tests in stored order; an empty tuple only for the stored list ``[]``.

    Raises:
        DataError: The text is no test list; names question, column and reason.
    """
    try:
        return _to_tests(_to_value(text, max_bytes))
    except _UndecodableError as error:
        raise DataError(f"{column} cannot be read: {error}", where=_where(question_id)) from None


def decode_metadata(text: str, question_id: str = UNKNOWN_ID) -> dict[str, Any]:
    """Decode the ``metadata`` column: a JSON object, ``{}`` for stdin problems.

    ``func_name``, if present, is checked to be a Python name.

    Raises:
        DataError: The text is no JSON object, or ``func_name`` no name.
    """
    try:
        value = _parse_json(text)
        if not isinstance(value, dict):
            raise _UndecodableError(f"it is {_kind(value)}, not a JSON object")
        name = value.get("func_name")
        if name is not None and not _is_function_name(name):
            raise _UndecodableError(f"func_name is not a Python name (got {name!r})")
    except _UndecodableError as error:
        raise DataError(f"metadata cannot be read: {error}", where=_where(question_id)) from None
    return cast("dict[str, Any]", value)


def check_functional_json(test: TestCase) -> str | None:
    """Return why a functional test cannot be called, or ``None`` if all is well.

    A functional input holds one JSON value a line, one line an argument; the output is one JSON
    value (judge rules, data section).
    """
    for number, line in enumerate(test.input.split("\n"), start=1):
        if not _is_json(line):
            return f"line {number} of its input is not a JSON value"
    return None if _is_json(test.output) else "its output is not a JSON value"


class _UndecodableError(Exception):
    """Reason of a failed decoding, before question and column are known."""


def _where(question_id: str) -> str:
    return f"question {question_id}"


def _is_function_name(name: object) -> bool:
    return isinstance(name, str) and name.isidentifier() and not keyword.iskeyword(name)


def _to_value(text: str, max_bytes: int) -> Any:
    if len(text) > max_bytes:
        raise _UndecodableError(f"more than {max_bytes} bytes; raise max_tests_mb to allow them")
    stripped = text.strip()
    if not stripped:
        raise _UndecodableError("the text is empty")
    try:
        return _parse_json(stripped)
    except _UndecodableError:
        if stripped[0] in '[{"':  # meant as JSON; base64 has none of these characters
            raise
    return _parse_json(_unwrap(stripped, max_bytes))


def _unwrap(text: str, max_bytes: int) -> str:
    """Undo base64, zlib and pickle."""
    try:
        packed = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise _UndecodableError(f"neither JSON nor base64 ({error})") from None
    try:
        return read_pickled_text(_inflate(packed, max_bytes))
    except PickleRefusedError as error:
        raise _UndecodableError(str(error)) from None


def _inflate(packed: bytes, max_bytes: int) -> bytes:
    inflater = zlib.decompressobj()
    pieces: list[bytes] = []
    total_bytes = 0
    pending = packed
    try:
        while not inflater.eof:
            piece = inflater.decompress(pending, _INFLATE_STEP_BYTES)
            pending = inflater.unconsumed_tail
            total_bytes += len(piece)
            if total_bytes > max_bytes:
                message = f"it inflates to more than {max_bytes} bytes"
                raise _UndecodableError(f"{message}; raise max_tests_mb to allow them")
            if not piece and not pending and not inflater.eof:
                raise _UndecodableError("the compressed data is cut off")
            pieces.append(piece)
    except zlib.error as error:
        raise _UndecodableError(f"damaged zlib data ({error})") from None
    if inflater.unused_data:
        raise _UndecodableError(f"{len(inflater.unused_data)} bytes follow the compressed data")
    return b"".join(pieces)


def _parse_json(text: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise _UndecodableError("JSON nested too deeply") from None
    except ValueError as error:
        raise _UndecodableError(f"not JSON ({error})") from None


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _to_tests(value: Any) -> tuple[TestCase, ...]:
    if not isinstance(value, list):
        raise _UndecodableError(f"it is {_kind(value)}, not a list of tests")
    return tuple(_to_test(number, item) for number, item in enumerate(value, start=1))


def _to_test(number: int, item: Any) -> TestCase:
    if not isinstance(item, dict):
        raise _UndecodableError(f"test {number} is {_kind(item)}, not an object")
    for key in ("input", "output", "testtype"):
        if key not in item:
            raise _UndecodableError(f"test {number} has no {key!r}")
        if not isinstance(item[key], str):
            raise _UndecodableError(f"test {number}: {key!r} is {_kind(item[key])}, not text")
        if not is_clean_text(item[key]):
            raise _UndecodableError(f"test {number}: {key!r} holds half of a surrogate pair")
    if item["testtype"] not in _MODES:
        raise _UndecodableError(f"test {number}: unknown testtype {item['testtype']!r}")
    return TestCase(item["input"], item["output"], cast("Mode", item["testtype"]))


def is_clean_text(text: str) -> bool:
    """Tell whether the text can be written as UTF-8 (JSON escapes can smuggle in half pairs)."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "text", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")
