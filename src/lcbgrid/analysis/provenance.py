"""What a score depends on besides the cell: rule set, sandbox, data, window, limits.

Two scores can be compared only if these agree, so every table and every caption states them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from lcbgrid.analysis.records import CellRecords

PROVENANCE_KEYS: Final = (
    "rules",
    "tier",
    "dataset",
    "release",
    "split",
    "window",
    "n_problems",
    "first_id",
    "last_id",
    "n_samples",
    "max_tokens",
)


def provenance_of(records: CellRecords) -> dict[str, Any]:
    """Return rule set, sandbox tier, data set, release, window, row count and token limit."""
    cell = records.cell
    manifest: Mapping[str, Any] = cell.get("dataset_manifest") or {}
    run: Mapping[str, Any] = cell.get("run") or {}
    return {
        "rules": records.rules,
        "tier": records.tier,
        "dataset": cell.get("dataset"),
        "release": _text(manifest.get("release")),
        "split": _text(manifest.get("split")),
        "window": window_text(manifest.get("start_date"), manifest.get("end_date")),
        "n_problems": manifest.get("n_problems"),
        "first_id": _text(manifest.get("first_id")),
        "last_id": _text(manifest.get("last_id")),
        "n_samples": run.get("n_samples"),
        "max_tokens": (run.get("sampling") or {}).get("max_tokens"),
    }


def window_text(start_date: object, end_date: object) -> str:
    """Return a window of contest days: the first is in it, the last is not.

    Examples:
        >>> window_text("2024-08-01", None)
        '[2024-08-01, open)'
    """
    if start_date is None and end_date is None:
        return "all dates"
    start, end = ("open" if day is None else str(day) for day in (start_date, end_date))
    return f"[{start}, {end})"


def provenance_line(provenance: Mapping[str, Any]) -> str:
    """Return one sentence that states everything a reader needs to repeat a score."""
    known = {key: _shown(provenance.get(key)) for key in PROVENANCE_KEYS}
    return (
        f"Rule set {known['rules']}; sandbox tier {known['tier']}; "
        f"data set {known['dataset']}, release {known['release']}, split {known['split']}, "
        f"contest window {known['window']}, {known['n_problems']} problems "
        f"({known['first_id']} to {known['last_id']}); "
        f"{known['n_samples']} answer{'' if known['n_samples'] == '1' else 's'} a problem; "
        f"at most {known['max_tokens']} tokens a reply."
    )


def provenance_lines(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the distinct provenance sentences of some rows, sorted; missing cells have none."""
    return sorted({provenance_line(row) for row in rows if row.get("rules") is not None})


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _shown(value: object) -> str:
    if value is None or value != value:  # a missing number in a frame is not equal to itself
        return "not stated"
    return str(int(value)) if isinstance(value, float) else str(value)
