"""Measured times of one cell. Clocks differ between runs, so nothing here is ever hashed."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from math import fsum
from pathlib import Path
from typing import Any, Final

from lcbgrid.analysis.axes import axes_of
from lcbgrid.analysis.records import read_object
from lcbgrid.core.errors import DataError
from lcbgrid.core.files import write_json
from lcbgrid.core.jsonl import read_jsonl

TIMING_SCHEMA_VERSION: Final = 1


def time_cell(cell_dir: Path | str) -> dict[str, Any]:
    """Summarise the measured times of a cell.

    Args:
        cell_dir: Folder with ``cell.json`` and, where they were measured, ``timing.jsonl`` (one
            record a model call) and ``judge_timing.jsonl`` (one record an answer, with the wall
            time of each test in ``tests``; the same program twice is run once, counted twice).

    Returns:
        Calls that were really made (replies from the cache have no record), their latency in
        seconds (median, 90th percentile, mean, total), retries, waiting, and judge seconds.
    """
    cell_dir = Path(cell_dir)
    calls = _read(cell_dir / "timing.jsonl")
    judged = _read(cell_dir / "judge_timing.jsonl")
    latency = _numbers(calls, "latency_s", cell_dir / "timing.jsonl")
    tests = [test for record in judged for test in record.get("tests") or []]
    judge = _numbers(tests, "wall_s", cell_dir / "judge_timing.jsonl")
    cell = read_object(cell_dir / "cell.json")
    return {
        "schema_version": TIMING_SCHEMA_VERSION,
        "cell": axes_of(cell, where=cell_dir / "cell.json"),
        "simulated": bool(cell.get("simulated", False)),
        "n_calls_timed": len(latency),
        "latency_p50_s": quantile(latency, 0.5),
        "latency_p90_s": quantile(latency, 0.9),
        "latency_mean_s": statistics.fmean(latency) if latency else None,
        "latency_total_s": fsum(latency),
        "retries": int(fsum(_numbers(calls, "retries", cell_dir / "timing.jsonl"))),
        "waited_total_s": fsum(_numbers(calls, "waited_s", cell_dir / "timing.jsonl")),
        "n_judged_timed": sum(bool(record.get("tests")) for record in judged),
        "judge_total_s": fsum(judge),
    }


def write_timing(cell_dir: Path | str, target: Path | str) -> dict[str, Any]:
    """Summarise the times of a cell, write the record to ``target`` atomically, return it."""
    times = time_cell(cell_dir)
    write_json(target, times)
    return times


def quantile(values: Iterable[float], share: float) -> float | None:
    """Return a quantile with linear interpolation (type 7 of Hyndman and Fan 1996).

    Examples:
        >>> quantile([4.0, 1.0, 2.0], 0.5)
        2.0
    """
    ordered = sorted(values)
    if not ordered:
        return None
    position = share * (len(ordered) - 1)
    below = int(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (position - below) * (ordered[above] - ordered[below])


def _read(path: Path) -> list[dict[str, Any]]:
    return list(read_jsonl(path, torn_tail="skip")) if path.is_file() else []


def _numbers(records: Iterable[dict[str, Any]], key: str, where: Path) -> list[float]:
    found = []
    for record in records:
        value = record.get(key)
        if value is None:
            continue
        if not isinstance(value, int | float) or value < 0:
            raise DataError(f"{key!r} must be a number from 0", where=where, value=value)
        found.append(float(value))
    return found
