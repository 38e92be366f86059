"""What every optimizer keeps to, whatever it does: budget, bytes, and no test row too early.

A method is covered once its name stands in ``METHODS``. Kills are in ``test_kills``.
"""

from __future__ import annotations

import asyncio
import dataclasses
import hashlib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from lcbgrid.core.errors import InfrastructureError
from lcbgrid.models.simulate.landscape import Landscape
from lcbgrid.optimize.cell import Cell
from lcbgrid.optimize.interface import METHODS, Row
from lcbgrid.optimize.job import Options, run_job
from lcbgrid.optimize.landscape_cell import LandscapeWorld, landscape_cell
from lcbgrid.optimize.records import RunRecord
from lcbgrid.optimize.reflection import Reply, Request, most_calls
from lcbgrid.optimize.search import Searched, search
from lcbgrid.optimize.trials import MemoryTrials, open_study
from lcbgrid.teams.bundle import PromptBundle

from .optimize_helpers import sealed_bytes

SPLITS = {"train": 9, "validation": 8, "test": 5}
ROLES = ("coder", "debugger")
PROFILES = ("improved", "reference")
BUDGET = 30
every_method = pytest.mark.parametrize("method", METHODS)
every_profile = pytest.mark.parametrize("profile", PROFILES)


class ShuffledWorld(LandscapeWorld):
    """Answers in an order that has nothing to do with that of the asking."""

    async def execute(self, row: Row, bundle: PromptBundle, request_seed: int) -> RunRecord:
        """Wait as long as a hash says."""
        digest = hashlib.sha256(f"{row['id']}|{request_seed}".encode()).digest()
        await asyncio.sleep(digest[0] / 100_000)
        return await super().execute(row, bundle, request_seed)

    async def reflect(self, request: Request) -> Reply:
        """The same for the calls that are made side by side."""
        await asyncio.sleep(request.request_seed % 256 / 100_000)
        return await super().reflect(request)


def world(seed: int = 5, kind: type[LandscapeWorld] = LandscapeWorld) -> LandscapeWorld:
    return kind(Landscape.generate(seed, ROLES, splits=SPLITS))


def searched(method: str, profile: Any, budget: int, optimizer_seed: int = 0) -> Searched:
    cell = landscape_cell(world())
    job = cell.job(method, optimizer_seed, budget, profile=profile)
    return asyncio.run(search(job, cell, MemoryTrials()))


def done(
    folder: Path,
    cell: Cell,
    method: str,
    profile: Any,
    *,
    in_flight: int = 16,
) -> dict[str, Any]:
    job = cell.job(method, 0, BUDGET, profile=profile)
    return asyncio.run(run_job(folder, job, cell, options=Options(max_in_flight=in_flight)))


def trials_of(folder: Path) -> list[tuple[Any, ...]]:
    """Return what a study holds, without the times that Optuna notes."""
    name = (folder / "optimization/study.log").read_text().split('"study_name":"')[1].split('"')[0]
    study = open_study(folder / "optimization/study.log", name)
    return [
        (trial.number, trial.state, trial.value, trial.params, trial.user_attrs)
        for trial in study.trials
    ]


@every_method
@every_profile
def test_no_budget_from_1_to_60_is_overspent(method: str, profile: str) -> None:
    for budget in range(1, 61):
        found = searched(method, profile, budget)
        assert found.budget.closed
        assert found.budget.maximum == budget
        assert found.budget.charged <= budget
        curve = found.curve()
        grid = [row.rollout_grid for row in curve if row.rollout_grid is not None]
        assert grid == [*range(0, budget, 10), budget]
        assert curve[0].charged_rollouts == 0
        charges = [row.charged_rollouts for row in curve]
        assert charges == sorted(charges)


@every_method
@every_profile
def test_the_seed_decides_the_trace(method: str, profile: str) -> None:
    first, again, other = (searched(method, profile, 60, seed) for seed in (0, 0, 1))

    def trace(found: Searched) -> list[Any]:
        rollouts = [item.to_json() for item in found.rollouts]
        return [rollouts, list(found.outcome.events), list(found.reflections)]

    assert trace(first) == trace(again)
    assert method == "identity" or trace(first) != trace(other)


@every_method
@every_profile
def test_the_bytes_do_not_tell_how_many_rollouts_were_under_way(
    method: str, profile: str, tmp_path: Path
) -> None:
    for count in (1, 16):
        cell = landscape_cell(world(kind=ShuffledWorld))
        done(tmp_path / str(count), cell, method, profile, in_flight=count)
    assert sealed_bytes(tmp_path / "1") == sealed_bytes(tmp_path / "16")
    assert trials_of(tmp_path / "1") == trials_of(tmp_path / "16")


@every_method
def test_test_rows_are_opened_after_the_selection_is_sealed(method: str, tmp_path: Path) -> None:
    opened = []
    cell = landscape_cell(world())
    load = cell.load_test

    def noting() -> Any:
        opened.append((tmp_path / "selection.json").is_file())
        return load()

    done(tmp_path, dataclasses.replace(cell, load_test=noting), method, "improved")
    assert opened
    assert all(opened)


@every_method
@every_profile
def test_a_row_that_fails_three_times_ends_the_search_and_deploys_the_seed(
    method: str, profile: str, tmp_path: Path
) -> None:
    """The ledger is closed, and the job goes on to its decision."""
    failing = LandscapeWorld(
        Landscape.generate(5, ROLES, splits=SPLITS),
        fault=lambda name, _: name.startswith("train"),
    )
    cell = landscape_cell(failing)
    if method == "identity":
        result = done(tmp_path, cell, method, profile)
        assert result["status"] == "completed"
        return
    result = done(tmp_path, cell, method, profile)
    assert result["status"] == "infrastructure_invalid"
    assert result["selection"]["fallback_reason"] == "infrastructure_invalid_optimization"
    budget = result["optimization"]["budget"]
    assert budget["reserved"] == 0
    assert budget["charged"] == budget["successful"] + budget["semantic_failures"]
    assert max(Counter(failing.rollouts).values()) >= 3
    with pytest.raises(InfrastructureError):
        asyncio.run(failing.execute({"id": "train-0000"}, cell.seed_bundle, 1))


@every_method
@every_profile
@pytest.mark.parametrize("reply", ["", "```\nnothing of use\n```"])
def test_a_model_that_writes_nothing_of_use_is_not_asked_for_ever(
    method: str, profile: str, reply: str
) -> None:
    useless = world()

    async def reflect(_: Request) -> Reply:
        return Reply(reply, 10, 1, finish_reason="stop")

    cell = dataclasses.replace(landscape_cell(useless), reflect=reflect)
    job = cell.job(method, 0, 60, profile=profile)
    found = asyncio.run(search(job, cell, MemoryTrials()))
    assert found.status == "completed"
    assert found.budget.closed
    assert found.outcome.incumbent.prompts == cell.seed_bundle.prompts or method == "mipro"
    assert found.reflection_usage.model_calls < most_calls(60)
