"""Lines of a transcript file, found by offset and read when asked for.

Only the keys stay in memory: the transcript of a long grid cell can be larger than the memory.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import logging
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lcbgrid.core.errors import DataError
from lcbgrid.core.files import dump_json

logger = logging.getLogger(__name__)
TIMING_NAME = "timing.jsonl"
_NO_PLACE = ("", -1, "", -1)


@dataclass(frozen=True, slots=True)
class Line:
    """One line of one file: its identity and where it stands.

    ``timing_size`` counts the bytes at its end that hold what was measured; 0 if it is elsewhere.
    """

    file: LineFile
    offset: int
    size: int
    timing_size: int
    kind: str
    key: str
    content_key: str
    call: tuple[str, int, str, int]

    def place(self) -> tuple[str, int, str, int, str, str]:
        """Return the sort key of published transcripts."""
        return (*self.call, self.kind, self.key)

    def read(self) -> dict[str, Any]:
        """Read the whole record, measured values included."""
        return self.file.read(self)

    def split(self) -> tuple[bytes, dict[str, Any]]:
        """Read the line without its measured values, and those."""
        return self.file.split(self)


class LineFile:
    """A transcript file, opened once; a missing file is an empty one."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._size = 0
        self._timings: dict[tuple[str, str], dict[str, Any]] = {}
        try:
            self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            self._descriptor = -1

    def scan(self) -> Iterator[Line]:
        """Yield all whole lines; a torn last line is left out with a warning.

        Raises:
            DataError: A line in the middle is no record; names file and line number.
        """
        if self._descriptor < 0:
            return
        self._read_timings()
        offset = 0
        with open(self._descriptor, "rb", closefd=False) as handle:
            for number, raw in enumerate(handle, start=1):
                if not raw.endswith(b"\n"):
                    logger.warning("%s: left out a torn last line (line %d)", self.path, number)
                    break
                if raw.strip():
                    yield self._line(number, offset, raw)
                offset += len(raw)
        self._size = offset

    def _line(self, number: int, offset: int, raw: bytes) -> Line:
        try:
            record = json.loads(raw)
            line = self._of(record, offset, len(raw))
            if raw.endswith(_timing_tail(record)):
                return line
            return dataclasses.replace(line, timing_size=0)  # not written by us: read it whole
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise DataError(
                f"line {number} is no transcript record: {error!r}",
                where=self.path,
                remedy="the file is damaged; remove that line to have the call made again",
            ) from error

    def _of(self, record: dict[str, Any], offset: int, size: int) -> Line:
        call = record.get("call")
        place = _NO_PLACE
        if call is not None:
            place = (call["question_id"], call["sample_index"], call["agent"], call["step"])
        return Line(
            file=self,
            offset=offset,
            size=size,
            timing_size=len(_timing_tail(record)),
            kind=record["kind"],
            key=record["key"],
            content_key=record.get("content_key", ""),
            call=place,
        )

    def grown(self, record: dict[str, Any]) -> Line:
        """Return the line that was just appended to this file by its only writer."""
        if self._descriptor < 0:
            self._descriptor = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        size = os.fstat(self._descriptor).st_size
        line = self._of(record, self._size, size - self._size)
        self._size = size
        return line

    def cut_back(self) -> None:
        """Cut what a failed append left behind the last whole line."""
        with contextlib.suppress(OSError):
            if self.path.stat().st_size > self._size:
                os.truncate(self.path, self._size)

    def read(self, line: Line) -> dict[str, Any]:
        """Read one record; the timing of a published file comes from the file beside it."""
        raw = os.pread(self._descriptor, line.size, line.offset)
        record: dict[str, Any] = json.loads(raw)
        if "timing" not in record:
            record["timing"] = self._timings.get((line.kind, line.key), {})
        return record

    def split(self, line: Line) -> tuple[bytes, dict[str, Any]]:
        """Return the line without its measured values, and those; texts are not parsed again."""
        if not line.timing_size:
            record = self.read(line)
            timing = record.pop("timing")
            return (dump_json(record) + "\n").encode(), timing
        raw = os.pread(self._descriptor, line.size, line.offset)
        tail = raw[-line.timing_size :]
        return raw[: -line.timing_size] + b"}\n", json.loads(b"{" + tail[1:-1])["timing"]

    def _read_timings(self) -> None:
        path = self.path.with_name(TIMING_NAME)
        if self.path.name == TIMING_NAME or not path.is_file():
            return
        with open(path, "rb") as handle:
            for raw in handle:
                try:
                    record = json.loads(raw)
                    identity = record.pop("kind", "call"), record.pop("key")
                except (ValueError, KeyError, AttributeError):
                    logger.warning("%s: left out a damaged line; times only", path)
                    continue
                self._timings[identity] = record

    def close(self) -> None:
        """Close the file; safe to call twice."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def _timing_tail(record: dict[str, Any]) -> bytes:
    """Return how a line of ours ends: ``timing`` is the last of the sorted keys."""
    if "timing" not in record:
        return b""
    return f',"timing":{dump_json(record["timing"])}}}\n'.encode()
