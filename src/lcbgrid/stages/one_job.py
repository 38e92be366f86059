"""A single optimizer job in a folder of its own, without a grid.

Optimizers specification, sections 3.10 (which cells belong to the published grid), 6.1 and 6.4.
"""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lcbgrid import __version__
from lcbgrid.config.effective import Effective
from lcbgrid.config.grid import Cell
from lcbgrid.config.model_spec import ModelSpec
from lcbgrid.config.problem_spec import DatasetSpec, FilterSpec
from lcbgrid.core.errors import ConfigError
from lcbgrid.core.files import write_text
from lcbgrid.core.hashing import sha256_json
from lcbgrid.core.locks import held
from lcbgrid.models.transcript import Transcript
from lcbgrid.models.weights import cache_dir
from lcbgrid.optimize import improvements
from lcbgrid.optimize.interface import method
from lcbgrid.optimize.job import PHASES, Phase
from lcbgrid.optimize.published import TASK, foreign_cell
from lcbgrid.problems.embedded import embedded_problems
from lcbgrid.problems.hub import HUB_DIR_ENV
from lcbgrid.problems.prepare import prepare
from lcbgrid.problems.store import MANIFEST_FILE
from lcbgrid.stages.one_cell import Choices, one_cell
from lcbgrid.stages.optimize import run_phases
from lcbgrid.stages.search_cell import SearchPlan
from lcbgrid.stages.search_problems import SearchSplits, search_dataset, search_splits
from lcbgrid.stages.variables import addresses

REFLECTION = "reflection"  # the model that REFLECTION_MODEL_BASE_URL names
PREPARING_S = 3600.0


@dataclass(frozen=True, slots=True)
class OneJob:
    """A job on one cell.

    Attributes:
        choices: The cell and the settings of the search.
        folder: The job's own.
        phase: What is run.
        evaluations: Folder of evaluations that jobs share; ``None``: the job's own.
        n_test: The first so many test problems; ``None``: all.
        endpoints: Addresses that serve the task model, in turn.
        any_cell: Run a cell that the published grid does not have.
    """

    choices: Choices
    folder: Path
    phase: Phase = "all"
    evaluations: Path | None = None
    n_test: int | None = None
    endpoints: tuple[str, ...] = ()
    any_cell: bool = False


def run_one_job(job: OneJob, environment: Mapping[str, str]) -> dict[str, Any]:
    """Run a job's phases and return the last artifact.

    Raises:
        ConfigError: A choice cannot be, or the cell is not in the published grid.
    """
    method(job.choices.optimizer)
    improvements.known(job.choices.optimize.without)
    refuse_foreign_cell(job)
    effective, cell = one_cell(job.choices, environment)
    effective = _with_reflection(effective, cell, environment)
    dataset, optimize = effective.config.dataset, effective.config.optimize
    splits = search_splits(dataset, optimize)
    if (job.n_test or 0) > len(splits.test):
        raise ConfigError(
            f"data set {dataset.name} has {len(splits.test)} test problems",
            where="n_test",
            value=job.n_test,
            remedy="ask for fewer, or leave it out for all",
        )
    splits = SearchSplits(splits.train, splits.validation, splits.test[: job.n_test])
    plan = SearchPlan(
        effective,
        cell,
        splits,
        _prepared(search_dataset(dataset, optimize)),
        lambda: _prepared(_test_dataset(dataset, splits)),
        job.endpoints,
    )
    phases = tuple(phase for phase in PHASES if phase != "all")
    with Transcript(job.folder / "transcript.jsonl") as transcript:
        return run_phases(
            plan,
            job.folder,
            transcript,
            phases=phases if job.phase == "all" else (job.phase,),
            evaluations=job.evaluations,
        )


def refuse_foreign_cell(job: OneJob) -> None:
    """Refuse a cell that no published result belongs to, unless it was asked for (section 3.10).

    Raises:
        ConfigError: Says what is foreign about it.
    """
    reason = foreign(job.choices)
    if reason and not job.any_cell:
        raise ConfigError(
            f"this cell is not in the published grid: {reason}",
            remedy="add --allow-any-cell to run it all the same",
        )


def foreign(choices: Choices) -> str | None:
    """Return what takes a cell out of the published grid, if anything does."""
    if choices.dataset.source != "hub":
        return f"its data set is {choices.dataset.name}, not {TASK}"
    return foreign_cell(
        method=choices.optimizer,
        task=TASK,
        topology=choices.topology,
        team_size=choices.team_size,
        communication=choices.communication,
    )


def _with_reflection(
    effective: Effective, cell: Cell, environment: Mapping[str, str]
) -> Effective:
    """Return the configuration with the reflection model that the environment names, if any."""
    address = environment.get("REFLECTION_MODEL_BASE_URL")
    if not address or effective.config.optimize.reflection_model:
        return effective
    addresses(address, "REFLECTION_MODEL_BASE_URL")  # says what is wrong with it
    task = effective.models[cell.model]
    spec = ModelSpec(
        provider="openai",
        base_url=address,
        model_id=environment.get("REFLECTION_MODEL_ID") or task.model_id,
        api_key_env="REFLECTION_MODEL_API_KEY"
        if environment.get("REFLECTION_MODEL_API_KEY")
        else task.api_key_env,
        retry=task.retry.model_copy(update={"timeout_s": 1800.0}),
    )
    optimize = effective.config.optimize.model_copy(update={"reflection_model": REFLECTION})
    return effective.model_copy(
        update={
            "models": effective.models | {REFLECTION: spec},
            "config": effective.config.model_copy(update={"optimize": optimize}),
        }
    )


def _test_dataset(dataset: DatasetSpec, splits: SearchSplits) -> DatasetSpec:
    changes = {"filters": FilterSpec(ids=splits.test), "expect_count": len(splits.test)}
    return dataset.model_copy(update=changes)


def _prepared(dataset: DatasetSpec) -> Path:
    """Return the folder of a prepared data set in the cache.

    Another process prepares it, so this one opens nothing but what a search may see.
    """
    digest = sha256_json([__version__, dataset.model_dump(mode="json"), _state(dataset)])
    folder = cache_dir() / "problems" / digest[:24]
    mark = folder.with_name(f"{folder.name}.ready")
    with held(folder.with_name(f"{folder.name}.lock"), what="problems", wait_s=PREPARING_S):
        if not mark.is_file() or not (folder / MANIFEST_FILE).is_file():
            spawning = multiprocessing.get_context("spawn")
            with concurrent.futures.ProcessPoolExecutor(1, mp_context=spawning) as other:
                other.submit(prepare, dataset, folder).result()
            write_text(mark, digest)
    return folder


def _state(dataset: DatasetSpec) -> list[object]:
    """Return what tells a source from an earlier state of it, without opening it."""
    if dataset.source == "embedded":
        path = embedded_problems()
        found = path.stat()
        return [str(path.resolve()), found.st_size, found.st_mtime_ns]
    return [os.environ.get(HUB_DIR_ENV, "")]
