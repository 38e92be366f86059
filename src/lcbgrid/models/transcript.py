"""The transcript: log and cache of all model calls and tool results of one cell.

While a stage runs, the transcript is a journal in the work folder: one line a finished call, so a
``kill -9`` at any moment loses at most the calls in flight. When the stage ends well, the lines
that this run used are published in a fixed order. Measured values go to a file of their own, so
that an interrupted and an undisturbed run publish the same bytes.
See ``docs/design/transcript.md``.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from lcbgrid.core.errors import DataError, from_os_error
from lcbgrid.core.files import atomic_path, dump_json
from lcbgrid.core.hashing import sha256_json
from lcbgrid.core.jsonl import Journal
from lcbgrid.core.locks import acquire
from lcbgrid.models.clean import clean
from lcbgrid.models.lines import Line, LineFile
from lcbgrid.models.types import CallId

SCHEMA_VERSION = 1
LOCK_WAIT_S = 10.0


def tool_key(call: CallId, index: int, name: str, arguments: object) -> str:
    """Return the key of one tool run: which call asked for it, in which place, and for what."""
    parts = [call.question_id, call.sample_index, call.agent, call.step, index, name]
    return sha256_json(["tool", *clean([*parts, arguments])])


class Transcript:
    """Reads and appends the lines of one cell.

    Args:
        path: The journal in the work folder, or a published transcript if ``readonly``.
        readonly: Never write; recording is an error.
        seeds_from: Further transcripts (of earlier runs) to answer from; never written.

    Raises:
        BusyError: Another live process writes the same journal.
        DataError: A line in the middle of a file is damaged.
    """

    def __init__(
        self, path: Path | str, *, readonly: bool = False, seeds_from: Sequence[Path | str] = ()
    ) -> None:
        self.path = Path(path)
        self.readonly = readonly
        self._guard = threading.Lock()
        self._calls: dict[str, Line] = {}
        self._contents: dict[str, Line] = {}
        self._tools: dict[str, Line] = {}
        self._used: dict[tuple[str, str], Line] = {}
        self._files: list[LineFile] = []
        self._journal: Journal | None = None
        self._lock = -1
        try:
            for source in seeds_from:
                self._index(LineFile(Path(source)))
            if not readonly:
                self._lock = acquire(
                    self.path.with_name(self.path.name + ".lock"),
                    what=f"the transcript {self.path.name}",
                    wait_s=LOCK_WAIT_S,
                )
                self._journal = Journal(self.path)
            self._own = LineFile(self.path)
            self._index(self._own)
        except BaseException:
            self.close()
            raise

    def _index(self, file: LineFile) -> None:
        self._files.append(file)
        for line in file.scan():
            self._remember(line)

    def _remember(self, line: Line) -> None:
        if line.kind == "tool":
            self._tools[line.key] = line
            return
        self._calls[line.key] = line
        if line.content_key:
            self._contents[line.content_key] = line

    def __len__(self) -> int:
        """Return the number of different calls and tool results that can be answered from."""
        return len(self._calls) + len(self._tools)

    def lookup(self, key: str) -> dict[str, Any] | None:
        """Return the stored call with this request key, or ``None``; marks it as used.

        The record has ``request``, ``reply``, ``call`` and ``timing``.
        """
        return self._take(self._calls.get(key))

    def lookup_content(self, content_key: str) -> dict[str, Any] | None:
        """Return the stored call with this content, whichever address answered it; for replay."""
        return self._take(self._contents.get(content_key))

    def lookup_tool(self, key: str) -> Any:
        """Return the stored tool result with this key, or ``None``; marks it as used."""
        record = self._take(self._tools.get(key))
        return None if record is None else record["result"]

    def _take(self, line: Line | None) -> dict[str, Any] | None:
        if line is None:
            return None
        with self._guard:
            self._used[line.kind, line.key] = line
            return line.read()

    def record(
        self,
        key: str,
        *,
        content_key: str,
        call: Mapping[str, Any],
        model: str,
        request: Mapping[str, Any],
        reply: Mapping[str, Any],
        timing: Mapping[str, Any],
    ) -> None:
        """Store one finished call; after this returns, a ``kill -9`` cannot lose it."""
        self._append(
            {
                "schema_version": SCHEMA_VERSION,
                "kind": "call",
                "key": key,
                "content_key": content_key,
                "call": dict(call),
                "model": model,
                "request": dict(request),
                "reply": dict(reply),
                "timing": dict(timing),
            }
        )

    def record_tool(
        self,
        key: str,
        result: Any,
        *,
        call: CallId | None = None,
        timing: Mapping[str, Any] | None = None,
    ) -> None:
        """Store the result of one tool run, so that resume and replay need not run it again.

        Args:
            key: From ``tool_key``.
            result: A JSON value without measured parts (those would differ between two runs).
            call: The model call that asked for it; it gives the line its place when published.
            timing: Measured parts, published beside.
        """
        record: dict[str, Any] = {
            "schema_version": SCHEMA_VERSION,
            "kind": "tool",
            "key": key,
            "result": result,
            "timing": dict(timing or {}),
        }
        if call is not None:
            record["call"] = {
                "question_id": call.question_id,
                "sample_index": call.sample_index,
                "agent": call.agent,
                "step": call.step,
            }
        self._append(record)

    def _append(self, record: dict[str, Any]) -> None:
        journal = self._journal
        if journal is None:
            raise DataError(
                f"the transcript has no line for this {record['kind']}, and is only read from",
                where=self.path,
                remedy="the prompts, the settings or the code differ from the recorded run; "
                "run the cell with its model instead of replaying",
            )
        with self._guard:
            try:
                try:
                    journal.append(record)
                except UnicodeEncodeError:
                    record = clean(record)
                    journal.append(record)
            except OSError as error:
                self._own.cut_back()  # the next line must not follow a part of this one
                raise from_os_error(error) or error from error
            line = self._own.grown(record)
            self._remember(line)
            self._used[line.kind, line.key] = line

    def use_all(self) -> None:
        """Mark every line of this journal as used, those that earlier lives of the run left."""
        with self._guard:
            for lines in (self._calls, self._tools):
                for line in lines.values():
                    if line.file is self._own:
                        self._used[line.kind, line.key] = line

    def publish(self, transcript_out: Path | str, timing_out: Path | str) -> int:
        """Write the used lines in a fixed order, atomically; return how many.

        Lines are sorted by question, sample, agent and step. ``transcript_out`` holds nothing
        measured and no address; ``timing_out`` holds key, latency, retries and waits.
        """
        with self._guard:
            lines = sorted(self._used.values(), key=Line.place)
        with (
            atomic_path(transcript_out) as transcript_path,
            atomic_path(timing_out) as timing_path,
            open(transcript_path, "wb") as transcript,
            open(timing_path, "w", encoding="utf-8", newline="\n") as timings,
        ):
            for line in lines:
                published, timing = line.split()
                transcript.write(published)
                timings.write(dump_json({"key": line.key, "kind": line.kind, **timing}) + "\n")
        return len(lines)

    def close(self) -> None:
        """Flush and close all files and let go of the lock; safe to call twice."""
        if self._journal is not None:
            self._journal.close()
            self._journal = None
        for file in self._files:
            file.close()
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def __enter__(self) -> Transcript:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def open_published(path: Path | str) -> Transcript:
    """Open a published transcript for replay.

    Raises:
        DataError: There is no such file.
    """
    if not Path(path).is_file():
        raise DataError(
            "there is no transcript to replay from",
            where=path,
            remedy="run the cell with its model first, or fetch the published results",
        )
    return Transcript(path, readonly=True)
