"""What ``lcbgrid simulate`` does, apart from reading its options."""

from __future__ import annotations

from pathlib import Path

from lcbgrid.config.base import validate
from lcbgrid.config.effective import read_yaml
from lcbgrid.config.model_spec import ModelsFile, SimulateSpec
from lcbgrid.core.errors import EXIT_OK, ConfigError, nearest
from lcbgrid.models.simulate.server import run_server


def serve_command(
    *,
    port: int = 0,
    model: str = "",
    models_file: Path | str = "config/models.yaml",
    api_key: str | None = None,
    context_tokens: int | None = None,
    script: Path | str | None = None,
) -> int:
    """Serve until interrupted; return the exit status.

    Args:
        port: TCP port on loopback; 0: any free one.
        model: Name in the models file whose ``simulate`` part is taken; empty: the defaults,
            under any model name.
        models_file: The models file; read only if ``model`` is given.
        api_key: Key that requests must carry.
        context_tokens: Context window to enforce.
        script: File of scripted answers.

    Raises:
        ConfigError: There is no such model, or it is not a simulated one.
        InfrastructureError: The port is taken.
    """
    spec = SimulateSpec()
    model_ids: tuple[str, ...] = ()
    if model:
        known = validate(ModelsFile, read_yaml(Path(models_file)), where=models_file).models
        if model not in known:
            raise ConfigError(
                "no such model", where=models_file, value=model, remedy=nearest(model, known)
            )
        if not known[model].is_simulated:
            raise ConfigError("this model is not a simulated one", where=models_file, value=model)
        spec = known[model].simulate or SimulateSpec()
        model_ids = (known[model].model_id,)
    run_server(
        spec,
        port=port,
        model_ids=model_ids,
        api_key=api_key,
        context_tokens=context_tokens,
        script=script,
    )
    return EXIT_OK
