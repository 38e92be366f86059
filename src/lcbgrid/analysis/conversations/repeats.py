"""Leaves out of a message what the reader has just read.

Agents are sent the problem again and again, and the words of those before them in full.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

_RUN: Final = 6  # fewer lines in a row are shown again: they cost less than a gap in the text


class Repeats:
    """Knows the lines that were shown."""

    def __init__(self) -> None:
        self._seen: set[tuple[str, ...]] = set()

    def note(self, text: str) -> None:
        """Remember a text as shown."""
        self._seen.update(_runs(text.split("\n")))

    def shorten(self, text: str, gap: str) -> str:
        """Return a text with each run of lines that was shown before replaced by one line.

        Args:
            text: The text.
            gap: The line; ``{n}`` stands for the number of lines left out.
        """
        lines = text.split("\n")
        known = [False] * len(lines)
        for start, run in enumerate(_runs(lines)):
            if run in self._seen:
                known[start : start + _RUN] = [True] * _RUN
        shown: list[str] = []
        skipped = 0
        for line, is_known in zip([*lines, ""], [*known, False], strict=True):
            if is_known:
                skipped += 1
                continue
            if skipped:
                shown.append(gap.format(n=skipped))
                skipped = 0
            shown.append(line)
        return "\n".join(shown[:-1])


def _runs(lines: list[str]) -> Iterator[tuple[str, ...]]:
    return (tuple(lines[start : start + _RUN]) for start in range(len(lines) - _RUN + 1))
