"""Bootstrap, McNemar, Holm, gain per token: known answers and plain versions beside them."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from lcbgrid.core.errors import ConfigError
from lcbgrid.optimize.errors import ContractError
from lcbgrid.optimize.stats import (
    bootstrap_interval,
    gain_per_1000_tokens,
    holm,
    holm_by_family,
    mcnemar,
    mcnemar_of,
)


def _plain_bootstrap(columns: Sequence[Sequence[float]], replicates: int) -> tuple[float, float]:
    """The rule of section 7, line by line."""
    source = random.Random(0)
    gains = []
    for _ in range(replicates):
        means = []
        for column in source.choices(columns, k=len(columns)):
            drawn = source.choices(column, k=len(column))
            means.append(sum(drawn) / len(drawn))
        gains.append(sum(means) / len(means) * 100)
    gains.sort()
    return gains[math.floor(0.025 * replicates)], gains[math.ceil(0.975 * replicates) - 1]


@settings(max_examples=25, deadline=None)
@given(st.data(), st.integers(1, 3), st.integers(1, 12), st.sampled_from([100, 101, 240]))
def test_the_bootstrap_is_the_plain_one(
    data: st.DataObject, n_seeds: int, n_rows: int, replicates: int
) -> None:
    column = st.lists(st.sampled_from([-1, 0, 1]), min_size=n_rows, max_size=n_rows)
    columns = data.draw(st.lists(column, min_size=n_seeds, max_size=n_seeds))
    assert bootstrap_interval(columns, replicates=replicates) == _plain_bootstrap(
        columns, replicates
    )


def test_the_bootstrap_in_several_chunks_is_the_plain_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("lcbgrid.optimize.stats._CHUNK_VALUES", 5000)
    source = random.Random(5)
    columns = [[source.choice([-1, 0, 0, 1]) for _ in range(50)] for _ in range(3)]
    assert bootstrap_interval(columns, replicates=1000) == _plain_bootstrap(columns, 1000)


def test_the_bootstrap_says_what_it_needs() -> None:
    with pytest.raises(ConfigError, match="at least 100"):
        bootstrap_interval([[1]], replicates=99)
    for wrong in ([], [[]], [[1], [1, 0]]):
        with pytest.raises(ContractError):
            bootstrap_interval(wrong)
    assert bootstrap_interval([[1, 1], [1, 1]]) == (100, 100)


@pytest.mark.parametrize(
    ("wins", "losses", "expected"), [(8, 2, 0.109375), (5, 0, 0.0625), (3, 3, 1), (0, 0, 1)]
)
def test_mcnemar(wins: int, losses: int, expected: float) -> None:
    assert mcnemar(wins, losses) == mcnemar(losses, wins) == expected


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_is_a_binomial_test(wins: int, losses: int) -> None:
    if wins + losses:
        expected = scipy_stats.binomtest(wins, wins + losses).pvalue
        assert mcnemar(wins, losses) == pytest.approx(expected)


def test_mcnemar_of_scores() -> None:
    assert mcnemar_of([0, 0, 0, 0, 0, 1, 1], [1, 1, 1, 1, 1, 1, 1]) == 0.0625
    assert mcnemar_of([0, 0.5], [1, 1]) is None
    assert mcnemar(20_000, 20_001) == 1  # no overflow
    with pytest.raises(ContractError):
        mcnemar(-1, 2)


def test_holm() -> None:
    assert holm({"a": 0.01, "b": 0.04, "c": 0.03}) == {"a": 0.03, "b": 0.06, "c": 0.06}
    assert holm({"b": 0.5, "a": 0.5}) == {"b": 1.0, "a": 1.0}
    assert holm({}) == {}


def test_holm_corrects_each_family_for_itself() -> None:
    p_values = {"a": 0.01, "b": 0.04, "c": 0.03}
    assert holm_by_family(p_values, {"a": 1, "b": 2, "c": 1}) == {"a": 0.02, "b": 0.04, "c": 0.03}
    assert holm_by_family(p_values, dict.fromkeys(p_values, "all")) == holm(p_values)


def test_gain_per_1000_tokens() -> None:
    assert gain_per_1000_tokens(4.0, 8000) == 0.5
    assert gain_per_1000_tokens(4.0, 0) is None
    assert gain_per_1000_tokens(None, 10) is None
    assert gain_per_1000_tokens(4.0, None) is None
