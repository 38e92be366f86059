"""The debate: rounds, who reads what, and how it ends."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from helpers import STDIN, EchoTools, F, ScriptedClient, calls, text

from lcbgrid.config.model_spec import SamplingSpec
from lcbgrid.config.team_spec import RoleSpec, TeamSpec
from lcbgrid.models.failures import ModelCallError
from lcbgrid.models.types import ChatReply, ChatRequest
from lcbgrid.scenarios.extract import extract
from lcbgrid.teams.bundle import PromptBundle
from lcbgrid.teams.interface import Answer, build
from lcbgrid.teams.work import Context

ROLE = RoleSpec(name="debater", tools=("python_exec",), delivers=True)


def run(client: Any, size: int = 3, communication: str = "freeform", **changes: Any) -> Answer:
    fields: dict[str, Any] = {"max_model_calls": 4} | changes
    spec = TeamSpec(builder="decentralized", roles=(ROLE,), sizes=(size,), **fields)
    context = Context(
        client=client,
        tools=EchoTools(),  # type: ignore[arg-type]
        spec=spec,
        sampling=SamplingSpec(),
        cell_seed=3,
        sample_index=0,
    )
    team = build(spec, communication=communication)
    return asyncio.run(team.solve(STDIN, PromptBundle({"debater": "You debate."}), context))


def program(code: str, said: str = "") -> ChatReply:
    return text(f"{said}\n{F}python\n{code}\n{F}")


def last(request: ChatRequest) -> str:
    return str(request.messages[-1]["content"])


def test_a_debate_that_converges() -> None:
    def reply(request: ChatRequest) -> ChatReply:
        if request.call.step == 0:
            return program("print('right')" if request.call.agent == "debater_2" else "print(0)")
        return program("print('right')")

    answer = run(ScriptedClient(reply))
    assert (answer.extraction.code, answer.winner) == ("print('right')", 0)
    assert answer.vote is not None
    assert answer.vote["buckets"] == ((0, 1, 2),)
    assert answer.spent.n_llm_calls == 6


def test_a_debate_that_does_not_converge_goes_to_the_lowest_peer() -> None:
    client = ScriptedClient(lambda request: program(f"print('{request.call.agent}')"))
    answer = run(client)
    assert (answer.extraction.code, answer.winner) == ("print('debater_0')", 0)
    assert len({request.seed for request in client.requests}) == 6
    assert len({str(request.call) for request in client.requests}) == 6


def test_nobody_reads_an_answer_of_the_same_round() -> None:
    client = ScriptedClient(
        lambda request: program(f"print('{request.call.agent} {request.call.step}')")
    )
    run(client, size=3, rounds=3)
    assert len(client.requests) == 9
    for request in client.requests:
        step, me = request.call.step, request.call.agent
        for other in ("debater_0", "debater_1", "debater_2"):
            for seen in range(3):
                mark = f"print('{other} {seen}')"
                read = any(
                    m["role"] == "user" and mark in str(m["content"]) for m in request.messages
                )
                assert read == (other != me and seen < step), (request.call, mark)


def test_peers_are_numbered_from_one_and_the_problem_is_repeated() -> None:
    client = ScriptedClient(lambda request: program(f"print('{request.call.agent}')"))
    run(client)
    second = next(r for r in client.requests if str(r.call) == "q1#0 debater_1 step 1")
    told = last(second)
    assert told.index("Peer 1:") < told.index("debater_0") < told.index("Peer 2:")
    assert told.index("Peer 2:") < told.index("debater_2")
    assert "debater_1" not in told
    assert STDIN.statement in told
    assert [m["role"] for m in second.messages] == ["system", "user", "assistant", "user"]


def test_the_task_and_the_peers_are_never_taken_for_an_answer() -> None:
    def reply(request: ChatRequest) -> ChatReply:
        return program("print(1)") if request.call.agent == "debater_1" else text("I agree.")

    answer = run(ScriptedClient(reply))
    assert [member.code for member in answer.members] == [None, "print(1)", None]
    assert answer.winner == 1


def test_an_earlier_program_counts_if_the_last_round_has_none() -> None:
    def reply(request: ChatRequest) -> ChatReply:
        return program("print(4)") if request.call.step == 0 else text("Mine stays.")

    answer = run(ScriptedClient(reply), size=2)
    assert (answer.extraction.code, answer.extraction.method) == ("print(4)", "earlier_labelled")


def test_a_lost_peer_stays_with_what_it_said_before() -> None:
    class Failing(ScriptedClient):
        async def chat(self, request: ChatRequest) -> ChatReply:
            if (request.call.agent, request.call.step) == ("debater_0", 1):
                raise ModelCallError("no answer", kind="timeout")
            return await super().chat(request)

    answer = run(Failing(lambda request: program(f"print({request.call.agent[-1]})")), rounds=3)
    assert [m.status for m in answer.members] == ["infra_error", "ok", "ok"]
    assert answer.members[0].code == "print(0)"
    assert answer.spent.n_llm_calls == 1 + 2 * 3


def test_a_peer_lost_in_the_first_round_is_shown_without_an_answer() -> None:
    class Failing(ScriptedClient):
        async def chat(self, request: ChatRequest) -> ChatReply:
            if request.call.agent == "debater_0":
                raise ModelCallError("no answer", kind="timeout")
            return await super().chat(request)

    client = Failing(lambda _: program("print(1)"))
    answer = run(client)
    assert answer.extraction.code == "print(1)"
    assert "Peer 1:\n(no answer)" in last(client.requests[-1])


def test_histories_of_peers_with_tools_are_valid() -> None:
    def reply(request: ChatRequest) -> ChatReply:
        if request.tools and request.messages[-1]["role"] == "user":
            return calls('{"code": "print(1)"}', "not json")
        return program("print(1)")

    client = ScriptedClient(reply)
    answer = run(client, size=2)
    assert answer.spent.n_bad_tool_calls == 0  # these tools take anything
    for request in client.requests:
        open_calls: list[str] = []
        for message in request.messages:
            if message["role"] == "tool":
                assert message["tool_call_id"] == open_calls.pop(0)
            else:
                assert not open_calls
                open_calls = [call["id"] for call in message.get("tool_calls", [])]
                for call in message.get("tool_calls", []):
                    assert call["function"]["arguments"] in ('{"code": "print(1)"}', "{}")
        assert not open_calls


@pytest.mark.parametrize("communication", ["semi_structured", "structured_soft"])
def test_structured_hand_offs_keep_programs_whole(communication: str) -> None:
    code = "\n".join(f"def f{i}(x):\n    return x + {i}" for i in range(80)) + "\nprint(f1(2))"
    client = ScriptedClient(lambda _: program(code, "I wrote it."))
    answer = run(client, size=2, communication=communication)
    told = last(client.requests[-1])
    peer = told.split("Peer 1:\n")[1].split("Compare their answers")[0]
    assert extract(peer).code == code
    assert answer.communication is not None
    assert answer.communication["communication_render_parse_rate"] == 1.0
    assert answer.communication["communication_parse_rate"] == 0.0
    assert answer.communication["communication_inflight_handoff_count"] == 2
