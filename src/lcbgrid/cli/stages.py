"""The stages of the workflow as commands; the rules call exactly these."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lcbgrid.cli.common import (
    RESULTS,
    CellOption,
    ConfigOption,
    ReplayOption,
    ResultsOption,
    load,
)


def run(
    cell: CellOption,
    config: ConfigOption = None,
    results: ResultsOption = RESULTS,
    replay_from: ReplayOption = None,
) -> None:
    """Let a team answer the problems of one cell; resumes where it stopped."""
    from lcbgrid.config.grid import find
    from lcbgrid.stages.run import run_cell

    effective, layout = load(config, results)
    summary = run_cell(effective, find(effective.cells, cell), layout, replay_from=replay_from)
    lost = f", {summary.n_infra_errors} lost to the endpoint" if summary.n_infra_errors else ""
    typer.echo(f"{cell}: {summary.n_answers} answers in {summary.answering_s:.1f} s{lost}")


def score(cell: CellOption, config: ConfigOption = None, results: ResultsOption = RESULTS) -> None:
    """Turn the verdicts of one cell into scores."""
    from lcbgrid.config.grid import find
    from lcbgrid.stages.report import score_one

    effective, layout = load(config, results)
    typer.echo(score_one(effective, find(effective.cells, cell), layout))


def aggregate(config: ConfigOption = None, results: ResultsOption = RESULTS) -> None:
    """Score all cells and bring the scores into tidy tables."""
    from lcbgrid.stages.report import aggregate_all

    effective, layout = load(config, results)
    typer.echo(aggregate_all(effective, layout))


def draw(
    config: ConfigOption = None,
    results: ResultsOption = RESULTS,
    figures: Annotated[Path, typer.Option(help="Folder for figures.")] = Path("figures"),
) -> None:
    """Draw the figures and write the tables and the report from the aggregated scores."""
    from lcbgrid.stages.report import draw_all

    effective, layout = load(config, results)
    typer.echo(draw_all(effective, layout, figures))


def redraw(
    config: ConfigOption = None,
    results: ResultsOption = RESULTS,
    figures: Annotated[Path, typer.Option(help="Folder for figures.")] = Path("figures"),
) -> None:
    """Score, aggregate and draw whatever has been run; needs no model and no network."""
    from lcbgrid.stages.report import redraw_all

    effective, layout = load(config, results)
    typer.echo(redraw_all(effective, layout, figures))


def finish(
    config: ConfigOption = None,
    results: ResultsOption = RESULTS,
    figures: Annotated[Path, typer.Option(help="Folder for figures.")] = Path("figures"),
) -> None:
    """Write results/all, the list of products with their checksums, and print the table."""
    from lcbgrid.stages.report import finish_all

    effective, layout = load(config, results)
    typer.echo(finish_all(effective, layout, figures))


def add_to(app: typer.Typer) -> None:
    """Add the stage commands."""
    for command in (run, score, aggregate, draw, redraw, finish):
        app.command()(command)
