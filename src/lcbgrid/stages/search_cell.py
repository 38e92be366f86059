"""A cell of the grid as the protocol of optimizers sees it: rows, rollouts, reflection.

Optimizers specification, sections 6.1 to 6.3. Test problems are opened by ``load_test`` alone,
which the protocol calls after the selection is sealed.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lcbgrid.config.effective import OPTIMIZE_VERSION, Effective
from lcbgrid.config.grid import Cell as GridCell
from lcbgrid.config.model_spec import ModelSpec, SamplingSpec
from lcbgrid.core.hashing import sha256_json
from lcbgrid.judge.errata import load_errata
from lcbgrid.judge.judge import Judge
from lcbgrid.judge.pool import usable_cores
from lcbgrid.judge.verdict import JUDGE_VERSION
from lcbgrid.models.client import ModelClient
from lcbgrid.models.pool import ClientPool
from lcbgrid.models.transcript import Transcript
from lcbgrid.optimize.cell import Cell
from lcbgrid.optimize.interface import Row
from lcbgrid.optimize.records import RunRecord
from lcbgrid.optimize.rows import row_id
from lcbgrid.problems.store import PreparedProblems
from lcbgrid.stages.mirror import Mirror
from lcbgrid.stages.rollouts import Desk, Rollouts, rows_of
from lcbgrid.stages.search_problems import SearchSplits
from lcbgrid.teams.bundle import PromptBundle
from lcbgrid.teams.work import Client


@dataclass(frozen=True, slots=True)
class SearchPlan:
    """What is searched on what.

    Attributes:
        effective: The configuration.
        cell: The cell; its optimizer is the method.
        splits: Ids of train, validation and test problems.
        problems: Folder of the train and validation problems.
        test_problems: Returns the folder of the test problems; called when they may be opened.
        endpoints: Addresses that serve the task model; empty: as the model says.
    """

    effective: Effective
    cell: GridCell
    splits: SearchSplits
    problems: Path
    test_problems: Callable[[], Path]
    endpoints: tuple[str, ...] = ()

    @property
    def task_model(self) -> ModelSpec:
        """The model that the team runs on."""
        return self.effective.models[self.cell.model]

    @property
    def reflection_model(self) -> str:
        """Name of the model that writes prompts."""
        return self.effective.reflection_model(self.cell)

    @property
    def in_flight(self) -> int:
        """Rollouts under way at a time: more than calls, so a next request is always ready."""
        asked = self.effective.config.optimize.max_in_flight
        calls = self.task_model.max_concurrency * max(1, len(self.endpoints))
        tools = any(role.tools for role in self.effective.teams[self.cell.topology].roles)
        return asked or (4 * calls if tools else max(1, calls * 3 // 2))

    def sampling(self, temperature: float) -> SamplingSpec:
        """Return how replies of rollouts are drawn."""
        changes = {"temperature": temperature, "top_p": self.effective.config.optimize.top_p}
        return self.effective.sampling(self.cell.model).model_copy(update=changes)


@contextlib.asynccontextmanager
async def opened(
    plan: SearchPlan,
    transcript: Transcript,
    *,
    replay: bool = False,
    searched: Callable[[], None] = lambda: None,
) -> AsyncIterator[Cell]:
    """Open models and judge, and yield the cell; ``searched`` is told of each rollout made."""
    effective, grid_cell = plan.effective, plan.cell
    store = PreparedProblems(plan.problems)
    async with contextlib.AsyncExitStack() as stack:
        judge = stack.enter_context(Judge(effective.config.judge, workers=usable_cores()))
        task = await _entered(stack, _task_client(plan, transcript, replay=replay))
        name, writer = plan.reflection_model, task
        if name != grid_cell.model:  # else the task model's endpoints answer, whichever they are
            other = ModelClient(name, effective.models[name], transcript, replay=replay)
            writer = await _entered(stack, other)
        mirror = Mirror(writer, effective.models[name], effective.config.optimize)
        desk = _desk(plan)
        rollouts = Rollouts(desk, task, transcript, judge, store, told=plan.splits.train)
        work = _Work(
            plan,
            rollouts,
            searched,
            lambda folder: Rollouts(desk, task, transcript, judge, folder),
        )
        yield _cell(plan, store, work, mirror)


@dataclass(slots=True)
class _Work:
    """Sends rows to the rollouts of their folder."""

    plan: SearchPlan
    searching: Rollouts
    searched: Callable[[], None]
    open_test: Callable[[PreparedProblems], Rollouts]
    testing: Rollouts | None = None
    test_ids: frozenset[str] = field(default_factory=frozenset)

    def load_test(self) -> Sequence[Row]:
        """Open the test problems."""
        store = PreparedProblems(self.plan.test_problems())
        self.testing = self.open_test(store)
        self.test_ids = frozenset(self.plan.splits.test)
        return rows_of(store, self.plan.splits.test)

    async def search(self, row: Row, bundle: PromptBundle, request_seed: int) -> RunRecord:
        """Run a rollout of a search."""
        temperature = self.plan.effective.config.optimize.search_temperature
        sampling = self.plan.sampling(temperature)
        record = await self.searching.run(row, bundle, request_seed, sampling)
        self.searched()
        return record

    async def evaluate(self, row: Row, bundle: PromptBundle, request_seed: int) -> RunRecord:
        """Run a rollout of a final evaluation."""
        temperature = self.plan.effective.config.optimize.evaluation_temperature
        testing = self.testing if row_id(row) in self.test_ids else None
        where = testing or self.searching
        return await where.run(row, bundle, request_seed, self.plan.sampling(temperature))


def _task_client(
    plan: SearchPlan, transcript: Transcript, *, replay: bool
) -> ModelClient | ClientPool:
    spec, name = plan.task_model, plan.cell.model
    if not plan.endpoints or replay:
        return ModelClient(name, spec, transcript, replay=replay)
    specs = [spec.model_copy(update={"base_url": address}) for address in plan.endpoints]
    return ClientPool([ModelClient(name, one, transcript) for one in specs])


async def _entered(stack: contextlib.AsyncExitStack, client: ModelClient | ClientPool) -> Client:
    await stack.enter_async_context(client)
    return client


def _desk(plan: SearchPlan) -> Desk:
    effective, cell = plan.effective, plan.cell
    return Desk(
        spec=effective.teams[cell.topology],
        size=cell.team_size,
        communication=cell.communication,
        model=cell.model,
        judging=effective.config.judge,
        first_tests=effective.config.optimize.first_tests,
    )


def _cell(plan: SearchPlan, store: PreparedProblems, work: _Work, mirror: Mirror) -> Cell:
    effective, cell = plan.effective, plan.cell
    texts = effective.role_prompts(cell)
    lineup = effective.teams[cell.topology].lineup(cell.team_size)
    written = effective.optimize_settings(cell)["reflection"]
    return Cell(
        names=_names(plan, store),
        seed_bundle=PromptBundle(texts),
        role_order=tuple(dict.fromkeys(role.name for role in lineup)),
        train=rows_of(store, plan.splits.train),
        validation=rows_of(store, plan.splits.validation),
        test_ids=plan.splits.test,
        load_test=work.load_test,
        search=work.search,
        evaluate=work.evaluate,
        reflect=mirror.reflect,
        reflection_model=_writer(plan),
        reflection_window=mirror.window,
        reflection_settings=sha256_json({k: v for k, v in written.items() if k != "base_url"}),
    )


def _writer(plan: SearchPlan) -> str:
    """Return the name of the reflection model, with what its server calls it if that differs."""
    name = plan.reflection_model
    model_id = plan.effective.models[name].model_id
    return name if model_id == name else f"{name} ({model_id})"


def _names(plan: SearchPlan, store: PreparedProblems) -> dict[str, Any]:
    """Return what tells the condition from another; no path and no address is in it."""
    effective, cell = plan.effective, plan.cell
    config = effective.config
    errata = load_errata(with_checkers=config.judge.checkers)
    settings = effective.optimize_settings(cell)
    deciding = {
        "team": settings["team"],
        "model": {key: value for key, value in settings["model"].items() if key != "base_url"},
        "judge": [settings["judge"], JUDGE_VERSION, errata.digest],
        "search": plan.sampling(config.optimize.search_temperature).model_dump(mode="json"),
        "evaluation": plan.sampling(config.optimize.evaluation_temperature).model_dump(
            mode="json"
        ),
        "reflection_max_tokens": config.optimize.reflection_max_tokens,
    }
    return {
        "task": cell.dataset,
        "scenario": cell.scenario,
        "topology": cell.topology,
        "framework": effective.teams[cell.topology].builder,
        "communication": cell.communication,
        "team_size": cell.team_size,
        "model": cell.model,
        "model_id": plan.task_model.model_id,
        "first_tests": config.optimize.first_tests,
        "settings_sha256": sha256_json([OPTIMIZE_VERSION, deciding]),
        "problems_sha256": store.manifest.problems_sha256,
        "tests_sha256": store.manifest.tests_sha256,
        **({"simulated": True} if plan.task_model.is_simulated else {}),
    }
