"""The optimize stage: a cell's search, its decision, and the prompts that it deploys.

A search lies in a work folder named by everything that decides it, so a stage that was killed goes
on there, and one with other settings starts anew beside it. What is finished is copied into
``results/optimize/<cell>``; ``bundle.json``, written last, is what the cell runs with.
"""

from __future__ import annotations

import asyncio
import dataclasses
import logging
import shutil
from pathlib import Path
from typing import Any

from lcbgrid.config.effective import Effective
from lcbgrid.config.grid import Cell
from lcbgrid.core import locks
from lcbgrid.core.errors import ConfigError, DataError
from lcbgrid.core.hashing import sha256_json
from lcbgrid.models.transcript import Transcript, open_published
from lcbgrid.optimize import improvements
from lcbgrid.optimize.bundles import bundle_from_json, check_bundle
from lcbgrid.optimize.cell import versions_of
from lcbgrid.optimize.errors import ArtifactError, ContractError
from lcbgrid.optimize.interface import Job
from lcbgrid.optimize.job import Options, Phase, run_job
from lcbgrid.optimize.ledger import Snapshot
from lcbgrid.optimize.sealed import SealedFolder
from lcbgrid.problems.store import PreparedProblems
from lcbgrid.stages.paths import Layout
from lcbgrid.stages.search_cell import SearchPlan, opened
from lcbgrid.stages.search_problems import prepare_search, search_splits
from lcbgrid.teams.bundle import PromptBundle

logger = logging.getLogger(__name__)

BUNDLE_SCHEMA = "lcbgrid-bundle/v1"
TRANSCRIPT, TIMING, BUNDLE = "transcript.jsonl", "timing.jsonl", "bundle.json"
_NOT_PUBLISHED = ("*.lock", "*.flock", "rollouts.jsonl", "reflection.jsonl", TRANSCRIPT)
ORPHAN_WAIT_S = 24 * 3600.0
STEP = 10  # charged rollouts between two lines of progress


def check_searches(effective: Effective) -> None:
    """Refuse what would only fail when the first search begins.

    Raises:
        ConfigError: There is no such optimizer or improvement (names the nearest one), a package
            is missing, or the data set has not the splits that searches need.
    """
    names = sorted({cell.optimizer for cell in effective.cells if cell.optimizes})
    for name in names:
        versions_of(name)
    if names:
        improvements.known(effective.config.optimize.without)
        search_splits(effective.config.dataset, effective.config.optimize)


def prepare_search_problems(effective: Effective, layout: Layout) -> str:
    """Prepare the train and validation problems of a grid; return a line about them."""
    config = effective.config
    folder = layout.search_problems(config.dataset.name)
    return prepare_search(config.dataset, config.optimize, folder).summary()


def optimize_cell(
    effective: Effective, cell: Cell, layout: Layout, *, replay_from: Path | None = None
) -> str:
    """Search prompts for a cell and publish what it deploys; return a line that says how it went.

    Raises:
        ConfigError: The cell has no optimizer, or there is no such method.
        WorldFailed: A model does not answer, or the disk or the sandbox failed; all that is done
            is kept.
    """
    if not cell.optimizes:
        raise ConfigError("this cell runs the prompts as written", where=cell.path)
    config = effective.config
    splits = search_splits(config.dataset, config.optimize)
    tests = layout.problems(cell.dataset)
    if config.optimize.own_test:
        splits = dataclasses.replace(splits, test=PreparedProblems(tests).splits.test)  # ids only
    plan = SearchPlan(effective, cell, splits, layout.search_problems(cell.dataset), lambda: tests)
    folder = layout.searches / search_id(plan)
    target = layout.optimized(cell)
    with locks.held(folder / "stage.lock", what=f"search of {cell.path}", wait_s=ORPHAN_WAIT_S):
        with _transcript(folder, cell, replay_from) as transcript:
            run_phases(
                plan,
                folder,
                transcript,
                phases=("optimize", "validate", "test")
                if config.optimize.own_test
                else ("optimize", "validate"),
                evaluations=layout.searches / "evaluations",
                replay=replay_from is not None,
            )
            transcript.use_all()
            _publish(folder, target, transcript)
        return _deploy(SealedFolder(target), cell)


def run_phases(
    plan: SearchPlan,
    folder: Path,
    transcript: Transcript,
    *,
    phases: tuple[Phase, ...],
    evaluations: Path | None,
    replay: bool = False,
) -> dict[str, Any]:
    """Run phases of a search in its folder and return the last artifact."""
    settings = plan.effective.config.optimize
    told = _Told(plan.cell.path, settings.budget)
    options = Options(
        max_in_flight=plan.in_flight,
        window=settings.window,
        evaluations=evaluations,
        progress=told.settled,
    )

    async def work() -> dict[str, Any]:
        last: dict[str, Any] = {}
        async with opened(plan, transcript, replay=replay, searched=told.searched) as cell:
            job = Job(
                plan.cell.optimizer,
                cell.cell_id,
                plan.cell.seed,
                settings.budget,
                settings.profile,
                dict.fromkeys(settings.without, False),
            )
            for phase in phases:
                last = await run_job(folder, job, cell, phase=phase, options=options)
        return last

    return asyncio.run(work())


def search_id(plan: SearchPlan) -> str:
    """Return the name of a search's work folder: a digest of all that decides it.

    Whether the test problems are run as well is not among it: that phase goes on in the folder.
    """
    manifest = PreparedProblems(plan.problems).manifest
    config = plan.effective.config
    optimize = config.optimize.model_copy(update={"own_test": False})
    changes = {"config": config.model_copy(update={"optimize": optimize})}
    deciding = [
        plan.effective.model_copy(update=changes).optimize_digest(plan.cell),
        manifest.problems_sha256,
        manifest.tests_sha256,
        list(plan.splits.test),
        versions_of(plan.cell.optimizer),
    ]
    return sha256_json(deciding)[:24]


def deployed_bundle(path: Path, cell: Cell, seed: PromptBundle) -> PromptBundle:
    """Read the prompts that a search deploys.

    Args:
        path: The file.
        cell: Whose it must be.
        seed: The prompts as written; it must have their roles.

    Raises:
        DataError: The file is missing, was changed, or is another cell's.
    """
    if not path.is_file():
        raise DataError(
            "the cell's prompts have not been optimized yet",
            where=path,
            remedy="run `lcbgrid optimize run --cell …`, or the rule that makes this file, first",
        )
    again = "remove it and run the rule that makes it again"
    content = SealedFolder(path.parent).read(path.name)
    if content.get("cell") != cell.path:
        raise DataError(
            "it holds another cell's prompts", where=path, value=content.get("cell"), remedy=again
        )
    try:
        bundle = bundle_from_json(content.get("bundle") or {})
        check_bundle(bundle, seed)
    except (ArtifactError, ContractError) as error:
        raise DataError(error.what, where=path, value=error.value, remedy=again) from None
    return bundle


def _transcript(folder: Path, cell: Cell, replay_from: Path | None) -> Transcript:
    if replay_from is None:
        return Transcript(folder / TRANSCRIPT)
    source = Layout(replay_from)
    open_published(source.optimized(cell) / TRANSCRIPT).close()  # says what is wrong if it is gone
    others = sorted((source.results / "optimize").rglob(TRANSCRIPT))
    return Transcript(source.optimized(cell) / TRANSCRIPT, readonly=True, seeds_from=others)


def _publish(folder: Path, target: Path, transcript: Transcript) -> None:
    """Copy what is finished, whole or not at all; a bundle of an earlier search goes first."""
    (target / BUNDLE).unlink(missing_ok=True)
    staging = target.with_name(f".{target.name}.staging")
    shutil.rmtree(staging, ignore_errors=True)
    shutil.copytree(folder, staging, ignore=shutil.ignore_patterns(*_NOT_PUBLISHED))
    transcript.publish(staging / TRANSCRIPT, staging / TIMING)
    shutil.rmtree(target, ignore_errors=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    staging.rename(target)


def _deploy(store: SealedFolder, cell: Cell) -> str:
    selection = store.read("selection.json")
    envelope = store.read("optimization.json")
    content = {
        "schema": BUNDLE_SCHEMA,
        "cell": cell.path,
        "job_id": selection["job_id"],
        "selection_id": selection["selection_id"],
        "selected_candidate": selection["selected_candidate"],
        "fallback_reason": selection["fallback_reason"],
        "bundle": selection["deployed_bundle"],
    }
    store.write(BUNDLE, content, replace=True)
    charged = envelope["budget"]["charged"]
    reason = selection["fallback_reason"]
    what = f"the prompts as written ({reason})" if reason else "new prompts"
    delta = selection["validation_delta"]
    gain = "" if delta is None else f"; validation {100 * delta:+.1f} pp"
    return f"{cell.path}: deploys {what} after {charged} rollouts{gain}"


class _Told:
    """Tells how far a search is, every ten rollouts, those of a batch under way among them."""

    def __init__(self, name: str, budget: int) -> None:
        self._name, self._budget = name, budget
        self._charged = self._under_way = self._steps = 0

    def settled(self, snapshot: Snapshot) -> None:
        """Hear what is charged."""
        self._charged, self._under_way = snapshot.charged, 0
        self._tell()

    def searched(self) -> None:
        """Hear of a rollout that will be charged when its batch is done."""
        self._under_way += 1
        self._tell()

    def _tell(self) -> None:
        done = min(self._charged + self._under_way, self._budget)
        if done // STEP > self._steps:
            self._steps = done // STEP
            logger.info("%s: %d of %d rollouts", self._name, done, self._budget)
