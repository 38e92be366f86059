"""The debate on the OpenAI Agents SDK: it sends what the LangGraph debate sends."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))
from framework_helpers import asked, run_many, run_team, team
from helpers import EchoTools, ScriptedClient, calls, text
from lineup_helpers import RIGHT, WRONG, block

from lcbgrid.core.errors import SandboxError
from lcbgrid.models.failures import ModelCallError
from lcbgrid.models.types import ChatReply, ChatRequest

pytest.importorskip("agents", reason="openai-agents is not installed")

NAME = "decentralized_agents_sdk"


def debate(request: ChatRequest) -> ChatReply:
    """Peers that think, run code, write bad arguments, and agree in the second round."""
    role = request.messages[-1]["role"]
    first_round = len([m for m in request.messages if m["role"] == "user"]) == 1
    if role == "user" and request.tools:
        good = calls('{"code": "print(1)"}', "not json", content="I run it.")
        return good if first_round else calls("[1]", name="shell", content="And again.")
    if first_round and request.call.agent.endswith("_1"):
        return text(f"<think>Hm.</think>{block(WRONG)}")
    return text(block(RIGHT))


@pytest.mark.parametrize("size", [2, 4])
def test_the_debate_is_the_one_of_langgraph(size: int) -> None:
    outcomes = []
    for name in (NAME, "decentralized"):
        client, tools = ScriptedClient(debate), EchoTools()
        answer = run_team(team(name), size, client, tools=tools)
        requests = [  # a tool that does not exist is shown to the SDK as one that does
            (call, seed, messages.replace("'shell'", "'python_exec'"), schemas, temperature)
            for call, seed, messages, schemas, temperature in asked(client)
        ]
        outcomes.append((answer, requests, sorted(tools.calls)))
    assert outcomes[0] == outcomes[1]
    answer, requests, ran = outcomes[0]
    assert (answer.extraction.code, answer.winner, answer.status) == (RIGHT, 0, "ok")
    assert len(requests) == answer.spent.n_llm_calls == 4 * size
    assert ("shell", "[1]") in ran
    assert answer.spent.n_tool_calls == 3 * size


def test_the_cap_ends_softly_and_two_runs_ask_the_same() -> None:
    def endless(request: ChatRequest) -> ChatReply:
        if request.tools:
            return calls('{"code": "print(1)"}', content=block(RIGHT))
        return calls('{"code": "print(2)"}', content="")

    clients = [ScriptedClient(endless) for _ in range(2)]
    spec = team(NAME, max_model_calls=3)
    answers = [run_team(spec, 2, client) for client in clients]
    assert answers[0] == answers[1]
    assert asked(clients[0]) == asked(clients[1])
    assert (answers[0].status, answers[0].extraction.code) == ("step_limit", RIGHT)
    assert answers[0].spent.n_llm_calls == 2 * 2 * 3
    assert answers[0].spent.n_tool_calls == 2 * 2 * 2


def test_a_spent_budget_ends_softly() -> None:
    def endless(request: ChatRequest) -> ChatReply:
        return calls('{"code": "print(1)"}', content=block(RIGHT))

    outcomes = []
    for name in (NAME, "decentralized"):
        client = ScriptedClient(endless)
        outcomes.append(run_team(team(name, max_tokens_per_problem=40), 2, client))
    assert outcomes[0] == outcomes[1]
    assert outcomes[0].status == "token_limit"


def test_a_peer_without_an_answer() -> None:
    def reply(request: ChatRequest) -> ChatReply:
        silent = request.call.agent.endswith("_0") and request.call.step == 0
        return text(None, status="empty") if silent else text(block(RIGHT))

    answer = run_team(team(NAME), 2, ScriptedClient(reply))
    assert (answer.status, answer.extraction.code) == ("ok", RIGHT)


def test_a_lost_peer_holds_up_nobody() -> None:
    class Client(ScriptedClient):
        async def chat(self, request: ChatRequest) -> ChatReply:
            if request.call.agent.endswith("_0"):
                raise ModelCallError("gone", where="here", remedy="wait")
            return await super().chat(request)

    answer = run_team(team(NAME), 2, Client(debate))
    assert [member.status for member in answer.members] == ["infra_error", "ok"]
    assert (answer.winner, answer.extraction.code) == (1, RIGHT)


def test_many_problems_at_once() -> None:
    answers = run_many(team(NAME), 2, debate, 12)
    assert {answer.extraction.code for answer in answers} == {RIGHT}
    assert {answer.spent.n_llm_calls for answer in answers} == {8}


def test_a_lost_sandbox_is_raised_as_it_is() -> None:
    class Lost(EchoTools):
        async def call(self, *given: object) -> str:
            raise SandboxError("no sandbox", where="here", remedy="wait")

    def reply(request: ChatRequest) -> ChatReply:
        return calls('{"code": "print(1)"}') if request.tools else text(block(RIGHT))

    with pytest.raises(SandboxError, match="no sandbox"):
        run_team(team(NAME), 2, ScriptedClient(reply), tools=Lost())
