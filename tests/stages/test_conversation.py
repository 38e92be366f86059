"""What members said, in an order that does not depend on who was first."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from rollout_world import Model, World, as_text

from lcbgrid.config.model_spec import SamplingSpec
from lcbgrid.models.failures import ModelCallError
from lcbgrid.models.types import CallId, ChatReply, ChatRequest, ToolCall
from lcbgrid.stages.conversation import Conversation

TEAMS = ("independent", "sequential", "centralized", "decentralized")
FORMATS = ("freeform", "semi_structured", "structured_soft")
CELLS = [("direct", "freeform"), ("single", "freeform")] + [(t, f) for t in TEAMS for f in FORMATS]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return World(tmp_path_factory.mktemp("world"))


@pytest.mark.parametrize(("topology", "communication"), CELLS)
def test_records_do_not_depend_on_who_was_first(
    topology: str, communication: str, world: World
) -> None:
    found = [
        as_text(world.run(topology, Model(jitter), communication=communication))
        for jitter in range(3)
    ]
    assert found[0] == found[1] == found[2]


def the_same_words(request: ChatRequest, number: int) -> ChatReply | None:
    """Everybody says what others say, too: words cannot tell who has read whom."""
    if request.tools and request.messages[-1]["role"] != "tool":
        call = ToolCall("call_0", "python_exec", '{"code": "print(1)"}')
        return ChatReply("I test it.", tool_calls=(call,))
    if request.tools and len(request.messages) < 6:
        call = ToolCall("call_0", "python_exec", '{"code": "print(2)"}')
        return ChatReply("I test it.", tool_calls=(call,))
    return ChatReply("I test it.\n```python\nprint(1)\n```")


@pytest.mark.parametrize("topology", TEAMS)
def test_equal_words_change_no_order(topology: str, world: World) -> None:
    found = {as_text(world.run(topology, Model(n, the_same_words), n_rows=1)) for n in range(4)}
    assert len(found) == 1


@pytest.mark.parametrize("topology", TEAMS)
def test_every_reply_is_told_once(topology: str, world: World) -> None:
    model = Model(1)
    (record,) = world.run(topology, model, n_rows=1)
    own = [message for message in record.messages if message["source"] != "tool"]
    assert len(own) == len(model.asked) == record.usage.model_calls
    agents = [request.call.agent for request in model.asked]
    assert sorted(message["agent"] for message in own) == sorted(agents)
    assert {message["source"] for message in own} <= set(world.prompts(topology, 4).prompts)


def test_stages_and_rounds_are_told_one_after_another(world: World) -> None:
    (record,) = world.run("sequential", Model(2), n_rows=1)
    agents = [message["agent"] for message in record.messages]
    assert agents == sorted(agents, key=agents.index)  # each stage in one piece
    model = Model(3)
    (record,) = world.run("decentralized", model, n_rows=1, spec={"rounds": 2})
    agents = [message["agent"] for message in record.messages]
    turns = [a for a, before in zip(agents, [None, *agents], strict=False) if a != before]
    assert turns == [f"peer_{n}" for n in range(4)] * 2 or turns == turns[:4] * 2


# a manager and its workers, by hand


class Script:
    """Answers in turn."""

    def __init__(self, *replies: ChatReply | Exception) -> None:
        self._replies = list(replies)

    async def chat(self, request: ChatRequest) -> ChatReply:
        reply = self._replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply


def gives(*workers: str) -> ChatReply:
    calls = tuple(
        ToolCall("same id", f"delegate_to_{name}", '{"instructions": "Do it."}')
        for name in workers
    )
    return ChatReply("", tool_calls=calls)


def ask(agent: str, step: int, *messages: tuple[str, str], manages: bool = False) -> ChatRequest:
    said = tuple({"role": role, "content": content} for role, content in messages)
    tools: tuple[dict[str, Any], ...] = ()
    if manages:
        tools = ({"type": "function", "function": {"name": "delegate_to_coder"}},)
    return ChatRequest(said, SamplingSpec(), 0, CallId("q", 0, agent, step), tools)


def test_jobs_are_told_behind_the_call_that_gave_them() -> None:
    """The same job twice, one refused call, an empty answer, and a tool run by the manager."""
    said = Conversation(
        Script(
            gives("coder", "nobody", "tester"),
            ChatReply("coded"),
            ChatReply("", tool_calls=(ToolCall("1", "python_exec", "{}"),)),
            ChatReply("tested"),
            ChatReply("", tool_calls=(*gives("coder").tool_calls, ToolCall("2", "run", "{}"))),
            ChatReply(""),
            ChatReply("the end"),
        )
    )
    task = (("system", "s"), ("user", "the task"))
    first = (("tool", "coded"), ("tool", "ERROR: no such worker"), ("tool", "tested"))
    again = (("tool", "(no answer)"), ("tool", "ran"))
    requests = [
        ask("manager", 0, *task, manages=True),
        ask("coder", 0, *task),
        ask("tester", 0, *task),
        ask("tester", 1, *task, ("assistant", ""), ("tool", "output")),
        ask("manager", 1, *task, ("assistant", ""), *first, manages=True),
        ask("coder", 1, *task),
        ask("manager", 2, *task, ("assistant", ""), *first, ("assistant", ""), *again),
    ]

    async def work() -> None:
        for request in requests:
            await said.chat(request)

    asyncio.run(work())
    roles = {"manager": "manager", "coder": "coder", "tester": "tester"}
    told = [(m["agent"], m["content"]) for m in said.messages(roles)]
    assert told == [
        ("manager", ""),
        ("coder", "coded"),
        ("tester", ""),
        ("tester", "output"),
        ("tester", "tested"),
        ("manager", "ERROR: no such worker"),
        ("manager", ""),
        ("coder", ""),
        ("manager", "ran"),
        ("manager", "the end"),
    ]
    names = [event["name"] for event in said.tool_events(roles)]
    assert names == [f"delegate_to_{n}" for n in ("coder", "nobody", "tester")] + [
        "python_exec",
        "delegate_to_coder",
        "run",
    ]


def test_a_lost_call_is_remembered_and_not_told() -> None:
    lost = ModelCallError("gone", kind="timeout")
    said = Conversation(Script(lost, ChatReply("<think>secret</think>hello")))

    async def work() -> None:
        with pytest.raises(ModelCallError):
            await said.chat(ask("b", 0, ("user", "x")))
        assert not said.answered
        await said.chat(ask("a", 0, ("user", "x")))

    asyncio.run(work())
    assert said.loss is lost
    assert said.answered
    assert [message["content"] for message in said.messages({"a": "x"})] == ["hello"]
