"""Tests in the form the judge works with, checked before any program runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lcbgrid.core.errors import DataError
from lcbgrid.judge.compare import first_differing_line, same_value
from lcbgrid.judge.plain import parse_json
from lcbgrid.problems.schema import TestCase, TestSuite


@dataclass(frozen=True, slots=True)
class StdinTest:
    """One test that feeds a text and reads a text."""

    given: str
    expected: str

    @property
    def data(self) -> bytes:
        """The input as bytes; made when needed, since all of them together may be large."""
        return _encode(self.given)

    @property
    def expected_bytes(self) -> int:
        """Size of the expected text, about."""
        return len(self.expected)

    def difference(self, got: str, float_tol: float | None) -> str | None:
        """Say where ``got`` differs from what is expected; ``None`` if it does not."""
        return first_differing_line(got, self.expected, float_tol)


@dataclass(frozen=True, slots=True)
class CallTest:
    """One test that calls a function with JSON arguments."""

    given: str
    expected: str

    @property
    def data(self) -> bytes:
        """The arguments as bytes, one JSON value a line."""
        return _encode(self.given)

    @property
    def expected_bytes(self) -> int:
        """Size of the expected value's text, about."""
        return len(self.expected)

    def difference(self, got: Any, float_tol: float | None) -> str | None:
        """Say that ``got`` differs from what is expected; ``None`` if it does not."""
        same = same_value(got, parse_json(self.expected), float_tol)
        return None if same else "the result differs"


def prepare(suite: TestSuite) -> list[StdinTest] | list[CallTest]:
    """Decode a suite.

    Raises:
        DataError: There are no tests, or one of them is not what its kind demands. Such a
            problem must not be scored at all: nobody can pass it, or everybody would.
    """
    if not suite.tests:
        raise DataError("the problem has no tests", where=suite.question_id)
    if suite.mode == "functional":
        return [_call_test(suite, index, test) for index, test in enumerate(suite.tests)]
    for index, test in enumerate(suite.tests):
        if test.testtype == "functional":
            raise DataError(
                f"test {index} calls a function, but the problem names none",
                where=suite.question_id,
            )
    return [StdinTest(test.input, test.output) for test in suite.tests]


def _call_test(suite: TestSuite, index: int, test: TestCase) -> CallTest:
    lines = test.input.split("\n")
    try:
        for line in lines:
            parse_json(line)
        parse_json(test.output)
    except ValueError as error:
        raise DataError(
            f"test {index} is not JSON, one value a line: {error}", where=suite.question_id
        ) from error
    return CallTest(test.input, test.output)


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
