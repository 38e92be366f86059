"""The learning curve: which bundle was the incumbent after how many rollouts.

Optimizers specification, section 6.9. The curve costs no model call: it is read off what a method
committed while it searched.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from lcbgrid.optimize.canonical import plain
from lcbgrid.optimize.errors import ContractError

SCHEMA_VERSION = 1
GRID_STEP = 10


@dataclass(frozen=True, slots=True)
class Observation:
    """A state that a method committed.

    Attributes:
        charged: Rollouts charged so far.
        bundle_hash: Digest of the incumbent, not of the candidate just tried.
        reason: Why the state was committed.
        native_iteration: Count of the method.
        native_observed_score: What the method believes of the incumbent, if anything.
        metadata: Whatever the method adds.
    """

    charged: int
    bundle_hash: str
    reason: str
    native_iteration: int = 0
    native_observed_score: float | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CurveRow:
    """One row of the curve.

    Attributes:
        rollout_grid: 0, 10, ..., budget; ``None`` for a state between two of them.
        charged_rollouts: Charge of the state that the row shows.
        staleness: Grid value minus charge.
        post_stop_carried_forward: The search had ended before this grid value.
        reason: Why the state was committed, the last reason if there were several.
        reasons: All reasons at this charge, in order.
        native_iteration: Of the state.
        native_observed_score: Of the state.
        bundle_hash: Of the state's incumbent.
        metadata: Of the state.
    """

    rollout_grid: int | None
    charged_rollouts: int
    staleness: int
    post_stop_carried_forward: bool
    reason: str
    reasons: tuple[str, ...]
    native_iteration: int
    native_observed_score: float | None
    bundle_hash: str
    metadata: Mapping[str, Any]

    def to_json(self) -> dict[str, Any]:
        """Return the row as a JSON object."""
        content = {item.name: getattr(self, item.name) for item in dataclasses.fields(self)}
        checked: dict[str, Any] = plain({"schema_version": SCHEMA_VERSION, **content})
        return checked


def grid_of(budget: int) -> tuple[int, ...]:
    """Return 0, 10, ..., budget; the budget itself is always the last value."""
    steps = tuple(range(0, budget, GRID_STEP))
    return (*steps, budget)


def learning_curve(
    observations: Sequence[Observation], budget: int, *, stopped: bool = True
) -> list[CurveRow]:
    """Return the rows of a curve, by charge.

    Of several states at one charge the last is shown, with the reasons of all.

    Args:
        observations: Committed states in their order.
        budget: The ledger's maximum.
        stopped: The search has ended, so its last incumbent is carried on to the budget.
            Otherwise the curve ends at the last charge.

    Raises:
        ContractError: There is no state at charge 0, a charge goes back or beyond the budget.
    """
    _check(observations, budget)
    states = [
        (charge, tuple(group))
        for charge, group in groupby(observations, lambda seen: seen.charged)
    ]
    last = states[-1][0]
    grid = [value for value in grid_of(budget) if stopped or value <= last]
    between = [charge for charge, _ in states if charge not in grid]
    rows = []
    position = 0
    for value in sorted([*grid, *between]):
        while position + 1 < len(states) and states[position + 1][0] <= value:
            position += 1
        on_grid = value not in between
        rows.append(_row(*states[position], grid=value if on_grid else None, last=last))
    return rows


def _check(observations: Sequence[Observation], budget: int) -> None:
    if not observations or observations[0].charged != 0:
        raise ContractError("a learning curve starts at charge 0")
    before = 0
    for seen in observations:
        if not before <= seen.charged <= budget:
            raise ContractError(
                f"a charge is between the one before it, {before}, and the budget, {budget}",
                where="learning curve",
                value=seen.charged,
            )
        before = seen.charged


def _row(charged: int, group: tuple[Observation, ...], *, grid: int | None, last: int) -> CurveRow:
    state = group[-1]
    return CurveRow(
        rollout_grid=grid,
        charged_rollouts=charged,
        staleness=0 if grid is None else grid - charged,
        post_stop_carried_forward=grid is not None and grid > last,
        reason=state.reason,
        reasons=tuple(seen.reason for seen in group),
        native_iteration=state.native_iteration,
        native_observed_score=state.native_observed_score,
        bundle_hash=state.bundle_hash,
        metadata=state.metadata,
    )
