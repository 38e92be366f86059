"""``lcbgrid show``: the conversation behind an answer, in the terminal or as a page."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import typer

from lcbgrid.cli.common import RESULTS, ConfigOption, ResultsOption

if TYPE_CHECKING:
    from lcbgrid.analysis.conversations.read import CellConversations
    from lcbgrid.stages.paths import Layout
    from lcbgrid.stages.show import Published


def show(
    cell: Annotated[
        str | None,
        typer.Argument(help="The cell's path below results/runs, or how it begins."),
    ] = None,
    question: Annotated[str | None, typer.Argument(help="Id of a question.")] = None,
    sample: Annotated[
        int | None, typer.Option("--sample", min=0, help="Which sample; default: the first.")
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Show long texts whole and instructions every time.")
    ] = False,
    html: Annotated[
        Path | None,
        typer.Option("--html", help="Write a page instead: a name in .html, or a folder."),
    ] = None,
    config: ConfigOption = None,
    results: ResultsOption = RESULTS,
) -> None:
    """Show who said what to whom. Without QUESTION: the cell's answers; without CELL: the cells.

    Reads published results only, also copied ones; a configuration is not needed.
    """
    from lcbgrid.analysis.conversations.read import CellConversations
    from lcbgrid.analysis.conversations.text import print_answers, print_conversation
    from lcbgrid.core.errors import UserError
    from lcbgrid.stages.paths import Layout
    from lcbgrid.stages.show import titles

    if html is not None and (sample is not None or full):
        raise UserError("a page holds every sample and every text", remedy="leave the option out")
    if sample is not None and question is None:
        raise UserError("a sample of which question?", remedy="name it: show CELL QUESTION")
    layout = Layout(results)
    stream = _harmless_stdout()
    if cell is None:
        _list_cells(layout, stream)
        return
    found = _find(layout, cell, config)
    with CellConversations(found.folder, found.path, titles(layout, found)) as conversations:
        if question is not None:
            samples = conversations.samples(question)
        if html is not None:
            _write(conversations, html, question)
        elif question is None:
            print_answers(conversations.answers(), found.path, stream)
        else:
            shown = conversations.conversation(question, samples[0] if sample is None else sample)
            print_conversation(shown, found.path, stream, full=full)
            if len(samples) > 1 and sample is None:
                typer.echo(f"this is one of {len(samples)} samples; see --sample", err=True)


def _find(layout: Layout, cell: str, config: Path | None) -> Published:
    """Find the cell; one that the grid has and nobody has run is said to be that."""
    from lcbgrid.cli.common import load
    from lcbgrid.core.errors import DataError
    from lcbgrid.stages.show import find_published

    try:
        return find_published(layout, cell)
    except DataError as error:
        if config is None:
            raise
        effective, _ = load(config, layout.results)
        if any(known.path == cell.rstrip("/") for known in effective.cells):
            raise DataError(
                "the cell is in the grid, but has not been run to its end",
                where=layout.runs,
                value=cell,
                remedy="run it first",
            ) from error
        raise


def _list_cells(layout: Layout, stream: IO[str]) -> None:
    from lcbgrid.analysis.conversations.text import print_rows
    from lcbgrid.stages.show import published_cells

    cells = published_cells(layout)
    print_rows([(cell.path,) for cell in cells], f"{len(cells)} cells with answers", stream)


def _write(conversations: CellConversations, target: Path, question: str | None) -> None:
    from lcbgrid.analysis.conversations.page import write_pages

    written = write_pages(conversations, target, question_id=question)
    more = f" and {len(written) - 1} pages that it links to" if len(written) > 1 else ""
    typer.echo(f"{written[0]}{more}")


def _harmless_stdout() -> IO[str]:
    """Return standard output; what it cannot encode is shown by number instead of failing."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    return sys.stdout


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(show)
