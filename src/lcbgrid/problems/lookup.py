"""Test suites by question id, straight from files of rows: for judging without a grid."""

from __future__ import annotations

import json
import tempfile
import threading
import weakref
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from lcbgrid.core.errors import DataError
from lcbgrid.problems.decode import MAX_TESTS_BYTES
from lcbgrid.problems.readers import read_rows
from lcbgrid.problems.rows import Broken, Loaded, RawRow, Skipped, question_id_of, read_row
from lcbgrid.problems.schema import TestSuite


def suites_of(
    paths: Sequence[Path | str], *, max_bytes: int = MAX_TESTS_BYTES
) -> Mapping[str, TestSuite]:
    """Index files of the hub's schema by question id.

    An id that appears in several files is taken from the first. Suites are decoded when asked for,
    one at a time, so the memory used does not depend on the files' size. Threads may share it.

    Args:
        paths: Files of rows (.jsonl, .json, .parquet).
        max_bytes: Cap on the decoded size of a test list.

    Returns:
        A mapping; reading the suite of a row that cannot be used raises ``DataError``.

    Raises:
        UserError: A file does not exist or is of an unknown kind.
        DataError: A line of a file is no row.
    """
    return _Suites([Path(path) for path in paths], max_bytes)


class _Suites(Mapping[str, TestSuite]):
    """Rows copied as they are into an anonymous temporary file, with their places in it."""

    def __init__(self, paths: Sequence[Path], max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._places: dict[str, tuple[int, str, int]] = {}
        self._rows = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the mapping
        self._reading = threading.Lock()  # one handle, many threads
        weakref.finalize(self, self._rows.close)
        for path in paths:
            for entry in read_rows(path):
                if isinstance(entry, Broken):
                    raise DataError(entry.reason, where=path)
                self._add(entry)

    def _add(self, raw: RawRow) -> None:
        question_id = question_id_of(raw.row)
        if question_id not in self._places:
            self._places[question_id] = (self._rows.tell(), raw.file, raw.line)
            self._rows.write(json.dumps(raw.row, default=str).encode() + b"\n")

    def __getitem__(self, question_id: str) -> TestSuite:
        offset, file, line = self._places[question_id]
        with self._reading:
            self._rows.seek(offset)
            text = self._rows.readline()
        raw = RawRow(json.loads(text), file, line)
        outcome = read_row(raw, max_bytes=self._max_bytes)
        if isinstance(outcome, Loaded):
            return outcome.suite
        reason = (
            outcome.reason if isinstance(outcome, Skipped) else f"broken row: {outcome.reason}"
        )
        raise DataError(reason, where=f"{raw.where}: question {question_id}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, question_id: object) -> bool:
        return question_id in self._places
