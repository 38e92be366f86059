"""Curtailment never changes a decision; the e-process errs as seldom as it says."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from lcbgrid.core.errors import ConfigError
from lcbgrid.optimize.errors import ContractError
from lcbgrid.optimize.pruning import PairedEProcess, curtailed, e_value, rows_until_curtailed

SCORES = st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=1, max_size=30)


@given(SCORES, st.integers(0, 60))
def test_curtailment_stops_exactly_the_candidates_that_do_not_win(
    scores: list[float], half_best: int
) -> None:
    best = half_best / 2
    stopped = rows_until_curtailed(scores, len(scores), best)
    if sum(scores) > best:
        assert stopped is None
    if stopped is not None:
        # Even a perfect rest would not have won; one row earlier it still could have.
        assert sum(scores[:stopped]) + len(scores) - stopped <= best
        if stopped:
            before = stopped - 1
            assert not curtailed(sum(scores[:before]), len(scores) - before, best)


def test_curtailment_by_hand() -> None:
    assert rows_until_curtailed([0, 0, 1, 1, 1], 5, 4) == 1
    assert rows_until_curtailed([1, 1, 0, 0, 1], 5, 3) == 4
    assert rows_until_curtailed([1, 1, 1, 1, 1], 5, 4) is None
    assert rows_until_curtailed([1, 1], 5, 5) == 0


@pytest.mark.parametrize(
    ("losses", "wins", "expected"), [(5, 0, 10.5), (6, 0, 18.1), (8, 1, 11.3), (0, 0, 1.0)]
)
def test_known_evidence(losses: int, wins: int, expected: float) -> None:
    assert round(float(e_value(losses, wins)), 1) == expected


@given(st.integers(0, 40), st.integers(0, 40))
def test_evidence_is_the_formula_of_the_specification(losses: int, wins: int) -> None:
    a, b, n = losses + 1, wins + 1, losses + wins
    formula = 2.0 ** (n + 1) * special.beta(a, b) * special.betaincc(a, b, 0.5)
    assert float(e_value(losses, wins)) == pytest.approx(formula, rel=1e-9)


@given(st.integers(0, 30), st.integers(0, 30))
def test_evidence_is_a_fair_bet_under_no_difference(losses: int, wins: int) -> None:
    after = (e_value(losses + 1, wins) + e_value(losses, wins + 1)) / 2
    assert after == e_value(losses, wins)
    assert e_value(5, 0) == Fraction(21, 2)


def test_the_process_decides_and_stays_with_it() -> None:
    process = PairedEProcess(alpha=0.1)
    for _ in range(4):
        assert process.update(0, 1) == "continue"
        assert process.update(1, 1) == "continue"
    assert process.update(0, 1) == "worse"  # E(5, 0) = 10.5
    for _ in range(40):
        assert process.update(1, 0) == "worse"
    assert (process.wins, process.losses, process.n_rows) == (40, 5, 49)
    better = PairedEProcess(alpha=0.1)
    for _ in range(5):
        better.update(1, 0)
    assert better.verdict == "better"


def test_the_error_is_as_small_as_stated_though_it_looks_after_every_row() -> None:
    source = random.Random(0)
    wrong = {"worse": 0, "better": 0, "continue": 0}
    for _ in range(1000):
        process = PairedEProcess(alpha=0.1)
        for _ in range(100):
            process.update(source.random() < 0.5, source.random() < 0.5)
            if process.verdict != "continue":
                break
        wrong[process.verdict] += 1
    assert wrong["worse"] <= 100
    assert wrong["better"] <= 100


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ContractError):
        e_value(-1, 0)
    for alpha in (0, 1, -0.5):
        with pytest.raises(ConfigError):
            PairedEProcess(alpha)
