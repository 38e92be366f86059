"""``lcbgrid config``: check a configuration, show a cell, write what is generated from it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lcbgrid.cli.common import RESULTS, ConfigOption, ResultsOption, load

config_app = typer.Typer(help="Configuration.", no_args_is_help=True)


@config_app.command("check")
def check(
    file: Annotated[
        Path, typer.Argument(help="A config.yaml, or the config.json beside results.")
    ],
) -> None:
    """Check a configuration and the files it names; print the grid's size."""
    from lcbgrid.config.effective import load as load_effective

    effective = load_effective(file)
    cells = effective.cells
    if any(cell.optimizes for cell in cells):
        from lcbgrid.stages.optimize import check_searches

        check_searches(effective)
    typer.echo(f"{file}: good; {len(cells)} cells")
    for cell in cells[:20]:
        typer.echo(f"  {cell.path}")
    if len(cells) > 20:
        typer.echo(f"  … and {len(cells) - 20} more")


@config_app.command("show")
def show(
    cell: Annotated[str, typer.Argument(help="Path of the cell, as below results/runs.")],
    config: ConfigOption = None,
    results: ResultsOption = RESULTS,
) -> None:
    """Print everything that decides the predictions of one cell, as JSON."""
    from lcbgrid.config.grid import find
    from lcbgrid.core.files import dump_json

    effective, _ = load(config, results)
    found = find(effective.cells, cell)
    settings = effective.cell_settings(found)
    settings["run_sha256"] = effective.run_digest(found)
    settings["judge"] = effective.config.judge.model_dump(mode="json")
    typer.echo(dump_json(settings, indent=2))


@config_app.command("generate")
def generate(
    folder: Annotated[Path, typer.Option(help="Folder for the generated files.")] = Path("config"),
    check_only: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit 1 if a file would change.")
    ] = False,
) -> None:
    """Write config/default.yaml and config/schema/*.json from the models of the code."""
    from lcbgrid.config.generated import write_generated

    raise typer.Exit(write_generated(folder, check_only=check_only, echo=typer.echo))


def add_to(app: typer.Typer) -> None:
    """Add the group."""
    app.add_typer(config_app, name="config")
