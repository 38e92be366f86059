"""Pipelines: who reads what, whose program is handed in, how they end."""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from helpers import FUNCTIONAL, STDIN, F, ScriptedClient, calls, text
from lineup_helpers import (
    RIGHT,
    WRONG,
    block,
    by_agent,
    run_team,
    system_of,
    team,
    user_of,
)

from lcbgrid.models.failures import ModelCallError
from lcbgrid.models.types import ChatReply, ChatRequest
from lcbgrid.scenarios.code_generation import CONTRACT_HEADING
from lcbgrid.scenarios.extract import extract
from lcbgrid.teams.communication.contracts import HEADING

SPEC = team("sequential")
FOUR = ["analyzer", "coder", "tester", "debugger"]


def echo(request: ChatRequest) -> ChatReply:
    """Everybody says its name and a program of its own."""
    name = request.call.agent
    return text(block(f"print({name!r})", f"I am {name}."))


def test_every_stage_reads_all_earlier_ones_in_order() -> None:
    client = ScriptedClient(echo)
    answer = run_team(SPEC, 4, client)
    assert [request.call.agent for request in client.requests] == FOUR
    for index, request in enumerate(client.requests):
        message = user_of(request)
        assert STDIN.statement in message
        places = [message.find(f"I am {name}.") for name in FOUR]
        assert all(place > message.find("PROBLEM:") for place in places[:index])
        assert places[:index] == sorted(places[:index])
        assert set(places[index:]) <= {-1}
        assert len(request.messages) == 2
    assert (answer.extraction.code, answer.winner, answer.status) == ("print('debugger')", 3, "ok")
    assert [member.agent for member in answer.members] == FOUR


@pytest.mark.parametrize("size", [2, 4, 8, 10])
def test_sizes_have_their_own_stages_and_nobody_hears_of_others(size: int) -> None:
    client = ScriptedClient(echo)
    run_team(SPEC, size, client)
    names = [role.name for role in SPEC.lineup(size)]
    assert [request.call.agent for request in client.requests] == names
    absent = {role.name for role in SPEC.roles} - set(names)
    for index, request in enumerate(client.requests):
        assert f"stage {index + 1} of {size}" in user_of(request)
        assert not any(name in user_of(request) for name in absent)


def test_only_roles_that_deliver_get_the_output_contract_and_only_some_get_tools() -> None:
    client = ScriptedClient(echo)
    run_team(SPEC, 4, client)
    have = [CONTRACT_HEADING in system_of(request) for request in client.requests]
    assert have == [False, True, False, True]
    assert [bool(request.tools) for request in client.requests] == [False, False, True, True]
    assert not any(HEADING in system_of(request) for request in client.requests)


def test_a_wrong_reviewer_overwrites_a_right_coder() -> None:
    """Documented: the program handed in is that of the last stage that wrote one."""
    script = {"coder": [text(block(RIGHT))], "debugger": [text(block(WRONG))]}
    answer = run_team(SPEC, 2, by_agent(script))  # type: ignore[arg-type]
    assert (answer.extraction.code, answer.winner, answer.status) == (WRONG, 1, "ok")
    assert [member.code for member in answer.members] == [RIGHT, WRONG]


def test_q6_stages_behind_the_debugger_count() -> None:
    client = ScriptedClient(echo)
    answer = run_team(SPEC, 10, client)
    assert answer.extraction.code == "print('code_reviewer')"
    assert answer.winner == 9


@pytest.mark.parametrize(
    ("last", "status"),
    [
        (text("All is well."), "no_code"),
        (text(None, status="empty"), "empty"),
        (text("I think", finish="length", status="truncated"), "truncated"),
        (text(None, status="context_limit"), "context_limit"),
    ],
)
def test_a_later_stage_without_program_voids_nothing_but_is_seen(
    last: ChatReply, status: str
) -> None:
    script = {"coder": [text(block(RIGHT))], "debugger": [last]}
    answer = run_team(SPEC, 2, by_agent(script))  # type: ignore[arg-type]
    assert (answer.extraction.code, answer.status, answer.winner) == (RIGHT, "ok", 0)
    assert [member.status for member in answer.members] == ["ok", status]


def test_snippets_of_a_tester_are_no_program() -> None:
    """It runs and quotes pieces; the coder wrote the program."""
    quoting = f"Input:\n{F}\nxs = [1, 2]\n{F}\nFAIL"
    script = {
        "analyzer": [text("Sum them.")],
        "coder": [text(block(RIGHT))],
        "tester": [calls(json.dumps({"code": "print(1)"})), text(quoting)],
        "debugger": [text("Nothing to change.")],
    }
    answer = run_team(SPEC, 4, by_agent(script))  # type: ignore[arg-type]
    assert (answer.extraction.code, answer.winner) == (RIGHT, 1)
    assert [member.code for member in answer.members] == [None, RIGHT, None, None]
    assert [member.status for member in answer.members] == ["ok", "ok", "ok", "no_code"]


def test_functional_programs_have_to_define_the_function() -> None:
    good = "class Solution:\n    def total(self, xs):\n        return sum(xs)"
    script = {
        "coder": [text(block(good))],
        "debugger": [text(block("print(Solution().total([1]))", "Try it:"))],
    }
    answer = run_team(SPEC, 2, by_agent(script), problem=FUNCTIONAL)  # type: ignore[arg-type]
    assert (answer.extraction.code, answer.winner) == (good, 0)


def test_the_task_is_never_taken_for_a_program() -> None:
    answer = run_team(
        SPEC, 2, ScriptedClient(lambda request: text(f"I read: {user_of(request)[:30]}"))
    )
    assert (answer.extraction.code, answer.status, answer.winner) == (None, "no_code", None)


def test_thinking_is_not_handed_on() -> None:
    script = {
        "coder": [text(f"<think>SECRET {block(WRONG)}</think>{block(RIGHT)}")],
        "debugger": [text("Fine.")],
    }
    client = by_agent(script)  # type: ignore[arg-type]
    answer = run_team(SPEC, 2, client)
    assert "SECRET" not in user_of(client.requests[1])
    assert answer.extraction.code == RIGHT


def test_braces_and_a_stage_without_text_are_safe() -> None:
    problem = dataclasses.replace(STDIN, statement="Print {0} and {problem} %s.")
    script = {"coder": [text(None, status="empty")], "debugger": [text(block("print('{0}')"))]}
    client = by_agent(script)  # type: ignore[arg-type]
    answer = run_team(SPEC, 2, client, problem=problem)
    assert "Print {0} and {problem} %s." in user_of(client.requests[1])
    assert "coder -----\n(This stage wrote nothing.)" in user_of(client.requests[1])
    assert answer.extraction.code == "print('{0}')"


def test_a_stage_that_only_calls_tools_ends_softly() -> None:
    script = {
        "coder": [text(block(RIGHT))],
        "debugger": [calls("{}"), calls("{}"), text(block(WRONG))],
    }
    answer = run_team(
        team("sequential", max_model_calls=3),
        2,
        by_agent(script),  # type: ignore[arg-type]
    )
    assert (answer.extraction.code, answer.status) == (WRONG, "step_limit")


def test_budgets_leave_the_rest_idle() -> None:
    spec = team("sequential", max_tokens_per_problem=30)  # two calls of 15
    answer = run_team(spec, 4, ScriptedClient(echo))
    assert [member.status for member in answer.members] == ["ok", "ok", "idle", "idle"]
    assert (answer.extraction.code, answer.status, answer.winner) == (
        "print('coder')",
        "token_limit",
        1,
    )
    spec = team("sequential", max_time_s_per_problem=1.0)
    slow = ScriptedClient(lambda request: dataclasses.replace(echo(request), latency_s=1.5))
    assert run_team(spec, 2, slow).status == "time_limit"


def test_a_budget_that_just_suffices_is_no_limit() -> None:
    answer = run_team(team("sequential", max_tokens_per_problem=30), 2, ScriptedClient(echo))
    assert (answer.status, len(answer.members)) == ("ok", 2)


def test_a_budget_that_cuts_the_last_stage_is_told() -> None:
    script = {"coder": [text(block(RIGHT))], "debugger": [calls("{}")]}
    spec = team("sequential", max_tokens_per_problem=30)
    answer = run_team(spec, 2, by_agent(script))  # type: ignore[arg-type]
    assert (answer.extraction.code, answer.status) == (RIGHT, "token_limit")


def test_a_call_that_fails_for_good_is_no_answer() -> None:
    def fail(request: ChatRequest) -> ChatReply:
        if request.call.agent == "debugger":
            raise ModelCallError("gone", kind="connection")
        return echo(request)

    with pytest.raises(ModelCallError):
        run_team(SPEC, 2, ScriptedClient(fail))


LONG = "\n".join(f"x{i} = {i}  # a line that makes this program long" for i in range(200)) + (
    "\nprint(x1)"
)
REPORTS = {
    "semi_structured": "[STATUS]\ncompleted\n[SUMMARY]\nsums\n[EVIDENCE_OR_TESTS]\nnone\n"
    "[CONFIDENCE]\nhigh, easy\n[NEXT]\ntest it\n\n",
    "structured_soft": 'JSON_REPORT:\n{"status": "completed", "summary": "sums", "confidence": '
    '"high", "next": "test it", "payload": {}}\nEND_JSON_REPORT\n\n',
}


@pytest.mark.parametrize("communication", sorted(REPORTS))
def test_structured_hand_offs_keep_the_program_whole(communication: str) -> None:
    report = REPORTS[communication]
    script = {
        "analyzer": [text("No report.")],
        "coder": [text(block(LONG, report))],
        "tester": [text(report)],
        "debugger": [text(block(LONG, report))],
    }
    client = by_agent(script)  # type: ignore[arg-type]
    answer = run_team(SPEC, 4, client, communication)
    assert all(system_of(request).count(HEADING) == 1 for request in client.requests)
    for request in client.requests[2:]:
        handed = user_of(request).split("earlier stage: coder -----\n")[1]
        assert extract(handed.split("----- earlier")[0]).code == LONG
        assert "test it" in handed
    measured = answer.communication
    assert measured is not None
    assert measured["communication_report_total"] == 4
    assert measured["communication_parse_rate"] == 0.75
    assert measured["communication_render_parse_rate"] == 1.0
    assert measured["communication_inflight_handoff_count"] == 6  # n (n - 1) / 2
    assert measured["communication_missing_roles"] == []


def test_freeform_is_measured_too_and_hands_on_word_for_word() -> None:
    client = ScriptedClient(echo)
    answer = run_team(SPEC, 2, client)
    assert answer.communication is not None
    assert answer.communication["communication_format"] == "freeform"
    assert answer.communication["communication_parse_ok"] is True
    assert user_of(client.requests[1]).endswith(block("print('coder')", "I am coder."))
