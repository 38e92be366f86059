"""``lcbgrid optimize run`` and ``prepare``: the stages of the workflow that tune prompts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lcbgrid.cli.common import RESULTS, CellOption, ConfigOption, ResultsOption, load
from lcbgrid.cli.optimize import add_to as add_group
from lcbgrid.cli.optimize import optimize


@optimize.command("prepare")
def prepare(config: ConfigOption = None, results: ResultsOption = RESULTS) -> None:
    """Prepare the train and validation problems, from which optimizers learn."""
    from lcbgrid.stages.optimize import prepare_search_problems

    effective, layout = load(config, results)
    typer.echo(prepare_search_problems(effective, layout))


@optimize.command("run")
def run(
    cell: CellOption,
    config: ConfigOption = None,
    results: ResultsOption = RESULTS,
    replay_from: Annotated[
        Path | None,
        typer.Option(
            help="Results folder whose transcripts answer every model call.",
            envvar="LCBGRID_REPLAY_FROM",
        ),
    ] = None,
) -> None:
    """Search prompts for one cell and decide what it runs with; resumes where it stopped."""
    from lcbgrid.config.grid import find
    from lcbgrid.stages.optimize import optimize_cell

    effective, layout = load(config, results)
    found = find(effective.cells, cell)
    typer.echo(optimize_cell(effective, found, layout, replay_from=replay_from))


def add_to(app: typer.Typer) -> None:
    """Add the group ``optimize``, these commands among its own."""
    add_group(app)
