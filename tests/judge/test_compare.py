from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcbgrid.judge.compare import Opaque, first_differing_line, same_value

LINES = st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\n"), max_size=8))
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("got", "expected"),
    [
        ("1\n2\n", "1\n2"),
        ("\n\n1\n2", "1\n2"),
        ("   0\n  1", "0\n1"),
        ("1\r\n2\r\n", "1\n2"),
        ("\u30001\u3000", "1"),
        ("1.0 1e2 +5 -0 007 .5", "1 100 5 0 7 0.50"),
        ("Infinity", "inf"),
        ("1_000", "1000"),
        ("\uff11\uff12", "12"),
        ("1  2", "1 2"),
        ("", ""),
        ("\n \n", ""),
        ("Yes  ", "Yes"),
    ],
)
def test_texts_that_are_equal(got: str, expected: str) -> None:
    assert first_differing_line(got, expected) is None


@pytest.mark.parametrize(
    ("got", "expected", "where"),
    [
        ("1\n\n2", "1\n2", "3 lines instead of 2"),
        ("1 2 3", "1\n2\n3", "1 lines instead of 3"),
        ("a  b", "a b", "line 1 differs"),
        ("1\nyes", "1\nYES", "line 2 differs"),
        ("Yes 1.0", "Yes 1", "line 1 differs"),
        ("0.30000000000000004", "0.3", "line 1 differs"),
        ("nan  1", "nan 1", "line 1 differs"),
        ("sNaN", "1", "line 1 differs"),
        ("1", "sNaN", "line 1 differs"),
        ("1 2", "1", "line 1 differs"),
        ("", "1", "line 1 differs"),
        ("1\x0c2", "1\n2", "1 lines instead of 2"),
        ("1e99999999999999999999", "1", "line 1 differs"),
    ],
)
def test_texts_that_differ(got: str, expected: str, where: str) -> None:
    assert first_differing_line(got, expected) == where


@pytest.mark.parametrize(
    ("got", "expected", "equal"),
    [
        ("0.30000000000000004", "0.3", True),
        ("1000000000.001", "1000000000.0", True),
        ("100000000000000001", "100000000000000000", False),
        ("1000002", "1000001", False),
        ("3.0000001", "3", False),
        ("0.301", "0.3", False),
        ("1e400", "1.5e401", False),
        ("nan", "0.5", False),
        ("0.5x", "0.5", False),
    ],
)
def test_a_tolerance_spares_integers(got: str, expected: str, equal: bool) -> None:
    assert (first_differing_line(got, expected, 1e-6) is None) is equal


@given(LINES)
def test_every_text_equals_itself(lines: list[str]) -> None:
    text = "\n".join(lines)
    assert first_differing_line(text, text) is None
    assert first_differing_line(f"\n {text} \n", text) is None


@given(LINES, LINES)
def test_comparison_treats_both_sides_alike(left: list[str], right: list[str]) -> None:
    there = first_differing_line("\n".join(left), "\n".join(right))
    back = first_differing_line("\n".join(right), "\n".join(left))
    assert (there is None) is (back is None)


@given(st.lists(st.decimals(allow_nan=False, allow_infinity=False), min_size=1, max_size=5))
def test_numbers_may_be_spelled_in_any_way(numbers: list[object]) -> None:
    plain = " ".join(f"{number:f}" for number in numbers)
    scientific = "  ".join(f"{number:e}" for number in numbers)
    assert first_differing_line(plain, scientific) is None


@given(PLAIN)
def test_every_value_equals_itself(value: object) -> None:
    assert same_value(value, value)
    assert not same_value([value], value) or value == [value]


@given(PLAIN, PLAIN)
def test_values_compare_as_python_does(left: object, right: object) -> None:
    assert same_value(left, right) is (left == right)


@pytest.mark.parametrize(
    ("got", "expected", "tolerance", "equal"),
    [
        (3.0, 3, None, True),
        (True, 1, None, True),
        ([0.30000000000000004], [0.3], None, False),
        ([0.30000000000000004, [0.1]], [0.3, [0.1]], 1e-5, True),
        (10**17 + 1, 10**17, 1e-5, False),
        (10**17 + 1, 1e17, 1e-5, True),
        (10**400, 0.5, 1e-5, False),
        ("0.3", 0.3, 1e-5, False),
        ({1: 2}, {"1": 2}, None, False),
        ({"a": 0.1 + 0.2}, {"a": 0.3}, 1e-9, True),
        ([], {}, None, False),
        (None, None, None, True),
    ],
)
def test_values(got: object, expected: object, tolerance: float | None, equal: bool) -> None:
    assert same_value(got, expected, tolerance) is equal


def test_an_opaque_value_equals_nothing() -> None:
    opaque = Opaque("generator")
    assert not same_value(opaque, opaque)
    assert not same_value([opaque], [1], 1e9)


def test_deep_values_do_not_exhaust_the_stack() -> None:
    left: list[object] = []
    right: list[object] = []
    for _ in range(100_000):
        left, right = [left], [right]
    assert same_value(left, right)
    while left:  # take it apart, level by level
        left, right = left[0], right[0]  # type: ignore[assignment]
