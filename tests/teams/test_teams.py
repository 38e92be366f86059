"""Teams against a scripted model: what they ask, what they hand in, how they end."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from helpers import (
    FUNCTIONAL,
    STARTER,
    STDIN,
    EchoTools,
    F,
    ScriptedClient,
    calls,
    solve,
    spec,
    text,
)

from lcbgrid.core.errors import ConfigError
from lcbgrid.models.types import ToolCall
from lcbgrid.scenarios.code_generation import CONTRACT_HEADING, user_message, with_contract
from lcbgrid.teams.bundle import PromptBundle
from lcbgrid.teams.tools import BadArguments, parse_arguments

PROGRAM = "print(sum(map(int, open(0).read().split())))"
REPLY = f"Here.\n{F}python\n{PROGRAM}\n{F}"


def run(*arguments: object, **more: object) -> object:
    return asyncio.run(solve(*arguments, **more))  # type: ignore[arg-type]


# direct


def test_direct_asks_once_with_contract_role_and_task() -> None:
    client = ScriptedClient([text(REPLY)])
    answer = asyncio.run(solve(spec("direct"), client))
    (request,) = client.requests
    system, user = request.messages
    assert system["content"].startswith(CONTRACT_HEADING)
    assert "You solve." in system["content"]
    assert user["content"].startswith(STDIN.statement)
    assert request.tools == ()
    assert (answer.extraction.code, answer.status) == (PROGRAM, "ok")
    assert (answer.spent.total_tokens, answer.spent.n_llm_calls) == (15, 1)


def test_functional_problems_show_their_starter_code() -> None:
    message = user_message(FUNCTIONAL)
    assert STARTER.rstrip() in message
    assert "standard input" not in message


def test_braces_in_starter_code_survive() -> None:
    from dataclasses import replace

    problem = replace(FUNCTIONAL, starter_code="# {starter_code} {}\n" + STARTER)
    assert "# {starter_code} {}" in user_message(problem)


def test_the_contract_is_attached_once() -> None:
    assert with_contract(with_contract("x")) == with_contract("x")


@pytest.mark.parametrize(
    ("reply", "status", "has_code"),
    [
        (text(REPLY), "ok", True),
        (text("no idea"), "no_code", False),
        (text(REPLY, finish="length", status="truncated"), "truncated", True),
        (text(f"{F}python\nprint(1"), "truncated", False),
        (text(None, status="empty"), "empty", False),
        (text(None, status="context_limit"), "context_limit", False),
    ],
)
def test_how_an_answer_ends(reply: object, status: str, has_code: bool) -> None:
    answer = asyncio.run(solve(spec("direct"), ScriptedClient([reply])))  # type: ignore[list-item]
    assert (answer.status, answer.extraction.code is not None) == (status, has_code)


def test_every_sample_and_agent_has_a_seed_of_its_own() -> None:
    from lcbgrid.core.hashing import derived_seed

    seeds = {
        derived_seed(cell, question, sample, agent, step)
        for cell in (0, 1)
        for question in ("a", "b")
        for sample in (0, 1)
        for agent in ("solver", "coder")
        for step in (0, 1)
    }
    assert len(seeds) == 32
    assert all(0 <= seed < 2**31 for seed in seeds)


# single


def test_single_runs_tools_and_then_answers() -> None:
    arguments = json.dumps({"code": PROGRAM, "stdin": "1 2"})
    client = ScriptedClient([calls(arguments), text(REPLY)])
    tools = EchoTools()
    answer = asyncio.run(solve(spec("single", max_model_calls=4), client, tools=tools))
    assert tools.calls == [("python_exec", arguments)]
    assert (answer.status, answer.extraction.code) == ("ok", PROGRAM)
    assert (answer.spent.n_llm_calls, answer.spent.n_tool_calls) == (2, 1)
    assert client.requests[0].seed != client.requests[1].seed


def test_histories_are_always_valid() -> None:
    """Every tool message follows the assistant message that has its call, in order."""
    client = ScriptedClient([calls("{}", "{}"), calls("{}"), text(REPLY)])
    asyncio.run(solve(spec("single", max_model_calls=5), client))
    last = client.requests[-1].messages
    assert [m["role"] for m in last] == [
        "system",
        "user",
        "assistant",
        "tool",
        "tool",
        "assistant",
        "tool",
    ]
    assert [m["tool_call_id"] for m in last[3:5]] == ["c0", "c1"]
    assert [call["id"] for call in last[2]["tool_calls"]] == ["c0", "c1"]


def test_r56_the_limit_ends_softly_with_the_last_program() -> None:
    revise = f"Revise.\n{F}python\nprint('draft')\n{F}"

    def reply(request: object) -> object:
        return calls("{}", content=revise)

    client = ScriptedClient(reply)  # type: ignore[arg-type]
    answer = asyncio.run(solve(spec("single", max_model_calls=6), client))
    assert len(client.requests) == 6
    assert client.requests[-1].tools == ()
    assert (answer.status, answer.extraction.code) == ("step_limit", "print('draft')")


def test_more_tool_calls_than_allowed_are_refused_by_name() -> None:
    client = ScriptedClient([calls(*["{}"] * 12), text(REPLY)])
    tools = EchoTools()
    asyncio.run(solve(spec("single", max_model_calls=4), client, tools=tools))
    answers = [m["content"] for m in client.requests[-1].messages if m["role"] == "tool"]
    assert len(tools.calls) == 8
    assert answers[8:] == ["ERROR: not run; at most 8 calls in one reply"] * 4


def test_the_last_tool_run_is_the_program_if_nothing_was_handed_in() -> None:
    arguments = json.dumps({"code": PROGRAM})
    client = ScriptedClient([calls(arguments), text("It works.")])
    answer = asyncio.run(solve(spec("single", max_model_calls=4), client))
    assert (answer.extraction.code, answer.extraction.method) == (PROGRAM, "tool_argument")
    assert answer.status == "ok"


def test_an_earlier_reply_counts_if_the_last_has_no_program() -> None:
    client = ScriptedClient([calls("{}", content=REPLY), text("Done as above.")])
    answer = asyncio.run(solve(spec("single", max_model_calls=4), client))
    assert (answer.extraction.code, answer.extraction.method) == (PROGRAM, "earlier_labelled")


def test_a_task_is_never_taken_for_an_answer() -> None:
    """Q5 of the teams specification: the placeholder of the task is no program."""
    client = ScriptedClient([text(user_message(STDIN))])
    answer = asyncio.run(solve(spec("single", max_model_calls=4), client))
    assert answer.extraction.code is None


# tools


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ("{", "not JSON"),
        ("[]", "JSON object"),
        ("{}", "'code' must be given"),
        ('{"code": 1}', "must be text"),
        ('{"code": "x", "timeout": 99}', "unknown argument 'timeout'"),
        ("[" * 100_000, "not JSON"),
        ('{"code": "x", "stdin": []}', "must be text"),
    ],
)
def test_bad_arguments_are_named(raw: str, words: str) -> None:
    with pytest.raises(BadArguments, match=words):
        parse_arguments(ToolCall("c", "python_exec", raw))


def test_unknown_builders_are_refused() -> None:
    from lcbgrid.teams.interface import build

    with pytest.raises(ConfigError, match="did you mean 'single'"):
        build(spec("singel"))


def test_the_digest_of_a_bundle_is_that_of_its_texts() -> None:
    assert PromptBundle({"a": "x", "b": "y"}).digest == PromptBundle({"b": "y", "a": "x"}).digest
    assert PromptBundle({"a": "x"}, {"from": "z"}).digest == PromptBundle({"a": "x"}).digest
    assert PromptBundle({"a": "x"}).digest != PromptBundle({"a": "y"}).digest
