"""Train, validation and test splits: reading them, and the rule that made LiveCodeBench's.

A split file is ``{"rule": …, "train": […], "validation": […], "test": […]}``; the three lists
share no id.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lcbgrid.core.errors import DataError
from lcbgrid.problems.resources import read_json_object

SPLIT_NAMES = ("train", "validation", "test")
EVAL_COUNT, TRAIN_COUNT, VALIDATION_COUNT = 50, 150, 50

LCB_RULE = (
    "Rows are taken in the order of release_v6 (test.jsonl, then test2.jsonl to test6.jsonl). "
    "test: the first 50 rows, as in lcb_eval_ids.json. "
    "The other rows, without the questions listed in lcb_errata.json, are grouped by "
    "(platform, difficulty); 200 seats are shared among the groups "
    "in proportion to their sizes (largest remainder, ties by group name). "
    "From a group of n rows (counted from 0) with m seats the rows floor((i + 1/2) * n / m), "
    "i = 0 to m - 1, are picked, so that all six files are covered evenly. "
    "50 of the seats are validation, shared among the groups in proportion to their seats (same "
    "method); with v of m seats, pick i is validation if floor((i + 1) * v / m) > floor(i * v / m)"
    ", else train. Each list is in release order."
)


@dataclass(frozen=True, slots=True)
class Splits:
    """Three disjoint lists of question ids and the rule they were made by."""

    rule: str
    train: tuple[str, ...]
    validation: tuple[str, ...]
    test: tuple[str, ...]

    def ids(self, name: str) -> tuple[str, ...]:
        """Return the ids of ``train``, ``validation`` or ``test``."""
        if name not in SPLIT_NAMES:
            raise KeyError(name)
        ids: tuple[str, ...] = getattr(self, name)
        return ids

    def restricted(self, present: set[str]) -> Splits:
        """Return the splits with only the ids in ``present``, order kept."""
        kept = {
            name: tuple(question_id for question_id in self.ids(name) if question_id in present)
            for name in SPLIT_NAMES
        }
        return Splits(self.rule, **kept)

    def to_record(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {"rule": self.rule, **{name: list(self.ids(name)) for name in SPLIT_NAMES}}


def read_splits(path: Path) -> Splits:
    """Read a split file.

    Raises:
        DataError: It is malformed, or an id is listed twice.
    """
    record = read_json_object(path)
    lists = {name: _id_list(record, name, path) for name in SPLIT_NAMES}
    seen: dict[str, str] = {}
    for name, ids in lists.items():
        for question_id in ids:
            if question_id in seen:
                message = f"question {question_id} is listed in {seen[question_id]} and in {name}"
                raise DataError(message, where=path)
            seen[question_id] = name
    rule = record.get("rule")
    return Splits(rule if isinstance(rule, str) else "", **lists)


def _id_list(record: Mapping[str, Any], name: str, path: Path) -> tuple[str, ...]:
    ids = record.get(name)
    if not isinstance(ids, list) or not all(isinstance(item, str) and item for item in ids):
        raise DataError(f"{name!r} must be a list of question ids (texts)", where=path)
    return tuple(ids)


ERRATA_KINDS = ("several_answers", "interactive", "bad_tests")


def read_errata(path: Path) -> dict[str, str]:
    """Read the list of questions with known faults: question id to kind of fault.

    Raises:
        DataError: It is malformed.
    """
    record = read_json_object(path)
    return {
        question_id: kind for kind in ERRATA_KINDS for question_id in _id_list(record, kind, path)
    }


@dataclass(frozen=True, slots=True)
class IdRow:
    """What the rule needs to know of a row."""

    question_id: str
    platform: str
    difficulty: str


def choose_lcb_splits(rows: Sequence[IdRow], errata: Collection[str]) -> Splits:
    """Apply ``LCB_RULE`` to the rows of release_v6 in release order.

    Args:
        rows: All rows.
        errata: Ids that must not steer an optimizer: no right program passes their tests, or not
            every right one does.

    Raises:
        DataError: There are too few rows.
    """
    if len(rows) < EVAL_COUNT + TRAIN_COUNT + VALIDATION_COUNT:
        raise DataError("too few rows to split", value=len(rows))
    test = rows[:EVAL_COUNT]
    pool = [row for row in rows[EVAL_COUNT:] if row.question_id not in errata]
    groups: dict[tuple[str, str], list[int]] = defaultdict(list)
    for position, row in enumerate(pool):
        groups[row.platform, row.difficulty].append(position)
    seats = _share(TRAIN_COUNT + VALIDATION_COUNT, {key: len(v) for key, v in groups.items()})
    validation_seats = _share(VALIDATION_COUNT, seats)
    train: list[int] = []
    validation: list[int] = []
    for key, positions in groups.items():
        n, m, v = len(positions), seats[key], validation_seats[key]
        for i in range(m):
            position = positions[(2 * i + 1) * n // (2 * m)]
            chosen = validation if (i + 1) * v // m > i * v // m else train
            chosen.append(position)
    return Splits(
        rule=LCB_RULE,
        train=tuple(pool[position].question_id for position in sorted(train)),
        validation=tuple(pool[position].question_id for position in sorted(validation)),
        test=tuple(row.question_id for row in test),
    )


def _share(total: int, weights: Mapping[tuple[str, str], int]) -> dict[tuple[str, str], int]:
    """Share ``total`` seats in proportion to the weights, by largest remainder."""
    sum_of_weights = sum(weights.values())
    seats = {key: total * weight // sum_of_weights for key, weight in weights.items()}
    by_remainder = sorted(weights, key=lambda key: (-(total * weights[key] % sum_of_weights), key))
    for key in by_remainder[: total - sum(seats.values())]:
        seats[key] += 1
    return seats
