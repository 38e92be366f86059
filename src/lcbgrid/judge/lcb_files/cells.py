"""Cells of a grid as LiveCodeBench's result files.

A cell's folder has ``cell.json``, ``predictions.jsonl``, ``verdicts.jsonl`` and, if the stage has
written it, ``judge_timing.jsonl``. The official form has no word for an answer that was lost to
infrastructure or could not be judged, and a ``false`` would be a wrong answer; so a problem with
such a sample is left out and listed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lcbgrid.core.errors import DataError
from lcbgrid.core.jsonl import read_jsonl
from lcbgrid.judge.lcb_files.benchmark import facts_of
from lcbgrid.judge.lcb_files.grades import (
    TestTexts,
    deciding_test,
    metadata_of,
    shown_texts,
)
from lcbgrid.judge.lcb_files.model import Question, Sample
from lcbgrid.judge.lcb_files.write import Names, official_names, sizes, write_all
from lcbgrid.judge.verdict import NOT_A_SCORE
from lcbgrid.problems.resources import read_json_object
from lcbgrid.problems.schema import Problem
from lcbgrid.problems.store import PreparedProblems

_Key = tuple[str, int]
_IDENTITY = ("schema_version", "sample_index", "unanswered")


@dataclass(frozen=True, slots=True)
class Exported:
    """What an export has written, and which problems it had to leave out."""

    names: Names
    n_problems: int
    n_samples: int
    left_out: Mapping[str, str]


def export_cell(
    cell_dir: Path,
    store: PreparedProblems,
    out: Path,
    *,
    model: str | None = None,
    with_hidden_tests: bool = False,
) -> Exported:
    """Write the three official files of one judged cell.

    Args:
        cell_dir: The cell's folder below ``results/runs``.
        store: Its prepared problems.
        out: The files go to ``{out}/{model}/``.
        model: Name of the folder; default: the parts of the cell's path joined by ``__``, so
            that two teams of one model do not overwrite each other.
        with_hidden_tests: Whether the metadata may hold inputs and expected outputs of hidden
            tests. Public ones are always there.

    Raises:
        DataError: The cell is not finished, or its files do not belong together.
    """
    cell = read_json_object(cell_dir / "cell.json")
    answers = _answers(cell_dir)
    seconds = _seconds(cell_dir)
    questions: list[Question] = []
    left_out: dict[str, str] = {}
    for question_id in sorted(answers):
        samples = answers[question_id]
        lost = [verdict["status"] for _, verdict in samples if verdict["status"] in NOT_A_SCORE]
        if lost:
            left_out[question_id] = lost[0]
            continue
        problem = store.problem(question_id)
        questions.append(_question(problem, samples, seconds, store, with_hidden_tests))
    if len(sizes(questions)) > 1:
        raise DataError(
            "problems have different numbers of samples",
            where=cell_dir,
            value=sizes(questions),
            remedy="run and judge the cell again",
        )
    n = sizes(questions)[0] if questions else 0
    names = official_names(out, model or _model_name(cell), n, _temperature(cell))
    write_all(names, questions)
    return Exported(names, len(questions), n * len(questions), left_out)


def _answers(cell_dir: Path) -> dict[str, list[tuple[dict[str, Any], dict[str, Any]]]]:
    """Return prediction and verdict of each sample by question, in order of samples."""
    predictions = _by_key(cell_dir / "predictions.jsonl")
    verdicts = _by_key(cell_dir / "verdicts.jsonl")
    if predictions.keys() != verdicts.keys():
        question_id, index = sorted(predictions.keys() ^ verdicts.keys())[0]
        raise DataError(
            f"predictions and verdicts differ, first in question {question_id}, sample {index}",
            where=cell_dir,
            remedy="judge the cell again",
        )
    found: dict[str, list[tuple[dict[str, Any], dict[str, Any]]]] = {}
    for key in sorted(predictions):
        found.setdefault(key[0], []).append((predictions[key], verdicts[key]))
    return found


def _by_key(path: Path) -> dict[_Key, dict[str, Any]]:
    found: dict[_Key, dict[str, Any]] = {}
    for record in read_jsonl(path):
        key = (str(record["question_id"]), int(record["sample_index"]))
        if key in found:
            raise DataError(f"question {key[0]}, sample {key[1]} stands twice", where=path)
        found[key] = record
    return found


def _seconds(cell_dir: Path) -> dict[_Key, float]:
    path = cell_dir / "judge_timing.jsonl"
    if not path.is_file():
        return {}
    return {
        key: sum(test["wall_s"] for test in record.get("tests", ()))
        for key, record in _by_key(path).items()
    }


def _question(
    problem: Problem,
    samples: Sequence[tuple[dict[str, Any], dict[str, Any]]],
    seconds: Mapping[_Key, float],
    store: PreparedProblems,
    with_hidden_tests: bool,
) -> Question:
    hidden: list[Any] = []  # opened once, and only if a hidden test may and must be shown

    def texts(verdict: Mapping[str, Any]) -> TestTexts:
        index = deciding_test(verdict)
        public = problem.public_tests
        if index < len(public) or not with_hidden_tests:
            return shown_texts(index, public, len(public), with_hidden_tests=False)
        if not hidden:
            hidden.extend(store.suite(problem.question_id).tests)
        return shown_texts(index, hidden, len(public), with_hidden_tests=True)

    found = []
    for prediction, verdict in samples:
        key = (problem.question_id, prediction["sample_index"])
        found.append(
            Sample(
                code=prediction["predicted_code"] or "",
                passed=verdict["status"] == "passed",
                metadata=metadata_of(verdict, texts(verdict), seconds.get(key)),
                verdict={k: v for k, v in verdict.items() if k not in _IDENTITY},
            )
        )
    return Question(problem.question_id, tuple(found), facts_of(problem))


def _model_name(cell: Mapping[str, Any]) -> str:
    return str(cell["path"]).replace("/", "__")


def _temperature(cell: Mapping[str, Any]) -> float:
    return float(cell["run"]["sampling"]["temperature"])
