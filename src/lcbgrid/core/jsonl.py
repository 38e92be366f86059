"""Journals: JSON lines that survive ``kill -9``.

Rules (design, section 2): one ``write`` a whole line; lines end in a line feed only (U+0085 and
U+2028 inside a text are ordinary characters); a torn last line is cut off with a warning before
anything is appended.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from lcbgrid.core.errors import DataError
from lcbgrid.core.files import dump_json

logger = logging.getLogger(__name__)


def read_jsonl(path: Path | str, *, torn_tail: str = "refuse") -> Iterator[dict[str, Any]]:
    """Yield the records of a JSON lines file.

    Args:
        path: The file.
        torn_tail: ``"refuse"`` raises on a last line without line feed that does not parse,
            ``"skip"`` leaves it out (for journals that a killed process may have torn).

    Raises:
        DataError: The file cannot be read, or a line is no JSON object; names file and line.
    """
    path = Path(path)
    try:
        handle = open(path, "rb")  # noqa: SIM115 - closed by the with statement below
    except OSError as error:
        raise DataError(f"cannot read it: {error.strerror}", where=path) from None
    with handle:
        for number, raw in enumerate(handle, start=1):
            if not raw.strip():
                continue
            try:
                record = json.loads(raw)
            except (ValueError, RecursionError) as error:
                if torn_tail == "skip" and not raw.endswith(b"\n"):
                    logger.warning("%s: left out a torn last line (line %d)", path, number)
                    return
                raise DataError(
                    f"line {number} is not JSON: {error}",
                    where=path,
                    remedy="the file is damaged or cut off; make it again",
                ) from error
            if not isinstance(record, dict):
                raise DataError(
                    f"line {number} is not a JSON object", where=path, value=type(record).__name__
                )
            yield record


class Journal:
    """An append-only JSON lines file held open by one writer.

    Opening it cuts a torn last line. ``append`` is one ``write`` system call of one whole line.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        cut_torn_tail(self.path)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        self._descriptor = os.open(self.path, flags, 0o644)

    def append(self, record: Mapping[str, Any]) -> None:
        """Append one record; after this returns it survives the death of this process.

        If the disk is full the part that was written is taken back, so that what is appended
        later does not continue a torn line.
        """
        data = (dump_json(record) + "\n").encode()
        written = 0
        try:
            while written < len(data):  # a signal or a nearly full disk can cut a write short
                written += os.write(self._descriptor, data[written:])
        except OSError:
            if written:
                os.ftruncate(self._descriptor, os.fstat(self._descriptor).st_size - written)
            raise

    def close(self) -> None:
        """Flush to the disk and close; safe to call twice."""
        if self._descriptor >= 0:
            os.fsync(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = -1

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def cut_torn_tail(path: Path) -> int:
    """Cut what follows the last line feed of ``path``; return the number of bytes cut."""
    try:
        size = path.stat().st_size
    except FileNotFoundError:
        return 0
    if size == 0:
        return 0
    with open(path, "r+b") as handle:
        keep = _end_of_last_line(handle.fileno(), size)
        if keep == size:
            return 0
        handle.truncate(keep)
        os.fsync(handle.fileno())
    logger.warning("%s: cut a torn last line of %d bytes", path, size - keep)
    return size - keep


def _end_of_last_line(descriptor: int, size: int, block: int = 1 << 16) -> int:
    position = size
    while position > 0:
        start = max(0, position - block)
        chunk = os.pread(descriptor, position - start, start)
        found = chunk.rfind(b"\n")
        if found >= 0:
            return start + found + 1
        position = start
    return 0
