"""Reads the published files of one cell, answer by answer; only places in files are kept."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import fsum
from pathlib import Path
from types import TracebackType
from typing import Any

from lcbgrid.analysis.conversations.build import build_calls
from lcbgrid.analysis.conversations.model import NOT_JUDGED, AnswerKey, Conversation
from lcbgrid.core.errors import DataError, nearest
from lcbgrid.models.lines import Line, LineFile


@dataclass(frozen=True, slots=True)
class Listed:
    """One answer of a cell in a list."""

    question_id: str
    sample_index: int
    title: str | None
    difficulty: str
    status: str
    verdict: str
    n_passed: int
    n_total: int
    total_tokens: int

    @property
    def key(self) -> AnswerKey:
        """Question and sample."""
        return self.question_id, self.sample_index


class CellConversations:
    """The conversations of one cell.

    Args:
        folder: ``results/runs/<cell>`` with ``predictions.jsonl``, ``transcript.jsonl`` and, where
            they are, ``timing.jsonl``, ``verdicts.jsonl`` and ``judge_timing.jsonl``.
        path: The cell's path, for headings.
        titles: Titles of questions.

    Raises:
        DataError: A file is missing or damaged; names the file and the line.
    """

    def __init__(self, folder: Path, path: str, titles: Mapping[str, str] | None = None) -> None:
        self.folder = folder
        self.path = path
        self._titles = titles or {}
        self._predictions = _Records(folder / "predictions.jsonl", needed=True)
        self._verdicts = _Records(folder / "verdicts.jsonl")
        self._judge_times = _Records(folder / "judge_timing.jsonl", graded=False)
        transcript = folder / "transcript.jsonl"
        if not transcript.is_file():
            raise DataError(
                "there is no transcript, so nobody knows what was said",
                where=transcript,
                remedy="fetch it with the published results, or run the cell",
            )
        self._transcript = LineFile(transcript)
        self._lines: dict[AnswerKey, list[Line]] = {}
        try:
            for line in self._transcript.scan():
                self._lines.setdefault(line.call[:2], []).append(line)
        except BaseException:
            self._transcript.close()
            raise

    @property
    def questions(self) -> list[str]:
        """Ids of all questions, sorted."""
        return sorted({question_id for question_id, _ in self._predictions.places})

    def samples(self, question_id: str) -> list[int]:
        """Return the sample indices of a question.

        Raises:
            DataError: The cell has no such question; names the nearest.
        """
        found = sorted(s for q, s in self._predictions.places if q == question_id)
        if not found:
            raise DataError(
                "no such question in this cell",
                where=self.path,
                value=question_id,
                remedy=nearest(question_id, self.questions),
            )
        return found

    def answers(self, question_id: str | None = None) -> Iterator[Listed]:
        """Yield the answers of the cell, or of one question, by question and sample."""
        for key in sorted(self._predictions.places):
            if question_id in (None, key[0]):
                yield self._listed(key)

    def _listed(self, key: AnswerKey) -> Listed:
        prediction = self._predictions.read(key) or {}
        verdict = self._verdicts.read(key) or {}
        return Listed(
            question_id=key[0],
            sample_index=key[1],
            title=self._titles.get(key[0]),
            difficulty=str(prediction.get("difficulty", "")),
            status=str(prediction.get("status")),
            verdict=str(verdict.get("status", NOT_JUDGED)),
            n_passed=int(verdict.get("n_passed") or 0),
            n_total=int(verdict.get("n_total") or 0),
            total_tokens=int((prediction.get("usage") or {}).get("total_tokens") or 0),
        )

    def conversation(self, question_id: str, sample_index: int = 0) -> Conversation:
        """Return one conversation.

        Raises:
            DataError: There is no such answer, or its lines are damaged.
        """
        key = (question_id, sample_index)
        prediction = self._predictions.read(key)
        if prediction is None:
            known = self.samples(question_id)
            raise DataError(
                "no such sample of this question",
                where=f"{self.path}, question {question_id}",
                value=sample_index,
                remedy=f"there are {', '.join(map(str, known[:20]))}",
            )
        team = [str(member.get("agent")) for member in prediction.get("agents") or []]
        lines = [line.read() for line in self._lines.get(key, [])]
        return Conversation(
            question_id=question_id,
            sample_index=sample_index,
            title=self._titles.get(question_id),
            prediction=prediction,
            verdict=self._verdicts.read(key),
            calls=build_calls(lines, team, where=self._transcript.path),
            judge_s=_judge_s(self._judge_times.read(key)),
        )

    def close(self) -> None:
        """Close the files."""
        self._transcript.close()

    def __enter__(self) -> CellConversations:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class _Records:
    """Records of a file by question and sample; a file that may be missing is an empty one."""

    def __init__(self, path: Path, *, needed: bool = False, graded: bool = True) -> None:
        self._path = path
        self._graded = graded
        self.places: dict[AnswerKey, tuple[int, int]] = {}
        if not path.is_file():
            if needed:
                raise DataError(
                    "the cell has no answers yet", where=path, remedy="run the cell to its end"
                )
            return
        offset = 0
        with open(path, "rb") as handle:
            for number, raw in enumerate(handle, start=1):
                if raw.strip():
                    self.places[self._key(raw, number)] = (offset, len(raw))
                offset += len(raw)

    def _key(self, raw: bytes, number: int) -> AnswerKey:
        try:
            record = json.loads(raw)
            if self._graded:
                _ = record["status"]
            return str(record["question_id"]), int(record["sample_index"])
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise DataError(
                f"line {number} is no record of an answer: {error!r}",
                where=self._path,
                remedy="the file is damaged; make it again",
            ) from None

    def read(self, key: AnswerKey) -> dict[str, Any] | None:
        if key not in self.places:
            return None
        offset, size = self.places[key]
        with open(self._path, "rb") as handle:
            handle.seek(offset)
            record: dict[str, Any] = json.loads(handle.read(size))
        return record


def _judge_s(record: Mapping[str, Any] | None) -> float | None:
    times = [test.get("wall_s") for test in (record or {}).get("tests") or []]
    known = [float(value) for value in times if isinstance(value, int | float)]
    return fsum(known) if known else None
