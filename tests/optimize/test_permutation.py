"""Permutation tests: exact where they can be, of the stated size, and able to see an effect."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lcbgrid.optimize.errors import ContractError
from lcbgrid.optimize.permutation import interaction, sign_test
from lcbgrid.optimize.stats import mcnemar


@given(st.lists(st.tuples(*[st.integers(-1, 1)] * 3), min_size=1, max_size=9))
def test_whole_differences_are_counted_exactly(rows: list[tuple[int, ...]]) -> None:
    sums = [sum(row) for row in rows]
    flips = list(itertools.product((-1, 1), repeat=len(sums)))
    totals = [abs(sum(s * x for s, x in zip(flip, sums, strict=True))) for flip in flips]
    expected = sum(total >= abs(sum(sums)) for total in totals) / len(flips)
    assert sign_test(list(zip(*rows, strict=True))) == expected


@given(st.integers(0, 12), st.integers(0, 12), st.integers(0, 5))
def test_one_seed_of_binary_scores_is_mcnemar(wins: int, losses: int, ties: int) -> None:
    column = [1] * wins + [-1] * losses + [0] * ties
    if column:
        assert sign_test([column]) == pytest.approx(mcnemar(wins, losses))


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=10))
def test_few_rows_of_other_scores_are_counted_too(sums: list[int]) -> None:
    halves = [[value / 2 for value in sums]]
    assert sign_test(halves) == pytest.approx(sign_test([sums]))


def test_many_rows_of_other_scores_are_sampled_alike_each_time() -> None:
    source = random.Random(3)
    column = [source.choice([-0.5, 0.0, 0.5, 0.5]) for _ in range(60)]
    exact = sign_test([[2 * value for value in column]])
    assert sign_test([column]) == sign_test([column])
    assert sign_test([column]) == pytest.approx(exact, abs=0.01)


def test_a_hundred_rows_of_three_seeds_take_no_sampling() -> None:
    column = [1] * 60 + [0] * 30 + [-1] * 10
    assert 0 < sign_test([column] * 3) < 1e-8
    assert sign_test([[0, 0]]) == 1
    for wrong in ([], [[]], [[1], [1, 0]]):
        with pytest.raises(ContractError):
            sign_test(wrong)


def _gains(
    source: random.Random, effect: float, rows: int = 40
) -> dict[tuple[str, str], list[list[int]]]:
    """Gains with a strong main effect of the optimizer, and an interaction where asked for."""
    cells = {}
    for topology in ("single", "centralized"):
        for optimizer, base in (("gepa", 0.1), ("mipro", 0.5)):
            share = base + (effect if (topology, optimizer) == ("single", "gepa") else 0.0)
            cells[topology, optimizer] = [
                [int(source.random() < share) for _ in range(rows)] for _ in range(3)
            ]
    return cells


def test_an_interaction_is_seen_and_named() -> None:
    found = interaction(_gains(random.Random(0), 0.6))
    assert found.p_value < 0.001
    assert found.effects_pp["single", "gepa"] == pytest.approx(15, abs=6)
    assert sum(found.effects_pp.values()) == pytest.approx(0, abs=1e-9)
    assert found.effects_pp["single", "gepa"] == pytest.approx(
        -found.effects_pp["single", "mipro"]
    )
    assert found == interaction(_gains(random.Random(0), 0.6))


def test_main_effects_alone_are_no_interaction() -> None:
    source = random.Random(1)
    p_values = [
        interaction(_gains(source, 0.0, rows=30), resamples=400).p_value for _ in range(200)
    ]
    assert sum(p <= 0.05 for p in p_values) <= 20  # 5 % of 200, and three deviations


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_main_effects_shift_nothing(number: int) -> None:
    gains = _gains(random.Random(number), 0.2, rows=8)
    shift = {"single": 2, "centralized": -1, "gepa": 5, "mipro": 0}
    moved = {
        (t, o): [[x + shift[t] + shift[o] for x in column] for column in cell]
        for (t, o), cell in gains.items()
    }
    assert interaction(moved).p_value == pytest.approx(interaction(gains).p_value)


def test_an_incomplete_table_is_refused() -> None:
    gains = _gains(random.Random(0), 0.0)
    with pytest.raises(ContractError, match="all combinations"):
        interaction({key: gains[key] for key in list(gains)[:3]})
    with pytest.raises(ContractError, match="all combinations"):
        interaction({key: cell for key, cell in gains.items() if key[0] == "single"})
    with pytest.raises(ContractError, match="same rows"):
        interaction({**gains, ("single", "gepa"): [[1, 0]]})
