"""Intervals: published values, the rule of choice, and honest edges."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lcbgrid.analysis.intervals import bootstrap, choose, wilson
from lcbgrid.config.main_spec import AnalysisSpec

SPEC = AnalysisSpec(bootstrap_samples=500)


@pytest.mark.parametrize(
    ("right", "n", "low", "high"),
    # Newcombe 1998, Statistics in Medicine 17, table I, method 3.
    [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (29, 29, 0.8830, 1),
    ],
)
def test_wilson_gives_the_published_values(right: int, n: int, low: float, high: float) -> None:
    interval = wilson(right / n, n, 0.95)
    assert interval.low == pytest.approx(low, abs=5e-5)
    assert interval.high == pytest.approx(high, abs=5e-5)


def test_bootstrap_is_near_the_normal_interval_for_many_problems() -> None:
    values = [0.0, 0.5, 1.0] * 200
    interval = bootstrap([values], SPEC)
    assert interval is not None
    half = 1.96 * (1 / 6) ** 0.5 / 600**0.5
    assert interval.low == pytest.approx(0.5 - half, abs=0.01)
    assert interval.high == pytest.approx(0.5 + half, abs=0.01)


def test_bootstrap_is_the_same_on_every_call_and_another_with_another_seed() -> None:
    values = [0.0, 0.25, 1.0, 0.5, 0.75, 0.1]
    assert bootstrap([values], SPEC) == bootstrap([values], SPEC)
    other = SPEC.model_copy(update={"bootstrap_seed": 1})
    assert bootstrap([values], SPEC) != bootstrap([values], other)


@pytest.mark.parametrize("values", [[1.0], [0.0] * 5, [1.0] * 5])
def test_a_collapsed_bootstrap_gives_way_to_wilson(values: list[float]) -> None:
    drawn = bootstrap([values], SPEC)
    assert drawn is None
    shown = choose(
        wilson_interval=wilson(values[0], len(values), 0.95),
        bootstrap_interval=drawn,
        one_answer=False,
    )
    assert shown.method == "wilson"
    assert shown.low < shown.high


def test_a_gap_in_one_seed_is_no_zero() -> None:
    full = bootstrap([[1.0, 0.9, 1.0, 0.8], [1.0, 0.9, 1.0, 0.8]], SPEC)
    gap = bootstrap([[1.0, 0.9, 1.0, 0.8], [1.0, 0.9, 1.0, None]], SPEC)
    alone = bootstrap([[1.0, 0.9, 1.0, 0.8], [None, None, None, 0.8]], SPEC)
    for interval in (full, gap, alone):
        assert interval is not None
        assert interval.low >= 0.8


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=2, max_size=40))
def test_bounds_hold_the_mean_and_stay_in_range(values: list[float]) -> None:
    mean = sum(values) / len(values)
    interval = bootstrap([values], SPEC) or wilson(mean, len(values), 0.95)
    assert 0 <= interval.low <= mean + 1e-9
    assert mean - 1e-9 <= interval.high <= 1
