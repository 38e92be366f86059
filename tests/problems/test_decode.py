"""Decoding of test lists: what is accepted, what is refused, and that nothing else can happen."""

from __future__ import annotations

import base64
import contextlib
import json
import pickle
import struct
import tracemalloc
import zlib
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lcbgrid.core.errors import DataError
from lcbgrid.problems.decode import decode_metadata, decode_tests
from lcbgrid.problems.pickled_text import PickleRefusedError, read_pickled_text
from lcbgrid.problems.schema import TestCase

TESTS = [
    {"input": "1\n", "output": "2\n", "testtype": "stdin"},
    {"input": "", "output": "ä\u2028\x85", "testtype": "stdin"},
]
CASES = tuple(TestCase(**test) for test in TESTS)  # type: ignore[arg-type]


def wrap(pickled: bytes) -> str:
    return base64.b64encode(zlib.compress(pickled)).decode()


@pytest.mark.parametrize("text", [json.dumps(TESTS), "  " + json.dumps(TESTS, indent=1) + "\n"])
def test_plain_json(text: str) -> None:
    assert decode_tests(text) == CASES


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("copies", [1, 5000], ids=["short", "long"])
def test_every_pickle_protocol(
    encode_tests: Callable[..., str], protocol: int, copies: int
) -> None:
    text = encode_tests(TESTS * copies, protocol)
    assert decode_tests(text) == CASES * copies


def test_an_empty_list_is_no_error_here() -> None:
    assert decode_tests("[]") == ()


@given(st.text(max_size=300), st.integers(0, pickle.HIGHEST_PROTOCOL))
@example("line\nfeed \\u0041 \\ \x1a\x00", 0)
@example("\ud800", 4)
def test_any_text_comes_back_from_its_pickle(text: str, protocol: int) -> None:
    assert read_pickled_text(pickle.dumps(text, protocol)) == text


case_lists = st.lists(
    st.fixed_dictionaries(
        {
            "input": st.text(st.characters(exclude_categories=["Cs"]), max_size=30),
            "output": st.text(st.characters(exclude_categories=["Cs"]), max_size=30),
            "testtype": st.sampled_from(["stdin", "functional"]),
        }
    ),
    max_size=5,
)


@given(case_lists, st.booleans())
def test_round_trip(tests: list[dict[str, str]], plain: bool) -> None:
    text = json.dumps(tests) if plain else wrap(pickle.dumps(json.dumps(tests), 4))
    assert decode_tests(text) == tuple(TestCase(**test) for test in tests)  # type: ignore[arg-type]


@given(st.text(max_size=200))
def test_arbitrary_text_is_a_data_error_or_a_list(text: str) -> None:
    _decodes_or_refuses(text)


@given(st.binary(max_size=200))
def test_arbitrary_pickles_are_a_data_error_or_a_list(data: bytes) -> None:
    _decodes_or_refuses(wrap(data))
    _decodes_or_refuses(base64.b64encode(data).decode())


@given(st.integers(0, 10_000), st.integers(0, 255))
def test_a_changed_byte_never_gives_fewer_tests_silently(at: int, value: int) -> None:
    packed = bytearray(zlib.compress(pickle.dumps(json.dumps(TESTS), 4)))
    position = at % len(packed)
    before, packed[position] = packed[position], value
    try:
        tests = decode_tests(base64.b64encode(packed).decode())
    except DataError:
        return
    # A changed header bit may be harmless; the content is guarded by zlib's checksum.
    assert tests == CASES, (position, before, value)


def _decodes_or_refuses(text: str) -> None:
    with contextlib.suppress(DataError):
        assert isinstance(decode_tests(text, "q7"), tuple)


class _Exploding:
    def __reduce__(self) -> tuple[object, ...]:
        return (print, ("executed",))


class _Persistent(pickle.Pickler):
    def persistent_id(self, obj: object) -> object:
        return "id" if obj == "x" else None


def _persistent(protocol: int) -> bytes:
    import io

    buffer = io.BytesIO()
    _Persistent(buffer, protocol).dump("x")
    return buffer.getvalue()


HOSTILE = {
    "global": b"cos\nsystem\n.",
    "reduce": b"cos\nsystem\n(S'echo no'\ntR.",
    "reduce_protocol_0": pickle.dumps(_Exploding(), 0),
    "stack_global": pickle.dumps(_Exploding(), 4),
    "inst": b"(S'echo no'\nios\nsystem\n.",
    "obj": b"(cos\nsystem\nS'echo no'\no.",
    "newobj": b"\x80\x02cbuiltins\nobject\n)\x81.",
    "build": b"\x80\x02}}b.",
    "persistent_id_text": _persistent(0),
    "persistent_id_binary": _persistent(4),
    "extension_1": b"\x80\x02\x82\x01.",
    "extension_2": b"\x80\x02\x83\x01\x00.",
    "extension_4": b"\x80\x02\x84\x01\x00\x00\x00.",
    "next_buffer": b"\x80\x05\x97.",
    "bytes": pickle.dumps(json.dumps(TESTS).encode(), 4),
    "list": pickle.dumps(TESTS, 4),
    "none": pickle.dumps(None, 4),
    "two_values": b"\x80\x04\x8c\x02[]\x8c\x02[].",
    "text_then_global": b"\x80\x04\x8c\x02[]cos\nsystem\n.",
    "after_stop": pickle.dumps("[]", 4) + b"cos\nsystem\n.",
    "protocol_9": b"\x80\x09\x8c\x02[].",
    "stop_only": b".",
    "empty": b"",
    "huge_memo_index": b"\x80\x04]r" + struct.pack("<I", 2**31 - 1) + b".",
    "huge_text": b"\x80\x04\x8d" + struct.pack("<Q", 2**62) + b"[].",
    "huge_byte_array": b"\x80\x05\x96" + struct.pack("<Q", 2**40) + b".",
}


@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_pickle_of_anything_but_one_text_is_refused(
    data: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(PickleRefusedError):
        read_pickled_text(data)
    with pytest.raises(DataError, match="question q1: private_test_cases cannot be read"):
        decode_tests(wrap(data), "q1")
    assert capsys.readouterr().out == ""


def test_the_refused_opcode_is_named() -> None:
    with pytest.raises(DataError, match="the pickle holds GLOBAL where only one text is allowed"):
        decode_tests(wrap(b"cos\nsystem\n."))


def test_a_harmless_memo_index_costs_no_memory() -> None:
    data = b"\x80\x02X\x02\x00\x00\x00[]r" + struct.pack("<I", 2**31 - 1) + b"."
    tracemalloc.start()
    try:
        assert read_pickled_text(data) == "[]"
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


def test_a_zip_bomb_stops_at_the_cap() -> None:
    packer = zlib.compressobj(9)
    block = b"\0" * (1 << 20)
    packed = b"".join(packer.compress(block) for _ in range(200)) + packer.flush()
    text = base64.b64encode(packed).decode()
    cap_bytes = 20 << 20
    tracemalloc.start()
    try:
        with pytest.raises(DataError, match="inflates to more than 20971520 bytes"):
            decode_tests(text, max_bytes=cap_bytes)
        assert tracemalloc.get_traced_memory()[1] < cap_bytes + (12 << 20)
    finally:
        tracemalloc.stop()


def test_a_plain_list_above_the_cap_is_refused() -> None:
    with pytest.raises(DataError, match="more than 10 bytes"):
        decode_tests(json.dumps(TESTS), max_bytes=10)


def test_hidden_tests_cut_by_their_last_ten_characters(
    encode_tests: Callable[..., str],
) -> None:
    """User report R12, case b."""
    for length in range(50, 60):
        text = encode_tests([{"input": "1" * length, "output": "", "testtype": "stdin"}])
        with pytest.raises(DataError, match="question q1: private_test_cases"):
            decode_tests(text[:-10], "q1")


BAD_SHAPES = {
    "uneven_inputs_and_outputs": ({"inputs": ["1", "2", "3"], "outputs": ["1", "2"]}, "an object"),
    "number": (12, "a number, not a list"),
    "null": (None, "null, not a list"),
    "text": ("x", "text, not a list"),
    "test_is_a_list": ([[1, 2]], "test 1 is a list, not an object"),
    "no_output": ([{"input": "1", "testtype": "stdin"}], "test 1 has no 'output'"),
    "input_is_a_number": (
        [TESTS[0], {"input": 1, "output": "1", "testtype": "stdin"}],
        "test 2: 'input' is a number, not text",
    ),
    "output_is_null": ([{"input": "", "output": None, "testtype": "stdin"}], "'output' is null"),
    "unknown_testtype": (
        [{"input": "", "output": "", "testtype": "file"}],
        "unknown testtype 'file'",
    ),
    "half_surrogate": (
        [{"input": "\ud800", "output": "", "testtype": "stdin"}],
        "'input' holds half of a surrogate pair",
    ),
}


@pytest.mark.parametrize(("value", "reason"), BAD_SHAPES.values(), ids=BAD_SHAPES.keys())
@pytest.mark.parametrize("encoded", [False, True], ids=["plain", "encoded"])
def test_shapes_that_are_no_test_list(
    encode_tests: Callable[..., str], value: object, reason: str, encoded: bool
) -> None:
    """Among them user report R12, case c: three inputs, two outputs."""
    text = encode_tests(value) if encoded else json.dumps(value)
    with pytest.raises(DataError) as caught:
        decode_tests(text, "q9")
    assert reason in str(caught.value)
    assert "question q9" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "the text is empty"),
        (" \n", "the text is empty"),
        ('[{"input": "1"', "not JSON"),
        ("[" * 100_000, "nested too deeply"),
        ("hello world", "neither JSON nor base64"),
        (wrap(pickle.dumps("[]", 4)).replace("e", "*e", 1), "neither JSON nor base64"),
        (base64.b64encode(b"hello world").decode(), "damaged zlib data"),
        (wrap(pickle.dumps("not json", 4)), "not JSON"),
        (base64.b64encode(zlib.compress(pickle.dumps("[]")) + b"x").decode(), "1 bytes follow"),
        (base64.b64encode(zlib.compress(pickle.dumps("[]"))[:-3]).decode(), "cut off"),
    ],
)
def test_reasons(text: str, reason: str) -> None:
    with pytest.raises(DataError, match=reason):
        decode_tests(text)


def test_metadata() -> None:
    assert decode_metadata("{}") == {}
    assert decode_metadata('{"func_name": "twoSum", "more": 1}')["func_name"] == "twoSum"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not JSON"),
        ("[]", "a list, not a JSON object"),
        ('{"func_name": 3}', "not a Python name"),
        ('{"func_name": "os.system"}', "not a Python name"),
        ('{"func_name": "class"}', "not a Python name"),
        ('{"func_name": ""}', "not a Python name"),
    ],
)
def test_bad_metadata(text: str, reason: str) -> None:
    with pytest.raises(DataError, match=f"question q1: metadata cannot be read: .*{reason}"):
        decode_metadata(text, "q1")
