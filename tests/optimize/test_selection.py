"""The selection rule, its reasons, and the scan for test material."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcbgrid.optimize.errors import ContractError
from lcbgrid.optimize.records import status_of
from lcbgrid.optimize.selection import find_test_material, refuse_test_material, select
from lcbgrid.teams.bundle import PromptBundle


def _records(scores: dict[str, Any] | list[tuple[str, Any]]) -> list[Any]:
    items = scores.items() if isinstance(scores, dict) else scores
    return [
        SimpleNamespace(example_id=row, score=score, status=status_of(score))
        for row, score in items
    ]


SEED = _records({"a": 1.0, "b": 0.0, "c": 0.0})


@pytest.mark.parametrize(
    ("seed", "incumbent", "reason"),
    [
        (SEED, _records({"c": 0.0, "b": 1.0, "a": 1.0}), None),
        (SEED, _records({"a": 0.0, "b": 1.0, "c": 0.0}), "validation_tie"),
        (SEED, _records({"a": 0.0, "b": 0.0, "c": 0.0}), "validation_regression"),
        (SEED, _records([("a", 1.0), ("a", None)]), "duplicate_example:a"),
        (SEED, _records({"a": 1.0, "b": None}), "invalid_record:b:infrastructure_failure"),
        (SEED, _records({"a": 1.5}), "score_out_of_range:a"),
        (SEED, _records({"a": float("nan"), "b": None}), "score_out_of_range:a"),
        (SEED, [], "empty_validation"),
        (SEED, _records({"a": 1.0, "b": 1.0, "d": 1.0}), "unpaired_validation_ids"),
        # The first defect decides, and the seed's list is read first.
        (_records({"a": None}), _records({"a": 2.0}), "invalid_record:a:infrastructure_failure"),
        ([], _records({"a": None}), "empty_validation"),
        (_records({"z": 1.0, "y": 7.0}), _records([("a", 1.0)] * 2), "score_out_of_range:y"),
    ],
)
def test_the_first_defect_decides(
    seed: list[Any], incumbent: list[Any], reason: str | None
) -> None:
    found = select(seed, incumbent)
    assert found.fallback_reason == reason
    assert found.selected_candidate == ("seed" if reason else "incumbent")


def test_a_better_incumbent_is_deployed_with_its_delta() -> None:
    found = select(SEED, _records({"a": 1.0, "b": 1.0, "c": 0.0}))
    assert found.baseline_validation_score == 1 / 3
    assert found.incumbent_validation_score == 2 / 3
    assert found.validation_delta == pytest.approx(1 / 3)
    assert found.to_json()["selected_candidate"] == "incumbent"


def test_a_forced_reason_overrides_even_a_better_incumbent() -> None:
    better = _records({"a": 1.0, "b": 1.0, "c": 1.0})
    found = select(SEED, better, forced="invalid_incumbent_bundle")
    assert (found.selected_candidate, found.fallback_reason) == (
        "seed",
        "invalid_incumbent_bundle",
    )
    lost = select(SEED, [], forced="infrastructure_invalid_optimization")
    assert lost.fallback_reason == "infrastructure_invalid_optimization"
    assert lost.incumbent_validation_score is None
    assert lost.validation_delta is None


@given(st.lists(st.sampled_from([0.1, 0.2, 0.3, 0.7, 1.0]), min_size=1), st.randoms())
def test_equal_scores_in_another_order_are_a_tie(scores: list[float], chance: Any) -> None:
    rows = [str(i) for i in range(len(scores))]
    mixed = list(scores)
    chance.shuffle(mixed)
    found = select(
        _records(dict(zip(rows, scores, strict=True))),
        _records(dict(zip(rows, mixed, strict=True))),
    )
    assert found.fallback_reason == "validation_tie"


@pytest.mark.parametrize(
    ("content", "places"),
    [
        ({"method": "gepa", "contest": "latest", "protest": [1]}, []),
        ({"test_exposed": False}, []),
        ({"test_exposed": True}, ["$.test_exposed"]),
        ({"a": [{"hiddenTests": []}]}, ["$.a[0].hiddenTests"]),
        ({"a": {"test-rows": 1, "held_out": 2, "heldout_ids": []}}, None),
        ({"rows": ["train-1", "test-1"], "q": {"test-2": 0.5}}, None),
    ],
)
def test_test_material_is_found(content: object, places: list[str] | None) -> None:
    found = find_test_material(content, {"test-1", "test-2"})
    if places is None:
        assert len(found) == 2
    else:
        assert found == places


def test_a_bundle_with_test_material_is_refused() -> None:
    refuse_test_material(PromptBundle({"a": "x"}, {"from": "train"}, ({"tests": "1"},)), {"q9"})
    with pytest.raises(ContractError, match="test_ids"):
        refuse_test_material(PromptBundle({"a": "x"}, {"test_ids": ["q9"]}))
    with pytest.raises(ContractError, match=r"\$\.demos\.id"):
        refuse_test_material(PromptBundle({"a": "x"}, {}, ({"id": "q9"},)), {"q9"})
