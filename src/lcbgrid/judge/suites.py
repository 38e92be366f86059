"""Tests in the form the judge works with, checked before any program runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from lcbgrid.core.errors import DataError
from lcbgrid.judge.compare import first_differing_line, same_value
from lcbgrid.judge.plain import parse_json
from lcbgrid.problems.schema import TestCase, TestSuite


class Check(Protocol):
    """What has the last word about an answer that differs from the stored one."""

    def __call__(self, given: str, got: Any, expected: Any, *, call: bool) -> str | None:
        """Return why the answer is wrong, or ``None`` if it is right.

        Args:
            given: The test's input.
            got: The whole output text, or the result of the call as plain data.
            expected: The stored output text, or the stored result.
            call: Whether it is the result of a call.
        """


@dataclass(frozen=True, slots=True)
class StdinTest:
    """One test that feeds a text and reads a text."""

    given: str
    expected: str
    check: Check | None = None

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
        difference = first_differing_line(got, self.expected, float_tol)
        if difference is None or self.check is None:
            return difference
        return self.check(self.given, got, self.expected, call=False)


@dataclass(frozen=True, slots=True)
class CallTest:
    """One test that calls a function with JSON arguments."""

    given: str
    expected: str
    check: Check | None = None

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
        expected = parse_json(self.expected)
        if same_value(got, expected, float_tol):
            return None
        if self.check is None:
            return "the result differs"
        return self.check(self.given, got, expected, call=True)


def prepare(suite: TestSuite, check: Check | None = None) -> list[StdinTest] | list[CallTest]:
    """Decode a suite.

    Args:
        suite: The tests.
        check: Looks at answers that differ from the stored ones.

    Raises:
        DataError: There are no tests, or one of them is not what its kind demands. Such a
            problem must not be scored at all: nobody can pass it, or everybody would.
    """
    if not suite.tests:
        raise DataError("the problem has no tests", where=suite.question_id)
    if suite.mode == "functional":
        return [_call_test(suite, index, test, check) for index, test in enumerate(suite.tests)]
    for index, test in enumerate(suite.tests):
        if test.testtype == "functional":
            raise DataError(
                f"test {index} calls a function, but the problem names none",
                where=suite.question_id,
            )
    return [StdinTest(test.input, test.output, check) for test in suite.tests]


def _call_test(suite: TestSuite, index: int, test: TestCase, check: Check | None) -> CallTest:
    lines = test.input.split("\n")
    try:
        for line in lines:
            parse_json(line)
        parse_json(test.output)
    except ValueError as error:
        raise DataError(
            f"test {index} is not JSON, one value a line: {error}", where=suite.question_id
        ) from error
    return CallTest(test.input, test.output, check)


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
