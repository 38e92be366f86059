"""Journals of a search: what was answered once is never asked again.

Optimizers specification, section 8.4. A search resumes by running again from its beginning; every
rollout and every reflection call that stands in a journal is answered from there. A line is
written when its call is done, so a torn last line is a call that was not done. Lines stand in the
order of completion until ``settle`` brings them into the order in which the search asked.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from lcbgrid.core import files
from lcbgrid.core.jsonl import Journal, cut_torn_tail, read_jsonl
from lcbgrid.optimize.canonical import content_hash, plain
from lcbgrid.optimize.errors import ContractError
from lcbgrid.optimize.records import RunRecord

SCHEMA = 1
Key = tuple[str | int, ...]


class RolloutKey(NamedTuple):
    """Which attempt of which rollout.

    Attributes:
        exec_digest: What ran.
        example_id: The row.
        request_seed: Its seed.
        occurrence: Number of earlier rollouts of the search that are alike in all this.
        attempt: 0; 1 or 2 after failures of the infrastructure.
    """

    exec_digest: str
    example_id: str
    request_seed: int
    occurrence: int = 0
    attempt: int = 0


class ReflectionKey(NamedTuple):
    """Which reflection call.

    Attributes:
        request_hash: Content hash of everything that is sent.
        request_seed: Its seed.
        occurrence: Number of earlier calls of the search that are alike in both.
    """

    request_hash: str
    request_seed: int
    occurrence: int = 0


class CallJournal:
    """Answers by key, in a file that only grows; the base of both journals.

    Args:
        path: The file; ``None`` keeps the answers in memory only.
        kind: ``rollouts`` or ``reflection``; stands in the first line.
        identity: Hash of the job; a file of another job is refused.

    Raises:
        ContractError: The file is of another kind or job, or holds a key twice.
        DataError: The file is damaged before its last line.
    """

    def __init__(self, path: Path | str | None, kind: str, identity: str) -> None:
        self._path = None if path is None else Path(path)
        self._header = {"journal": kind, "identity": identity, "schema": SCHEMA}
        self._answers: dict[Key, dict[str, Any]] = {}
        self._asked: dict[Key, None] = {}
        self._file: Journal | None = None
        if self._path is not None:
            self._open(self._path)

    def _open(self, path: Path) -> None:
        cut_torn_tail(path)
        lines = list(read_jsonl(path)) if path.exists() else []
        if lines and lines[0] != self._header:
            raise ContractError("the journal is of another job", where=path.name)
        for number, line in enumerate(lines[1:], start=2):
            try:
                key, answer, digest = tuple(line["key"]), line["answer"], line["sha256"]
            except (KeyError, TypeError):
                raise ContractError(f"line {number} is no answer", where=path.name) from None
            if digest != _digest(key, answer):
                raise ContractError(f"line {number} was changed", where=path.name)
            if key in self._answers:
                raise ContractError(f"line {number} repeats a key", where=path.name)
            self._answers[key] = answer
        self._file = Journal(path)
        if not lines:
            self._file.append(self._header)

    def __len__(self) -> int:
        return len(self._answers)

    def found(self, key: Key) -> dict[str, Any] | None:
        """Return the answer under a key; ``None`` if the call was not done yet."""
        self._asked.setdefault(tuple(key))
        return self._answers.get(tuple(key))

    def add(self, key: Key, answer: Mapping[str, Any]) -> dict[str, Any]:
        """Write the answer under a new key, and return it as a later run will read it.

        Raises:
            ContractError: The key is there already.
        """
        key = tuple(key)
        if key in self._answers:
            raise ContractError("the call is in the journal already", value=key)
        kept: dict[str, Any] = plain(answer)
        self._asked.setdefault(key)
        if self._file is not None:
            self._file.append({"key": key, "answer": kept, "sha256": _digest(key, kept)})
        self._answers[key] = kept
        return kept

    def sync(self) -> None:
        """Flush what was written to the disk, so that it survives a failure of the machine."""
        if self._file is not None and self._path is not None:
            with open(self._path, "rb") as handle:
                os.fsync(handle.fileno())

    def settle(self) -> None:
        """Bring the lines into the order in which the search asked for them.

        So the file of a finished search does not tell how many calls were under way at a time,
        or how often it was interrupted.

        Raises:
            ContractError: The search did not ask for a call that stands in the file; it is not
                the search that wrote it.
        """
        left = [key for key in self._answers if key not in self._asked]
        if left:
            raise ContractError(
                f"the search went another way: {len(left)} calls of the journal were not repeated",
                value=left[0],
            )
        if self._path is None:
            return
        self.close()
        keys = [key for key in self._asked if key in self._answers]
        lines = [
            {"key": key, "answer": self._answers[key], "sha256": _digest(key, self._answers[key])}
            for key in keys
        ]
        files.write_jsonl(self._path, [self._header, *lines])
        self._file = Journal(self._path)

    def close(self) -> None:
        """Flush to the disk and close; safe to call twice."""
        if self._file is not None:
            self._file.close()
            self._file = None


class RolloutJournal(CallJournal):
    """Records of rollouts, failed attempts included."""

    def __init__(self, path: Path | str | None = None, identity: str = "") -> None:
        super().__init__(path, "rollouts", identity)

    def record(self, key: RolloutKey) -> RunRecord | None:
        """Return the record under a key; ``None`` if that attempt was not made yet.

        Raises:
            ContractError: The record belongs to another row or seed.
        """
        content = self.found(key)
        return None if content is None else _belonging(key, RunRecord.from_json(content))

    def keep(self, key: RolloutKey, record: RunRecord) -> RunRecord:
        """Write a record, and return it as a later run will read it.

        Raises:
            ContractError: The key is there already, or the record belongs to another.
        """
        return RunRecord.from_json(self.add(key, _belonging(key, record).to_json()))


class ReflectionJournal(CallJournal):
    """Replies of the reflection model with their telemetry."""

    def __init__(self, path: Path | str | None = None, identity: str = "") -> None:
        super().__init__(path, "reflection", identity)


def _digest(key: Sequence[str | int], answer: Mapping[str, Any]) -> str:
    return content_hash({"key": list(key), "answer": answer})


def _belonging(key: RolloutKey, record: RunRecord) -> RunRecord:
    if (record.example_id, record.request_seed) != (key.example_id, key.request_seed):
        raise ContractError(
            "the record is of another row or seed",
            where=key.example_id,
            value=f"{record.example_id}, seed {record.request_seed}",
        )
    return record
