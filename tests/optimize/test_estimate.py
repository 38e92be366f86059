"""Shrunken estimates: a posterior mean, robust against luck and against easy rows."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcbgrid.optimize.errors import ContractError
from lcbgrid.optimize.estimate import posterior_means


def test_without_shared_rows_it_is_the_beta_binomial_posterior_mean() -> None:
    rollouts = [("a", "1", 1.0), ("a", "2", 1.0), ("a", "3", 0.0), ("b", "4", 0.0)]
    found = posterior_means(rollouts, strength=8)
    prior = (1 + 2) / (2 + 4)
    assert found["a"].mean == pytest.approx((8 * prior + 2) / (8 + 3))
    assert found["b"].mean == pytest.approx((8 * prior + 0) / (8 + 1))
    assert (found["a"].n, found["b"].n) == (3, 1)
    assert found["a"].lower() < found["a"].mean
    assert list(found) == ["a", "b"]


def test_one_lucky_batch_does_not_beat_much_evidence() -> None:
    rollouts = [("lucky", f"l{i}", 1.0) for i in range(3)]
    rollouts += [("proven", f"p{i}", float(i % 10 < 9)) for i in range(60)]
    rollouts += [("poor", f"q{i}", float(i % 10 < 3)) for i in range(60)]
    found = posterior_means(rollouts)
    assert found["proven"].mean > found["lucky"].mean > found["poor"].mean


def test_easy_rows_are_no_merit() -> None:
    rollouts = [(f"other{i}", f"easy{j}", 1.0) for i in range(5) for j in range(10)]
    rollouts += [(f"other{i}", f"hard{j}", 0.0) for i in range(5) for j in range(10)]
    rollouts += [("on easy", f"easy{j}", float(j > 0)) for j in range(10)]
    rollouts += [("on hard", f"hard{j}", float(j < 5)) for j in range(10)]
    found = posterior_means(rollouts)
    assert found["on hard"].mean > found["on easy"].mean


ROLLOUTS = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from("123456"), st.floats(0, 1)), max_size=40
)


@given(ROLLOUTS, st.randoms())
def test_estimates_are_shares_and_do_not_depend_on_the_order(
    rollouts: list[tuple[str, str, float]], chance: random.Random
) -> None:
    found = posterior_means(rollouts)
    mixed = list(rollouts)
    chance.shuffle(mixed)
    again = posterior_means(mixed)
    assert set(found) == {bundle for bundle, _, _ in rollouts}
    for bundle, estimate in found.items():
        assert 0 <= estimate.lower() <= estimate.mean <= 1
        assert again[bundle].mean == pytest.approx(estimate.mean, abs=1e-12)


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ContractError):
        posterior_means([("a", "1", 1.5)])
    with pytest.raises(ContractError):
        posterior_means([("a", "1", 1.0)], strength=0)
