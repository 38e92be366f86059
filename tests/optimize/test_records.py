"""Records and usages refuse to contradict themselves."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

from lcbgrid.optimize.canonical import canonical_json
from lcbgrid.optimize.errors import ContractError
from lcbgrid.optimize.records import BUDGET_EXHAUSTED, RunRecord, Status, Usage, status_of

GOOD = RunRecord(
    cell_id="c",
    example_id="row-1",
    status=Status.SUCCESS,
    final_output="print(1)",
    score=1,
    request_seed=7,
    messages=({"source": "solver", "content": "print(1)"},),
    usage=Usage(model_calls=2, input_tokens=30, output_tokens=12),
    latency_s=1,
    metadata={"scorer_metadata": {"feedback": "expected 3, got 4"}},
)


@pytest.mark.parametrize(
    ("score", "status", "usable"),
    [
        (1.0, Status.SUCCESS, True),
        (0.25, Status.SUCCESS, True),
        (0.0, Status.SEMANTIC_FAILURE, True),
        (None, Status.INFRASTRUCTURE_FAILURE, False),
    ],
)
def test_the_status_follows_from_the_score(
    score: float | None, status: Status, usable: bool
) -> None:
    assert status_of(score) is status
    assert status.usable is usable


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"score": 0}, "does not belong"),
        ({"score": None}, "does not belong"),
        ({"status": Status.INFRASTRUCTURE_FAILURE}, "does not belong"),
        ({"score": 1.5}, r"in \[0, 1\]"),
        ({"score": float("nan")}, r"in \[0, 1\]"),
        ({"score": None, "status": Status.INFRASTRUCTURE_FAILURE}, "says why"),
        ({"usage": Usage()}, "without any model call"),
        ({"request_seed": 2**31 - 1}, "2\\*\\*31"),
        ({"request_seed": -1}, "2\\*\\*31"),
        ({"request_seed": True}, "2\\*\\*31"),
        ({"latency_s": float("inf")}, "latency"),
        ({"messages": ({"content": "x"},)}, "source"),
    ],
)
def test_contradictions_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ContractError, match=message):
        dataclasses.replace(GOOD, **change)


def test_a_score_without_a_call_must_be_explained() -> None:
    record = dataclasses.replace(
        GOOD,
        score=0.0,
        status=Status.SEMANTIC_FAILURE,
        usage=Usage(),
        metadata={BUDGET_EXHAUSTED: True},
    )
    assert record.usable
    assert record.feedback is None


def test_a_record_comes_back_from_json_with_its_digest() -> None:
    back = RunRecord.from_json(json.loads(canonical_json(GOOD.to_json())))
    assert back == GOOD
    assert back.digest == GOOD.digest == dataclasses.replace(GOOD, score=1.0).digest
    assert back.feedback == "expected 3, got 4"


@pytest.mark.parametrize(
    "change", [{"extra": 1}, {"status": "lost"}, {"usage": {}}], ids=["key", "status", "usage"]
)
def test_a_damaged_record_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ContractError):
        RunRecord.from_json({**GOOD.to_json(), **change})


def test_usages_add_up() -> None:
    total = Usage(1, 2, 30, 4) + Usage(1, 0, 5, 6)
    assert total == Usage(2, 2, 35, 10)
    assert total.total_tokens == 45
    assert Usage.from_json(total.to_json()) == total


def test_a_usage_that_cannot_be() -> None:
    with pytest.raises(ContractError, match="natural number"):
        Usage(model_calls=-1)
    with pytest.raises(ContractError, match="without a model call"):
        Usage(output_tokens=3)
    with pytest.raises(ContractError, match="not the sum"):
        Usage.from_json({**Usage(1, 0, 1, 1).to_json(), "total_tokens": 3})
