"""Replies of many servers, tool calls in texts, langchain messages, raw HTTP."""

from __future__ import annotations

import asyncio
import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcbgrid.models.clean import clean_text
from lcbgrid.models.failures import CallFailure
from lcbgrid.models.gate import Gate
from lcbgrid.models.http_reply import BadReply, ReplyParser
from lcbgrid.models.langchain import from_wire, to_ai_message, to_wire, valid_history
from lcbgrid.models.tool_text import extract_tool_calls, with_tool_calls
from lcbgrid.models.types import ChatReply, ToolCall, Usage
from lcbgrid.models.wire import parse_reply

CALL = '{"name": "python_exec", "arguments": {"code": "print(1)"}}'


def body(message: dict[str, Any], **choice: Any) -> dict[str, Any]:
    return {"choices": [{"message": message, "finish_reason": "stop"} | choice]}


def test_parts_missing_usage_and_missing_ids_are_understood() -> None:
    function = {"name": "f", "arguments": {"a": 1}}
    message = {
        "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
        "tool_calls": [{"function": function}, {"id": "", "function": function}],
        "reasoning": "why",
    }
    reply = parse_reply(body(message, finish_reason=None))
    assert (reply.text, reply.reasoning, reply.finish_reason) == ("ab", "why", "stop")
    assert reply.usage == Usage()
    assert [call.arguments for call in reply.tool_calls] == ['{"a":1}'] * 2
    assert len({call.id for call in reply.tool_calls}) == 2


@pytest.mark.parametrize(
    "bad",
    [
        None,
        [],
        {},
        {"choices": None},
        {"choices": [None]},
        {"choices": [{}]},
        {"error": {"message": "overloaded"}},
        body({"content": 5}),
        body({"content": "x", "tool_calls": {"a": 1}}),
        body({"content": "x", "tool_calls": [{"function": {}}]}),
    ],
)
def test_bodies_that_are_no_completion_are_named(bad: Any) -> None:
    with pytest.raises(CallFailure) as failure:
        parse_reply(bad)
    assert failure.value.kind == "bad_body"
    assert failure.value.retryable


def test_a_reply_survives_its_record() -> None:
    reply = ChatReply("t", "r", (ToolCall("i", "n", "{"),), "stop", Usage(1, 2, 3), latency_s=0.5)
    copy = ChatReply.from_record(reply.to_record(), reply.to_timing(), cached=False)
    assert copy == reply


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        (CALL, None),
        (f"I run it.\n```json\n{CALL}\n```\nThen I see.", "I run it.\n\nThen I see."),
        (f"<tool_call>\n{CALL}\n</tool_call>", None),
        (f"First {CALL} done", "First  done"),
    ],
)
def test_tool_calls_in_a_text_are_found(text: str, rest: str | None) -> None:
    remaining, calls = extract_tool_calls(text, {"python_exec"})
    assert remaining == rest
    assert [json.loads(call.arguments) for call in calls] == [{"code": "print(1)"}]


def test_several_calls_keep_their_order_and_have_ids_of_their_own() -> None:
    _, calls = extract_tool_calls(f"<tool_call>{CALL}</tool_call>\n{CALL}", {"python_exec"})
    assert [call.id for call in calls] == ["call_0", "call_1"]


@pytest.mark.parametrize(
    "text",
    [
        "no call",
        CALL.replace("python_exec", "other"),
        CALL[:-1],
        '{"name": "python_exec"}',
        '{"name": "python_exec", "arguments": 5}',
    ],
)
def test_what_is_no_valid_call_stays_text(text: str) -> None:
    assert extract_tool_calls(text, {"python_exec"}) == (text, ())
    assert with_tool_calls(body({"content": text}), {"python_exec"}) == body({"content": text})


@given(st.text())
def test_any_text_is_kept_when_no_tool_is_offered(text: str) -> None:
    assert extract_tool_calls(text, ()) == (text, ())


@given(st.text(alphabet=st.characters()))
def test_cleaned_text_is_utf8_and_good_text_is_untouched(text: str) -> None:
    cleaned = clean_text(text)
    cleaned.encode()
    if not any(0xD800 <= ord(character) < 0xE000 for character in text):
        assert cleaned == text


def test_langchain_messages_go_there_and_back() -> None:
    pytest.importorskip("langchain_core")
    wire = (
        {"role": "system", "content": "s"},
        {"role": "user", "content": "u"},
        {"role": "assistant", "content": None, "tool_calls": [ToolCall("1", "f", "{}").to_wire()]},
        {"role": "tool", "content": "r", "tool_call_id": "1"},
        {"role": "assistant", "content": "a"},
    )
    assert to_wire(from_wire(wire)) == wire
    malformed = ChatReply(None, tool_calls=(ToolCall("2", "f", "{not"),), usage=Usage(1, 2, 3))
    message = to_ai_message(malformed)
    assert message.invalid_tool_calls[0]["args"] == "{not"
    assert message.usage_metadata is not None
    assert message.usage_metadata["total_tokens"] == 3
    (sent, answer) = to_wire([message])
    assert sent["tool_calls"][0]["function"]["arguments"] == "{not"
    assert answer["role"] == "tool"


def test_histories_are_made_valid() -> None:
    call = ToolCall("1", "f", "{}").to_wire()
    orphan = {"role": "tool", "content": "x", "tool_call_id": "9"}
    asking = {"role": "assistant", "content": None, "tool_calls": [call]}
    user = {"role": "user", "content": "u"}
    history = valid_history([orphan, user, asking, user])
    assert [message["role"] for message in history] == ["user", "assistant", "tool", "user"]


HEAD = b"HTTP/1.1 200 OK\r\n"
REPLIES = [
    HEAD + b"Content-Length: 5\r\n\r\nhello",
    HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\n\r\n",
    HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nTrailer: x\r\n\r\n",
    b"HTTP/1.1 100 Continue\r\n\r\n" + HEAD + b"content-length:5\r\n\r\nhello",
]


@pytest.mark.parametrize("data", REPLIES)
@given(cuts=st.sets(st.integers(0, 120)))
def test_a_reply_is_read_however_its_bytes_arrive(data: bytes, cuts: set[int]) -> None:
    parser = ReplyParser()
    edges = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    done = [parser.feed(data[a:b]) for a, b in itertools.pairwise(edges)]
    assert done == [False] * (len(done) - 1) + [True]
    assert (parser.status, bytes(parser.body), parser.keep_alive) == (200, b"hello", True)


def test_a_reply_without_length_ends_with_its_connection() -> None:
    parser = ReplyParser()
    assert not parser.feed(HEAD + b"\r\nhello")
    assert parser.ends_with_connection()
    assert not parser.keep_alive


@pytest.mark.parametrize(
    "data",
    [
        b"SSH-2.0-x\r\n\r\n",
        HEAD + b"Content-Length: x\r\n\r\n",
        HEAD + b"no colon\r\n\r\n",
        HEAD + b"Content-Length: 1\r\n\r\nab",
        HEAD + b"Transfer-Encoding: gzip\r\n\r\n",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"x" * 70_000,
    ],
)
def test_bytes_that_are_no_reply_are_refused(data: bytes) -> None:
    with pytest.raises(BadReply):
        ReplyParser().feed(data)


def test_the_gate_is_fair_and_survives_cancellation() -> None:
    order: list[int] = []

    async def enter(gate: Gate, number: int, hold_s: float) -> None:
        async with gate:
            order.append(number)
            await asyncio.sleep(hold_s)

    async def run() -> None:
        gate = Gate(2)
        tasks = [asyncio.create_task(enter(gate, n, 0.01)) for n in range(8)]
        await asyncio.sleep(0)
        tasks[5].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.wait_for(asyncio.gather(enter(gate, 8, 0), enter(gate, 9, 0)), 1.0)

    asyncio.run(run())
    assert order == [0, 1, 2, 3, 4, 6, 7, 8, 9]
