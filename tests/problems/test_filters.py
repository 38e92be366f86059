"""Dates, windows and filters."""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcbgrid.config.problem_spec import FilterSpec
from lcbgrid.core.errors import UserError
from lcbgrid.problems.dates import Window, parse_contest_date
from lcbgrid.problems.filters import apply_filters
from lcbgrid.problems.rows import parse_problem
from lcbgrid.problems.schema import Problem

MakeRow = Callable[..., dict[str, Any]]


@pytest.fixture
def problems(make_row: MakeRow) -> list[Problem]:
    rows = [
        make_row("b", difficulty="hard"),
        make_row("a", contest_date="2024-07-31T23:59:59"),
        make_row("2730", fn_name="twice", difficulty="medium"),
        make_row("c", contest_date="2025-01-01T00:00:00"),
    ]
    return [parse_problem(row) for row in rows]


def ids(problems: list[Problem]) -> list[str]:
    return [problem.question_id for problem in problems]


def test_the_window_of_user_report_r23() -> None:
    window = Window.of_days("2024-08-01", "2025-02-01")
    dates = [
        "2024-07-31T23:30:00+00:00",
        "2024-08-01T00:00:00",
        "2025-01-31T23:59:59",
        "2025-02-01T00:00:00",
    ]
    assert [parse_contest_date(date) in window for date in dates] == [False, True, True, False]


def test_an_offset_counts() -> None:
    window = Window.of_days("2024-08-01", None)
    assert parse_contest_date("2024-07-31T23:30:00-01:00") in window
    assert parse_contest_date("2024-08-01T00:30:00+01:00") not in window


@given(st.datetimes(timezones=st.timezones()), st.dates(), st.dates(), st.dates())
def test_adjacent_windows_share_nothing_and_miss_nothing(
    moment: dt.datetime, first: dt.date, second: dt.date, third: dt.date
) -> None:
    days = sorted({first, second, third})
    windows = [
        Window.of_days(start.isoformat(), end.isoformat())
        for start, end in itertools.pairwise(days)
    ]
    whole = [Window.of_days(days[0].isoformat(), days[-1].isoformat())] if windows else []
    try:
        date = parse_contest_date(moment.isoformat())
    except ValueError:  # at the ends of the calendar no moment in UTC exists
        return
    assert sum(date in window for window in windows) == sum(date in window for window in whole)


@pytest.mark.parametrize(
    "text", ["", "soon", "2024-13-01", "01.08.2024", "0001-01-01T00:00+01:00"]
)
def test_what_is_no_date(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_contest_date(text)


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, ["2730", "a", "b", "c"]),
        ({"ids": ("c", "a")}, ["a", "c"]),
        ({"difficulty": ("hard", "medium")}, ["2730", "b"]),
        ({"platform": ("leetcode",)}, ["2730"]),
        ({"start_date": "2024-08-01"}, ["2730", "b", "c"]),
        ({"end_date": "2024-08-01"}, ["a"]),
        ({"offset": 1, "limit": 2}, ["a", "b"]),
        ({"difficulty": ("easy",), "offset": 1}, ["c"]),
        ({"limit": 100}, ["2730", "a", "b", "c"]),
    ],
)
def test_filters(problems: list[Problem], filters: dict[str, Any], expected: list[str]) -> None:
    spec = FilterSpec(**filters)
    assert ids(apply_filters(problems, spec)) == expected
    assert ids(apply_filters(problems[::-1], spec)) == expected, "order of rows is irrelevant"


def test_the_split_comes_before_offset_and_limit(problems: list[Problem]) -> None:
    spec = FilterSpec(offset=1, limit=1)
    assert ids(apply_filters(problems, spec, ["c", "b", "nowhere"])) == ["c"]


def test_unknown_ids_are_named_with_a_near_one(problems: list[Problem]) -> None:
    with pytest.raises(UserError) as caught:
        apply_filters(problems, FilterSpec(ids=("273O", "a", "zz")))
    assert str(caught.value) == (
        "filters.ids: 2 question ids are not in the source (got 273O, zz); did you mean '2730'?"
    )


@pytest.mark.parametrize(
    "filters",
    [{"platform": ("codeforces",)}, {"start_date": "2030-01-01"}, {"offset": 4}],
)
def test_an_empty_choice_is_an_error(problems: list[Problem], filters: dict[str, Any]) -> None:
    with pytest.raises(UserError, match="no usable problem of 4 passes") as caught:
        apply_filters(problems, FilterSpec(**filters))
    assert f"{next(iter(filters))}=" in str(caught.value)
