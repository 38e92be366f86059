"""Two bundles on the same rows, side by side (optimizers specification, section 6.8)."""

from __future__ import annotations

from typing import Any

from lcbgrid.optimize.records import RunRecord, Usage


def compared(before: list[RunRecord], after: list[RunRecord]) -> dict[str, Any]:
    """Return the scores of both bundles side by side (section 6.8, ``test.json``)."""
    means = [_mean(before), _mean(after)]
    known = means[0] is not None and means[1] is not None
    return {
        "example_ids": [record.example_id for record in before],
        "baseline_scores": [record.score for record in before],
        "deployed_scores": [record.score for record in after],
        "baseline_statuses": [str(record.status) for record in before],
        "deployed_statuses": [str(record.status) for record in after],
        "baseline_mean": means[0],
        "deployed_mean": means[1],
        "delta_pp": 100 * ((means[1] or 0.0) - (means[0] or 0.0)) if known else None,
        "valid_for_aggregation": known,
        "usage": {
            "baseline": sum((record.usage for record in before), Usage()).to_json(),
            "deployed": sum((record.usage for record in after), Usage()).to_json(),
        },
    }


def _mean(records: list[RunRecord]) -> float | None:
    scores = [record.score for record in records if record.score is not None]
    return sum(scores) / len(scores) if scores and len(scores) == len(records) else None
