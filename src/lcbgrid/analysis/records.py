"""The answers of one cell: predictions and verdicts joined and checked.

The joining refuses what would silently bend a score: an answer that stands twice, a prediction
without a verdict, a verdict without a prediction, verdicts of two rule sets in one cell.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from lcbgrid.core.errors import DataError, nearest
from lcbgrid.core.jsonl import read_jsonl

SCHEMA_VERSION: Final = 1
PREDICTION_STATUSES = (
    "ok",
    "truncated",
    "empty",
    "no_code",
    "context_limit",
    "step_limit",
    "token_limit",
    "time_limit",
    "budget",
    "infra_error",
)
VERDICT_STATUSES = (
    "passed",
    "wrong_answer",
    "runtime_error",
    "time_limit",
    "memory_limit",
    "compile_error",
    "no_code",
    "data_error",
    "infra_error",
)
USAGE_KEYS = (
    "prompt_tokens",
    "completion_tokens",
    "total_tokens",
    "n_llm_calls",
    "n_tool_calls",
)

AnswerKey = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer of the team to one problem, with what the judge says about it."""

    question_id: str
    sample_index: int
    difficulty: str
    platform: str
    mode: str
    program: str | None
    status: str
    is_truncated: bool
    usage: Mapping[str, int]
    verdict: str
    n_passed: int
    n_total: int
    passed_by_comparison: bool | None = None  # None: the verdict does not say
    checker: str | None = None
    errata: str | None = None
    by_rules: Mapping[str, str] = field(default_factory=dict)  # other rule set -> its verdict
    parse_rate: float | None = None  # share of its agents' reports that parse as written

    @property
    def lost(self) -> str | None:
        """``infra_error`` or ``data_error`` if this answer is no score at all, else ``None``.

        An answer that the world lost is not a wrong answer, whatever a judge made of it.
        """
        if self.status == "infra_error" or self.verdict == "infra_error":
            return "infra_error"
        return "data_error" if self.verdict == "data_error" else None

    @property
    def is_right(self) -> bool:
        """True if every test passed."""
        return self.verdict == "passed"

    @property
    def has_program(self) -> bool:
        """True if some code was found in the reply."""
        return bool(self.program and self.program.strip())


@dataclass(frozen=True, slots=True)
class CellRecords:
    """Everything the score of a cell is made from."""

    cell: dict[str, Any]
    judge: dict[str, Any]
    answers: tuple[Answer, ...]
    rules: str | None
    tier: str | None


def read_cell(cell_dir: Path | str) -> CellRecords:
    """Read and check the files of a cell.

    These are ``cell.json`` (its settings), ``predictions.jsonl``, ``verdicts.jsonl`` and
    ``judge.json`` (the judge's settings; read from ``cell.json`` if there is no such file).

    Raises:
        DataError: A file is missing or damaged, or predictions and verdicts do not belong
            together; names the file and the question.
    """
    cell_dir = Path(cell_dir)
    cell = read_object(cell_dir / "cell.json")
    predictions = _by_key(cell_dir / "predictions.jsonl", PREDICTION_STATUSES)
    verdicts = _by_key(cell_dir / "verdicts.jsonl", VERDICT_STATUSES)
    for key in sorted(verdicts.keys() - predictions.keys()):
        raise DataError(
            f"a verdict without a prediction: {_shown(key)}",
            where=cell_dir / "verdicts.jsonl",
            remedy="judge the cell again",
        )
    answers = tuple(
        _join(predictions[key], verdicts.get(key), cell_dir) for key in sorted(predictions)
    )
    judge_path = cell_dir / "judge.json"
    judge = read_object(judge_path) if judge_path.is_file() else _mapping(cell.get("judge"))
    return CellRecords(
        cell=cell,
        judge=judge,
        answers=answers,
        rules=_single(verdicts.values(), "rules", cell_dir) or judge.get("rules"),
        tier=_single(verdicts.values(), "tier", cell_dir) or judge.get("sandbox"),
    )


def read_object(path: Path | str) -> dict[str, Any]:
    """Read a JSON file that holds one object.

    Raises:
        DataError: The file is missing, damaged, or holds something else.
    """
    try:
        value = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(
            f"cannot read it: {error.strerror}", where=path, remedy="run the stage that makes it"
        ) from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"is not JSON: {error}", where=path, remedy="make it again") from None
    if not isinstance(value, dict):
        raise DataError("is not a JSON object", where=path, value=type(value).__name__)
    return value


def _by_key(path: Path, statuses: tuple[str, ...]) -> dict[AnswerKey, dict[str, Any]]:
    if not path.is_file():
        raise DataError(
            "there is no such file", where=path, remedy="run and judge the cell before scoring it"
        )
    found: dict[AnswerKey, dict[str, Any]] = {}
    for record in read_jsonl(path):
        key = _key(record, path)
        if key in found:
            raise DataError(
                f"stands twice: {_shown(key)}", where=path, remedy="remove the file, make it again"
            )
        status = record.get("status")
        if status not in statuses:
            raise DataError(
                f"unknown status of {_shown(key)}",
                where=path,
                value=status,
                remedy=nearest(str(status), statuses),
            )
        found[key] = record
    return found


def _key(record: Mapping[str, Any], path: Path) -> AnswerKey:
    question_id, index = record.get("question_id"), record.get("sample_index")
    if not isinstance(question_id, str) or not isinstance(index, int) or index < 0:
        raise DataError(
            "a record needs a text 'question_id' and a whole 'sample_index' from 0",
            where=path,
            value=f"{question_id!r}, {index!r}",
        )
    return question_id, index


def _join(
    prediction: Mapping[str, Any], verdict: Mapping[str, Any] | None, cell_dir: Path
) -> Answer:
    where = cell_dir / "predictions.jsonl"
    if verdict is None:
        if prediction["status"] != "infra_error":
            raise DataError(
                f"a prediction without a verdict: {_shown(_key(prediction, where))}",
                where=where,
                remedy="judge the cell again",
            )
        verdict = {"status": "infra_error"}
    return Answer(
        question_id=prediction["question_id"],
        sample_index=prediction["sample_index"],
        difficulty=_text(prediction, "difficulty", where),
        platform=_text(prediction, "platform", where),
        mode=_text(prediction, "mode", where),
        program=prediction.get("predicted_code"),
        status=prediction["status"],
        is_truncated=(
            prediction["status"] == "truncated" or prediction.get("finish_reason") == "length"
        ),
        usage=_usage(prediction, where),
        verdict=verdict["status"],
        n_passed=_whole(verdict, "n_passed", cell_dir / "verdicts.jsonl"),
        n_total=_whole(verdict, "n_total", cell_dir / "verdicts.jsonl"),
        passed_by_comparison=verdict.get("passed_by_comparison"),
        checker=verdict.get("checker"),
        errata=verdict.get("errata"),
        by_rules={rules: v["status"] for rules, v in (verdict.get("by_rules") or {}).items()},
        parse_rate=_parse_rate(prediction, where),
    )


def _usage(prediction: Mapping[str, Any], where: Path) -> dict[str, int]:
    usage = _mapping(prediction.get("usage"))
    return {key: _whole(usage, key, where) for key in USAGE_KEYS}


def _parse_rate(prediction: Mapping[str, Any], where: Path) -> float | None:
    """Return the share of reports that parse; teams of one and silent teams have none."""
    rate = _mapping(prediction.get("communication")).get("communication_parse_rate")
    if rate is None:
        return None
    if isinstance(rate, bool) or not isinstance(rate, int | float) or not 0 <= rate <= 1:
        raise DataError(
            f"'communication_parse_rate' of question {prediction['question_id']!r} must be a "
            "share from 0 to 1",
            where=where,
            value=rate,
            remedy="run the cell again",
        )
    return float(rate)


def _text(record: Mapping[str, Any], key: str, where: Path) -> str:
    value = record.get(key)
    if not isinstance(value, str):
        raise DataError(
            f"{key!r} of question {record['question_id']!r} must be text", where=where, value=value
        )
    return value


def _whole(record: Mapping[str, Any], key: str, where: Path) -> int:
    value = record.get(key)
    if value is None:
        return 0
    if not isinstance(value, int) or value < 0:
        raise DataError(f"{key!r} must be a whole number from 0", where=where, value=value)
    return value


def _mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _single(records: Iterable[Mapping[str, Any]], key: str, cell_dir: Path) -> str | None:
    values = sorted({str(record[key]) for record in records if record.get(key) is not None})
    if len(values) > 1:
        raise DataError(
            f"verdicts of different {key!r} in one cell: {', '.join(values)}",
            where=cell_dir / "verdicts.jsonl",
            remedy="judge the whole cell again",
        )
    return values[0] if values else None


def _shown(key: AnswerKey) -> str:
    return f"question {key[0]!r}, sample {key[1]}"
