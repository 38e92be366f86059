"""Fenced blocks in a model's reply, found line by line."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass

_FENCE = re.compile(r"^(?P<indent>[ \t]*)(?P<mark>`{3,}|~{3,})(?P<info>[^`]*)$")
_INLINE = re.compile(r"```[ \t]*(?:python3?|py3?)[ \t](?P<code>[^`\n]*)```", re.IGNORECASE)
_LABEL = re.compile(r"^\{?\.?(?P<label>[A-Za-z0-9_+#.-]*)")
PYTHON_LABELS = frozenset({"python", "py", "python3", "py3", "python3.11", "cpython", "pypy3"})


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block.

    Attributes:
        label: Language word, lower case, empty if there is none.
        code: The text between the fences, dedented by the opening fence's indentation.
        closed: False if the reply ended before a closing fence.
        first_line: Index of the opening fence's line; blocks are ordered by it.
        last_line: Index of the closing fence's line, or of the last line.
    """

    label: str
    code: str
    closed: bool
    first_line: int
    last_line: int

    @property
    def is_python(self) -> bool:
        """True if the label says Python, in any of its usual spellings."""
        return self.label in PYTHON_LABELS


def lines_of(text: str) -> list[str]:
    r"""Split at line feeds only and drop carriage returns at line ends (``\r\n``)."""
    return [line.removesuffix("\r") for line in text.split("\n")]


def split_lines(text: str) -> list[str]:
    """Split into lines, with every fence on a line of its own.

    A labelled fence may follow text (``Here it is: ```python``), and a closing one may follow the
    last line of the program.
    """
    found: list[str] = []
    inside = False
    for line in lines_of(text):
        bare = line.rstrip()
        before, mark, label = bare.rpartition("```")
        if _FENCE.match(line):
            inside = not inside
        elif mark and before.strip() and "`" not in before:
            opens = not inside and label.strip().lower() in PYTHON_LABELS
            if opens or (inside and not label):
                found.append(before.rstrip())
                line = mark + label
                inside = opens
        found.append(line)
    return found


def fence_lines(lines: list[str]) -> list[int]:
    """Return the indices of lines that are nothing but a fence with an optional info text."""
    return [index for index, line in enumerate(lines) if _FENCE.match(line)]


def find_blocks(text: str) -> list[Block]:
    """Return all fenced blocks, in order; a block that is never closed comes last."""
    lines = split_lines(text)
    blocks: list[Block] = []
    opener: re.Match[str] | None = None
    start = 0
    for index, line in enumerate(lines):
        match = _FENCE.match(line)
        if match is None:
            continue
        if opener is None:
            opener, start = match, index
        elif _closes(opener, match):
            blocks.append(_block(lines, opener, start, index, closed=True))
            opener = None
        elif _label(match) and match["mark"][0] == opener["mark"][0]:
            # A labelled fence inside an open block: the earlier one was never closed.
            blocks.append(_block(lines, opener, start, index, closed=False))
            opener, start = match, index
    if opener is not None:
        blocks.append(_block(lines, opener, start, len(lines), closed=False))
    return blocks


def find_inline(text: str) -> list[str]:
    """Return labelled programs written as fence, code and fence on a single line."""
    return [match["code"].strip() for match in _INLINE.finditer(text)]


def _closes(opener: re.Match[str], match: re.Match[str]) -> bool:
    mark, other = opener["mark"], match["mark"]
    return other[0] == mark[0] and len(other) >= len(mark) and not match["info"].strip()


def _label(match: re.Match[str]) -> str:
    found = _LABEL.match(match["info"].strip())
    return found["label"].lower() if found else ""


def _block(
    lines: list[str], opener: re.Match[str], start: int, end: int, *, closed: bool
) -> Block:
    body = "\n".join(lines[start + 1 : end])
    if opener["indent"]:
        body = textwrap.dedent(body)
    return Block(_label(opener), body.strip("\n").rstrip(), closed, start, end)
