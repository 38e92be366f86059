"""Cells, reflection models and searches for tests of optimizers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from lcbgrid.models.simulate.landscape import Landscape
from lcbgrid.optimize.cell import Cell
from lcbgrid.optimize.landscape_cell import LandscapeWorld, landscape_cell
from lcbgrid.optimize.reflection import Reply, Request
from lcbgrid.optimize.search import Searched, search
from lcbgrid.optimize.trials import MemoryTrials

ROLES = ("coder", "debugger")


class ScriptedWorld(LandscapeWorld):
    """A landscape whose reflection model is a function of the prompt."""

    def __init__(self, landscape: Landscape, script: Callable[[str], str]) -> None:
        super().__init__(landscape)
        self.script = script
        self.prompts: list[str] = []

    async def reflect(self, request: Request) -> Reply:
        self.prompts.append(request.prompt)
        return Reply(self.script(request.prompt), 10, 10, finish_reason="stop")


def small_landscape(seed: int = 3, roles: tuple[str, ...] = ROLES, **options: Any) -> Landscape:
    splits = {"train": 12, "validation": 10, "test": 8}
    return Landscape.generate(seed, roles, splits=splits, **options)


def run(
    name: str,
    world: LandscapeWorld,
    budget: int,
    *,
    seed: int = 0,
    trials: MemoryTrials | None = None,
    **more: Any,
) -> Searched:
    """Search on a landscape's cell."""
    cell: Cell = landscape_cell(world)
    job = cell.job(name, seed, budget, **more)
    return asyncio.run(search(job, cell, MemoryTrials() if trials is None else trials))


def trace(found: Searched) -> tuple[Any, ...]:
    """Return what must not differ between two runs with one seed."""
    return (
        found.outcome,
        [rollout.to_json() for rollout in found.rollouts],
        list(found.reflections),
        found.budget,
    )


def gain(landscape: Landscape, found: Searched) -> float:
    """Return the incumbent's exact gain on test."""
    seed = landscape.true_mean(landscape.seed_bundle(), "test")
    return landscape.true_mean(found.outcome.incumbent.prompts, "test") - seed
