"""Chance that is no chance: numbers in [0, 1) made from hashes, the same on every machine."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")


def chance(*parts: object) -> float:
    """Return a number in [0, 1) that depends on the parts only."""
    text = "\x1f".join(map(str, parts)).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=7).digest(), "big") / 2.0**56


def pick(items: Sequence[Item], *parts: object) -> Item:
    """Return one of the items, chosen by the parts only."""
    return items[int(chance(*parts) * len(items))]


def count_tokens(text: str) -> int:
    """Return the number of tokens of our made-up tokenizer: one for each four bytes begun."""
    return (len(text.encode("utf-8", "surrogatepass")) + 3) // 4
