"""The communication formats and the vocabulary that their reports share (teams, section 4)."""

from __future__ import annotations

from lcbgrid.config.grid import COMMUNICATIONS as FORMATS
from lcbgrid.core.errors import ConfigError, nearest

STATUSES = ("not_started", "in_progress", "completed", "blocked")
CONFIDENCES = ("low", "medium", "high")

REQUIRED_TAGS = ("STATUS", "SUMMARY", "EVIDENCE_OR_TESTS", "CONFIDENCE", "NEXT")
REQUIRED_KEYS = ("status", "summary", "confidence", "next", "payload")
MARKER, END_MARKER = "JSON_REPORT:", "END_JSON_REPORT"


def check_format(name: str) -> None:
    """Refuse a name that is no communication format.

    Raises:
        ConfigError: There is no such format; the message names the nearest one.
    """
    if name not in FORMATS:
        raise ConfigError(
            "no such communication format",
            where="communication",
            value=name,
            remedy=nearest(name, FORMATS),
        )


def bare_word(text: str) -> str:
    """Return a status or confidence word as it is compared: trimmed, lower case, no ``.,;:``."""
    return text.strip().lower().strip(".,;:")


def first_word(text: str) -> str:
    """Return the first word of a section as it is compared; empty if there is none."""
    words = text.split(maxsplit=1)
    return bare_word(words[0]) if words else ""
