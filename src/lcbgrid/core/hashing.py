"""Content hashes and derived seeds; both stable across processes, machines and versions."""

from __future__ import annotations

import hashlib
from pathlib import Path

from lcbgrid.core.files import dump_json


def sha256_text(text: str) -> str:
    """Return the hex SHA-256 of UTF-8 text (lone surrogates are kept, not refused)."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def sha256_json(value: object) -> str:
    """Return the hex SHA-256 of a JSON value in our one spelling (sorted keys, compact)."""
    return sha256_text(dump_json(value))


def sha256_file(path: Path | str, block_bytes: int = 1 << 20) -> str:
    """Return the hex SHA-256 of a file without reading it whole into memory."""
    digest = hashlib.sha256()
    with open(path, "rb") as handle:
        while block := handle.read(block_bytes):
            digest.update(block)
    return digest.hexdigest()


def derived_seed(*parts: object) -> int:
    """Return a seed in [0, 2**31 - 1) made from the parts; different parts, different seeds.

    Used for every request and every member of a team, so that a sample never depends on the
    order in which samples run.
    """
    digest = hashlib.sha256(dump_json(list(parts)).encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") % (2**31 - 1)
