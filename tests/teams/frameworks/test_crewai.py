"""The pipeline as a CrewAI crew."""

from __future__ import annotations

import importlib.util
import os
import subprocess
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

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
if importlib.util.find_spec("crewai") is None:
    pytest.skip("crewai is not installed", allow_module_level=True)

NAME = "sequential_crewai"


def pipeline(request: ChatRequest) -> ChatReply:
    """An analyzer, a wrong coder, a tester who runs code twice, a debugger who mends it."""
    agent, last = request.call.agent, request.messages[-1]["role"]
    del last
    if agent == "analyzer":
        return text("<think>Hm.</think>Add them up.")
    if agent == "coder":
        return text(block(WRONG))
    if agent == "tester":
        if request.call.step == 0:
            return calls('{"code": "print(1)"}', "not json", content="I run it.")
        if request.call.step == 1:
            return calls('{"code": "print(1)"}', name="shell")
        return text("FAIL on 1 2")
    return text(block(RIGHT))


def test_stages_see_all_earlier_ones_and_the_last_program_counts() -> None:
    client, tools = ScriptedClient(pipeline), EchoTools()
    answer = run_team(team(NAME), 4, client, tools=tools)
    assert (answer.extraction.code, answer.winner, answer.status) == (RIGHT, 3, "ok")
    assert [m.agent for m in answer.members] == ["analyzer", "coder", "tester", "debugger"]
    assert [m.spent.n_llm_calls for m in answer.members] == [1, 1, 3, 1]
    last = client.requests[-1]
    assert "ROLE OF debugger." in system_of(last)
    assert "WHAT YOU DELIVER" in system_of(last)
    for said in ("Add them up.", WRONG, "FAIL on 1 2", "Print the sum of all numbers."):
        assert said in user_of(last)
    assert "Hm." not in user_of(last)
    assert user_of(last).index("Add them up.") < user_of(last).index(WRONG)
    assert sorted(tools.calls) == [
        ("python_exec", "not json"),
        ("python_exec", '{"code": "print(1)"}'),
        ("shell", '{"code": "print(1)"}'),
    ]
    assert [bool(r.tools) for r in client.requests] == [False, False, True, True, True, True]


def test_two_runs_ask_the_same() -> None:
    clients = [ScriptedClient(pipeline) for _ in range(2)]
    assert run_team(team(NAME), 4, clients[0]) == run_team(team(NAME), 4, clients[1])
    assert asked(clients[0]) == asked(clients[1])


def test_the_cap_ends_softly() -> None:
    def endless(request: ChatRequest) -> ChatReply:
        if request.call.agent == "coder":
            return text(None, status="empty")
        return calls('{"code": "print(1)"}', content=block(RIGHT) if request.tools else "")

    client = ScriptedClient(endless)
    answer = run_team(team(NAME, max_model_calls=4), 2, client)
    assert (answer.status, answer.extraction.code) == ("step_limit", RIGHT)
    assert [m.spent.n_llm_calls for m in answer.members] == [1, 4]
    assert not client.requests[-1].tools


def test_a_spent_budget_leaves_later_stages_idle() -> None:
    answer = run_team(team(NAME, max_tokens_per_problem=30), 4, ScriptedClient(pipeline))
    assert [m.status for m in answer.members] == ["ok", "ok", "idle", "idle"]
    assert (answer.status, answer.extraction.code) == ("token_limit", WRONG)


def test_a_lost_call_is_raised_as_it_is() -> None:
    class Client(ScriptedClient):
        async def chat(self, request: ChatRequest) -> ChatReply:
            raise ModelCallError("rate limit", where="here", remedy="wait")

    with pytest.raises(ModelCallError, match="rate limit"):
        run_team(team(NAME), 2, Client(pipeline))


def test_many_problems_at_once() -> None:
    answers = run_many(team(NAME), 4, pipeline, 12)
    assert {answer.extraction.code for answer in answers} == {RIGHT}
    assert {answer.spent.n_llm_calls for answer in answers} == {6}


def test_nothing_is_kept_in_home(tmp_path: Path) -> None:
    test = f"{__file__}::test_many_problems_at_once"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", test],
        env={**os.environ, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert list(tmp_path.rglob("*")) == []


def test_a_lost_sandbox_is_raised_as_it_is() -> None:
    class Lost(EchoTools):
        async def call(self, *given: object) -> str:
            raise SandboxError("no sandbox", where="here", remedy="wait")

    def reply(request: ChatRequest) -> ChatReply:
        return calls('{"code": "print(1)"}') if request.tools else text(block(RIGHT))

    with pytest.raises(SandboxError, match="no sandbox"):
        run_team(team(NAME), 2, ScriptedClient(reply), tools=Lost())
