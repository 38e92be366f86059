"""Write LiveCodeBench's result files (judge specification, section 8).

Three files belong together: the generations, ``_eval_all`` (the same with grades), and ``_eval``
(scores, results, metadata). Entries are sorted by question id as text. Beside the official keys an
``_eval_all`` entry has ``lcbgrid_verdicts``, our verdict of each sample.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from lcbgrid.core.errors import DataError
from lcbgrid.core.files import write_text
from lcbgrid.judge.lcb_files.grades import WRONG_ANSWER, results_of
from lcbgrid.judge.lcb_files.model import FACTS, VERDICTS_KEY, Question, Sample

SCENARIO = "Scenario.codegeneration"
PASS_AT = (1, 5, 10, 20, 40, 50, 75, 100, 125, 150, 200, 500, 1000)
"""The k of the official scores; only those with k <= n are written."""


class Names(NamedTuple):
    """The names of the files of one run."""

    generations: Path
    evaluation: Path
    eval_all: Path


def official_names(out: Path, model: str, n: int, temperature: float) -> Names:
    """Return ``{out}/{model}/Scenario.codegeneration_{n}_{temperature}*.json``."""
    folder = out / model
    stem = f"{SCENARIO}_{n}_{temperature}"
    return Names(
        folder / f"{stem}.json", folder / f"{stem}_eval.json", folder / f"{stem}_eval_all.json"
    )


def names_like(out: Path, source: Path) -> Names:
    """Return the names for new grades of an existing file.

    ``x_eval_all.json`` gives ``x_eval.json`` and ``x_eval_all.json``; any other ``x.json`` gives
    the names of the custom evaluator, ``x_codegeneration_output*.json``.
    """
    stem = source.name.removesuffix(".json")
    if stem.endswith("_eval_all"):
        stem = stem.removesuffix("_eval_all")
    else:
        stem += "_codegeneration_output"
    return Names(out / f"{stem}.json", out / f"{stem}_eval.json", out / f"{stem}_eval_all.json")


def write_all(names: Names, questions: Iterable[Question]) -> None:
    """Write the three files of a graded run.

    Raises:
        DataError: A sample has no grade.
    """
    ordered = sorted(questions, key=lambda question: question.question_id)
    _write(names.generations, generation_rows(ordered))
    _write(names.evaluation, evaluation(ordered))
    _write(names.eval_all, eval_all_rows(ordered))


def sizes(questions: Iterable[Question]) -> list[int]:
    """Return the numbers of samples that occur; the official tools refuse more than one."""
    return sorted({len(question.samples) for question in questions})


def write_eval_all(path: Path, questions: Iterable[Question]) -> None:
    """Write an ``_eval_all`` file alone, in the order given."""
    _write(path, eval_all_rows(questions))


def write_generations(path: Path, questions: Iterable[Question]) -> None:
    """Write a file of generations alone, in the order given."""
    _write(path, generation_rows(questions))


def generation_rows(questions: Iterable[Question]) -> list[dict[str, Any]]:
    """Return the entries of the file of generations."""
    return [_described(question) for question in questions]


def eval_all_rows(questions: Iterable[Question]) -> list[dict[str, Any]]:
    """Return the entries of the ``_eval_all`` file.

    Raises:
        DataError: A sample has no grade.
    """
    rows = []
    for question in questions:
        samples = question.samples
        row = _described(question) | {"graded_list": [_grade(s, question) for s in samples]}
        row["pass@1"] = _share(question, row["graded_list"])
        if any(sample.metadata is not None for sample in samples):
            row["metadata"] = [sample.metadata for sample in samples]
        if any(sample.verdict is not None for sample in samples):
            row[VERDICTS_KEY] = [sample.verdict for sample in samples]
        rows.append(row)
    return rows


def evaluation(questions: Sequence[Question]) -> list[Any]:
    """Return the content of the ``_eval`` file: scores, results and metadata by position."""
    counts = [(len(q.samples), sum(_grade(s, q) for s in q.samples)) for q in questions]
    metrics: dict[str, Any] = {}
    detail: dict[str, dict[str, float]] = {}
    for k in PASS_AT:
        if counts and all(n >= k for n, _ in counts):
            values = [official_pass_at_k(n, c, k) for n, c in counts]
            metrics[f"pass@{k}"] = sum(values) / len(values)
            detail[f"pass@{k}"] = {str(i): value for i, value in enumerate(values)}
    results = {str(i): [_results(s) for s in q.samples] for i, q in enumerate(questions)}
    metadata = [[s.metadata or "{}" for s in q.samples] for q in questions]
    return [metrics | {"detail": detail}, results, metadata]


def official_pass_at_k(n: int, right: int, k: int) -> float:
    """Return pass@k of one problem as the official script computes it (section 7)."""
    if n - right < k:
        return 1.0
    none = 1.0
    for i in range(n - right + 1, n + 1):
        none *= 1.0 - k / i
    return 1.0 - none


def _described(question: Question) -> dict[str, Any]:
    known = {**question.facts, "question_id": question.question_id}
    row: dict[str, Any] = {name: known[name] for name in FACTS if name in known}
    row["output_list"] = [sample.output for sample in question.samples]
    row["code_list"] = [sample.code for sample in question.samples]
    return row


def _share(question: Question, grades: list[bool]) -> float:
    if question.recorded_pass_at_1 is not None:
        return question.recorded_pass_at_1
    return sum(grades) / len(grades) if grades else 0.0


def _grade(sample: Sample, question: Question) -> bool:
    if sample.passed is None:
        raise DataError("a program has no grade", where=f"question {question.question_id}")
    return sample.passed


def _results(sample: Sample) -> list[bool | int]:
    if sample.verdict is not None:
        return results_of(sample.verdict)
    if sample.passed:
        return [True]
    return [_recorded_code(sample.metadata)]


def _recorded_code(metadata: str | None) -> int:
    try:
        record = json.loads(metadata or "{}")
    except ValueError:
        return WRONG_ANSWER
    code = record.get("error_code") if isinstance(record, dict) else None
    return code if isinstance(code, int) and code < 0 else WRONG_ANSWER


def _write(path: Path, value: object) -> None:
    # ASCII only: programs may hold lone surrogates, which no UTF-8 file can.
    write_text(path, json.dumps(value, indent=4) + "\n")
