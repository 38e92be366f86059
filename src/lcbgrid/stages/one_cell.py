"""A grid of a single cell, made from a few choices instead of a configuration file."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lcbgrid.config.base import validate
from lcbgrid.config.effective import Effective, resolve
from lcbgrid.config.grid import Cell
from lcbgrid.config.model_spec import SamplingSpec
from lcbgrid.config.optimize_spec import IDENTITY, OptimizeSpec
from lcbgrid.config.problem_spec import DatasetSpec
from lcbgrid.config.team_spec import TeamSpec
from lcbgrid.core.errors import ConfigError, nearest
from lcbgrid.problems.resources import read_json_object
from lcbgrid.stages.variables import sampling_changes, team_changes
from lcbgrid.teams.interface import build

logger = logging.getLogger(__name__)

CONFIG_FOLDERS = (Path("config"), Path(__file__).resolve().parents[3] / "config")
"""Where ``models.yaml``, ``teams.yaml`` and ``prompts`` are looked for."""

EMBEDDED_MAX_TOKENS = 400
"""As in the quick start: on a CPU a reply that goes round in circles would take minutes."""


@dataclass(frozen=True, slots=True)
class Choices:
    """What is run.

    Attributes:
        topology: Name in the teams file.
        team_size: Agents in a team.
        communication: Communication format.
        model: Name in the models file.
        dataset: The problems.
        seed: The cell's seed.
        concurrency: Calls in flight; ``None``: as the model says.
        bundle: File with role texts in place of the prompts.
        optimizer: How the prompts are tuned; ``identity``: not at all.
        optimize: Settings of the search.
    """

    topology: str
    team_size: int
    communication: str
    model: str
    dataset: DatasetSpec
    seed: int = 0
    concurrency: int | None = None
    bundle: Path | None = None
    optimizer: str = IDENTITY
    optimize: OptimizeSpec = field(default_factory=OptimizeSpec)


def one_cell(choices: Choices, environment: Mapping[str, str]) -> tuple[Effective, Cell]:
    """Return the configuration of the only cell, and the cell.

    Raises:
        ConfigError: A choice or a variable cannot be, or the team needs a package that is not
            installed.
    """
    data = {
        "dataset": choices.dataset.model_dump(mode="json"),
        "grid": {
            "topologies": [choices.topology],
            "team_sizes": [choices.team_size],
            "communications": [choices.communication],
            "models": [choices.model],
            "seeds": [choices.seed],
            "optimizers": [choices.optimizer],
        },
        "optimize": choices.optimize.model_dump(mode="json"),
        "run": {"max_infra_share": 1.0},  # what was lost is counted apart and tried again
    }
    effective = resolve(
        data, folders=CONFIG_FOLDERS, where="command line", environment=environment
    )
    effective = _changed(effective, choices, environment)
    (cell,) = effective.cells
    if choices.bundle is not None:
        effective = _with_bundle(effective, cell, choices.bundle)
    team = effective.teams[cell.topology]
    build(
        team, cell.team_size, cell.communication
    )  # what it lacks shows before anything is loaded
    return effective, cell


def _changed(effective: Effective, choices: Choices, environment: Mapping[str, str]) -> Effective:
    model = effective.models[choices.model]
    sampling = sampling_changes(environment)
    if model.provider == "embedded" and model.sampling is None:
        sampling = {"max_tokens": EMBEDDED_MAX_TOKENS} | sampling
    if sampling:
        settings = effective.sampling(choices.model).model_dump(mode="json") | sampling
        where = "TASK_MODEL_TEMPERATURE, TASK_MODEL_TOP_P, TASK_MODEL_MAX_TOKENS"
        changed = validate(SamplingSpec, settings, where=where)
        model = model.model_copy(update={"sampling": changed})
    if choices.concurrency is not None:
        model = model.model_copy(update={"max_concurrency": choices.concurrency})
    team = effective.teams[choices.topology]
    changes = team_changes(choices.topology, environment)
    if changes:
        settings = team.model_dump(mode="json") | changes
        team = validate(TeamSpec, settings, where="environment variables")
    return effective.model_copy(
        update={
            "models": effective.models | {choices.model: model},
            "teams": {choices.topology: team},
        }
    )


def _with_bundle(effective: Effective, cell: Cell, path: Path) -> Effective:
    known = effective.role_prompts(cell)
    texts = read_json_object(path)
    for role, text in texts.items():
        if role not in known:
            raise ConfigError(
                "the team has no such role", where=path, value=role, remedy=nearest(role, known)
            )
        if not isinstance(text, str) or not text.strip():
            raise ConfigError(f"the text of role {role!r} is no text, or empty", where=path)
    if not texts:
        raise ConfigError("it names no role", where=path, remedy=nearest("", known))
    kept = sorted(known.keys() - texts.keys())
    rest = f"; as shipped: {', '.join(kept)}" if kept else ""
    logger.info("role texts from %s: %s%s", path, ", ".join(sorted(texts)), rest)
    prompts: dict[str, Any] = effective.prompts[cell.topology] | texts
    return effective.model_copy(update={"prompts": {cell.topology: prompts}})
