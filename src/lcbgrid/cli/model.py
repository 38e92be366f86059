"""``lcbgrid model`` and ``lcbgrid simulate``: weights, a first call, and the simulated server."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

models = typer.Typer(help="Models.", no_args_is_help=True)


@models.command("fetch")
def fetch(
    name: Annotated[str, typer.Argument(help="Name in the models file.")],
    models_file: Annotated[Path, typer.Option(help="The models file.")] = Path(
        "config/models.yaml"
    ),
) -> None:
    """Get the weights of an embedded model and check their checksum."""
    from lcbgrid.config.base import validate
    from lcbgrid.config.effective import read_yaml
    from lcbgrid.config.model_spec import ModelsFile
    from lcbgrid.core.errors import ConfigError, nearest
    from lcbgrid.models.weights import ensure_weights

    known = validate(ModelsFile, read_yaml(models_file), where=models_file).models
    if name not in known:
        raise ConfigError(
            "no such model", where=models_file, value=name, remedy=nearest(name, known)
        )
    weights = known[name].weights
    if weights is None:
        typer.echo(f"{name}: has no weights of its own")
        return
    typer.echo(f"{name}: weights are there, checksum right: {ensure_weights(weights).name}")


def add_to(app: typer.Typer) -> None:
    """Add the group and the server."""
    app.add_typer(models, name="model")
    app.command()(simulate)


def simulate(
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0: any free one.")] = 0,
    model: Annotated[str, typer.Option(help="Name in the models file, for its behaviour.")] = "",
    models_file: Annotated[Path, typer.Option(help="The models file.")] = Path(
        "config/models.yaml"
    ),
    script: Annotated[
        Path | None, typer.Option(help="Scripted answers: JSON lines with match and replies.")
    ] = None,
    context_tokens: Annotated[
        int | None, typer.Option(min=1, help="Context window to enforce, in tokens.")
    ] = None,
    api_key_env: Annotated[
        str | None, typer.Option(help="Variable with the key that requests must carry.")
    ] = None,
) -> None:
    """Serve a simulated model on loopback: for tests, tutorials and experiments at scale."""
    from lcbgrid.core.errors import ConfigError
    from lcbgrid.models.simulate.command import serve_command

    if api_key_env and not os.environ.get(api_key_env):
        raise ConfigError("the variable with the key is not set", value=api_key_env)
    status = serve_command(
        port=port,
        model=model,
        models_file=models_file,
        script=script,
        context_tokens=context_tokens,
        api_key=os.environ.get(api_key_env) if api_key_env else None,
    )
    raise typer.Exit(status)
