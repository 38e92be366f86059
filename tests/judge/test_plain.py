"""Results on their way out: what honest code sends arrives, rubbish is nothing."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcbgrid.judge import plain
from lcbgrid.judge.compare import Opaque
from lcbgrid.judge.inside.plain import dumps

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters(), max_size=5)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.integers() | st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=12,
)


def sent(value: object) -> object:
    return plain.decode_value(json.loads(dumps(value)))


@given(VALUES)
def test_plain_data_arrives_as_it_was(value: object) -> None:
    arrived = sent(value)
    assert arrived == value
    assert type(arrived) is type(value)


class List(list):  # type: ignore[type-arg]
    def __eq__(self, other: object) -> bool:
        return True

    def __len__(self) -> int:
        return 3

    __hash__ = None  # type: ignore[assignment]


class Number(int):
    def __index__(self) -> int:
        return 42


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ((1, (2, [3])), [1, [2, [3]]]),
        (List([0]), [0]),
        (Number(7), 7),
        (10**6000, 10**6000),
        (-(10**6000), -(10**6000)),
        (float("inf"), float("inf")),
        (np.int64(3), 3),
        (np.float32(0.5), 0.5),
        (np.bool_(True), True),
        ({1: 2}, {1: 2}),
        ("\ud800", "\ud800"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_becomes_of_special_values(value: object, expected: object) -> None:
    assert sent(value) == expected


@pytest.mark.parametrize(
    "value", [{1, 2}, range(3), (i for i in ()), object(), np.array([1]), b"x", 1j, iter([])]
)
def test_everything_else_is_opaque(value: object) -> None:
    assert isinstance(sent(value), Opaque)


def test_a_circle_ends() -> None:
    circle: list[object] = []
    circle.append(circle)
    assert isinstance(sent(circle), list)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"5",
        b"\xff\x00 pass\n",
        b"5\n{}",
        b"2\n[]",
        b"9999999999999999999999\n{}",
        b"-2\n{}",
        b'6\n{"a":}',
        b"100002\n" + b"[" * 50001 + b"]" * 50001,
        b"3\n\xff\xff\xff",
    ],
    ids=lambda data: data[:12].hex() or "empty",
)
def test_rubbish_is_no_report(data: bytes) -> None:
    assert plain.decode_report(data) is None


@given(st.binary(max_size=40))
def test_no_bytes_break_the_reader(data: bytes) -> None:
    report = plain.decode_report(data)
    assert report is None or isinstance(report, dict)


@pytest.mark.parametrize(
    "tagged",
    [
        {"int": "zz"},
        {"int": 5},
        {"float": "x"},
        {"float": None},
        {"dict": 3},
        {"dict": [[1]]},
        {"dict": [[[1], 2]]},
        {},
        {"opaque": None},
    ],
)
def test_damaged_tags_equal_nothing(tagged: object) -> None:
    value = plain.decode_value(tagged)
    assert isinstance(value, Opaque) or any(isinstance(key, Opaque) for key in value)  # type: ignore[attr-defined]


@pytest.mark.parametrize("digits", [1, 3999, 4000, 4001, 8001, 20000])
@pytest.mark.parametrize("sign", ["", "-"])
def test_integers_of_any_length_are_read(digits: int, sign: str) -> None:
    value = plain.parse_json(f"[{sign}{'7' * digits}]")
    magnitude = 7 * (10**digits - 1) // 9
    assert value == [-magnitude if sign else magnitude]


def test_deep_json_is_an_error_of_the_data() -> None:
    with pytest.raises(ValueError, match="deep"):
        plain.parse_json("[" * 200_000)


def test_a_cut_text_says_so() -> None:
    assert plain.clip("abcdef", 4) == "abcd... [2 characters cut]"
    assert plain.clip("abc", 3) == "abc"
    assert plain.clip("a\ud800", 5) == "a?"
    assert plain.show(10**5000, 100) == "a number of more than 4300 digits"
