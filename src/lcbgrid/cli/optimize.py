"""``lcbgrid optimize``: prompt optimizers, compared on landscapes or run for a cell."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from lcbgrid.cli.common import (
    RESULTS,
    CellOption,
    ConfigOption,
    ReplayOption,
    ResultsOption,
    load,
)

if TYPE_CHECKING:
    from lcbgrid.optimize.compare import Setting

optimize = typer.Typer(help="Prompt optimizers.", no_args_is_help=True)


@optimize.command("compare")
def compare_methods(
    methods: Annotated[str, typer.Option(help="Names of methods, with commas between.")],
    landscapes: Annotated[int, typer.Option(min=1, help="How many landscapes.")] = 20,
    landscape_seed: Annotated[int, typer.Option(min=0, help="Seed of the first one.")] = 0,
    budget: Annotated[int, typer.Option(min=1, max=600, help="Rollouts of a search.")] = 200,
    topology: Annotated[
        str, typer.Option(help="Whose roles the texts are for, with four members if it can.")
    ] = "sequential",
    profile: Annotated[
        Literal["improved", "reference"], typer.Option(help="How methods charge and decide.")
    ] = "improved",
    without: Annotated[
        str, typer.Option(help="Improvements to turn off, with commas between.")
    ] = "",
    seed: Annotated[int, typer.Option(min=0, max=2, help="Seed of the searches.")] = 0,
    null: Annotated[
        bool, typer.Option("--null", help="Landscapes where no text matters.")
    ] = False,
    coupling: Annotated[
        float, typer.Option(min=0, max=1, help="How far equal seeds make equal chance.")
    ] = 1.0,
    teams_file: Annotated[Path, typer.Option(help="The teams file.")] = Path("config/teams.yaml"),
) -> None:
    """Run methods on simulated landscapes; print a row a method, and JSON in the last line.

    No model is asked. The gain is the exact one on test rows, in percentage points.
    """
    from lcbgrid.config.base import validate
    from lcbgrid.config.effective import read_yaml
    from lcbgrid.config.team_spec import TeamsFile
    from lcbgrid.optimize.compare import Setting, lineup

    teams = validate(TeamsFile, read_yaml(teams_file), where=teams_file).teams
    roles, size = lineup(teams, topology)
    setting = Setting(
        budget=budget,
        profile=profile,
        optimizer_seed=seed,
        switches=dict.fromkeys(_names(without), False),
        topology=topology,
        roles=roles,
        team_size=size,
        null=null,
        coupling=coupling,
    )
    _compare(_names(methods), range(landscape_seed, landscape_seed + landscapes), setting)


def _compare(methods: list[str], seeds: range, setting: Setting) -> None:
    """Run the comparison and print it."""
    import asyncio
    import logging

    from lcbgrid.core.errors import ConfigError
    from lcbgrid.core.files import dump_json
    from lcbgrid.optimize.compare import Found, compare, table

    logger = logging.getLogger(__name__)
    if not methods:
        raise ConfigError("no method is named", where="--methods", remedy="for example gepa,mipro")

    def told(name: str, one: Found) -> None:
        logger.info("landscape %d, %s: %+.1f pp", one.landscape, name, one.gain_pp)

    rows = asyncio.run(compare(methods, seeds, setting, told=told))
    typer.echo(table(rows))
    summary = {
        "budget": setting.budget,
        "coupling": setting.coupling,
        "landscape_seed": seeds.start,
        "landscapes": len(seeds),
        "null": setting.null,
        "optimizer_seed": setting.optimizer_seed,
        "profile": setting.profile,
        "rows": [row.to_json() for row in rows],
        "topology": setting.topology,
        "without": list(setting.switches),
    }
    typer.echo(dump_json(summary))


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
    replay_from: ReplayOption = None,
) -> None:
    """Search prompts for one cell and decide what it runs with; resumes where it stopped."""
    from lcbgrid.config.grid import find
    from lcbgrid.stages.optimize import optimize_cell

    effective, layout = load(config, results)
    found = find(effective.cells, cell)
    typer.echo(optimize_cell(effective, found, layout, replay_from=replay_from))


def _names(text: str) -> list[str]:
    """Return the names in a list with commas, each once."""
    return list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))


def add_to(app: typer.Typer) -> None:
    """Add the group."""
    app.add_typer(optimize, name="optimize")
