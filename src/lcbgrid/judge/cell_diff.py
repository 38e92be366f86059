"""Samples of a judged cell whose verdict depends on the rule set, and why.

Nothing is run: both verdicts are stored, and say nothing of hidden tests.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from lcbgrid.core.errors import DataError, UserError
from lcbgrid.core.jsonl import read_jsonl
from lcbgrid.judge.diff import (
    DiffReport,
    RuleDifference,
    Sample,
    because_of_checker,
    close_report,
    explained,
)
from lcbgrid.judge.verdict import NOT_A_SCORE, Verdict
from lcbgrid.problems.store import PreparedProblems

_Key = tuple[str, int]


def diff_cell(
    cell_dir: Path, store: PreparedProblems, *, say: Callable[[str], object] = print
) -> DiffReport:
    """List and explain the samples on which the stored rule sets differ.

    Prints a line for each difference and, last, ``differ M of N``. Samples that were not judged
    are left out of N. Of more than two rule sets, each is compared with the first.

    Args:
        cell_dir: The cell's folder below ``results/runs``.
        store: Its prepared problems.
        say: Receives each line.

    Raises:
        UserError: The cell is not judged, or by one rule set only.
        DataError: Its files are damaged or do not belong together.
    """
    path = cell_dir / "verdicts.jsonl"
    if not path.is_file():
        raise UserError("the cell is not judged", where=path, remedy="judge it first")
    programs = _programs(cell_dir / "predictions.jsonl")
    found: list[RuleDifference] = []
    total = 0
    names: tuple[str, str] | None = None
    for record in read_jsonl(path):
        for rules, other in (record.get("by_rules") or {}).items():
            names = names or (str(record.get("rules")), rules)
            if record["status"] in NOT_A_SCORE or other["status"] in NOT_A_SCORE:
                continue
            total += 1
            if record["status"] != other["status"]:
                found.append(_difference(record, other, programs, store, path))
                say(str(found[-1]))
    if names is None:
        raise UserError(
            "the cell was judged by one rule set only",
            where=path,
            remedy="set judge.rules to [real, official] and judge it again; "
            "verdicts of the first rule set are kept",
        )
    return close_report(total, found, names, say)


def _programs(path: Path) -> dict[_Key, str | None]:
    return {_key(record): record.get("predicted_code") for record in read_jsonl(path)}


def _key(record: dict[str, Any]) -> _Key:
    return str(record.get("question_id")), int(record.get("sample_index", 0))


def _difference(
    record: dict[str, Any],
    other: dict[str, Any],
    programs: dict[_Key, str | None],
    store: PreparedProblems,
    path: Path,
) -> RuleDifference:
    key = _key(record)
    if key not in programs:
        raise DataError(f"{key[0]} sample {key[1]} has no prediction", where=path)
    sample = Sample(f"{key[0]} sample {key[1]}", programs[key], store.suite(key[0]))
    left, right = Verdict.from_record(record), Verdict.from_record(other)
    why = next(
        (
            because_of_checker(one["checker"])
            for one in (record, other)
            if one["status"] == "passed" and not one["passed_by_comparison"]
        ),
        None,
    )
    return explained(sample, left, right, why)
