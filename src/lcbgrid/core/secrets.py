"""Secrets never reach a file, a log or a message."""

from __future__ import annotations

import logging
import os
import re

_NAMES = re.compile(r"(API_KEY|_TOKEN|SECRET|PASSWORD)$")
_SHAPES = re.compile(
    r"\b(sk-[A-Za-z0-9_\-]{8,}|hf_[A-Za-z0-9]{8,})|(?<=://)[^/\s:@]+:[^/\s@]+(?=@)"
)
_known: set[str] = set()
_NO_KEY = "EMPTY"  # what servers that want no key are sent


def register(secret: str) -> None:
    """Remember a secret value, so that ``mask`` hides it wherever it shows up."""
    if len(secret) >= 6 and secret != _NO_KEY:
        _known.add(secret)


def mask(text: str) -> str:
    """Replace known secrets, and what looks like a key or a password in a URL, by ``***``."""
    values = set(_known)
    for name, value in os.environ.items():
        if _NAMES.search(name) and len(value) >= 6 and value != _NO_KEY:
            values.add(value)
    for value in sorted(values, key=len, reverse=True):
        text = text.replace(value, "***")
    return _SHAPES.sub("***", text)


class MaskingFormatter(logging.Formatter):
    """A log formatter that masks secrets in the whole line, tracebacks included."""

    def format(self, record: logging.LogRecord) -> str:
        """Format the record, then mask."""
        return mask(super().format(record))
