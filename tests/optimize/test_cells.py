"""Complete and incomplete cells, and their means."""

from __future__ import annotations

import dataclasses

import pytest

from lcbgrid.optimize.cells import SeedResult, incomplete_reasons, summarise
from lcbgrid.optimize.errors import ContractError

BEFORE = {"b": 0.0, "a": 1.0}
RESULTS = [
    SeedResult(0, BEFORE, {"a": 1.0, "b": 1.0}),
    SeedResult(1, BEFORE, {"a": 1.0, "b": 0.0}, fallback_reason="validation_tie"),
    SeedResult(2, BEFORE, {"a": 1.0, "b": 1.0}),
]


def test_a_complete_cell_and_its_means() -> None:
    assert incomplete_reasons(RESULTS) == []
    found = summarise(RESULTS[::-1])
    assert [seed.delta_pp for seed in found.seeds] == [50, 0, 50]
    assert [seed.n for seed in found.seeds] == [2, 2, 2]
    assert found.baseline == 0.5
    assert found.deployed == pytest.approx(5 / 6)
    assert found.delta_pp == pytest.approx(100 / 3)
    assert found.std_pp == pytest.approx(28.8675, abs=1e-4)
    assert found.fallbacks == 1
    assert summarise(RESULTS[:1]).std_pp is None


def test_differences_stand_in_the_order_of_the_rows_ids() -> None:
    assert SeedResult(0, BEFORE, {"b": 1.0, "a": 1.0}).differences == (0.0, 1.0)


@pytest.mark.parametrize(
    ("results", "reasons"),
    [
        ([], ["missing_seed:0", "missing_seed:1", "missing_seed:2"]),
        (RESULTS[:2], ["missing_seed:2"]),
        ([*RESULTS, RESULTS[1]], ["duplicate_seed:1"]),
        ([*RESULTS, dataclasses.replace(RESULTS[0], seed=7)], ["unexpected_seed:7"]),
        (
            [*RESULTS[:2], dataclasses.replace(RESULTS[2], invalid_reason="contract_failure")],
            ["invalid_seed:2:contract_failure"],
        ),
        (
            [*RESULTS[:2], SeedResult(2, BEFORE, {"a": None, "b": 1.0})],
            ["invalid_seed:2:unusable_record:a"],
        ),
        ([*RESULTS[:2], SeedResult(2, BEFORE, {"a": 1.0})], ["invalid_seed:2:unpaired_rows"]),
        (
            [*RESULTS[:2], SeedResult(2, {"c": 1.0}, {"c": 1.0})],
            ["example_ids_differ"],
        ),
        (
            [RESULTS[0], SeedResult(2, {}, {})],
            ["missing_seed:1", "invalid_seed:2:no_rows", "example_ids_differ"],
        ),
    ],
)
def test_reasons_are_named(results: list[SeedResult], reasons: list[str]) -> None:
    assert incomplete_reasons(results) == reasons


def test_what_is_undefined_has_no_mean() -> None:
    with pytest.raises(ContractError):
        summarise([])
    with pytest.raises(ContractError):
        summarise([SeedResult(0, {}, {})])
    with pytest.raises(ContractError, match="pair of scores"):
        summarise([SeedResult(0, {"a": 1.0}, {"a": None})])
