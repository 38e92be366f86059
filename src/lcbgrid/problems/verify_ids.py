"""Verify ``lcb_eval_ids.json``, ``lcb_splits.json`` and ``lcb_errata.json`` against the data."""

from __future__ import annotations

import builtins
import csv
import json
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

from lcbgrid.config.problem_spec import DatasetSpec
from lcbgrid.core.errors import EXIT_DIFFERENCE, EXIT_OK, DataError, UserError
from lcbgrid.problems.resources import resource_dir
from lcbgrid.problems.rows import question_id_of
from lcbgrid.problems.sources import iter_rows
from lcbgrid.problems.splits import (
    EVAL_COUNT,
    SPLIT_NAMES,
    TRAIN_COUNT,
    VALIDATION_COUNT,
    IdRow,
    Splits,
    choose_lcb_splits,
    read_errata,
    read_splits,
)

Print = Callable[[str], object]
EVAL_IDS_FILE = "lcb_eval_ids.json"
SPLITS_FILE = "lcb_splits.json"
ERRATA_FILE = "lcb_errata.json"
_SIZES = {"train": TRAIN_COUNT, "validation": VALIDATION_COUNT, "test": EVAL_COUNT}
_SHOWN_IDS = 5


def verify_ids(
    source: DatasetSpec | Path | str,
    print: Print = builtins.print,
    *,
    lcb_dir: Path | None = None,
) -> int:
    """Check the files against a source of ids in release order; one printed line per check.

    Args:
        source: A data set (hub, or local files in release order), or a list of ids in release
            order: a CSV file with the columns question_id, platform and difficulty, or a JSON file
            with a list of ids or ``{"order": {"v1": [...], ...}}``. Without platform and
            difficulty the rule that chose train and validation is not recomputed, which is said.
        print: Takes one line.
        lcb_dir: Folder of the files; by default the one that comes with the package.

    Returns:
        Exit status: 0, or 1 if a check fails.
    """
    folder = lcb_dir or resource_dir("lcb")
    eval_ids = read_eval_ids(folder / EVAL_IDS_FILE)
    splits = read_splits(folder / SPLITS_FILE)
    errata = read_errata(folder / ERRATA_FILE)
    rows = id_rows(source)
    checks = [
        *_check_eval_ids(eval_ids, rows),
        *_check_sizes(splits),
        ("test split is the evaluation ids", splits.test == eval_ids, ""),
        *_check_presence(splits, errata, rows),
        *_check_rule(splits, errata, rows, print),
    ]
    for what, holds, detail in checks:
        print(f"{'ok' if holds else 'DIFFERENT'}: {what}{detail and f' ({detail})'}")
    failed = sum(not holds for _, holds, _ in checks)
    print(f"{len(checks) - failed} of {len(checks)} checks hold against {len(rows)} ids")
    return EXIT_DIFFERENCE if failed else EXIT_OK


_Check = tuple[str, bool, str]


def _check_eval_ids(eval_ids: tuple[str, ...], rows: Sequence[IdRow]) -> list[_Check]:
    first = tuple(row.question_id for row in rows[:EVAL_COUNT])
    what = f"evaluation ids are the first {EVAL_COUNT} rows, in order"
    if len(first) != len(eval_ids):
        return [(what, False, f"{len(eval_ids)} listed, {len(first)} rows")]
    for number, (listed, found) in enumerate(zip(eval_ids, first, strict=True), start=1):
        if listed != found:
            return [(what, False, f"row {number} is {found}, listed is {listed}")]
    return [(what, True, "")]


def _check_sizes(splits: Splits) -> list[_Check]:
    sizes = {name: len(splits.ids(name)) for name in SPLIT_NAMES}
    shown = ", ".join(f"{name} {size}" for name, size in sizes.items())
    return [("sizes of the disjoint splits", sizes == _SIZES, shown)]


def _check_presence(
    splits: Splits, errata: Collection[str], rows: Sequence[IdRow]
) -> list[_Check]:
    known = {row.question_id for row in rows}
    lists = {name: splits.ids(name) for name in SPLIT_NAMES} | {"errata": tuple(errata)}
    checks = []
    for name, ids in lists.items():
        missing = [question_id for question_id in ids if question_id not in known]
        shown = ", ".join(missing[:_SHOWN_IDS]) + (", …" if len(missing) > _SHOWN_IDS else "")
        detail = f"{len(missing)} missing: {shown}" if missing else ""
        checks.append((f"every {name} id is in the data", not missing, detail))
    return checks


def _check_rule(
    splits: Splits, errata: Collection[str], rows: Sequence[IdRow], print: Print
) -> list[_Check]:
    if not all(row.platform and row.difficulty for row in rows):
        print("not checked: the stated rule (this list has no platform and difficulty)")
        return []
    try:
        chosen = choose_lcb_splits(rows, errata)
    except DataError as error:
        return [("the stated rule gives these splits", False, str(error))]
    return [("the stated rule gives these splits", chosen == splits, "")]


def read_eval_ids(path: Path) -> tuple[str, ...]:
    """Read the evaluation ids: a JSON list of texts.

    Raises:
        DataError: It is something else.
    """
    return _as_ids(_read_json(path), path)


def id_rows(source: DatasetSpec | Path | str) -> list[IdRow]:
    """Read ids, platforms and difficulties in stored order; hidden tests are not decoded.

    Raises:
        UserError: A list file is missing or of an unknown kind.
        DataError: It cannot be read as such.
    """
    if isinstance(source, DatasetSpec):
        return [
            IdRow(
                question_id_of(raw.row),
                str(raw.row.get("platform") or ""),
                str(raw.row.get("difficulty") or ""),
            )
            for raw in iter_rows(source)
        ]
    path = Path(source)
    if not path.is_file():
        raise UserError("no such file", where=path)
    if path.suffix == ".csv":
        return _csv_rows(path)
    if path.suffix == ".json":
        return [IdRow(question_id, "", "") for question_id in _json_ids(path)]
    raise UserError("a list of ids is a .csv or .json file", where=path)


def _csv_rows(path: Path) -> list[IdRow]:
    with open(path, encoding="utf-8", newline="") as handle:
        table = csv.DictReader(handle)
        missing = {"question_id", "platform", "difficulty"} - set(table.fieldnames or ())
        if missing:
            raise DataError(f"column {sorted(missing)[0]!r} is missing", where=path)
        return [IdRow(row["question_id"], row["platform"], row["difficulty"]) for row in table]


def _json_ids(path: Path) -> tuple[str, ...]:
    value = _read_json(path)
    if isinstance(value, dict) and isinstance(value.get("order"), dict):
        shards = value["order"]
        value = [question_id for shard in sorted(shards) for question_id in shards[shard]]
    return _as_ids(value, path)


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except FileNotFoundError:
        raise DataError("no such file", where=path) from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"not JSON ({error})", where=path) from None


def _as_ids(value: Any, path: Path) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise DataError("not a list of question ids (texts)", where=path)
    return tuple(value)
