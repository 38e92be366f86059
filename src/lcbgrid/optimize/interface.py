"""What an optimizer gets, and what it gives back (optimizers specification, sections 1 and 3).

An optimizer is a coroutine over a runner and a reflection model. Both answer from their journals
first, so a method that draws all its randomness from the job's seed resumes by running again from
its beginning (section 8.4).
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from lcbgrid.core.errors import ConfigError, nearest
from lcbgrid.optimize import improvements
from lcbgrid.optimize.context import Window
from lcbgrid.optimize.curve import Observation
from lcbgrid.optimize.ledger import BudgetLedger
from lcbgrid.optimize.records import RunRecord
from lcbgrid.teams.bundle import PromptBundle

Profile = Literal["reference", "improved"]
Row = Mapping[str, Any]
"""A problem as optimizers see it: ``id`` and what the statement says; no hidden test."""


@dataclass(frozen=True, slots=True)
class Job:
    """One search: a method on a cell with a seed and a budget.

    Attributes:
        method: Registered name.
        cell_id: Identity of the cell, without the method.
        optimizer_seed: 0, 1 or 2.
        budget: Rollouts that may be charged, 1 to 600.
        profile: ``reference`` charges and decides as published, ``improved`` as section 9 does.
        switches: Single improvements that are turned off (``False``) or on, by name.

    Raises:
        ConfigError: A switch has no known name.
    """

    method: str
    cell_id: str
    optimizer_seed: int
    budget: int
    profile: Profile = "improved"
    switches: Mapping[str, bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        improvements.known(self.switches)

    def has(self, improvement: str) -> bool:
        """Whether an improvement is in force."""
        return self.switches.get(improvement, self.profile == "improved")


@dataclass(frozen=True, slots=True)
class Batch:
    """Records in the order of the rows asked for; fewer if the budget did not reach.

    Attributes:
        records: One for each row that was run.
        requested: Rows asked for.
        truncated: The budget ended the batch early.
        curtailed: The caller's rule ended it early.
    """

    records: tuple[RunRecord, ...]
    requested: int
    truncated: bool = False
    curtailed: bool = False

    @property
    def scores(self) -> list[float]:
        """Scores in order; a row that was lost to infrastructure counts 0."""
        return [record.score or 0.0 for record in self.records]


class Runner(Protocol):
    """Runs bundles on rows, charged to one ledger."""

    ledger: BudgetLedger
    seed_bundle: PromptBundle
    role_order: tuple[str, ...]

    async def run_batch(
        self,
        rows: Sequence[Row],
        bundle: PromptBundle,
        *,
        phase: str,
        iteration: int,
        slot: str = "",
        stop: Callable[[Sequence[float]], bool] | None = None,
    ) -> Batch:
        """Run a bundle on rows, in parallel; records come in the order of the rows.

        Args:
            rows: Train or validation rows, no id twice.
            bundle: What runs; must have exactly the seed bundle's roles.
            phase: Part of the logical seed (section 3.1).
            iteration: Part of the logical seed.
            slot: Part of the logical seed. Calls with the same phase, iteration and slot are
                paired: a row gets the same request seed whatever the bundle.
            stop: Looks at the scores of the first rows done, in order, and ends the batch;
                rows under way are finished and charged. It must answer the same for the same
                scores, because it is also asked about scores that have not come, to see how many
                rows are safe to run at once.

        Raises:
            BudgetSpent: Not one rollout is left.
            InfrastructureError: A row failed three times and the search cannot go on.
        """
        ...


class Reflection(Protocol):
    """The model that writes prompts; its calls are free of the rollout budget.

    Attributes:
        window: What it takes; prompts are cut to it before they are sent.
    """

    window: Window

    async def complete(
        self,
        prompt: str,
        *,
        phase: str,
        iteration: int,
        role: str = "",
        temperature: float = 1.0,
        system: str | None = None,
    ) -> str:
        """Return the model's text; empty if it gave none."""
        ...


class Trials(Protocol):
    """The store of evaluated bundles: an Optuna study (section 8)."""

    def trial(
        self,
        key: str,
        *,
        bundle: PromptBundle,
        params: Mapping[str, int],
        value: float | None,
        scores: Sequence[float] = (),
        state: Literal["complete", "pruned", "fail"] = "complete",
        attributes: Mapping[str, Any] | None = None,
    ) -> int:
        """Record an evaluated bundle under its logical key; return the trial's number.

        A key that is there already is left as it is, and must not differ.
        """
        ...


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a search gives back.

    Attributes:
        incumbent: The bundle that it would deploy; the seed bundle if nothing was better.
        stop_reason: Section 3.9.
        observations: States for the learning curve; the first at charge 0.
        events: What the method did, one plain record a step.
        metadata: Whatever else says how it went.
    """

    incumbent: PromptBundle
    stop_reason: str
    observations: tuple[Observation, ...]
    events: tuple[Mapping[str, Any], ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)


class Optimizer(Protocol):
    """A method; makes no rollout but through the runner, and asks nobody but the reflection.

    It may have ``version``, raised when it would go another way than before, and ``libraries``,
    names of the packages that steer it; both belong to the identity of its jobs.
    """

    async def optimize(
        self,
        job: Job,
        runner: Runner,
        reflection: Reflection,
        trials: Trials,
        train: Sequence[Row],
        validation: Sequence[Row],
    ) -> Outcome:
        """Search for a better bundle."""
        ...


_methods: dict[str, Callable[[], Optimizer]] = {}
METHODS = ("identity", "gepa", "mamut_gepa", "mipro")


def register(name: str) -> Callable[[Callable[[], Optimizer]], Callable[[], Optimizer]]:
    """Register a method under its name."""

    def keep(make: Callable[[], Optimizer]) -> Callable[[], Optimizer]:
        _methods[name] = make
        return make

    return keep


def method(name: str) -> Optimizer:
    """Return a method by name; ``lcbgrid.optimize.methods.<name>`` is imported for it.

    Raises:
        ConfigError: There is no such method.
    """
    module = f"lcbgrid.optimize.methods.{name}"
    if name not in _methods and name.isidentifier() and importlib.util.find_spec(module):
        importlib.import_module(module)
    if name not in _methods:
        raise ConfigError(
            "no such optimizer",
            where="method",
            value=name,
            remedy=nearest(name, {*_methods, *METHODS}),
        )
    return _methods[name]()
