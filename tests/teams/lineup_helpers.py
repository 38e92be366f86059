"""Teams of different roles for tests, and a strict check of every history that was sent."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml
from helpers import STDIN, EchoTools, F, ScriptedClient

from lcbgrid.config.model_spec import SamplingSpec
from lcbgrid.config.team_spec import TeamsFile, TeamSpec
from lcbgrid.models.simulate.validate import check_request
from lcbgrid.models.types import ChatReply, ChatRequest, ToolCall
from lcbgrid.problems.schema import Problem
from lcbgrid.teams.bundle import PromptBundle
from lcbgrid.teams.interface import Answer, build
from lcbgrid.teams.work import Context

ROOT = Path(__file__).parents[2]
RIGHT = "print(sum(map(int, open(0).read().split())))"
WRONG = "print(len(open(0).read().split()))"


def block(code: str, before: str = "Here.") -> str:
    """A reply with a program."""
    return f"{before}\n{F}python\n{code}\n{F}"


def team(topology: str, **changes: Any) -> TeamSpec:
    """A topology of the shipped configuration, changed."""
    data = yaml.safe_load((ROOT / "config" / "teams.yaml").read_text())
    return TeamsFile.model_validate(data).teams[topology].model_copy(update=changes)


def run_team(
    spec: TeamSpec,
    size: int,
    client: ScriptedClient,
    communication: str = "freeform",
    problem: Problem = STDIN,
    tools: Any = None,
) -> Answer:
    """Let a team solve a problem, and check every history that it sent."""
    context = Context(
        client=client,  # type: ignore[arg-type]
        tools=tools or EchoTools(),
        spec=spec,
        sampling=SamplingSpec(),
        cell_seed=3,
        sample_index=0,
    )
    bundle = PromptBundle({role.name: f"ROLE OF {role.name}." for role in spec.roles})
    solving = build(spec, size, communication).solve(problem, bundle, context)
    answer = asyncio.run(solving)
    check_histories(client.requests)
    names = [member.agent for member in answer.members]
    assert len(set(names)) == len(names) == size
    if answer.winner is not None:
        assert answer.members[answer.winner].code == answer.extraction.code
    assert answer.spent.n_llm_calls == len(client.requests)
    assert answer.spent.total_tokens == sum(m.spent.total_tokens for m in answer.members)
    return answer


def check_histories(requests: list[ChatRequest]) -> None:
    """What a strict server would refuse, and what would make two calls look the same."""
    for request in requests:
        messages = list(request.messages)
        body: dict[str, Any] = {"model": "m", "messages": messages}
        if request.tools:
            body["tools"] = list(request.tools)
        check_request(body)
        assert [m["role"] for m in messages].count("system") == 1
        assert messages[0]["role"] == "system"
        assert messages[-1]["role"] in ("user", "tool")
        for earlier, later in itertools.pairwise(messages):
            assert (earlier["role"], later["role"]) != ("user", "user")
            assert (earlier["role"], later["role"]) != ("assistant", "assistant")
        for index, message in enumerate(messages):
            wanted = [call["id"] for call in message.get("tool_calls", ())]
            after = messages[index + 1 : index + 1 + len(wanted)]
            assert [m.get("tool_call_id") for m in after] == wanted  # in order
            for call in message.get("tool_calls", ()):
                assert isinstance(json.loads(call["function"]["arguments"]), dict)
            if message["role"] == "assistant" and not wanted:
                assert message["content"]
    assert len({request.call for request in requests}) == len(requests)
    assert len({request.seed for request in requests}) == len(requests)


def by_agent(
    script: dict[str, list[ChatReply] | Callable[[ChatRequest], ChatReply]],
) -> ScriptedClient:
    """A client with one list of replies for each agent."""
    asked: dict[str, int] = {}

    def reply(request: ChatRequest) -> ChatReply:
        replies = script[request.call.agent]
        if callable(replies):
            return replies(request)
        index = asked.get(request.call.agent, 0)
        asked[request.call.agent] = index + 1
        assert request.call.step == index
        return replies[index]

    return ScriptedClient(reply)


def system_of(request: ChatRequest) -> str:
    """The system prompt."""
    return str(request.messages[0]["content"])


def user_of(request: ChatRequest) -> str:
    """The first user message."""
    return str(request.messages[1]["content"])


def tool_call(identity: str, name: str, **arguments: Any) -> ToolCall:
    """A tool call with good JSON."""
    return ToolCall(identity, name, json.dumps(arguments))
