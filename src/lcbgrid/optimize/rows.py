"""Rows: their ids, and the refusal of rows that are not a search's own.

Optimizers specification, section 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lcbgrid.optimize.canonical import content_hash, plain
from lcbgrid.optimize.errors import ContractError

ID_KEYS = ("id", "example_id", "task_id", "problem_id", "question_id", "instance_id")
Row = Mapping[str, Any]


def row_id(row: Row) -> str:
    """Return the id of a row: the first of its names for one that is not empty.

    Raises:
        ContractError: It has none.
    """
    for key in ID_KEYS:
        value = row.get(key)
        if value not in (None, ""):
            return str(value)
    raise ContractError("a row has no id", value=sorted(map(str, row)))


class RowBook:
    """The rows that may be run, by id, and what they must look like.

    Args:
        rows: The rows.

    Raises:
        ContractError: Two rows have one id.
    """

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows: dict[str, Row] = {}
        self._hashes: dict[str, str] = {}
        for row in rows:
            name = row_id(row)
            if name in self._rows:
                raise ContractError("two rows have one id", value=name)
            self._rows[name] = plain(row)
            self._hashes[name] = content_hash(row)

    def __len__(self) -> int:
        return len(self._rows)

    def checked(self, rows: Sequence[Row]) -> dict[str, Row]:
        """Return our own copies of rows, by id, in the order in which they were given.

        Raises:
            ContractError: There is none, one twice, one that was altered, or one that may not
                be run here.
        """
        if not rows:
            raise ContractError("a batch needs a row")
        found: dict[str, Row] = {}
        for row in rows:
            name = row_id(row)
            if name in found:
                raise ContractError("a row stands twice in a batch", value=name)
            if name not in self._rows:
                raise ContractError("this row may not be run here", value=name)
            if content_hash(row) != self._hashes[name]:
                raise ContractError("the row was altered", value=name)
            found[name] = self._rows[name]
        return found
