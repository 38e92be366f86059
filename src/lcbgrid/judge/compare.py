"""When an answer counts as right. Pure functions on data that is already outside the sandbox.

The rules are those of the judge specification, section 5: text line by line, then exact decimals;
plain data by Python's own equality. A tolerance is an option of a problem and never touches a
number whose expected text (or value) is an integer.
"""

from __future__ import annotations

import math
import re
from decimal import Context, Decimal, DecimalException, InvalidOperation
from itertools import zip_longest
from typing import Any

_INTEGER = re.compile(r"[+-]?\d+\Z")
_PARSING = Context(traps=[InvalidOperation])


class Opaque:
    """A value that has no plain form (a generator, an object); it equals nothing."""

    def __init__(self, type_name: str) -> None:
        self.type_name = type_name

    def __repr__(self) -> str:
        return f"<{self.type_name}>"


def first_differing_line(got: str, expected: str, float_tol: float | None = None) -> str | None:
    """Compare two output texts; return ``None`` if equal, else where they differ.

    Both texts are stripped of all Unicode blanks, split at line feeds, and each line is stripped.
    Lines must be equal as text or as lists of decimal numbers.
    """
    got_lines = got.strip().split("\n")
    expected_lines = expected.strip().split("\n")
    if len(got_lines) != len(expected_lines):
        return f"{len(got_lines)} lines instead of {len(expected_lines)}"
    for number, (left, right) in enumerate(zip(got_lines, expected_lines, strict=True), start=1):
        if not _same_line(left.strip(), right.strip(), float_tol):
            return f"line {number} differs"
    return None


def _same_line(got: str, expected: str, float_tol: float | None) -> bool:
    if got == expected:
        return True
    for left, right in zip_longest(got.split(), expected.split()):
        if left is None or right is None:
            return False
        if not _same_number(left, right, float_tol):
            return False
    return True


def _same_number(got: str, expected: str, float_tol: float | None) -> bool:
    left, right = _decimal(got), _decimal(expected)
    if left is None or right is None:
        return False  # one word among the tokens makes the whole line a matter of text
    if left.is_nan() or right.is_nan():
        return False
    if left == right:
        return True
    if float_tol is None or _INTEGER.match(expected):
        return False
    return _close(float(left), float(right), float_tol)


def _decimal(token: str) -> Decimal | None:
    try:
        return Decimal(token, _PARSING)
    except (DecimalException, ValueError):
        return None


def _close(got: float, expected: float, tolerance: float) -> bool:
    if math.isinf(got) or math.isinf(expected):
        return False  # equal infinities were equal before; two overflows are not
    return math.isclose(got, expected, rel_tol=tolerance, abs_tol=tolerance)


def same_value(got: Any, expected: Any, float_tol: float | None = None) -> bool:
    """Compare a functional result with the expected value, both plain data.

    Lists are compared element by element (tuples have become lists on their way out), dicts by
    key, numbers and booleans with ``==``, so that 3.0 equals 3 and True equals 1.
    """
    pending = [(got, expected)]  # a stack of our own: nesting must not end in RecursionError
    while pending:
        left, right = pending.pop()
        if isinstance(left, list) and isinstance(right, list):
            if len(left) != len(right):
                return False
            pending.extend(zip(left, right, strict=True))
        elif isinstance(left, dict) and isinstance(right, dict):
            if left.keys() != right.keys():
                return False
            pending.extend((left[key], right[key]) for key in left)
        elif not _same_scalar(left, right, float_tol):
            return False
    return True


def _same_scalar(got: Any, expected: Any, float_tol: float | None) -> bool:
    if isinstance(got, Opaque):
        return False
    if isinstance(got, (list, dict)) or isinstance(expected, (list, dict)):
        return False
    if bool(got == expected):
        return True
    if float_tol is None or not isinstance(expected, float) or isinstance(got, (bool, str)):
        return False
    if not isinstance(got, (int, float)):
        return False
    try:
        return _close(float(got), expected, float_tol)
    except OverflowError:
        return False
