"""Canonical JSON and content hashes (optimizers specification, section 1).

The spelling is the one of all our files (sorted keys, compact, text unescaped), but stricter: what
JSON has no word for is refused instead of being written in a way that another reader, or another
run, may spell differently.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from lcbgrid.core.files import dump_json
from lcbgrid.core.hashing import sha256_text
from lcbgrid.optimize.errors import ContractError

_LONE_SURROGATES = re.compile("[\ud800-\udfff]")


def canonical_json(value: object) -> str:
    """Return the one JSON spelling of a value.

    Raises:
        ContractError: A number is not finite, a key is no text, or JSON has no such type; the
            message names the place.
    """
    return dump_json(plain(value))


def content_hash(value: object) -> str:
    """Return the hex SHA-256 of the canonical JSON of a value."""
    return sha256_text(canonical_json(value))


def plain(value: object, where: str = "$") -> Any:
    """Return a copy made of dicts, lists, text, numbers, booleans and ``None`` only.

    Lone surrogates, which a model's JSON can hold, become U+FFFD.

    Raises:
        ContractError: See ``canonical_json``.
    """
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, str):
        return _LONE_SURROGATES.sub("\ufffd", value)  # UTF-8 has no bytes for them
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ContractError("JSON has no such number", where=where, value=value)
        return value
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise ContractError("a key of a JSON object must be text", where=where, value=key)
        return {str(key): plain(item, f"{where}.{key}") for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item, f"{where}[{index}]") for index, item in enumerate(value)]
    raise ContractError("JSON has no such type", where=where, value=type(value).__name__)
