"""From rows to problems: modes, schema, and rows that cannot be used."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from lcbgrid.problems.readers import read_rows
from lcbgrid.problems.rows import COLUMNS, Broken, Loaded, RawRow, Skipped, read_row
from lcbgrid.problems.schema import Problem

MakeRow = Callable[..., dict[str, Any]]


def read(row: dict[str, Any]) -> Loaded | Skipped | Broken:
    return read_row(RawRow(row, "rows.jsonl", 7))


def load(row: dict[str, Any]) -> Loaded:
    outcome = read(row)
    assert isinstance(outcome, Loaded), outcome
    return outcome


def test_a_stdin_row(make_row: MakeRow) -> None:
    row = make_row("abc301_a")
    loaded = load(row)
    assert set(row) == set(COLUMNS)
    assert loaded.problem.mode == loaded.suite.mode == "stdin"
    assert loaded.problem.fn_name is None
    assert loaded.problem.statement == row["question_content"], "kept as stored, \\r included"
    assert [test.input for test in loaded.suite.tests] == ["1\n", "2\n", "3\n"]
    assert loaded.suite.n_public == 1
    assert not loaded.public_only


def test_func_name_is_carried_and_decides_the_mode(make_row: MakeRow) -> None:
    loaded = load(make_row("2730", fn_name="twice"))
    assert loaded.problem.mode == loaded.suite.mode == "functional"
    assert loaded.problem.fn_name == loaded.suite.fn_name == "twice"


def test_hidden_tests_are_not_in_the_problem(make_row: MakeRow) -> None:
    row = make_row(
        private_test_cases=json.dumps(
            [{"input": "hidden in", "output": "hidden out", "testtype": "stdin"}]
        )
    )
    loaded = load(row)
    assert "hidden" not in json.dumps(loaded.problem.to_record())
    assert "private_tests" not in {field.name for field in fields(Problem)}
    assert Problem.from_record(loaded.problem.to_record()) == loaded.problem


def test_public_tests_only_is_usable_and_said(make_row: MakeRow) -> None:
    assert load(make_row(private_test_cases="[]")).public_only


def test_no_tests_at_all_is_skipped_with_the_reason(make_row: MakeRow) -> None:
    """User report R12, case a: such a problem would be passed by every program."""
    outcome = read(make_row("q5", public_test_cases="[]", private_test_cases="[]"))
    assert outcome == Skipped("q5", "it has no tests, neither public nor private")


def test_no_public_tests_is_usable(make_row: MakeRow) -> None:
    assert load(make_row(public_test_cases="[]")).suite.n_public == 0


BROKEN = {
    "functional_tests_without_a_name": (
        {"fn_name": "twice", "metadata": "{}"},
        "public test 1 is functional but metadata has no func_name",
    ),
    "hidden_functional_tests_without_a_name": (
        {"private_test_cases": '[{"input": "1", "output": "2", "testtype": "functional"}]'},
        "private test 1 is functional but metadata has no func_name",
    ),
    "stdin_tests_with_a_name": (
        {"metadata": '{"func_name": "twice"}'},
        "public test 1 reads stdin but metadata has a func_name (got twice)",
    ),
    "an_argument_that_is_no_json": (
        {
            "fn_name": "twice",
            "private_test_cases": (
                '[{"input": "[1]\\n[2", "output": "2", "testtype": "functional"}]'
            ),
        },
        "private test 1: line 2 of its input is not a JSON value",
    ),
    "an_output_that_is_no_json": (
        {
            "fn_name": "twice",
            "public_test_cases": '[{"input": "1", "output": "None", "testtype": "functional"}]',
        },
        "public test 1: its output is not a JSON value",
    ),
    "undecodable_hidden_tests": (
        {"private_test_cases": "eJxrYJlazwABtVMA"},
        "private_test_cases cannot be read",
    ),
    "empty_hidden_tests_text": (
        {"private_test_cases": ""},
        "column 'private_test_cases' is empty",
    ),
    "null_statement": ({"question_content": None}, "column 'question_content' is not text"),
    "empty_statement": ({"question_content": ""}, "column 'question_content' is empty"),
    "half_surrogate": ({"question_content": "\udc80"}, "holds half of a surrogate pair"),
    "unknown_difficulty": ({"difficulty": "tough"}, "must be easy, medium or hard (got tough)"),
    "bad_date": ({"contest_date": "soon"}, "contest_date is no ISO date (got soon)"),
    "bad_metadata": ({"metadata": "[]"}, "metadata cannot be read"),
    "tests_as_a_list": ({"public_test_cases": []}, "'public_test_cases' is not text (got list)"),
}


@pytest.mark.parametrize(("changes", "reason"), BROKEN.values(), ids=BROKEN.keys())
def test_broken_rows_say_where_and_why(
    make_row: MakeRow, changes: dict[str, Any], reason: str
) -> None:
    outcome = read(make_row("q5", **changes))
    assert isinstance(outcome, Broken)
    assert (outcome.question_id, outcome.where) == ("q5", "rows.jsonl:7")
    assert reason in outcome.reason


@pytest.mark.parametrize("column", COLUMNS)
def test_a_missing_column_is_named(make_row: MakeRow, column: str) -> None:
    row = make_row()
    del row[column]
    outcome = read(row)
    assert isinstance(outcome, Broken)
    assert outcome.reason == f"column '{column}' is missing"


@pytest.mark.parametrize("value", [True, 1.5, None, ""])
def test_an_id_that_is_none(make_row: MakeRow, value: object) -> None:
    assert isinstance(read(make_row(value)), Broken)


def test_integer_ids_of_old_files_are_texts(make_row: MakeRow) -> None:
    assert load(make_row(2730, contest_id=91)).problem.question_id == "2730"


@pytest.mark.parametrize(
    ("stored", "read_as"),
    [
        ("2024-08-17T19:30:00", "2024-08-17T19:30:00"),
        ("2024-08-17", "2024-08-17T00:00:00"),
        ("2024-08-17T23:30:00-02:00", "2024-08-18T01:30:00"),
        ("2024-08-17T00:00:00Z", "2024-08-17T00:00:00"),
        (dt.datetime(2024, 8, 17, 19, 30), "2024-08-17T19:30:00"),
    ],
)
def test_contest_dates_are_utc(make_row: MakeRow, stored: object, read_as: str) -> None:
    assert load(make_row(contest_date=stored)).problem.contest_date == read_as


@pytest.mark.parametrize(
    "name",
    [
        "lcb_full_small.jsonl",
        "lcb_full_large.jsonl",
        "lcb_partial.jsonl",
        "lcb_plain_variant.jsonl",
    ],
)
def test_every_real_row_loads_or_is_listed(shared_data: Path, name: str) -> None:
    outcomes = [read_row(raw) for raw in read_rows(shared_data / name) if isinstance(raw, RawRow)]
    assert outcomes
    assert not [outcome for outcome in outcomes if isinstance(outcome, Broken)]
    for outcome in outcomes:
        if isinstance(outcome, Loaded):
            functional = outcome.problem.platform == "leetcode"
            assert (outcome.problem.mode == "functional") is functional


def test_the_plain_variant_equals_the_encoded_rows(shared_data: Path) -> None:
    def suites(name: str) -> dict[str, Loaded]:
        found = {}
        for raw in read_rows(shared_data / name):
            assert isinstance(raw, RawRow)
            loaded = load(raw.row)
            found[loaded.problem.question_id] = loaded
        return found

    encoded = suites("lcb_full_small.jsonl")
    for question_id, loaded in suites("lcb_plain_variant.jsonl").items():
        assert loaded == encoded[question_id]
