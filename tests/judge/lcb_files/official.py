"""A reader of ``_eval_all`` files by the official script's documented rules, for the tests.

Judge specification, section 7: filter by platform and by date (start <= contest_date <= end, days
read as midnight), all problems with the same number of samples, unbiased pass@k, overall and by
difficulty. Written from the description; shares no code with the package.
"""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path


def compute_scores(
    path: Path,
    *,
    start: str | None = None,
    end: str | None = None,
    platform: str | None = None,
    ks: tuple[int, ...] = (1, 5, 10),
) -> dict[str, dict[int, float]]:
    """Return pass@k by ``all`` and by difficulty."""
    rows = sorted(json.loads(path.read_text()), key=lambda row: row["question_id"])
    first = dt.datetime.strptime(start, "%Y-%m-%d") if start else dt.datetime.min
    last = dt.datetime.strptime(end, "%Y-%m-%d") if end else dt.datetime.max
    rows = [
        row
        for row in rows
        if first <= dt.datetime.fromisoformat(row["contest_date"]) <= last
        and platform in (None, row["platform"])
    ]
    groups = {"all": rows}
    for row in rows:
        groups.setdefault(row["difficulty"], []).append(row)
    assert len({len(row["graded_list"]) for row in rows}) == 1
    return {
        name: {k: _mean([_pass_at(row["graded_list"], k) for row in members]) for k in ks}
        for name, members in groups.items()
    }


def _pass_at(grades: list[bool], k: int) -> float:
    assert all(isinstance(grade, bool) for grade in grades)
    n, right = len(grades), sum(grades)
    if n - right < k:
        return 1.0
    product = 1.0
    for i in range(n - right + 1, n + 1):
        product *= 1 - k / i
    return 1 - product


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def repair_feedback(metadata: str) -> list[str]:
    """Read metadata as self-repair does (section 3.2): a missing key or code stops the run."""
    record = json.loads(metadata)
    code = record.get("error_code")
    if code is None:
        return []
    keys = {-2: ("inputs", "output", "expected"), -3: ("error", "inputs", "expected")}
    keys[-4] = ("inputs", "expected", "error")
    return [record[key] for key in keys[code]]
