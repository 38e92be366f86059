"""Options and helpers that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lcbgrid.core.errors import ConfigError

if TYPE_CHECKING:
    from lcbgrid.config.effective import Effective
    from lcbgrid.stages.paths import Layout

ConfigOption = Annotated[
    Path | None,
    typer.Option(
        "--config",
        help="Configuration; by default the one beside the results, else config/config.yaml.",
    ),
]
ResultsOption = Annotated[Path, typer.Option("--results", help="Results folder.")]
CellOption = Annotated[
    str, typer.Option("--cell", help="Path of the cell, as below results/runs.")
]
ReplayOption = Annotated[
    Path | None,
    typer.Option(
        "--replay-from",
        help="Results folder whose transcripts answer every model call.",
        envvar="LCBGRID_REPLAY_FROM",
    ),
]

RESULTS = Path("results")


def load(config: Path | None, results: Path) -> tuple[Effective, Layout]:
    """Load the configuration and the folder layout.

    Raises:
        ConfigError: No configuration is given and none is found.
    """
    from lcbgrid.config.effective import load as load_effective
    from lcbgrid.stages.paths import Layout

    layout = Layout(results)
    candidates = [config] if config else [layout.effective_config, Path("config/config.yaml")]
    for path in candidates:
        if path.exists() or config:
            return load_effective(path), layout
    raise ConfigError(
        "no configuration found",
        where=f"{layout.effective_config}, config/config.yaml",
        remedy="give one with --config FILE",
    )
