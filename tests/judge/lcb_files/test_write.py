"""Writing result files: names, keys, codes, and that reading gives back what was written."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lcbgrid.analysis.passk import pass_at_k
from lcbgrid.core.errors import DataError
from lcbgrid.judge.lcb_files.grades import (
    NOTHING_SHOWN,
    TestTexts,
    cut,
    metadata_of,
    results_of,
    shown_texts,
)
from lcbgrid.judge.lcb_files.model import FACTS, Question, ResultFile, Sample
from lcbgrid.judge.lcb_files.read import read_results
from lcbgrid.judge.lcb_files.write import (
    evaluation,
    names_like,
    official_names,
    official_pass_at_k,
    write_all,
    write_eval_all,
    write_generations,
)
from lcbgrid.problems.schema import TestCase

from .official import compute_scores, repair_feedback

TEXTS = st.text(st.characters(codec="utf-8"), max_size=30) | st.text(max_size=5)
JSON = st.dictionaries(TEXTS, TEXTS | st.integers() | st.booleans(), max_size=3)
FACT_SETS = st.dictionaries(st.sampled_from([f for f in FACTS if f != "question_id"]), TEXTS)


@st.composite
def questions(draw: st.DrawFn, *, graded: bool) -> Question:
    n = draw(st.integers(0, 4))
    noted, judged = draw(st.booleans()), draw(st.booleans())
    samples = tuple(
        Sample(
            code=draw(TEXTS),
            output=draw(TEXTS),
            passed=draw(st.booleans()) if graded else None,
            metadata=draw(JSON.map(json.dumps)) if graded and noted else None,
            verdict=draw(JSON) if graded and judged else None,
        )
        for _ in range(n)
    )
    recorded = draw(st.floats(0, 1)) if graded else None
    return Question(draw(st.text(min_size=1, max_size=8)), samples, draw(FACT_SETS), recorded)


def _lists(graded: bool) -> st.SearchStrategy[list[Question]]:
    return st.lists(
        questions(graded=graded), min_size=1, max_size=4, unique_by=lambda q: q.question_id
    )


QUIET = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


@QUIET
@given(_lists(graded=True))
def test_reading_gives_back_graded_files(tmp_path: Path, found: list[Question]) -> None:
    path = tmp_path / "x_eval_all.json"
    write_eval_all(path, found)
    ordered = tuple(sorted(found, key=lambda q: q.question_id))
    assert read_results(path) == ResultFile("eval_all", ordered)


@QUIET
@given(_lists(graded=False))
def test_reading_gives_back_generations(tmp_path: Path, found: list[Question]) -> None:
    path = tmp_path / "x.json"
    write_generations(path, found)
    ordered = tuple(sorted(found, key=lambda q: q.question_id))
    assert read_results(path) == ResultFile("generations", ordered)


@given(st.integers(1, 60), st.data())
def test_official_pass_at_k_is_the_unbiased_one(n: int, data: st.DataObject) -> None:
    right, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    assert official_pass_at_k(n, right, k) == pytest.approx(
        pass_at_k(n, right, k).value, abs=1e-12
    )


def _verdict(status: str, *tests: str, **more: Any) -> dict[str, Any]:
    failing = [i for i, test in enumerate(tests) if test != "passed"]
    return {
        "status": status,
        "n_passed": tests.count("passed"),
        "first_failing": failing[0] if failing else None,
        "message": "a reason",
        "tests": [
            {"index": i, "status": test, "detail": None, "got": "7"}
            for i, test in enumerate(tests)
        ],
    } | more


@pytest.mark.parametrize(
    ("verdict", "results", "code"),
    [
        (_verdict("passed", "passed", "passed"), [True, True], None),
        (_verdict("wrong_answer", "passed", "wrong_answer", "passed"), [True, -2], -2),
        (_verdict("time_limit", "time_limit"), [-3], -3),
        (_verdict("runtime_error", "passed", "runtime_error"), [True, -4], -4),
        (_verdict("memory_limit", "memory_limit"), [-4], -4),
        (_verdict("compile_error"), [-4], -4),
        (_verdict("no_code"), [-4], -4),
    ],
)
def test_codes(verdict: dict[str, Any], results: list[Any], code: int | None) -> None:
    assert results_of(verdict) == results
    text = metadata_of(verdict, TestTexts("1 2", "3"), 0.25)
    record = json.loads(text)
    assert record.get("error_code") == code
    if code is None:
        assert record == {"execution time": 0.25}
        return
    assert repair_feedback(text)  # self-repair finds all that it needs
    assert record["inputs"] == "1 2"
    assert record["expected"] == "3"
    keys = {"inputs", "expected", "error_code", "error_message"}
    assert record.keys() == keys | ({"output"} if code == -2 else {"error"})


@pytest.mark.parametrize("status", ["infra_error", "data_error"])
def test_what_is_no_score_has_no_code(status: str) -> None:
    with pytest.raises(DataError, match="not judged"):
        results_of(_verdict(status))


def test_texts_of_hidden_tests_are_shown_only_if_asked_for() -> None:
    tests = [TestCase("1", "2", "stdin"), TestCase("secret", "answer", "stdin")]
    assert shown_texts(0, tests, 1, with_hidden_tests=False) == TestTexts("1", "2")
    assert shown_texts(1, tests, 1, with_hidden_tests=False) == NOTHING_SHOWN
    assert shown_texts(1, tests, 1, with_hidden_tests=True) == TestTexts("secret", "answer")
    assert shown_texts(9, tests, 1, with_hidden_tests=True) == NOTHING_SHOWN


def test_long_texts_keep_both_ends() -> None:
    text = "a" * 200 + "b" * 200
    assert cut(text).startswith("a" * 150)
    assert cut(text).endswith("b" * 150)
    assert len(cut(text)) < 310
    assert cut("x" * 300) == "x" * 300


def test_names() -> None:
    names = official_names(Path("out"), "GPT", 10, 0.2)
    assert names.generations == Path("out/GPT/Scenario.codegeneration_10_0.2.json")
    assert names.evaluation == Path("out/GPT/Scenario.codegeneration_10_0.2_eval.json")
    assert names.eval_all == Path("out/GPT/Scenario.codegeneration_10_0.2_eval_all.json")
    again = names_like(Path("o"), Path("x/Scenario.codegeneration_1_0.2_eval_all.json"))
    assert again.evaluation == Path("o/Scenario.codegeneration_1_0.2_eval.json")
    custom = names_like(Path("o"), Path("mine.json"))
    assert custom.eval_all == Path("o/mine_codegeneration_output_eval_all.json")


def _question(question_id: str, grades: list[bool], **facts: str) -> Question:
    base = {"contest_date": "2024-01-01T00:00:00", "platform": "atcoder", "difficulty": "easy"}
    samples = tuple(Sample("code", "reply", grade, '{"error_code": -3}') for grade in grades)
    return Question(question_id, samples, base | facts)


def test_the_official_rules_read_what_is_written(tmp_path: Path) -> None:
    names = official_names(tmp_path, "m", 2, 0.2)
    found = [
        _question("9", [True, False]),
        _question("10", [True, True], difficulty="hard", platform="leetcode"),
        _question("8", [False, False], contest_date="2024-02-01T18:30:00"),
    ]
    write_all(names, found)
    scores = compute_scores(names.eval_all, ks=(1, 2))
    assert scores["all"] == {1: pytest.approx(0.5), 2: pytest.approx(2 / 3)}
    assert scores["hard"] == {1: 1.0, 2: 1.0}
    assert compute_scores(names.eval_all, platform="leetcode", ks=(1,))["all"] == {1: 1.0}
    window = compute_scores(names.eval_all, start="2024-01-01", end="2024-02-01", ks=(1,))
    assert window["all"] == {1: 0.75}  # half past six on the last day is out, as officially

    rows = json.loads(names.eval_all.read_text())
    assert [row["question_id"] for row in rows] == ["10", "8", "9"]
    assert [row["pass@1"] for row in rows] == [1.0, 0.0, 0.5]
    metrics, results, metadata = json.loads(names.evaluation.read_text())
    assert metrics["pass@1"] == pytest.approx(0.5)
    assert metrics["detail"]["pass@1"] == {"0": 1.0, "1": 0.0, "2": 0.5}
    assert "pass@5" not in metrics  # never for more answers than there are
    assert results == {"0": [[True], [True]], "1": [[-3], [-3]], "2": [[True], [-3]]}
    assert metadata[1] == ['{"error_code": -3}'] * 2
    generations = json.loads(names.generations.read_text())
    assert list(generations[0]) == [
        *(f for f in FACTS if f in generations[0]),
        "output_list",
        "code_list",
    ]


def test_programs_without_a_grade_are_no_result(tmp_path: Path) -> None:
    question = dataclasses.replace(_question("a", [True]), samples=(Sample("code"),))
    with pytest.raises(DataError, match="no grade"):
        write_all(official_names(tmp_path, "m", 1, 0.2), [question])


@pytest.mark.parametrize("metadata", [None, "{", "[]", '{"error_code": "x"}'])
def test_failures_without_a_code_count_as_wrong_answers(metadata: str | None) -> None:
    question = Question("a", (Sample("code", "", False, metadata),))
    assert evaluation([question])[1] == {"0": [[-2]]}
