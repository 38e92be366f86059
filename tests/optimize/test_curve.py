"""Learning curves, by hand and for every budget."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcbgrid.optimize.curve import CurveRow, Observation, grid_of, learning_curve
from lcbgrid.optimize.errors import ContractError


def _shown(rows: list[CurveRow]) -> list[tuple[int | None, int, int, bool, str]]:
    return [
        (
            row.rollout_grid,
            row.charged_rollouts,
            row.staleness,
            row.post_stop_carried_forward,
            row.bundle_hash,
        )
        for row in rows
    ]


def test_a_curve_by_hand() -> None:
    states = [
        Observation(0, "seed", "start"),
        Observation(7, "a", "accepted", 1, 0.5),
        Observation(20, "a", "rejected", 2),
        Observation(20, "b", "accepted", 3),
    ]
    rows = learning_curve(states, 40)
    assert _shown(rows) == [
        (0, 0, 0, False, "seed"),
        (None, 7, 0, False, "a"),
        (10, 7, 3, False, "a"),
        (20, 20, 0, False, "b"),
        (30, 20, 10, True, "b"),
        (40, 20, 20, True, "b"),
    ]
    assert rows[3].reasons == ("rejected", "accepted")
    assert rows[3].reason == "accepted"
    assert rows[1].to_json() == {
        "schema_version": 1,
        "rollout_grid": None,
        "charged_rollouts": 7,
        "staleness": 0,
        "post_stop_carried_forward": False,
        "reason": "accepted",
        "reasons": ["accepted"],
        "native_iteration": 1,
        "native_observed_score": 0.5,
        "bundle_hash": "a",
        "metadata": {},
    }
    assert _shown(learning_curve(states, 40, stopped=False)) == _shown(rows)[:4]


def test_identity_is_a_flat_line_to_the_budget() -> None:
    rows = learning_curve([Observation(0, "seed", "identity_no_search")], 37)
    assert [row.rollout_grid for row in rows] == [0, 10, 20, 30, 37]
    assert [row.post_stop_carried_forward for row in rows] == [False, True, True, True, True]


@given(st.integers(1, 600), st.data())
def test_the_grid_is_whole_whatever_was_observed(budget: int, data: st.DataObject) -> None:
    charges = sorted(data.draw(st.lists(st.integers(0, budget), max_size=30)))
    states = [Observation(c, str(i), "x") for i, c in enumerate([0, *charges])]
    rows = learning_curve(states, budget)
    grid = [row.rollout_grid for row in rows if row.rollout_grid is not None]
    assert tuple(grid) == grid_of(budget)
    assert grid[:-1] == list(range(0, budget, 10))
    for row in rows:
        at = row.charged_rollouts if row.rollout_grid is None else row.rollout_grid
        latest = [seen for seen in states if seen.charged <= at][-1]
        assert row.bundle_hash == latest.bundle_hash
        assert row.post_stop_carried_forward == (at > states[-1].charged)
    assert {seen.charged for seen in states} == {row.charged_rollouts for row in rows}


@pytest.mark.parametrize("charges", [[], [1], [0, 5, 4], [0, 41]])
def test_a_charge_that_cannot_be_is_refused(charges: list[int]) -> None:
    with pytest.raises(ContractError):
        learning_curve([Observation(c, "x", "y") for c in charges], 40)
