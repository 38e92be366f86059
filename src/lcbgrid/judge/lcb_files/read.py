"""Read LiveCodeBench's result files (judge specification, section 8).

Three forms are known: ``*_eval_all.json`` (programs with grades; older ones have whole numbers as
ids and ``pass1`` for ``pass@1``), the file of generations (programs without grades), and the input
of the custom evaluator (a list of lists, or ids with programs). Programs are joined with problems
by id. Only the list of lists has no ids; it is taken as it is meant, sorted like the benchmark,
after its length and the functions that its programs define have been checked.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from lcbgrid.core.errors import DataError
from lcbgrid.judge.lcb_files.benchmark import Benchmark
from lcbgrid.judge.lcb_files.model import (
    FACTS,
    VERDICTS_KEY,
    Kind,
    Question,
    ResultFile,
    Sample,
)

_FORMS = "known are *_eval_all.json, the file of generations, and the custom evaluator's input"
_OTHER_SCENARIO = (
    "only programs can be judged here (code generation, self-repair), not predicted outputs"
)
_SHARE_WITH_ITS_FUNCTION = 0.5


def read_results(path: Path | str, benchmark: Benchmark | None = None) -> ResultFile:
    """Read a result file of any known form.

    Args:
        path: The file.
        benchmark: The problems; needed for a list of lists only.

    Raises:
        DataError: The file has none of the known forms, an id stands twice, or the lists of a
            question do not have the same length.
    """
    path = Path(path)
    items = _items(path)
    if all(isinstance(item, list) for item in items):
        return ResultFile("custom", _by_position(items, benchmark, path))
    for item in items:
        _refuse_other_forms(item, path)
    kind = _kind_of(items)
    questions: dict[str, Question] = {}
    for item in items:
        question = _question(item, kind, path)
        if question.question_id in questions:
            raise DataError(f"question {question.question_id} stands twice", where=path)
        questions[question.question_id] = question
    return ResultFile(kind, tuple(questions[key] for key in sorted(questions)))


def _items(path: Path) -> list[Any]:
    try:
        value = json.loads(path.read_bytes())
    except OSError as error:
        raise DataError(f"cannot read it: {error.strerror}", where=path) from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"is not JSON: {error}", where=path, remedy="get it again") from None
    if not isinstance(value, list):
        kind = type(value).__name__
        raise DataError("is no list of results", where=path, value=kind, remedy=_FORMS)
    if not value:
        raise DataError("holds no problem", where=path)
    return value


def _refuse_other_forms(item: Any, path: Path) -> None:
    if not isinstance(item, dict):
        kind = type(item).__name__
        raise DataError("an entry is no object", where=path, value=kind, remedy=_FORMS)
    if "detail" in item or ("pass@1" in item and "code_list" not in item):
        raise DataError(
            "holds scores only, no programs", where=path, remedy="give the *_eval_all.json file"
        )
    if "pred_list" in item:
        raise DataError(_OTHER_SCENARIO, where=path)
    if "question_id" not in item or "code_list" not in item:
        missing = ", ".join(sorted({"question_id", "code_list"} - item.keys()))
        raise DataError(f"an entry has no {missing}", where=path, remedy=_FORMS)


def _kind_of(items: Iterable[Mapping[str, Any]]) -> Kind:
    graded = {"graded_list" in item for item in items}
    if True in graded:
        return "eval_all"
    described = any("output_list" in item or "question_title" in item for item in items)
    return "generations" if described else "custom"


def _question(item: Mapping[str, Any], kind: Kind, path: Path) -> Question:
    question_id = _id_of(item, path)
    where = f"{path}: question {question_id}"
    codes = [_text(code, "code_list", where) for code in _list(item, "code_list", where)]
    n = len(codes)
    outputs = _column(item, "output_list", n, where, absent="")
    grades = _column(item, "graded_list", n, where, absent=None)
    notes = _column(item, "metadata", n, where, absent=None)
    verdicts = _column(item, VERDICTS_KEY, n, where, absent=None)
    if kind == "eval_all" and "graded_list" not in item:
        raise DataError("has no graded_list, others in the file have one", where=where)
    samples = tuple(
        Sample(
            code=codes[i],
            output=_text(outputs[i], "output_list", where),
            passed=_grade(grades[i], where),
            metadata=_note(notes[i], where),
            verdict=_verdict(verdicts[i], where),
        )
        for i in range(n)
    )
    facts = {name: str(item[name]) for name in FACTS if item.get(name) is not None}
    facts.pop("question_id", None)
    return Question(question_id, samples, facts, _recorded(item, where))


def _id_of(item: Mapping[str, Any], path: Path) -> str:
    value = item["question_id"]
    if isinstance(value, bool) or not isinstance(value, (str, int)) or value == "":
        raise DataError("question_id is no text and no number", where=path, value=value)
    return str(value)


def _list(item: Mapping[str, Any], key: str, where: str) -> list[Any]:
    value = item[key]
    if not isinstance(value, list):
        raise DataError(f"{key} is no list", where=where, value=type(value).__name__)
    return value


def _column(item: Mapping[str, Any], key: str, n: int, where: str, *, absent: Any) -> list[Any]:
    if item.get(key) is None:
        return [absent] * n
    values = _list(item, key, where)
    if len(values) != n:
        raise DataError(f"{key} has {len(values)} entries, code_list has {n}", where=where)
    return values


def _text(value: Any, key: str, where: str) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise DataError(f"an entry of {key} is no text", where=where, value=type(value).__name__)
    return value


def _grade(value: Any, where: str) -> bool | None:
    if value is None or isinstance(value, bool):
        return value
    if value in (0, 1):
        return bool(value)
    raise DataError("an entry of graded_list is neither true nor false", where=where, value=value)


def _note(value: Any, where: str) -> str | None:
    if isinstance(value, dict):  # some versions stored the object itself
        return json.dumps(value)
    if value is None or isinstance(value, str):
        return value
    raise DataError("an entry of metadata is no text", where=where, value=type(value).__name__)


def _verdict(value: Any, where: str) -> Mapping[str, Any] | None:
    if value is None or isinstance(value, dict):
        return value
    raise DataError(f"an entry of {VERDICTS_KEY} is no object", where=where, value=value)


def _recorded(item: Mapping[str, Any], where: str) -> float | None:
    value = item.get("pass@1", item.get("pass1"))
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise DataError("pass@1 is no share between 0 and 1", where=where, value=value)
    return float(value)


def _by_position(
    lists: list[list[Any]], benchmark: Benchmark | None, path: Path
) -> tuple[Question, ...]:
    """Give programs without ids their problems, if the benchmark fits."""
    if benchmark is None:
        raise DataError(
            "a list of lists has no ids", where=path, remedy="give the problems, in --problems"
        )
    ids = benchmark.official_order
    if len(lists) != len(ids):
        raise DataError(
            f"has programs for {len(lists)} problems without ids, but {len(ids)} problems are "
            "given, so nobody can say which belong together",
            where=path,
            remedy="give exactly the problems of that run, or objects with question_id and "
            "code_list",
        )
    questions = tuple(
        Question(
            question_id,
            tuple(Sample(_text(code, "a list", f"{path}: list {i}")) for code in codes),
        )
        for i, (question_id, codes) in enumerate(zip(ids, lists, strict=True))
    )
    _refuse_other_order(questions, benchmark, path)
    return questions


def _refuse_other_order(questions: Iterable[Question], benchmark: Benchmark, path: Path) -> None:
    """Refuse an order in which programs do not define the functions that are asked for."""
    asked, strangers = 0, []
    for question in questions:
        name = benchmark.fn_names.get(question.question_id)
        codes = [sample.code for sample in question.samples if sample.code.strip()]
        if name and codes:
            asked += 1
            defines = re.compile(rf"\b{re.escape(name)}\b")
            if not any(defines.search(code) for code in codes):
                strangers.append(question.question_id)
    if asked and len(strangers) > (1 - _SHARE_WITH_ITS_FUNCTION) * asked:
        raise DataError(
            f"the order is not that of the problems given: programs for {len(strangers)} of "
            f"{asked} problems do not name the function that is asked for, question "
            f"{strangers[0]} first",
            where=path,
            remedy="sort the lists by question id as text, or give objects with question_id",
        )
