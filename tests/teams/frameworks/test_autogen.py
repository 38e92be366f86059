"""A manager and its workers in an AutoGen group chat."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))
from framework_helpers import asked, run_many, run_team, team
from helpers import EchoTools, ScriptedClient, calls, text
from lineup_helpers import RIGHT, WRONG, block, system_of, user_of

from lcbgrid.core.errors import SandboxError
from lcbgrid.models.failures import ModelCallError
from lcbgrid.models.types import ChatReply, ChatRequest

pytest.importorskip("autogen_agentchat", reason="autogen-agentchat is not installed")

NAME = "centralized_autogen"


def office(request: ChatRequest) -> ChatReply:
    """A manager that names the coder, then says nothing clear, then hands in."""
    agent, step = request.call.agent, request.call.step
    if agent == "manager":
        return (
            text("<think>Hm.</think>Write it.\n\n**coder_worker**"),
            text("The result looks wrong; somebody should run it."),
            calls('{"code": "print(1)"}', "not json", content="I run it."),
            calls("{}", name="shell"),
            text(f"{block(RIGHT)}\nTERMINATE"),
        )[step]
    if agent == "selector":
        return text("hm, whoever") if step == 0 else text("tester_worker")
    return text(block(WRONG)) if agent == "coder_worker" else text("FAIL on 1 2")


def test_the_manager_names_a_worker_or_the_selector_does() -> None:
    client, tools = ScriptedClient(office), EchoTools()
    answer = run_team(team(NAME), 4, client, tools=tools)
    order = [request.call.agent for request in client.requests]
    assert order == [
        *("manager", "coder_worker", "manager", "selector", "selector", "tester_worker"),
        *("manager", "manager", "manager"),
    ]
    assert (answer.extraction.code, answer.winner, answer.status) == (RIGHT, 0, "ok")
    assert answer.n_turns == 5
    members = {member.agent: member for member in answer.members}
    assert list(members) == ["manager", "analyzer_worker", "coder_worker", "tester_worker"]
    assert members["analyzer_worker"].status == "idle"
    assert members["coder_worker"].code == WRONG
    assert members["manager"].spent.n_llm_calls == 5 + 2
    assert sorted(tools.calls) == [
        ("python_exec", "not json"),
        ("python_exec", '{"code": "print(1)"}'),
        ("shell", "{}"),
    ]
    job = client.requests[1]
    assert "----- manager -----\nWrite it." in user_of(job)
    assert "Print the sum of all numbers." in user_of(job)
    assert "Hm." not in user_of(job)
    assert "ROLE OF coder_worker." in system_of(job)
    assert "HOW YOU WORK" in system_of(client.requests[0])
    assert "FAIL on 1 2" in str(client.requests[6].messages)


def test_two_runs_ask_the_same() -> None:
    clients = [ScriptedClient(office) for _ in range(2)]
    assert run_team(team(NAME), 4, clients[0]) == run_team(team(NAME), 4, clients[1])
    assert asked(clients[0]) == asked(clients[1])


def test_the_stop_word_in_prose_stops_nobody() -> None:
    def reply(request: ChatRequest) -> ChatReply:
        if request.call.agent == "manager":
            if request.call.step == 0:
                return text("When it works I will say TERMINATE.")
            return text(f"{block(RIGHT)}\nTERMINATE")
        return text(block(WRONG))

    answer = run_team(team(NAME), 2, ScriptedClient(reply))
    assert answer.n_turns == 3  # with one worker nobody has to be asked who is next
    assert (answer.status, answer.extraction.code) == ("ok", RIGHT)


def test_a_program_without_a_job_is_final() -> None:
    answer = run_team(team(NAME), 4, ScriptedClient(lambda request: text(block(RIGHT))))
    assert (answer.n_turns, answer.status, answer.winner) == (1, "ok", 0)


def test_a_manager_that_never_stops_ends_softly_with_the_workers_program() -> None:
    def reply(request: ChatRequest) -> ChatReply:
        if request.call.agent == "manager":
            return text("Again.\ncoder_worker")
        return text(block(RIGHT))

    answer = run_team(team(NAME), 4, ScriptedClient(reply))
    assert (answer.n_turns, answer.status) == (25, "step_limit")
    assert (answer.extraction.code, answer.winner) == (RIGHT, 2)


def test_the_cap_of_a_turn_and_a_spent_budget_end_softly() -> None:
    def endless(request: ChatRequest) -> ChatReply:
        return calls('{"code": "print(1)"}', content=block(RIGHT))

    client = ScriptedClient(endless)
    answer = run_team(team(NAME, max_model_calls=3), 2, client)
    assert (answer.status, answer.spent.n_llm_calls) == ("step_limit", 3)
    assert answer.extraction.code == RIGHT
    answer = run_team(team(NAME, max_tokens_per_problem=20), 2, ScriptedClient(endless))
    assert (answer.status, answer.spent.n_llm_calls) == ("token_limit", 2)


def test_a_lost_call_is_raised_as_it_is() -> None:
    class Client(ScriptedClient):
        async def chat(self, request: ChatRequest) -> ChatReply:
            if request.call.agent == "coder_worker":
                raise ModelCallError("gone", where="here", remedy="wait")
            return await super().chat(request)

    with pytest.raises(ModelCallError, match="gone"):
        run_team(team(NAME), 4, Client(office))


def test_many_problems_at_once() -> None:
    answers = run_many(team(NAME), 4, office, 12)
    assert {answer.extraction.code for answer in answers} == {RIGHT}
    assert {answer.spent.n_llm_calls for answer in answers} == {9}


def test_a_lost_sandbox_is_raised_as_it_is() -> None:
    class Lost(EchoTools):
        async def call(self, *given: object) -> str:
            raise SandboxError("no sandbox", where="here", remedy="wait")

    def reply(request: ChatRequest) -> ChatReply:
        return calls('{"code": "print(1)"}') if request.tools else text(block(RIGHT))

    with pytest.raises(SandboxError, match="no sandbox"):
        run_team(team(NAME), 2, ScriptedClient(reply), tools=Lost())
