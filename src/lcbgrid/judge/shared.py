"""Verdicts shared by many jobs: what one of them has judged, no other judges again.

Every job appends whole verdicts to a journal of its own. Beside the journals is an index, split by
the first two digits of the key, that says in which journal and at which byte a verdict starts. A
job reads only the parts of the index that hold its own keys, remembers only those, and then reads
single lines of other journals; so neither its memory nor its start grows with the number of jobs.

Nothing here is trusted: a line that is not the verdict looked for counts as none. An entry is
written after its verdict, so a kill between the two costs an entry, which ``adopt`` makes good.
All locks are the kernel's and die with their owner; where a file system has none, a program may be
judged twice, with the same outcome.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import threading
import time
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, Final

from lcbgrid.core.jsonl import Journal

_BUCKET_DIGITS: Final = 2
_CLAIM_DIGITS: Final = 15  # 60 bits: an offset in the file of claims, which stays empty
_WAIT_S: Final = 0.05

Place = tuple[int, str]


class SharedVerdicts:
    """Finds and keeps the verdicts of one job, given by one way to judge.

    Args:
        index: Folder of the index.
        root: Folder of all journals.
        journal: The journal of this job, open, below ``root``.
        rules: Key of the way to judge.
        wanted: Keys of the programs of this job.
    """

    def __init__(
        self, index: Path, root: Path, journal: Journal, rules: str, wanted: Collection[str]
    ) -> None:
        self._folder = index / rules[:16]
        self._folder.mkdir(parents=True, exist_ok=True)
        self._root = root
        self._journal = journal
        self._name = journal.path.relative_to(root).as_posix()
        self._rules = rules
        self._wanted = frozenset(wanted)
        self._places: dict[str, list[Place]] = {}
        self._read_bytes: dict[str, int] = {}
        self._lock = threading.Lock()
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
        self._claims = os.open(self._folder / "claims", flags, 0o644)

    def close(self) -> None:
        """Let go of everything."""
        os.close(self._claims)

    def __enter__(self) -> SharedVerdicts:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextlib.contextmanager
    def claim(self, key: str) -> Iterator[None]:
        """Be the only job that judges a program while the block runs; wait for another one.

        A claim is the kernel's lock on one byte of a file, at a place that the key gives.
        """
        place = int(key[:_CLAIM_DIGITS], 16)
        claimed = self._take(place)
        try:
            yield
        finally:
            if claimed:
                fcntl.lockf(self._claims, fcntl.LOCK_UN, 1, place)

    def _take(self, place: int) -> bool:
        while True:
            try:
                fcntl.lockf(self._claims, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
            except (BlockingIOError, PermissionError):
                time.sleep(_WAIT_S)
            except OSError:
                return False  # no locks on this file system
            else:
                return True

    def find(self, key: str) -> dict[str, Any] | None:
        """Return the record of a program that any job has judged in the same way, or ``None``."""
        with self._lock:
            self._refresh(key[:_BUCKET_DIGITS])
            places = list(self._places.get(key, ()))
        for place in reversed(places):
            record = self._record_at(place)
            if _is_verdict(record, key, self._rules):
                return record
        return None

    def keep(self, record: dict[str, Any]) -> None:
        """Append a verdict to this job's journal and let the others know.

        Copies, and verdicts that a fault of the judge has caused, are only appended.
        """
        with self._lock:
            offset = self._journal.path.stat().st_size
            self._journal.append(record)
            new = _is_verdict(record, record["key"], self._rules) and not is_copy(record)
            if new:
                self._announce(record["key"], offset)

    def adopt(self) -> None:
        """Let the others know of verdicts in this job's journal that a killed job left unsaid."""
        offset = 0
        with open(self._journal.path, "rb") as lines:
            for line in lines:
                record = _parsed(line)
                key = str(record.get("key"))
                if _is_verdict(record, key, self._rules) and key in self._wanted:
                    with self._lock:
                        self._refresh(key[:_BUCKET_DIGITS])
                        if key not in self._places and not is_copy(record):
                            self._announce(key, offset)
                offset += len(line)

    def _announce(self, key: str, offset: int) -> None:
        path = self._bucket(key[:_BUCKET_DIGITS])
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        descriptor = os.open(path, flags, 0o644)
        try:
            with contextlib.suppress(OSError):  # no locks on this file system
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            size = os.fstat(descriptor).st_size
            torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
            line = f"{key} {offset} {self._name}\n"
            os.write(descriptor, (b"\n" if torn else b"") + line.encode())
        finally:
            os.close(descriptor)

    def _bucket(self, bucket: str) -> Path:
        return self._folder / f"{bucket}.index"

    def _refresh(self, bucket: str) -> None:
        """Read what was added to a part of the index since the last time."""
        start = self._read_bytes.get(bucket, 0)
        try:
            with open(self._bucket(bucket), "rb") as lines:
                lines.seek(start)
                for line in lines:
                    if not line.endswith(b"\n"):
                        break  # being written
                    start += len(line)
                    self._note(line)
        except FileNotFoundError:
            return
        self._read_bytes[bucket] = start

    def _note(self, line: bytes) -> None:
        key, _, rest = line.decode("utf-8", "replace").rstrip("\n").partition(" ")
        offset, _, name = rest.partition(" ")
        if key in self._wanted and offset.isdigit() and name:
            self._places.setdefault(key, []).append((int(offset), name))

    def _record_at(self, place: Place) -> dict[str, Any]:
        offset, name = place
        try:
            with open(self._root / name, "rb") as journal:
                journal.seek(offset)
                return _parsed(journal.readline())
        except OSError:
            return {}  # its cell was removed


def copy_of(record: dict[str, Any]) -> dict[str, Any]:
    """Return another job's record as one's own: the same verdict, without its measurements."""
    timing = record["timing"]
    kept = {key: timing[key] for key in ("question_id", "near_limit") if key in timing}
    return record | {"timing": kept | {"tests": [], "cached": True}}


def is_copy(record: dict[str, Any]) -> bool:
    """Say whether a record was taken over from another job."""
    return bool(record["timing"].get("cached"))


def _parsed(line: bytes) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}


def _is_verdict(record: dict[str, Any], key: str, rules: str) -> bool:
    verdict = record.get("verdict")
    return (
        record.get("key") == key
        and record.get("rules_key") == rules
        and isinstance(record.get("timing"), dict)
        and isinstance(verdict, dict)
        and verdict.get("status") != "infra_error"
    )
