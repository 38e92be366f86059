"""Text of a model made harmless to look at.

A model may write terminal escapes, characters that turn the direction of text, or halves of
characters. They are shown by their number, so that nothing acts on a terminal or hides in a page.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

TAB_SIZE: Final = 8  # Python's own
_KEPT: Final = frozenset("\n\t\N{ZERO WIDTH JOINER}\N{ZERO WIDTH NON-JOINER}")
_HARMFUL: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_ORDINARY: Final = re.compile(r"[\n\t\x20-\x7e]*")


def visible(text: object) -> str:
    r"""Return a text in which every character can be seen and none does anything.

    Line ends become line feeds. Tabs and the joiners that some scripts and emoji need stay.

    Examples:
        >>> print(visible("a\x1b[31mb\r\nc"))
        a\x1b[31mb
        c
    """
    plain = str(text).replace("\r\n", "\n")
    if _ORDINARY.fullmatch(plain):
        return plain
    return "".join(map(_shown, plain))


def one_line(text: object) -> str:
    """Return ``visible`` text as one line, for headings and lists."""
    return " ".join(visible(text).split())


def _shown(char: str) -> str:
    if char in _KEPT or unicodedata.category(char) not in _HARMFUL:
        return char
    number = ord(char)
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
