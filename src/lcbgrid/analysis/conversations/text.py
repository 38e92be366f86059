"""A conversation in the terminal; plain text where standard output is no terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import IO, Final

from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text

from lcbgrid.analysis.conversations.facts import (
    Fact,
    call_line,
    head_facts,
    team_facts,
    verdict_facts,
)
from lcbgrid.analysis.conversations.model import Block, Call, Conversation
from lcbgrid.analysis.conversations.read import Listed
from lcbgrid.analysis.conversations.repeats import Repeats
from lcbgrid.analysis.conversations.visible import TAB_SIZE, one_line, visible

_MOST_LINES: Final = {"system": 6, "heard": 40, "result": 30}
_KEPT_TAIL: Final = 3
_COLOURS: Final = {
    "system": "dim",
    "heard": "cyan",
    "reasoning": "magenta",
    "said": "green",
    "tool": "yellow",
    "result": "blue",
    "note": "red",
}
_HEAD: Final = "bold"
_QUIET: Final = "dim"


@dataclass(frozen=True, slots=True)
class _Line:
    text: str = ""
    style: str = ""
    code: bool = False


def print_conversation(
    conversation: Conversation, cell: str, stream: IO[str], *, full: bool = False
) -> None:
    """Write a conversation to a stream: who said what to whom, the program, the verdict.

    Args:
        conversation: The conversation.
        cell: The cell's path.
        stream: Where to; colours only if it is a terminal (and ``NO_COLOR`` is not set).
        full: Show every text whole, and instructions as often as they were given.
    """
    _print(_lines(conversation, cell, full), stream)


def print_answers(answers: Iterable[Listed], cell: str, stream: IO[str]) -> None:
    """Write the list of a cell's answers."""
    rows = [
        (
            f"{one_line(a.question_id)} #{a.sample_index}",
            a.status,
            a.verdict,
            f"{a.n_passed}/{a.n_total}",
            f"{a.total_tokens} tokens",
            one_line(a.title or ""),
        )
        for a in answers
    ]
    print_rows(rows, f"{cell}: {len(rows)} answers", stream)


def print_rows(rows: Iterable[tuple[str, ...]], heading: str, stream: IO[str]) -> None:
    """Write rows in columns under a heading."""
    rows = list(rows)
    columns = range(len(rows[0]) if rows else 0)
    widths = [max(len(row[i]) for row in rows) for i in columns]
    lines = [_Line(one_line(heading), _HEAD)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        lines.append(_Line("  ".join(cells).rstrip()))
    _print(lines, stream)


def _lines(conversation: Conversation, cell: str, full: bool) -> Iterator[_Line]:
    yield from _facts(head_facts(conversation, cell))
    instructed: dict[str, str] = {}
    repeats = None if full else Repeats()
    for number, call in enumerate(conversation.calls, start=1):
        yield from _call(call, number, instructed, repeats)
    if not conversation.calls:
        yield from (_Line(), _Line("no model call of this answer is in the transcript", _HEAD))
    yield from (_Line(), _Line("== team", _HEAD))
    yield from _facts(team_facts(conversation.prediction))
    yield from (_Line(), _Line("== program", _HEAD))
    yield from _text(visible(conversation.program or "(none)"), code=bool(conversation.program))
    yield from (_Line(), _Line("== verdict", _HEAD))
    yield from _facts(verdict_facts(conversation.verdict))


def _call(
    call: Call, number: int, instructed: dict[str, str], repeats: Repeats | None
) -> Iterator[_Line]:
    yield from (_Line(), _Line(f"== call {number}: {call.agent}, step {call.step}", _HEAD))
    for block in call.blocks:
        if block.kind == "system" and repeats:
            known = next((a for a, text in instructed.items() if text == block.text), None)
            instructed[call.agent] = block.text
            if known is not None:
                yield _Line(f"-- {block.heading}: the same as to {known}", _COLOURS["system"])
                continue
        yield from _block(block, repeats)
    yield _Line(f"   [{one_line(call_line(call))}]", _QUIET)


def _block(block: Block, repeats: Repeats | None) -> Iterator[_Line]:
    yield _Line(f"-- {one_line(block.heading)}", _COLOURS[block.kind])
    if not block.text:
        return
    most = _MOST_LINES.get(block.kind)
    style = _QUIET if block.kind in ("system", "reasoning") else ""
    text = visible(block.text)
    if repeats:
        if block.kind in ("heard", "result"):
            text = repeats.shorten(text, "[{n} lines shown above]")
        repeats.note(visible(block.text))
    lines = list(_text(text, code=block.code, style=style))
    if repeats is None or most is None or len(lines) <= most:
        yield from lines
        return
    left_out = len(lines) - most
    yield from lines[: most - _KEPT_TAIL]
    yield _Line(f"   [{left_out} more lines; --full shows them]", _QUIET)
    yield from lines[-_KEPT_TAIL:]


def _text(text: str, *, code: bool = False, style: str = "") -> Iterator[_Line]:
    for line in text.strip("\n").split("\n"):
        yield _Line(f"   {line.expandtabs(TAB_SIZE)}".rstrip(), style, code)


def _facts(facts: Iterable[Fact]) -> Iterator[_Line]:
    facts = [(one_line(name), one_line(value)) for name, value in facts]
    width = max((len(name) for name, _ in facts), default=0)
    for name, value in facts:
        yield _Line(f"{name.ljust(width)}  {value}")


def _print(lines: Iterable[_Line], stream: IO[str]) -> None:
    console = Console(file=stream, highlight=False, markup=False, emoji=False, soft_wrap=True)
    if not console.is_terminal:
        for line in lines:
            stream.write(line.text + "\n")
        return
    python = Syntax("", "python", background_color="default")
    for line in lines:
        if line.code:
            text = python.highlight(line.text)
            text.rstrip()
        else:
            text = Text(line.text, line.style)
        console.print(text)
