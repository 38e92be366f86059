"""Conversations of a cell as static HTML pages that need no network and no server.

A page says by its content security policy that only its own few lines of script may run and that
nothing may be loaded, so even a mistake in the escaping could not let a model's text act. A cell
that does not fit into one page is written answer by answer into several, with a list of all.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any, Final, cast

from jinja2 import Environment, PackageLoader, StrictUndefined

from lcbgrid.analysis.conversations.facts import (
    Fact,
    call_line,
    head_facts,
    team_facts,
    verdict_facts,
)
from lcbgrid.analysis.conversations.read import CellConversations, Listed
from lcbgrid.analysis.conversations.visible import one_line, visible
from lcbgrid.core.files import atomic_path

MOST_ANSWERS: Final = 200
MOST_CHARS: Final = 4_000_000
_GENERATOR: Final = b'<meta name="generator" content="lcbgrid show">'
_TEMPLATES: Final = "lcbgrid.analysis.conversations"
_FILTERS: Final = ("status", "verdict", "difficulty")


def write_pages(
    cell: CellConversations,
    target: Path,
    *,
    question_id: str | None = None,
    about: Sequence[Fact] = (),
    most_answers: int = MOST_ANSWERS,
    most_chars: int = MOST_CHARS,
) -> list[Path]:
    """Write the conversations of a cell; the same files give the same bytes.

    Args:
        cell: The cell.
        target: The page, a name that ends in ``.html``; or a folder, for ``index.html`` in it.
        question_id: Only this question.
        about: Names and values for the head of the page.
        most_answers: Answers on one page.
        most_chars: About how long a page may become; one answer is never split.

    Returns:
        The page. If there are several: the list of all answers, then the pages, which stand
        beside it as ``<name>-0001.html`` and so on.
    """
    page = target if target.suffix.lower() in (".html", ".htm") else target / "index.html"
    writer = _Pages(_Templates(cell.path, about), page, most_answers, most_chars)
    for number, listed in enumerate(cell.answers(question_id), start=1):
        writer.add(f"a{number}", listed, writer.templates.answer(f"a{number}", listed, cell))
    written = writer.finish()
    _remove_old(page, set(written))
    return written


class _Pages:
    """Fills pages one after the other; only the answers of one page are in memory."""

    def __init__(
        self, templates: _Templates, page: Path, most_answers: int, most_chars: int
    ) -> None:
        self.templates = templates
        self._page = page
        self._most = (most_answers, most_chars)
        self._open: list[tuple[Listed, str]] = []
        self._chars = 0
        self._rows: list[tuple[Listed, str]] = []
        self._parts: list[Path] = []

    def add(self, anchor: str, listed: Listed, text: str) -> None:
        most_answers, most_chars = self._most
        if self._open and (
            len(self._open) >= most_answers or self._chars + len(text) > most_chars
        ):
            self._close_part(is_last=False)
        self._open.append((listed, text))
        self._chars += len(text)
        href = f"{self._part(len(self._parts) + 1).name}#{anchor}"
        self._rows.append((listed, self.templates.row(href, listed)))

    def finish(self) -> list[Path]:
        if not self._parts:
            self.templates.write(self._page, self._open, "", [])
            return [self._page]
        self._close_part(is_last=True)
        self.templates.write(self._page, self._rows, "", [])
        return [self._page, *self._parts]

    def _part(self, number: int) -> Path:
        return self._page.with_name(f"{self._page.stem}-{number:04}.html")

    def _close_part(self, *, is_last: bool) -> None:
        number = len(self._parts) + 1
        links = [("all answers", self._page.name)]
        if number > 1:
            links.append(("previous page", self._part(number - 1).name))
        if not is_last:
            links.append(("next page", self._part(number + 1).name))
        part = self._part(number)
        self.templates.write(part, self._open, f", page {number}", links)
        self._parts.append(part)
        self._open, self._chars = [], 0


class _Templates:
    """The page's parts; every text of a model goes through the ``seen`` or ``line`` filter."""

    def __init__(self, cell: str, about: Sequence[Fact]) -> None:
        self._cell = cell
        self._about = list(about)
        environment = Environment(
            loader=PackageLoader(_TEMPLATES), autoescape=True, undefined=StrictUndefined
        )
        environment.filters["seen"] = visible
        environment.filters["line"] = one_line
        environment.filters["name"] = _class_name
        self._module = cast("Any", environment.get_template("page.html.j2").module)

    def row(self, href: str, listed: Listed) -> str:
        """Return one entry of the list of all answers."""
        return str(self._module.row(href, listed))

    def answer(self, anchor: str, listed: Listed, cell: CellConversations) -> str:
        """Return one answer with its conversation."""
        conversation = cell.conversation(*listed.key)
        return str(
            self._module.answer(
                anchor,
                listed,
                conversation,
                head_facts(conversation, cell.path),
                [(call, call_line(call)) for call in conversation.calls],
                team_facts(conversation.prediction),
                verdict_facts(conversation.verdict),
            )
        )

    def write(
        self,
        page: Path,
        answers: Sequence[tuple[Listed, str]],
        part: str,
        links: Sequence[tuple[str, str]],
    ) -> None:
        """Write one page with these answers."""
        style, script = self._static
        top = self._module.top(
            self._cell,
            self._about,
            style,
            _hash(script),
            _hash(style),
            part,
            links,
            [(name, _counted((listed for listed, _ in answers), name)) for name in _FILTERS],
            len(answers),
        )
        with (
            atomic_path(page) as temporary,
            open(temporary, "w", encoding="utf-8", newline="\n") as handle,
        ):
            handle.write(str(top))
            for _, text in answers:
                handle.write(str(text))
            handle.write(str(self._module.bottom(script)))

    @cached_property
    def _static(self) -> tuple[str, str]:
        folder = resources.files(_TEMPLATES) / "templates"
        style, script = ((folder / f"page.{kind}").read_text("utf-8") for kind in ("css", "js"))
        return style, script


def _counted(answers: Iterable[Listed], name: str) -> list[tuple[str, int]]:
    return sorted(Counter(str(getattr(listed, name)) for listed in answers).items())


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _class_name(text: str) -> str:
    return re.sub(r"[^a-z_]", "-", text.lower())


def _remove_old(page: Path, written: set[Path]) -> None:
    """Remove pages that an earlier, larger writing of ours left beside this one."""
    numbered = re.compile(re.escape(page.stem) + r"-\d{4,}\.html")
    for other in sorted(page.parent.iterdir()):
        if numbered.fullmatch(other.name) and other not in written:
            with open(other, "rb") as handle:
                ours = _GENERATOR in handle.read(2000)
            if ours:
                other.unlink()
