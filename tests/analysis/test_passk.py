"""pass@k: the vectors of report R21, brute force, and its laws."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcbgrid.analysis.passk import Count, mean_pass_at_k, pass_at_k
from lcbgrid.core.errors import ConfigError, DataError


@st.composite
def counts(draw: st.DrawFn, most: int = 9) -> tuple[int, int, int]:
    """Draw n, c <= n, k <= n."""
    n = draw(st.integers(1, most))
    return n, draw(st.integers(0, n)), draw(st.integers(1, n))


def test_fewer_answers_than_k_is_undefined_and_says_why() -> None:
    estimate = pass_at_k(1, 1, 5)
    assert estimate.value is None
    assert estimate.reason == "pass@5 needs 5 graded answers a problem, there is 1"


@pytest.mark.parametrize(
    ("n", "c", "k", "value"),
    [
        (5, 0, 5, 0.0),
        (10, 3, 5, 1 - 21 / 252),
        (10, 10, 1, 1.0),
        (4, 2, 2, 1 - 1 / 6),
        (2, 1, 2, 1.0),
        (200, 1, 100, 0.5),
    ],
)
def test_known_values(n: int, c: int, k: int, value: float) -> None:
    assert pass_at_k(n, c, k).value == value


@pytest.mark.parametrize(("n", "c"), [(2, 3), (2, -1), (-1, -1)])
def test_impossible_counts_are_an_error(n: int, c: int) -> None:
    with pytest.raises(DataError, match=f"n={n}, c={c}"):
        pass_at_k(n, c, 1)


def test_k_below_one_is_an_error() -> None:
    with pytest.raises(ConfigError, match="got 0"):
        pass_at_k(1, 1, 0)


@given(counts())
def test_equals_brute_force_over_all_draws(drawn: tuple[int, int, int]) -> None:
    n, c, k = drawn
    answers = [True] * c + [False] * (n - c)
    draws = list(combinations(answers, k))
    assert pass_at_k(n, c, k).value == sum(map(any, draws)) / len(draws)


@given(counts(most=300))
def test_equals_the_product_form(drawn: tuple[int, int, int]) -> None:
    n, c, k = drawn
    product = 1.0
    for i in range(n - c + 1, n + 1):
        product *= 1 - k / i
    expected = 1.0 if n - c < k else 1 - product
    assert pass_at_k(n, c, k).value == pytest.approx(expected, abs=1e-9)


@given(counts(most=60))
def test_is_a_probability_and_grows_with_c_and_k(drawn: tuple[int, int, int]) -> None:
    n, c, k = drawn
    value = pass_at_k(n, c, k).value
    assert value is not None
    assert 0 <= value <= 1
    if c < n:
        more = pass_at_k(n, c + 1, k).value
        assert more is not None
        assert more >= value
    if k < n:
        more = pass_at_k(n, c, k + 1).value
        assert more is not None
        assert more >= value


@given(counts(most=500))
def test_pass_at_1_is_the_share_of_right_answers(drawn: tuple[int, int, int]) -> None:
    n, c, _ = drawn
    assert pass_at_k(n, c, 1).value == c / n


def test_mean_needs_enough_answers_for_every_problem() -> None:
    found = {"a": Count(5, 5), "b": Count(4, 0), "c": Count(3, 3)}
    assert mean_pass_at_k(found, 3).value == pytest.approx(2 / 3)
    undefined = mean_pass_at_k(found, 5)
    assert undefined.value is None
    assert undefined.reason == (
        "pass@5 needs 5 graded answers a problem, there are 3 for 'b' and too few for 1 more"
    )


def test_mean_of_nothing_is_undefined() -> None:
    assert mean_pass_at_k({}, 1).reason == "no problem has a graded answer"


@given(st.permutations([("a", Count(3, 1)), ("b", Count(7, 2)), ("c", Count(11, 5))]))
def test_mean_does_not_depend_on_the_order(items: list[tuple[str, Count]]) -> None:
    assert mean_pass_at_k(dict(items), 2) == mean_pass_at_k(dict(sorted(items)), 2)
