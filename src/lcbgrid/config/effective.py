"""The effective configuration: everything that decides a grid's results, in one value.

It is written beside the results (``results/config.json``); jobs read only that file, so that a run
can be repeated later from its own folder. Digests of its parts tell Snakemake what changed.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import Field

from lcbgrid.config import grid as grids
from lcbgrid.config.base import StrictModel, validate
from lcbgrid.config.main_spec import Config
from lcbgrid.config.model_spec import ModelsFile, ModelSpec, SamplingSpec
from lcbgrid.config.team_spec import TeamsFile, TeamSpec
from lcbgrid.core.errors import ConfigError, nearest
from lcbgrid.core.files import dump_json
from lcbgrid.core.hashing import sha256_json

DEFAULT_BASE_URL = "http://127.0.0.1:8000/v1"
RUN_VERSION = 3  # raised when the run stage would give other bytes for the same configuration
OPTIMIZE_VERSION = 1  # the same for a search and what it decides on
SCORE_VERSION = 1  # the same for the score stage
PRICES = ("price_input_usd_per_mtok", "price_output_usd_per_mtok")
_NOT_DECIDING: dict[str, Any] = {  # speed, patience and money decide no prediction
    "retry": True,
    "max_concurrency": True,
    **dict.fromkeys(PRICES, True),
    "simulate": {"latency_ms", "fault_rate", "faults", "fault_timeout_s", "retry_after_s"},
}
Value = TypeVar("Value")


class Effective(StrictModel):
    """Configuration, the models and teams it names, and their prompts."""

    effective: bool = Field(True, description="Marks the form.")
    config: Config = Field(description="The configuration file.")
    models: dict[str, ModelSpec] = Field(description="Models of the grid.")
    teams: dict[str, TeamSpec] = Field(description="Teams of the grid.")
    prompts: dict[str, dict[str, str]] = Field(description="Topology -> role -> text.")

    @property
    def cells(self) -> list[grids.Cell]:
        """The cells of the grid, sorted."""
        return grids.expand(self.config.dataset.name, self.config.grid, self.teams)

    def sampling(self, model: str) -> SamplingSpec:
        """Return how replies of ``model`` are drawn."""
        return self.models[model].sampling or self.config.run.sampling

    def dataset_digest(self) -> str:
        """Digest of what decides the prepared problems."""
        return sha256_json(self.config.dataset.model_dump(mode="json"))

    def run_digest(self, cell: grids.Cell) -> str:
        """Digest of what decides the predictions of a cell, and nothing else."""
        deciding = [RUN_VERSION, self.cell_settings(cell), self.dataset_digest()]
        if cell.optimizes:
            deciding.append(self.optimize_digest(cell))
        return sha256_json(deciding)

    def optimize_digest(self, cell: grids.Cell) -> str:
        """Digest of what decides the prompts that a cell's search deploys."""
        settings = self.optimize_settings(cell)
        unread = set() if self.config.optimize.own_test else {"filters", "expect_count"}
        dataset = self.config.dataset.model_dump(mode="json", exclude=unread)
        return sha256_json([OPTIMIZE_VERSION, settings, dataset])

    def judge_digest(self) -> str:
        """Digest of what decides verdicts, given predictions."""
        return sha256_json(self.config.judge.model_dump(mode="json"))

    def score_digest(self) -> str:
        """Digest of what decides scores, given verdicts."""
        analysis = self.config.analysis.model_dump(mode="json")
        return sha256_json([SCORE_VERSION, analysis, {m: self.prices(m) for m in self.models}])

    def prices(self, model: str) -> dict[str, float | None]:
        """Return what a million tokens of ``model`` cost, in USD."""
        spec = self.models[model]
        return {name: getattr(spec, name) for name in PRICES}

    def cell_settings(self, cell: grids.Cell) -> dict[str, Any]:
        """Return the settings that decide a cell's predictions, as plain data."""
        run = self.config.run.model_dump(mode="json")
        run["sampling"] = self.sampling(cell.model).model_dump(mode="json")
        return {
            "cell": cell.axes(),
            "run": run,
            "model": self.models[cell.model].model_dump(mode="json", exclude=_NOT_DECIDING),
            "team": self.teams[cell.topology].model_dump(mode="json"),
            "prompts": self.role_prompts(cell),
        }

    def reflection_model(self, cell: grids.Cell) -> str:
        """Return the name of the model that writes the prompts of a cell."""
        return self.config.optimize.reflection_model or cell.model

    def optimize_settings(self, cell: grids.Cell) -> dict[str, Any]:
        """Return the settings that decide a cell's search, as plain data."""
        reflection = self.models[self.reflection_model(cell)]
        settings = self.cell_settings(cell)
        del settings["run"]
        return settings | {
            "sampling": self.sampling(cell.model).model_dump(mode="json"),
            "optimize": self.config.optimize.model_dump(mode="json", exclude={"max_in_flight"}),
            "reflection": reflection.model_dump(mode="json", exclude=_NOT_DECIDING),
            "judge": self.config.judge.model_dump(mode="json"),
        }

    def role_prompts(self, cell: grids.Cell) -> dict[str, str]:
        """Return the texts of the roles that a cell's team has."""
        lineup = {role.name for role in self.teams[cell.topology].lineup(cell.team_size)}
        texts = self.prompts[cell.topology]
        return {name: text for name, text in texts.items() if name in lineup}

    def dump(self) -> str:
        """Return the JSON text that ``results/config.json`` holds (without where it replays)."""
        data = self.model_dump(mode="json")
        data["config"]["replay_from"] = None
        return dump_json(data, indent=2) + "\n"


def read_yaml(path: Path) -> Any:
    """Read a YAML file, refusing keys that stand twice.

    Raises:
        ConfigError: The file is missing or no YAML.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"cannot read it: {error.strerror}", where=path) from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"is not UTF-8 text: {error.reason}", where=path) from None
    try:
        return yaml.load(text, Loader=_UniqueKeyLoader)  # noqa: S506 - a subclass of SafeLoader
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ConfigError(f"is not YAML that we can use: {reason[:300]}", where=path) from None


class _UniqueKeyLoader(yaml.SafeLoader):
    """SafeLoader that refuses a key given twice, which YAML would silently let win."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key_node, _ in node.value:
            if key_node.tag == "tag:yaml.org,2002:merge":
                continue
            key = self.construct_object(key_node, deep=True)
            if key in seen:
                problem = f"key {key!r} stands twice"
                raise yaml.constructor.ConstructorError(None, None, problem, key_node.start_mark)
            seen.add(key)
        return super().construct_mapping(node, deep=deep)


def load(path: Path | str, environment: Mapping[str, str] = os.environ) -> Effective:
    """Load a configuration file, or an effective one that was written beside results.

    Raises:
        ConfigError: One line with file, key and value.
    """
    path = Path(path)
    data = read_yaml(path)
    if isinstance(data, dict) and data.get("effective") is True:
        return validate(Effective, data, where=path)
    return resolve(
        data or {},
        folders=(path.parent, Path("config"), Path()),
        where=path,
        environment=environment,
    )


def resolve(
    data: Any,
    *,
    folders: tuple[Path, ...],
    where: Path | str,
    environment: Mapping[str, str] = os.environ,
) -> Effective:
    """Validate a configuration and read the files that it names.

    Args:
        data: The plain data of ``config.yaml``, perhaps merged with command line settings.
        folders: Folders in which relative file names are looked up, the first that has it wins.
        where: Name for messages.
        environment: Gives ``VLLM_BASE_URL`` and ``MODEL_ID``.
    """
    if not isinstance(data, dict):
        raise ConfigError("the top level must be a mapping", where=where, value=data)
    config = validate(Config, data, where=where)
    models_path = _find(config.models_file, folders, "models_file", where)
    teams_path = _find(config.teams_file, folders, "teams_file", where)
    prompts_dir = _find(config.prompts_dir, folders, "prompts_dir", where)
    all_models = validate(ModelsFile, read_yaml(models_path), where=models_path).models
    all_teams = validate(TeamsFile, read_yaml(teams_path), where=teams_path).teams
    model_names, topologies = _names(config)
    models = {
        name: _with_environment(_pick(all_models, name, "models", where), environment)
        for name in model_names
    }
    teams = {name: _pick(all_teams, name, "topologies", where) for name in topologies}
    prompts = {
        name: {
            r.name: _prompt(prompts_dir / (team.prompts or name) / f"{r.name}.md")
            for r in team.roles
        }
        for name, team in teams.items()
    }
    result = Effective(config=config, models=models, teams=teams, prompts=prompts)
    _ = result.cells  # refuses sizes that do not exist and paths that clash
    return result


def _names(config: Config) -> tuple[list[str], list[str]]:
    models, topologies = set(config.grid.models), set(config.grid.topologies)
    if config.optimize.reflection_model:
        models.add(config.optimize.reflection_model)
    for pattern in config.grid.include:
        models.update(pattern.model)
        topologies.update(pattern.topology)
    return sorted(models), sorted(topologies)


def _pick(known: Mapping[str, Value], name: str, axis: str, where: Path | str) -> Value:
    if name not in known:
        raise ConfigError(
            f"grid.{axis} names an unknown one",
            where=where,
            value=name,
            remedy=nearest(name, known),
        )
    return known[name]


def _find(name: str, folders: tuple[Path, ...], key: str, where: Path | str) -> Path:
    for folder in folders:
        with contextlib.suppress(OSError):  # a name that no file can have
            if (folder / name).exists():
                return folder / name
    looked = ", ".join(str(folder) for folder in folders)
    raise ConfigError(f"{key}: no such file in {looked}", where=where, value=name)


def _prompt(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise ConfigError(f"cannot read the prompt: {error.strerror}", where=path) from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"the prompt is not UTF-8: {error.reason}", where=path) from None
    if not text:
        raise ConfigError("the prompt is empty", where=path, remedy="write the role's text")
    return text


def _with_environment(model: ModelSpec, environment: Mapping[str, str]) -> ModelSpec:
    """Fill what the environment may decide, so that jobs and digests see the resolved values."""
    if model.provider != "openai":
        return model
    changes: dict[str, str] = {}
    if model.base_url is None:
        changes["base_url"] = environment.get("VLLM_BASE_URL") or DEFAULT_BASE_URL
    if model.model_id == "env":
        model_id = environment.get("MODEL_ID")
        if not model_id:
            raise ConfigError("model_id is 'env' but MODEL_ID is not set", remedy="set MODEL_ID")
        changes["model_id"] = model_id
    return model.model_copy(update=changes)
