"""The report of a batch: pass@1 of one team on one data set, as lines of text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Rate:
    """A mean of exact matches, and over how many; undefined over none."""

    n: int
    value: float | None

    @classmethod
    def of(cls, records: Sequence[Record]) -> Rate:
        """Take the mean over records that have a score."""
        scores = [record["em"] for record in records if record["em"] is not None]
        return cls(len(scores), fsum(scores) / len(scores) if scores else None)

    def __str__(self) -> str:
        return "undefined" if self.value is None else f"{self.value:.3f}"


def batch_report(label: str, records: Sequence[Record], total_s: float) -> list[str]:
    """Return the lines of the report.

    Answers lost to the endpoint or the judge have no score: they are counted apart and are in no
    mean. An answer without a program counts as wrong.

    Args:
        label: What was run.
        records: One an instance.
        total_s: How long it took.
    """
    extracted = [record for record in records if record["predicted_code"]]
    n_lost = sum(record["em"] is None for record in records)
    lost = f" n_lost={n_lost}" if n_lost else ""
    groups: dict[str, list[Record]] = {}
    for record in records:
        groups.setdefault(record["difficulty"] or "unk", []).append(record)
    return [
        "",
        f"=== {label} complete ===",
        f"n={len(records)} n_extracted={len(extracted)}{lost}",
        f"pass@1 EM={Rate.of(records)} (extracted only: {Rate.of(extracted)})",
        "",
        *(f"{name:>6} n={len(group)} EM={Rate.of(group)}" for name, group in groups.items()),
        f"total_s={total_s:.1f}",
    ]


def row_line(index: int, total: int, record: Record) -> str:
    """Return one line about one instance."""
    if record["em"] is None:
        mark = "!"
    elif record["em"]:
        mark = "✓"
    else:
        mark = "✗" if record["predicted_code"] else "?"
    tests = f"pass={_shown(record['pass'])}/{record['total']}"
    scores = f"em={_shown(record['em'])} {tests} lat={record['latency_s']:.1f}s"
    return f"[{index}/{total}] {record['id']:<22.22} {mark} {scores} {record['verdict']}"


def _shown(value: float | None) -> str:
    return "-" if value is None else f"{value:g}"
