"""One search, from its journals or anew: what came out, what it cost, and how it ended.

Optimizers specification, sections 3.8, 6.4, 6.9 and 6.11.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from lcbgrid.core.errors import InfrastructureError
from lcbgrid.optimize.bundles import bundle_to_json, check_bundle
from lcbgrid.optimize.cell import Cell, searched_and_gate
from lcbgrid.optimize.curve import CurveRow, Observation, learning_curve
from lcbgrid.optimize.errors import ContractError
from lcbgrid.optimize.interface import Job, Outcome, Trials, method
from lcbgrid.optimize.journal import ReflectionJournal, RolloutJournal
from lcbgrid.optimize.ledger import BudgetLedger, Snapshot
from lcbgrid.optimize.records import Usage
from lcbgrid.optimize.reflection import JournalledReflection
from lcbgrid.optimize.runner import WINDOW, JournalledRunner, Rollout
from lcbgrid.optimize.scrub import scrub
from lcbgrid.optimize.selection import ForcedReason, refuse_test_material
from lcbgrid.teams.bundle import PromptBundle

SearchStatus = Literal["completed", "infrastructure_invalid"]


@dataclass(frozen=True, slots=True)
class Searched:
    """What a search left behind.

    Attributes:
        status: ``infrastructure_invalid`` if a row or the reflection model was lost.
        outcome: What the method gave back; the seed bundle if it did not come to its end.
        forced: Why the seed is deployed whatever the validation says, if so.
        error: Why the search did not come to its end; scrubbed.
        budget: The ledger, closed.
        rollouts: Everything that was asked of the runner, in order.
        reflections: Telemetry of the reflection calls, in order.
        task_usage: What the charged rollouts cost.
        reflection_usage: What the reflection calls cost.
        executed: Attempts that no journal could answer.
        asked: Reflection requests that no journal could answer.
    """

    status: SearchStatus
    outcome: Outcome
    forced: ForcedReason | None
    error: str | None
    budget: Snapshot
    rollouts: Sequence[Rollout]
    reflections: Sequence[Mapping[str, Any]]
    task_usage: Usage
    reflection_usage: Usage
    executed: int
    asked: int

    def curve(self) -> list[CurveRow]:
        """Return the learning curve."""
        return learning_curve(self.outcome.observations, self.budget.maximum)


async def search(
    job: Job,
    cell: Cell,
    trials: Trials,
    *,
    rollouts: RolloutJournal | None = None,
    reflections: ReflectionJournal | None = None,
    ledger: BudgetLedger | None = None,
    max_in_flight: int = 16,
    window: int = WINDOW,
    progress: Callable[[Snapshot], None] | None = None,
) -> Searched:
    """Run a method on a cell.

    Args:
        job: The method, its seed, budget and profile.
        cell: Where it searches.
        trials: The store of evaluated bundles.
        rollouts: Journal of the rollouts; ``None`` keeps one in memory. It is settled at the end.
        reflections: Journal of the reflection calls, likewise.
        ledger: ``None``: a new one with the job's budget.
        max_in_flight: Rollouts under way at a time.
        window: See ``JournalledRunner``.
        progress: See ``JournalledRunner``.

    Raises:
        ConfigError: There is no such method.
        ContractError: The method broke the protocol.
    """
    rollouts = RolloutJournal() if rollouts is None else rollouts
    reflections = ReflectionJournal() if reflections is None else reflections
    searched_on, _ = searched_and_gate(job, cell)
    runner = JournalledRunner(
        job,
        cell.seed_bundle,
        cell.role_order,
        [*cell.train, *searched_on],
        cell.search,
        journal=rollouts,
        ledger=ledger,
        max_in_flight=max_in_flight,
        window=window,
        progress=progress,
    )
    reflection = _reflection(job, cell, reflections)
    error: str | None = None
    try:
        outcome = await method(job.method).optimize(
            job, runner, reflection, trials, list(cell.train), searched_on
        )
    except InfrastructureError as lost:
        outcome = await _interrupted(runner, reflection)
        error = scrub(str(lost))
    _check(outcome, runner.ledger.snapshot())
    rollouts.settle()
    reflections.settle()
    return _searched(cell, runner, reflection, outcome, error)


def _reflection(job: Job, cell: Cell, journal: ReflectionJournal) -> JournalledReflection:
    return JournalledReflection(
        job,
        cell.reflect,
        journal=journal,
        model=cell.reflection_model,
        window=cell.reflection_window,
    )


def _searched(
    cell: Cell,
    runner: JournalledRunner,
    reflection: JournalledReflection,
    outcome: Outcome,
    error: str | None,
) -> Searched:
    forced: ForcedReason | None = "infrastructure_invalid_optimization" if error else None
    if reflection.spent:
        outcome = replace(outcome, stop_reason="reflection_calls_spent")
    return Searched(
        status="infrastructure_invalid" if error else "completed",
        outcome=outcome,
        forced=forced or _defect(outcome.incumbent, cell),
        error=error,
        budget=runner.ledger.snapshot(),
        rollouts=runner.rollouts,
        reflections=reflection.calls(),
        task_usage=_sum(runner.rollouts),
        reflection_usage=reflection.usage(),
        executed=runner.executed,
        asked=reflection.asked,
    )


async def _interrupted(runner: JournalledRunner, reflection: JournalledReflection) -> Outcome:
    """Wait for what runs beside a lost call, since it is paid for, and give the seed back."""
    await runner.close()
    await reflection.close()
    digest, budget = runner.seed_bundle.full_digest, runner.ledger.snapshot()
    return Outcome(
        incumbent=runner.seed_bundle,
        stop_reason="native_infrastructure_exhausted",
        observations=(
            Observation(0, digest, "initial"),
            Observation(budget.charged, digest, "infrastructure"),
        ),
    )


def _check(outcome: Outcome, budget: Snapshot) -> None:
    """Refuse what a method may not give back (section 1, Result)."""
    if not isinstance(outcome, Outcome):
        raise ContractError("a method gives an Outcome back", value=type(outcome).__name__)
    if not budget.closed:
        raise ContractError("the ledger is not closed", value=budget.to_json())
    learning_curve(outcome.observations, budget.maximum)
    last = outcome.observations[-1].charged
    if last > budget.charged:
        raise ContractError(f"the curve ends at {last}, beyond what was charged", value=last)
    bundle_to_json(outcome.incumbent)


def _defect(bundle: PromptBundle, cell: Cell) -> ForcedReason | None:
    """Return why an incumbent cannot be run at all, if so.

    Raises:
        ContractError: It carries test material.
    """
    refuse_test_material(bundle, cell.test_ids)
    try:
        check_bundle(bundle, cell.seed_bundle)
    except ContractError:
        return "invalid_incumbent_bundle"
    return None


def _sum(rollouts: Sequence[Rollout]) -> Usage:
    return sum((item.record.usage for item in rollouts if item.attempts), Usage())
