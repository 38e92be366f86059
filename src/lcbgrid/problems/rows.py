"""From a row of the LiveCodeBench schema to a problem and its test suite.

A row has eleven text columns. ``metadata.func_name`` decides the mode: with it the program is
called, without it the program reads stdin. A loader that forgets the name fails every LeetCode
problem without a sound, so a row whose name and ``testtype`` disagree is refused here.
Judged tests are the public ones, then the private ones; both count the same.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import get_args

from lcbgrid.core.errors import DataError
from lcbgrid.problems.dates import stored_date
from lcbgrid.problems.decode import (
    MAX_TESTS_BYTES,
    UNKNOWN_ID,
    check_functional_json,
    decode_metadata,
    decode_tests,
    is_clean_text,
)
from lcbgrid.problems.schema import Difficulty, Problem, TestCase, TestSuite

COLUMNS = (
    "question_title",
    "question_content",
    "platform",
    "question_id",
    "contest_id",
    "contest_date",
    "starter_code",
    "difficulty",
    "public_test_cases",
    "private_test_cases",
    "metadata",
)
"""The columns of ``livecodebench/code_generation_lite``; all hold text."""

NO_TESTS = "it has no tests, neither public nor private"
"""Why a sound row is skipped: every program would pass it."""

_MAY_BE_EMPTY = {"starter_code", "contest_id", "question_title"}
_DIFFICULTIES = get_args(Difficulty)


@dataclass(frozen=True, slots=True)
class RawRow:
    """A row as stored, with the file (name only) and the line, or the index in it, from 1."""

    row: dict[str, object]
    file: str
    line: int

    @property
    def where(self) -> str:
        """The place, as messages and the manifest show it."""
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class Loaded:
    """A usable row."""

    problem: Problem
    suite: TestSuite

    @property
    def public_only(self) -> bool:
        """Whether no hidden test is known, so that a verdict says less than usual."""
        return self.suite.n_public == len(self.suite.tests)


@dataclass(frozen=True, slots=True)
class Skipped:
    """A sound row that nothing can be judged with."""

    question_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Broken:
    """A row that is not what it should be."""

    question_id: str
    where: str
    reason: str


def read_row(raw: RawRow, *, max_bytes: int = MAX_TESTS_BYTES) -> Loaded | Skipped | Broken:
    """Turn a stored row into a problem with its tests, or say why that cannot be.

    Args:
        raw: The row.
        max_bytes: Cap on the decoded size of a test list.
    """
    try:
        problem = parse_problem(raw.row)
        suite = parse_suite(raw.row, problem, max_bytes=max_bytes)
    except DataError as error:
        return Broken(question_id_of(raw.row), raw.where, reason_of(error))
    if not suite.tests:
        return Skipped(problem.question_id, NO_TESTS)
    return Loaded(problem, suite)


def reason_of(error: DataError) -> str:
    """Return what is wrong without the place, which lists of rows show in a column of its own."""
    shown = "" if error.value is None else f" (got {error.value})"
    return " ".join(f"{error.what}{shown}".split())


def question_id_of(row: Mapping[str, object]) -> str:
    """Return the row's id as text, for messages about rows that may be broken."""
    value = row.get("question_id")
    return value if isinstance(value, str) and value else _id_text(value) or UNKNOWN_ID


def parse_problem(row: Mapping[str, object], *, max_bytes: int = MAX_TESTS_BYTES) -> Problem:
    """Return the part of a row that prompts and agents may see; hidden tests stay untouched.

    Raises:
        DataError: A column is missing or malformed; names the question.
    """
    question_id = question_id_of(row)
    texts = {column: _text(row, column) for column in COLUMNS if column != "private_test_cases"}
    metadata = decode_metadata(texts["metadata"], question_id)
    fn_name = metadata.get("func_name")
    if texts["difficulty"] not in _DIFFICULTIES:
        raise _error(row, "difficulty must be easy, medium or hard", texts["difficulty"])
    try:
        contest_date = stored_date(texts["contest_date"])
    except ValueError:
        raise _error(row, "contest_date is no ISO date", texts["contest_date"]) from None
    public = decode_tests(
        texts["public_test_cases"], question_id, column="public_test_cases", max_bytes=max_bytes
    )
    _check_mode(row, public, fn_name, "public")
    return Problem(
        question_id=question_id,
        title=texts["question_title"],
        statement=texts["question_content"],
        starter_code=texts["starter_code"],
        fn_name=fn_name,
        platform=texts["platform"],
        difficulty=texts["difficulty"],
        contest_id=texts["contest_id"],
        contest_date=contest_date,
        public_tests=public,
    )


def parse_suite(
    row: Mapping[str, object], problem: Problem, *, max_bytes: int = MAX_TESTS_BYTES
) -> TestSuite:
    """Decode the hidden tests of a row and join them to the public ones.

    Raises:
        DataError: The hidden tests cannot be decoded, or contradict the problem's mode.
    """
    text = _text(row, "private_test_cases")
    private = decode_tests(text, problem.question_id, max_bytes=max_bytes)
    _check_mode(row, private, problem.fn_name, "private")
    return TestSuite(
        question_id=problem.question_id,
        fn_name=problem.fn_name,
        tests=problem.public_tests + private,
        n_public=len(problem.public_tests),
    )


def _check_mode(
    row: Mapping[str, object], tests: tuple[TestCase, ...], fn_name: str | None, kind: str
) -> None:
    for number, test in enumerate(tests, start=1):
        which = f"{kind} test {number}"
        if fn_name is None and test.testtype == "functional":
            raise _error(row, f"{which} is functional but metadata has no func_name")
        if fn_name is None:
            continue
        if test.testtype == "stdin":
            raise _error(row, f"{which} reads stdin but metadata has a func_name", fn_name)
        reason = check_functional_json(test)
        if reason:
            raise _error(row, f"{which}: {reason}")


def _text(row: Mapping[str, object], column: str) -> str:
    if column not in row:
        raise _error(row, f"column {column!r} is missing")
    value = row[column]
    if column in ("question_id", "contest_id"):  # some files hold LeetCode's ids as integers
        value = _id_text(value) or value
    elif column == "contest_date" and isinstance(value, dt.date):  # parquet made from time stamps
        value = value.isoformat()
    if not isinstance(value, str):
        raise _error(row, f"column {column!r} is not text", type(value).__name__)
    if not value and column not in _MAY_BE_EMPTY:
        raise _error(row, f"column {column!r} is empty")
    if not is_clean_text(value):
        raise _error(row, f"column {column!r} holds half of a surrogate pair")
    return value


def _id_text(value: object) -> str | None:
    return str(value) if type(value) is int else None


def _error(row: Mapping[str, object], what: str, value: object = None) -> DataError:
    return DataError(what, where=f"question {question_id_of(row)}", value=value)
