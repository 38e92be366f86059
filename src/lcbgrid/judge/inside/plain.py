"""Turn a program's result into plain tagged JSON.

Runs in the program's own process after the program had its way with it, so nothing here can be
trusted outside; the aim is only that honest results arrive whole. Methods of the base types are
called directly, because a subclass may lie about its length or its items.
"""

from __future__ import annotations

import json
import sys
from typing import Any

_SAFE_INT = 1 << 53
_MAX_DEPTH = 200


def dumps(value: Any, *, only_outermost_tuple: bool = False) -> bytes:
    """Return the tagged JSON of ``value`` as ASCII bytes.

    Args:
        value: What the program returned.
        only_outermost_tuple: A tuple within the value is no list; for the official rules.

    Raises:
        ValueError: Under the official rules, for an array, whose comparison has no truth value.
    """
    if only_outermost_tuple:
        numpy = sys.modules.get("numpy")
        if numpy is not None and isinstance(value, numpy.ndarray) and value.size > 1:
            message = "the truth value of an array is ambiguous"
            raise ValueError(message)
        value = _without_inner_tuples(value, 0)
    return json.dumps(_tag(value, 0), separators=(",", ":"), allow_nan=False).encode("ascii")


def _tag(value: Any, depth: int) -> Any:
    if value is None or value is True or value is False:
        return value
    if depth > _MAX_DEPTH:
        return {"opaque": "nested too deeply"}
    if isinstance(value, int):
        number = int.__index__(value)
        return number if -_SAFE_INT < number < _SAFE_INT else {"int": hex(number)}
    if isinstance(value, float):
        return {"float": float.hex(value)}
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, list):
        return [_tag(item, depth + 1) for item in list.__iter__(value)]
    if isinstance(value, tuple):
        return [_tag(item, depth + 1) for item in tuple.__iter__(value)]
    if isinstance(value, dict):
        items = dict.items(value)
        return {"dict": [[_tag(key, depth + 1), _tag(item, depth + 1)] for key, item in items]}
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.generic):
        return _tag(value.item(), depth + 1)
    return {"opaque": type(value).__name__}


class _InnerTuple:
    """Stands for a tuple that is not the whole result: it equals nothing."""


def _without_inner_tuples(value: Any, depth: int) -> Any:
    if depth > _MAX_DEPTH:
        return value
    if isinstance(value, tuple) and depth:
        return _InnerTuple()
    if isinstance(value, tuple):
        return [_without_inner_tuples(item, depth + 1) for item in tuple.__iter__(value)]
    if isinstance(value, list):
        return [_without_inner_tuples(item, depth + 1) for item in list.__iter__(value)]
    if isinstance(value, dict):
        return {k: _without_inner_tuples(item, depth + 1) for k, item in dict.items(value)}
    return value
