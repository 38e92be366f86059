"""Read rows from JSON lines, JSON lists and parquet files.

JSON lines and parquet are read in bounded memory (one row, one small batch). A ``.json`` file that
holds a list is read whole; JSON lines in a ``.json`` file are recognised and read line by line.
A place that cannot be read is yielded as ``Broken``, so that a check can go on and a loader stop.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lcbgrid.core.errors import DataError, UserError
from lcbgrid.problems.decode import UNKNOWN_ID
from lcbgrid.problems.rows import Broken, RawRow

SUFFIXES = (".jsonl", ".json", ".parquet")
MAX_LINE_BYTES = 1 << 30
"""No row of the data set comes near; a file without line feeds must not fill the memory."""

_PARQUET_BATCH_ROWS = 8  # rows of up to tens of MB
_CUT_OFF = "the file is cut off or damaged; get it again"


def read_rows(path: Path) -> Iterator[RawRow | Broken]:
    """Yield the rows of a file in stored order.

    Raises:
        UserError: The file does not exist or has an unknown suffix.
        DataError: The file as a whole cannot be read.
    """
    if path.suffix not in SUFFIXES:
        raise UserError(f"unknown kind of file; known: {', '.join(SUFFIXES)}", where=path)
    if not path.is_file():
        raise UserError("no such file", where=path)
    if path.suffix == ".parquet":
        return _read_parquet(path)
    if path.suffix == ".json" and _first_byte(path) == b"[":
        return _read_list(path)
    return _read_lines(path)


def _first_byte(path: Path) -> bytes:
    with open(path, "rb") as handle:
        return handle.read(4096).removeprefix(b"\xef\xbb\xbf").lstrip()[:1]


def _read_lines(path: Path) -> Iterator[RawRow | Broken]:
    with open(path, "rb") as handle:
        number = 0
        # Split at line feeds only: U+0085 and U+2028 inside a text are ordinary characters.
        while line := handle.readline(MAX_LINE_BYTES + 1):
            number += 1
            if len(line) > MAX_LINE_BYTES:
                raise DataError(f"line {number} is longer than {MAX_LINE_BYTES} bytes", where=path)
            if line.strip():
                yield _row_of_line(path, number, line)


def _row_of_line(path: Path, number: int, line: bytes) -> RawRow | Broken:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        reason = f"line {number} is not JSON ({_short(error)})"
        if not line.endswith(b"\n"):
            reason += " and has no line feed: the file is cut off"
        return Broken(UNKNOWN_ID, f"{path.name}:{number}", reason)
    return _row_of_value(path, number, value)


def _row_of_value(path: Path, number: int, value: Any) -> RawRow | Broken:
    if isinstance(value, dict):
        return RawRow(value, path.name, number)
    reason = f"row {number} is not a JSON object (got {type(value).__name__})"
    return Broken(UNKNOWN_ID, f"{path.name}:{number}", reason)


def _read_list(path: Path) -> Iterator[RawRow | Broken]:
    try:
        values = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        message = f"not a JSON list ({_short(error)})"
        raise DataError(message, where=path, remedy=_CUT_OFF) from None
    for number, value in enumerate(values, start=1):
        yield _row_of_value(path, number, value)


def _read_parquet(path: Path) -> Iterator[RawRow | Broken]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    number = 0
    try:
        with pq.ParquetFile(path, pre_buffer=False) as parquet:
            for batch in parquet.iter_batches(batch_size=_PARQUET_BATCH_ROWS):
                for row in batch.to_pylist():
                    number += 1
                    yield RawRow(row, path.name, number)
    except (pa.ArrowException, OSError) as error:
        message = f"cannot read parquet after row {number} ({_short(error)})"
        raise DataError(message, where=path, remedy=_CUT_OFF) from None


def _short(error: BaseException, limit: int = 160) -> str:
    text = " ".join(str(error).split())
    return text if len(text) <= limit else text[: limit - 1] + "…"
