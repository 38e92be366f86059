"""The gate: strictly better on all rows, and not worse on those that the search has not seen."""

from __future__ import annotations

import pytest

from lcbgrid.optimize.gate import decide
from lcbgrid.optimize.records import RunRecord, Usage, status_of


def records(scores: str) -> list[RunRecord]:
    """Return one record a character; ``x`` is a lost row."""
    values = [None if mark == "x" else float(mark) for mark in scores]
    return [
        RunRecord(
            cell_id="c",
            example_id=f"r{number}",
            status=status_of(value),
            final_output="",
            score=value,
            request_seed=1,
            usage=Usage(model_calls=1),
            error="lost" if value is None else None,
        )
        for number, value in enumerate(values)
    ]


@pytest.mark.parametrize(
    ("seed", "incumbent", "reason"),
    [
        ("0000", "1000", None),  # rows 2 and 3 are the gate's: a tie there is no veto
        ("0000", "0010", None),
        ("0011", "1110", "gate_regression"),  # better in all, worse on the gate
        ("0001", "0010", "validation_tie"),
        ("0110", "0010", "validation_regression"),
        ("0000", "10x0", "invalid_record:r2:infrastructure_failure"),
    ],
)
def test_decisions(seed: str, incumbent: str, reason: str | None) -> None:
    decision = decide(records(seed), records(incumbent), ["r2", "r3"])
    assert decision.fallback_reason == reason
    assert decision.selected_candidate == ("seed" if reason else "incumbent")


def test_a_gate_of_all_rows_changes_nothing_and_force_is_kept() -> None:
    every = ["r0", "r1", "r2", "r3"]
    assert decide(records("0011"), records("1110"), every).selected_candidate == "incumbent"
    forced = decide(records("0000"), [], every, forced="invalid_incumbent_bundle")
    assert forced.fallback_reason == "invalid_incumbent_bundle"
