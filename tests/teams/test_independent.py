"""Independent copies: their seeds, their vote, and what a lost or slow one does."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from helpers import FUNCTIONAL, STDIN, EchoTools, F, ScriptedClient, calls, text

from lcbgrid.config.model_spec import SamplingSpec
from lcbgrid.config.team_spec import RoleSpec, TeamSpec
from lcbgrid.models.failures import ModelCallError
from lcbgrid.models.types import ChatReply, ChatRequest
from lcbgrid.problems.schema import Problem, TestCase
from lcbgrid.teams.ballot import runnable
from lcbgrid.teams.bundle import PromptBundle
from lcbgrid.teams.interface import Answer, build
from lcbgrid.teams.work import Context

ROLE = RoleSpec(name="coder", tools=("python_exec",), delivers=True)


def team(size: int = 3, **changes: Any) -> TeamSpec:
    fields: dict[str, Any] = {"max_model_calls": 4} | changes
    return TeamSpec(builder="independent", roles=(ROLE,), sizes=(size,), **fields)


def run(
    spec: TeamSpec,
    client: Any,
    problem: Problem = STDIN,
    tools: Any = None,
    temperature: float = 0.2,
    communication: str = "freeform",
) -> Answer:
    context = Context(
        client=client,
        tools=tools or EchoTools(),
        spec=spec,
        sampling=SamplingSpec(temperature=temperature),
        cell_seed=3,
        sample_index=0,
    )
    built = build(spec, communication=communication)
    return asyncio.run(built.solve(problem, PromptBundle({"coder": "You code."}), context))


def program(code: str) -> ChatReply:
    return text(f"{F}python\n{code}\n{F}")


def by_agent(replies: dict[str, list[ChatReply]]) -> ScriptedClient:
    return ScriptedClient(lambda request: replies[request.call.agent][request.call.step])


def test_the_most_common_program_wins_and_ties_go_to_the_lowest_member() -> None:
    one = [program("x=1")], [program("print( 2 )")], [program("print(  2 )")]
    answer = run(team(), by_agent({f"coder_{i}": list(r) for i, r in enumerate(one)}))
    assert (answer.winner, answer.extraction.code, answer.status) == (1, "print( 2 )", "ok")
    assert answer.vote is not None
    assert answer.vote["buckets"] == ((1, 2), (0,))
    assert [m.agent for m in answer.members] == ["coder_0", "coder_1", "coder_2"]
    assert answer.spent.n_llm_calls == 3
    assert answer.spent.total_tokens == sum(m.spent.total_tokens for m in answer.members) == 45


def test_a_replica_without_code_abstains() -> None:
    replies = {
        "coder_0": [text("I do not know.")],
        "coder_1": [text("Nor do I.")],
        "coder_2": [program("print(1)")],
    }
    answer = run(team(), by_agent(replies))
    assert (answer.winner, answer.extraction.code) == (2, "print(1)")
    assert [m.status for m in answer.members] == ["no_code", "no_code", "ok"]


def test_nobody_with_code_is_an_answer_without_code() -> None:
    answer = run(team(), ScriptedClient(lambda _: text("no idea")))
    assert (answer.status, answer.extraction.code, answer.winner) == ("no_code", None, 0)


def test_copies_have_seeds_of_their_own_and_are_never_greedy() -> None:
    client = ScriptedClient(lambda _: program("print(1)"))
    run(team(4), client, temperature=0)
    assert len({request.seed for request in client.requests}) == 4
    assert {request.sampling.temperature for request in client.requests} == {0.7}
    run(team(4), client, temperature=0.2)
    assert client.requests[-1].sampling.temperature == 0.2


def test_nobody_reads_anybody() -> None:
    client = ScriptedClient(lambda request: program(f"print('{request.call.agent}')"))
    run(team(4), client)
    assert len({str(request.messages) for request in client.requests}) == 1


class Slow:
    """Answers after a delay for each agent."""

    def __init__(self, delays_s: dict[str, float]) -> None:
        self._delays_s = delays_s

    async def chat(self, request: ChatRequest) -> ChatReply:
        await asyncio.sleep(self._delays_s[request.call.agent])
        return program(f"print('{request.call.agent}')")


def test_r57_members_stay_in_their_order_whoever_is_first() -> None:
    for _ in range(20):
        answer = run(team(), Slow({"coder_0": 0.03, "coder_1": 0.02, "coder_2": 0.01}))
        codes = [member.code for member in answer.members]
        assert codes == ["print('coder_0')", "print('coder_1')", "print('coder_2')"]
        assert answer.winner == 0


def lost(fatal: bool = False) -> ModelCallError:
    return ModelCallError("no answer", kind="timeout", fatal=fatal)


class Failing(ScriptedClient):
    """Fails for some agents."""

    def __init__(self, agents: set[str], reply: ChatReply, fatal: bool = False) -> None:
        super().__init__(lambda _: reply)
        self._agents = agents
        self._fatal = fatal

    async def chat(self, request: ChatRequest) -> ChatReply:
        if request.call.agent in self._agents:
            raise lost(self._fatal)
        return await super().chat(request)


def test_finished_members_are_kept_when_one_is_lost() -> None:
    answer = run(team(), Failing({"coder_0"}, program("print(1)")))
    assert (answer.status, answer.winner, answer.extraction.code) == ("ok", 1, "print(1)")
    assert [m.status for m in answer.members] == ["infra_error", "ok", "ok"]
    assert answer.message is not None
    assert "1 members were lost: no answer" in answer.message


@pytest.mark.parametrize("agents", [{"coder_0", "coder_1", "coder_2"}, {"coder_1"}])
def test_a_loss_is_never_a_missing_program(agents: set[str]) -> None:
    with pytest.raises(ModelCallError, match="no answer"):
        run(team(), Failing(agents, text("no idea")))


def test_a_fatal_loss_ends_the_answer() -> None:
    with pytest.raises(ModelCallError) as caught:
        run(team(), Failing({"coder_2"}, program("print(1)"), fatal=True))
    assert caught.value.fatal


def test_a_member_that_has_spent_its_share_ends_softly() -> None:
    spec = team(2, max_tokens_per_problem=40)  # 20 tokens each; a reply costs 15
    client = ScriptedClient(lambda _: calls('{"code": "print(7)"}'))
    answer = run(spec, client)
    assert [m.status for m in answer.members] == ["token_limit", "token_limit"]
    assert [m.spent.n_llm_calls for m in answer.members] == [2, 2]
    assert (answer.status, answer.extraction.code) == ("token_limit", "print(7)")


def test_model_time_ends_a_member_softly() -> None:
    reply = ChatReply(text="", tool_calls=calls('{"code": "print(7)"}').tool_calls, latency_s=2.0)
    answer = run(team(2, max_time_s_per_problem=3.0), ScriptedClient(lambda _: reply))
    assert [m.spent.n_llm_calls for m in answer.members] == [2, 2]
    assert answer.status == "time_limit"


class Printing(EchoTools):
    """Runs programs in this process: they are the test's own."""

    def __init__(self) -> None:
        super().__init__()
        self.ran: list[tuple[str, str]] = []

    async def output_of(self, code: str, stdin: str, where: object) -> str | None:
        self.ran.append((code, stdin))
        return {"3\n": "6\n"}.get(stdin) if "sum" in code else "0\n"


def test_the_behaviour_vote_runs_programs_on_public_examples_only() -> None:
    replies = {
        "coder_0": [program("print(0)")],
        "coder_1": [program("print(sum(x))")],
        "coder_2": [program("total = sum(x)\nprint(total)")],
    }
    tools = Printing()
    public = (TestCase("3\n", "6\n", "stdin"),)
    problem = Problem(**{f: getattr(STDIN, f) for f in STDIN.__slots__} | {"public_tests": public})
    answer = run(team(vote="behaviour"), by_agent(replies), problem, tools)
    assert answer.winner == 1
    assert {stdin for _, stdin in tools.ran} == {"3\n"}
    assert run(team(), by_agent(replies), problem, tools).winner == 0  # by whitespace


def test_a_functional_program_is_made_runnable() -> None:
    code = "class Solution:\n    def total(self, xs: List[int]) -> int:\n        return sum(xs)"
    import subprocess

    done = subprocess.run(
        [sys.executable, "-I", "-c", runnable(code, FUNCTIONAL)],
        input="[1, 2, 3]\n",
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "6\n"
    assert runnable(code, STDIN) == code


def test_the_format_is_asked_for_and_measured() -> None:
    client = ScriptedClient(lambda _: program("print(1)"))
    answer = run(team(2), client, communication="semi_structured")
    assert "[STATUS]" in client.requests[0].messages[0]["content"]
    assert answer.communication is not None
    assert answer.communication["communication_parse_rate"] == 0.0
    free = run(team(2), client)
    assert free.communication is not None
    assert free.communication["communication_parse_rate"] == 1.0
