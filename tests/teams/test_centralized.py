"""A manager and its workers against a scripted model."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from helpers import FUNCTIONAL, STDIN, USAGE, EchoTools, F, ScriptedClient, calls, text
from lineup_helpers import (
    RIGHT,
    WRONG,
    block,
    by_agent,
    run_team,
    system_of,
    team,
    tool_call,
    user_of,
)

from lcbgrid.models.failures import ModelCallError
from lcbgrid.models.types import ChatReply, ChatRequest, ToolCall
from lcbgrid.scenarios.code_generation import CONTRACT_HEADING
from lcbgrid.scenarios.extract import extract
from lcbgrid.teams.communication.contracts import HEADING
from lcbgrid.teams.delegation import DELIVER, NUDGE
from lcbgrid.teams.interface import Answer

SPEC = team("centralized")
Script = list[ChatReply] | Callable[[ChatRequest], ChatReply]
DONE = text(f"{block(RIGHT)}\nTERMINATE")


def give(*jobs: tuple[str, str], content: str | None = None) -> ChatReply:
    """A manager's reply with jobs: (worker, instructions)."""
    return asks(
        *(
            tool_call(f"d{index}", f"delegate_to_{worker}", instructions=instructions)
            for index, (worker, instructions) in enumerate(jobs)
        ),
        content=content,
    )


def asks(*tools: ToolCall, content: str | None = None) -> ChatReply:
    """A reply with any tool calls."""
    return ChatReply(
        text=content, tool_calls=tuple(tools), finish_reason="tool_calls", usage=USAGE
    )


def solve(
    manager: Script, size: int = 4, spec: Any = SPEC, communication: str = "freeform", **more: Any
) -> tuple[Answer, ScriptedClient]:
    """Run a team; workers without a script say their name."""
    problem, tools = more.pop("problem", STDIN), more.pop("tools", None)
    name = spec.lineup(size)[0].name
    script: dict[str, Any] = {
        role.name: lambda request: text(f"I am {request.call.agent}.") for role in spec.roles
    }
    client = by_agent(script | {name: manager} | more)
    return run_team(spec, size, client, communication, problem, tools), client


def of(client: ScriptedClient, agent: str) -> list[ChatRequest]:
    return [request for request in client.requests if request.call.agent == agent]


def tool_answers(request: ChatRequest) -> list[str]:
    return [m["content"] for m in request.messages if m["role"] == "tool"]


# the usual way


@pytest.mark.parametrize("size", [2, 4, 8, 10])
def test_a_manager_delegates_and_hands_in(size: int) -> None:
    answer, client = solve(
        [give(("coder_worker", "Write it.")), DONE],
        size,
        coder_worker=[text(block(RIGHT))],
    )
    manager = SPEC.lineup(size)[0].name
    assert [r.call.agent for r in client.requests] == [manager, "coder_worker", manager]
    assert (answer.extraction.code, answer.status, answer.winner) == (RIGHT, "ok", 0)
    assert answer.n_turns == 3
    assert [m.agent for m in answer.members] == [role.name for role in SPEC.lineup(size)]
    assert {m.status for m in answer.members if m.agent not in (manager, "coder_worker")} <= {
        "idle"
    }
    names = [tool["function"]["name"] for tool in client.requests[0].tools]
    workers = [role.name for role in SPEC.lineup(size)[1:]]
    assert names == ["python_exec", *(f"delegate_to_{worker}" for worker in workers)]
    system = system_of(client.requests[0])
    assert system.startswith(CONTRACT_HEADING)
    assert f"ROLE OF {manager}." in system
    assert tool_answers(client.requests[2]) == [block(RIGHT)]


def test_workers_see_task_conversation_and_job() -> None:
    _, client = solve(
        [
            give(("analyzer_worker", "Think."), content="First the method."),
            asks(tool_call("p", "python_exec", code="print(7)", stdin="8")),
            give(("coder_worker", "Write it.")),
            DONE,
        ],
    )
    (analyzer,), (coder,) = of(client, "analyzer_worker"), of(client, "coder_worker")
    assert len(analyzer.messages) == len(coder.messages) == 2
    assert CONTRACT_HEADING not in system_of(analyzer)
    assert CONTRACT_HEADING in system_of(coder)
    assert "coder_worker" not in user_of(analyzer)
    parts = [
        STDIN.statement,
        "First the method.",
        "manager to analyzer_worker -----\nThink.",
        "I am analyzer_worker.",
        "print(7)\n\nstdin:\n8",
        "ran p",
        "your job -----\nWrite it.",
    ]
    places = [user_of(coder).find(part) for part in parts]
    assert -1 not in places
    assert places == sorted(places)
    assert [tool["function"]["name"] for tool in coder.tools] == ["python_exec"]


def test_a_worker_asked_again_counts_its_calls_on() -> None:
    job = give(("coder_worker", "Write it."))
    _, client = solve([job, job, DONE], coder_worker=[calls("{}"), text("a"), text("b")])
    assert [r.call.step for r in of(client, "coder_worker")] == [0, 1, 2]
    assert "coder_worker to manager -----\na" in user_of(of(client, "coder_worker")[2])


# whose program


def test_a_wrong_reviewer_does_not_overrule_the_manager() -> None:
    answer, _ = solve(
        [give(("coder_worker", "Write.")), give(("review_worker", "Review.")), DONE],
        8,
        coder_worker=[text(block(RIGHT))],
        review_worker=[text(f"It is wrong, this is right:\n{block(WRONG)}\nSUGGEST_CHANGES")],
    )
    assert (answer.extraction.code, answer.winner) == (RIGHT, 0)


def test_without_a_program_of_the_manager_the_newest_worker_counts() -> None:
    answer, _ = solve(
        [
            give(("coder_worker", "Write.")),
            asks(tool_call("p", "python_exec", code="print('a check of mine')")),
            text("All done.\nTERMINATE"),
        ],
        coder_worker=[text(block(RIGHT))],
    )
    assert (answer.extraction.code, answer.winner, answer.status) == (RIGHT, 2, "ok")
    answer, _ = solve(
        [
            give(("coder_worker", "Write.")),
            give(("coder_worker", "Again.")),
            text("TERMINATE"),
        ],
        coder_worker=[text(block(WRONG)), text(block(RIGHT))],
    )
    assert (answer.extraction.code, answer.winner) == (RIGHT, 2)


def test_an_earlier_program_of_the_manager_beats_those_of_workers() -> None:
    answer, _ = solve(
        [give(("tester_worker", "Test."), content=block(RIGHT)), text("TERMINATE")],
        tester_worker=[text(block(WRONG))],
    )
    assert (answer.extraction.code, answer.winner) == (RIGHT, 0)


def test_neither_tool_output_nor_the_task_is_a_program() -> None:
    class Printing(EchoTools):
        async def call(self, call: ToolCall, where: object, index: int, allowed: object) -> str:
            return block("print('printed')")

    answer, _ = solve(
        [asks(tool_call("p", "python_exec", code="")), text("TERMINATE")], tools=Printing()
    )
    assert (answer.extraction.code, answer.status, answer.winner) == (None, "no_code", None)


def test_functional_programs_have_to_define_the_function() -> None:
    good = "class Solution:\n    def total(self, xs):\n        return sum(xs)"
    answer, _ = solve(
        [
            give(("coder_worker", "Write.")),
            text(f"Take it.\n{F}python\nprint(1)\n{F}\nTERMINATE"),
        ],
        problem=FUNCTIONAL,
        coder_worker=[text(block(good))],
    )
    assert (answer.extraction.code, answer.winner) == (good, 2)


# stopping


def test_a_manager_that_never_stops_is_stopped_softly() -> None:
    """R56: the last program counts, and the status says so."""
    count = iter(range(100))

    def manager(request: ChatRequest) -> ChatReply:
        return give(("coder_worker", f"Once more, {next(count)}."))

    answer, client = solve(
        manager, 2, coder_worker=lambda request: text(block(f"print({request.call.step})"))
    )
    assert answer.n_turns == SPEC.max_turns[2] == len(client.requests) == 13
    assert client.requests[-1].call.agent == "manager"
    assert client.requests[-1].tools == ()
    assert client.requests[-1].messages[-1]["content"] == DELIVER
    assert (answer.status, answer.extraction.code, answer.winner) == (
        "step_limit",
        "print(5)",
        1,
    )


def test_the_last_turn_is_the_managers_and_may_deliver() -> None:
    spec = team("centralized", max_turns={4: 3})
    answer, client = solve([give(("coder_worker", "Write.")), DONE], spec=spec)
    assert (answer.status, answer.extraction.code, answer.n_turns) == ("step_limit", RIGHT, 3)
    assert client.requests[-1].tools == ()
    answer, client = solve([DONE], spec=team("centralized", max_turns={4: 1}))
    assert (answer.status, answer.extraction.code) == ("step_limit", RIGHT)
    assert user_of(client.requests[0]).endswith(DELIVER)


def test_jobs_for_which_no_turn_is_left_are_refused_by_name() -> None:
    spec = team("centralized", max_turns={4: 4})
    jobs = [("analyzer_worker", "A"), ("coder_worker", "B"), ("tester_worker", "C")]
    answer, client = solve([give(*jobs), DONE], spec=spec)
    assert [r.call.agent for r in client.requests] == [
        "manager",
        "analyzer_worker",
        "coder_worker",
        "manager",
    ]
    assert tool_answers(client.requests[-1])[2].startswith("ERROR: delegate_to_tester_worker was")
    assert answer.n_turns == 4
    # with room for the manager only, jobs are not offered at all
    spec = team("centralized", max_turns={4: 2})
    _, client = solve([give(("coder_worker", "B")), DONE], spec=spec)
    assert [tool["function"]["name"] for tool in client.requests[0].tools] == ["python_exec"]
    assert "no turn is left" in tool_answers(client.requests[1])[0]


def test_default_turns_are_26() -> None:
    spec = team("centralized", max_turns={})
    answer, _ = solve(lambda request: give(("coder_worker", "More.")), spec=spec)
    assert (answer.n_turns, answer.status) == (26, "step_limit")


def test_the_stop_word_in_prose_stops_nothing() -> None:
    """Q16."""
    answer, client = solve(
        [
            text("I shall write TERMINATE at the end."),
            give(("coder_worker", "Write."), content="TERMINATE"),  # and not beside a call
            DONE,
        ]
    )
    assert len(client.requests) == 4
    assert client.requests[1].messages[-1] == {"role": "user", "content": NUDGE}
    assert answer.status == "ok"


def test_the_stop_word_inside_code_stops_nothing_and_stays() -> None:
    answer, client = solve([text(f"The word is:\n{F}\nTERMINATE\n{F}"), DONE])
    assert len(client.requests) == 2
    code = 'print("""\nTERMINATE\n""")'
    answer, client = solve([text(f"{block(code)}\nTERMINATE")])
    assert answer.extraction.code == code


def test_a_program_without_a_further_job_is_final() -> None:
    """Q17; documented."""
    answer, client = solve([text(block(RIGHT))])
    assert (answer.status, answer.extraction.code, len(client.requests)) == ("ok", RIGHT, 1)


def test_two_nudges_in_a_row_are_borne() -> None:
    answer, client = solve([text("Hm."), text(None, status="empty"), text("Well.")])
    assert (answer.status, answer.n_turns, len(client.requests)) == ("no_code", 3, 3)
    answer, _ = solve(
        [give(("coder_worker", "Write.")), *[text("Hm.")] * 3], coder_worker=[text(block(RIGHT))]
    )
    assert (answer.status, answer.extraction.code, answer.winner) == ("step_limit", RIGHT, 2)
    job = give(("coder_worker", "Write."))
    answer, _ = solve([text("Hm."), text("Hm."), job, text("Hm."), text("Hm."), DONE])
    assert answer.status == "ok"  # a call begins the count anew
    answer, _ = solve([text(None, status="empty")] * 3)
    assert answer.status == "empty"


@pytest.mark.parametrize("status", ["truncated", "context_limit"])
def test_a_cut_manager_ends_with_the_best_program_so_far(status: str) -> None:
    cut = text("And now" if status == "truncated" else None, status=status)
    answer, _ = solve(
        [give(("coder_worker", "Write.")), cut],
        coder_worker=[text(block(RIGHT))],
    )
    assert (answer.status, answer.extraction.code, answer.winner) == (status, RIGHT, 2)


# calls


def test_q12_all_jobs_of_a_turn_run_in_order() -> None:
    jobs = [("tester_worker", "Test it."), ("coder_worker", "Write it."), ("tester_worker", "C")]
    answer, client = solve(
        [give(*jobs), DONE],
        tester_worker=[text("tested once"), text("tested twice")],
        coder_worker=[text("written")],
    )
    assert [r.call.agent for r in client.requests] == [
        "manager",
        "tester_worker",
        "coder_worker",
        "tester_worker",
        "manager",
    ]
    assert tool_answers(client.requests[-1]) == ["tested once", "written", "tested twice"]
    assert "tested once" in user_of(client.requests[2])
    assert (answer.spent.n_tool_calls, answer.n_turns) == (3, 5)


def test_code_and_jobs_of_one_reply_run_in_order() -> None:
    tools = EchoTools()
    _, client = solve(
        [
            asks(
                tool_call("a", "python_exec", code="print(1)"),
                tool_call("b", "delegate_to_coder_worker", instructions="Write."),
                tool_call("c", "python_exec", code="print(2)"),
            ),
            DONE,
        ],
        tools=tools,
    )
    assert tool_answers(client.requests[-1]) == ["ran a", "I am coder_worker.", "ran c"]
    assert len(tools.calls) == 2
    assert "print(2)" not in user_of(of(client, "coder_worker")[0])


def test_jobs_above_the_limit_of_a_reply_are_refused_by_name() -> None:
    spec = team("centralized", max_tool_calls=2)
    jobs = [("coder_worker", "A"), ("tester_worker", "B"), ("analyzer_worker", "C")]
    answer, client = solve([give(*jobs), DONE], spec=spec)
    assert tool_answers(client.requests[-1])[2] == (
        "ERROR: delegate_to_analyzer_worker was not run; at most 2 calls in one reply"
    )
    assert (answer.spent.n_tool_calls, answer.spent.n_bad_tool_calls) == (2, 1)
    assert answer.members[1].status == "idle"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (ToolCall("x", "delegate_to_coder_worker", "{not json"), "are not JSON"),
        (ToolCall("x", "delegate_to_coder_worker", "[1]"), "JSON object"),
        (ToolCall("x", "delegate_to_coder_worker", "{}"), "'instructions' must be given"),
        (tool_call("x", "delegate_to_coder_worker", instructions=3), "as text"),
        (
            tool_call("x", "delegate_to_poet_worker", instructions="Sing."),
            "no tool 'delegate_to_p",
        ),
        (tool_call("x", "delegate_to_manager", instructions="Go."), "no tool 'delegate_to_man"),
        (tool_call("x", "search"), "no tool 'search'; you have: python_exec, delegate_to_a"),
    ],
)
def test_bad_calls_are_answered_and_counted_but_not_run(call: ToolCall, words: str) -> None:
    good = tool_call("y", "delegate_to_tester_worker", instructions="Test.")
    answer, client = solve([asks(call, good), DONE])
    refusal, result = tool_answers(client.requests[-1])
    assert refusal.startswith("ERROR: ")
    assert words in refusal
    assert result == "I am tester_worker."
    assert [r.call.agent for r in client.requests] == ["manager", "tester_worker", "manager"]
    assert (answer.spent.n_bad_tool_calls, answer.status) == (1, "ok")
    assert client.requests[-1].tools != ()  # one is borne


def test_after_two_bad_calls_there_are_no_tools() -> None:
    bad = asks(ToolCall("x", "delegate_to_coder_worker", "{"))
    answer, client = solve([bad, bad, text("I have nothing.")])
    assert client.requests[-1].tools == ()
    assert client.requests[-1].messages[-1]["content"] == DELIVER
    assert (answer.status, answer.spent.n_bad_tool_calls) == ("no_code", 2)


def test_calls_that_nobody_offered_are_no_calls() -> None:
    spec = team("centralized", max_turns={4: 1})
    answer, client = solve([give(("coder_worker", "Write."), content=block(RIGHT))], spec=spec)
    assert (answer.status, answer.extraction.code, len(client.requests)) == (
        "step_limit",
        RIGHT,
        1,
    )


# workers that fail, budgets


def test_a_worker_that_cannot_be_asked_is_no_answer() -> None:
    def fail(request: ChatRequest) -> ChatReply:
        raise ModelCallError("gone")

    with pytest.raises(ModelCallError):
        solve([give(("coder_worker", "Write.")), DONE], coder_worker=fail)


def test_a_worker_without_an_answer_is_told_to_the_manager() -> None:
    answer, client = solve(
        [give(("coder_worker", "Write.")), DONE],
        communication="semi_structured",
        coder_worker=[text(None, status="context_limit")],
    )
    (told,) = tool_answers(client.requests[-1])
    assert told == "(coder_worker gave no answer: context_limit)"
    assert answer.members[2].status == "context_limit"


def test_a_worker_that_only_calls_tools_ends_softly() -> None:
    spec = team("centralized", max_model_calls=3)
    answer, client = solve(
        [give(("coder_worker", "Write.")), DONE],
        spec=spec,
        coder_worker=[calls("{}"), calls("{}"), text("So far.")],
    )
    assert (answer.members[2].status, answer.n_turns) == ("step_limit", 3)
    assert tool_answers(client.requests[-1]) == ["So far."]


def test_budgets_end_softly() -> None:
    jobs = give(("coder_worker", "Write."), ("tester_worker", "Test."))
    answer, client = solve(
        [jobs],
        spec=team("centralized", max_tokens_per_problem=30),
        coder_worker=[text(block(RIGHT))],
    )
    assert [r.call.agent for r in client.requests] == ["manager", "coder_worker"]
    assert (answer.status, answer.extraction.code) == ("token_limit", RIGHT)
    assert answer.members[3].status == "idle"
    slow = dataclasses.replace(text("Hm."), latency_s=2.0)
    answer, client = solve([slow], spec=team("centralized", max_time_s_per_problem=1.0))
    assert (answer.status, len(client.requests)) == ("time_limit", 1)
    done = dataclasses.replace(DONE, latency_s=2.0)
    answer, _ = solve([done], spec=team("centralized", max_time_s_per_problem=1.0))
    assert answer.status == "ok"


# communication

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
    answer, client = solve(
        [
            give(("coder_worker", "Write it.")),
            give(("tester_worker", "Test it.")),
            text(block(LONG, report) + "\nTERMINATE"),
        ],
        communication=communication,
        coder_worker=[text(block(LONG, report))],
    )
    assert all(system_of(request).count(HEADING) == 1 for request in client.requests)
    coder_result = tool_answers(client.requests[-1])[0]
    assert extract(coder_result).code == LONG
    assert "test it" in coder_result
    tester = user_of(of(client, "tester_worker")[0])
    assert extract(tester.split("coder_worker to manager -----")[1]).code == LONG
    assert "Test it." in tester.split("your job -----")[1]
    measured = answer.communication
    assert measured is not None
    assert measured["communication_report_total"] == 3
    assert measured["communication_report_ok_count"] == 2  # the tester wrote no report
    assert measured["communication_render_parse_rate"] == 1.0
    assert measured["communication_inflight_handoff_count"] == 4
    assert measured["communication_missing_roles"] == []
    assert answer.extraction.code == LONG


def test_who_did_not_report_is_missing() -> None:
    answer, _ = solve(
        [text(REPORTS["semi_structured"] + block(RIGHT))], 8, SPEC, "semi_structured"
    )
    assert answer.communication is not None
    assert answer.communication["communication_missing_roles"] == ["worker"]
    answer, _ = solve([DONE])
    assert answer.communication is not None
    assert answer.communication["communication_format"] == "freeform"


def test_two_runs_ask_the_same() -> None:
    def once() -> list[ChatRequest]:
        _, client = solve([give(("coder_worker", "A"), ("tester_worker", "B")), DONE])
        return client.requests

    assert once() == once()
    assert json.dumps(once()[-1].messages) == json.dumps(once()[-1].messages)
