"""Reading LiveCodeBench's result files: every known form, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lcbgrid.core.errors import DataError, UserError
from lcbgrid.judge.lcb_files.benchmark import open_benchmark
from lcbgrid.judge.lcb_files.read import read_results

from .files import RIGHT, TWICE, WRONG, entry, functional_row, row, write, write_rows


def test_eval_all(tmp_path: Path) -> None:
    path = write(tmp_path, [entry("b", (RIGHT, True), (WRONG, False)), entry("a", (RIGHT, True))])
    found = read_results(path)
    assert found.kind == "eval_all"
    assert [q.question_id for q in found.questions] == ["a", "b"]
    assert [s.passed for s in found.questions[1].samples] == [True, False]
    assert found.questions[1].recorded_pass_at_1 == 0.5
    assert found.questions[1].samples[1].metadata == '{"error_code": -2}'
    assert found.questions[0].facts["platform"] == "atcoder"
    assert found.questions[0].samples[0].output.startswith("```python")
    assert found.n_samples == 3


def test_old_eval_all_with_whole_numbers_as_ids_and_pass1(tmp_path: Path) -> None:
    old = entry(2777, (RIGHT, True))
    old["pass1"] = old.pop("pass@1")
    del old["metadata"]
    question = read_results(write(tmp_path, [old])).questions[0]
    assert question.question_id == "2777"
    assert question.recorded_pass_at_1 == 1.0
    assert question.samples[0].metadata is None


def test_metadata_stored_as_objects(tmp_path: Path) -> None:
    item = entry("a", (WRONG, False), metadata=[{"error_code": -2}])
    sample = read_results(write(tmp_path, [item])).questions[0].samples[0]
    assert json.loads(sample.metadata or "") == {"error_code": -2}


def test_generations(tmp_path: Path) -> None:
    item = entry("a", (RIGHT, True))
    for key in ("graded_list", "pass@1", "metadata"):
        del item[key]
    found = read_results(write(tmp_path, [item]))
    assert found.kind == "generations"
    assert found.questions[0].samples[0].passed is None


def test_custom_input_with_ids(tmp_path: Path) -> None:
    items = [{"question_id": "b", "code_list": [RIGHT, None]}, {"question_id": 7, "code_list": []}]
    found = read_results(write(tmp_path, items))
    assert found.kind == "custom"
    assert [q.question_id for q in found.questions] == ["7", "b"]
    assert [s.code for s in found.questions[1].samples] == [RIGHT, ""]


def test_a_list_of_lists_is_joined_in_the_order_of_ids_as_text(tmp_path: Path) -> None:
    rows = write_rows(tmp_path, row("9"), functional_row("10"), row("abc1_a"))
    path = write(tmp_path, [[TWICE], [RIGHT], [WRONG]])
    found = read_results(path, open_benchmark([rows]))
    assert {q.question_id: q.samples[0].code for q in found.questions} == {
        "10": TWICE,
        "9": RIGHT,
        "abc1_a": WRONG,
    }


def test_a_list_of_lists_of_another_length_is_refused(tmp_path: Path) -> None:
    rows = write_rows(tmp_path, row("a"), row("b"))
    with pytest.raises(DataError, match="nobody can say which belong together"):
        read_results(write(tmp_path, [[RIGHT]]), open_benchmark([rows]))


def test_a_list_of_lists_in_another_order_is_refused(tmp_path: Path) -> None:
    rows = write_rows(tmp_path, functional_row("1"), row("2"))
    with pytest.raises(DataError, match="the order is not that of the problems given"):
        read_results(write(tmp_path, [[RIGHT], [TWICE]]), open_benchmark([rows]))


def test_a_list_of_lists_needs_the_problems(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no ids"):
        read_results(write(tmp_path, [[RIGHT]]))


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ({"prompt": ["reply"]}, "is no list"),
        ([], "holds no problem"),
        ([3], "no object"),
        ([{"pass@1": 0.5, "detail": {}}, {}, []], "eval_all"),
        ([{"question_id": "a", "pred_list": ["1"]}], "not predicted outputs"),
        ([{"code_list": ["x"]}], "question_id"),
        ([entry("a", (RIGHT, True)), entry("a", (RIGHT, True))], "stands twice"),
        ([entry("a", (RIGHT, True)), {"question_id": "b", "code_list": []}], "has no graded_list"),
        ([entry("a", (RIGHT, True), graded_list=[True, False])], "2 entries, code_list has 1"),
        ([entry("a", (RIGHT, True), graded_list=["yes"])], "neither true nor false"),
        ([entry("a", (RIGHT, True), code_list=[["x"]])], "is no text"),
        ([entry("a", (RIGHT, True), **{"pass@1": 100})], "between 0 and 1"),
        ([entry("a", (RIGHT, True)) | {"question_id": None}], "question_id"),
        ([entry("a", (RIGHT, True), metadata=[3])], "metadata"),
        ([entry("a", (RIGHT, True), code_list="x")], "no list"),
    ],
)
def test_what_is_refused(tmp_path: Path, value: Any, says: str) -> None:
    with pytest.raises(DataError, match=says) as caught:
        read_results(write(tmp_path, value))
    assert str(tmp_path) in str(caught.value)


def test_damaged_and_missing_files(tmp_path: Path) -> None:
    path = tmp_path / "x_eval_all.json"
    with pytest.raises(DataError, match="cannot read"):
        read_results(path)
    path.write_text('[{"question_id"')
    with pytest.raises(DataError, match="not JSON"):
        read_results(path)


def test_rows_and_a_folder_are_not_mixed(tmp_path: Path) -> None:
    rows = write_rows(tmp_path, row("a"))
    with pytest.raises(UserError, match="either files of rows or one folder"):
        open_benchmark([rows, tmp_path])


def test_a_benchmark_knows_facts_and_tests(tmp_path: Path) -> None:
    benchmark = open_benchmark([write_rows(tmp_path, row("b"), functional_row("a"))])
    assert benchmark.official_order == ["a", "b"]
    assert benchmark.fn_names == {"a": "twice", "b": None}
    assert benchmark.facts["b"]["question_title"] == "Sum b"
    assert len(benchmark.suite("b").tests) == 2
