"""Conversations are rebuilt from published files: who said what to whom, in which order."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from lcbgrid.analysis.conversations.build import build_calls
from lcbgrid.analysis.conversations.model import Call
from lcbgrid.analysis.conversations.read import CellConversations
from lcbgrid.analysis.conversations.repeats import Repeats
from lcbgrid.analysis.conversations.visible import one_line, visible
from lcbgrid.core.errors import DataError

sys.path.insert(0, str(Path(__file__).parent))
from conversation_files import (
    CELL,
    ESCAPES,
    answered,
    call,
    prediction,
    said,
    system,
    tool_line,
    user,
    verdict,
    write_cell,
)

TASK = "Read two numbers and print their sum, please."


def heard(calls: tuple[Call, ...]) -> list[tuple[str, str, str]]:
    """Return kind, heading and text of all blocks."""
    return [(b.kind, b.heading, b.text) for one in calls for b in one.blocks]


def order(calls: tuple[Call, ...]) -> list[tuple[str, int]]:
    return [(one.agent, one.step) for one in calls]


def test_each_text_stands_once_with_its_tool_calls() -> None:
    use = ("c1", "python_exec", '{"stdin": "1", "code": "print(1)"}')
    start = [system("Be right."), user(TASK)]
    second = [*start, said("I try.", use), answered("c1", "stdout:\n1")]
    calls = build_calls(
        [
            call("solver", 1, second, "print(2)", reasoning="so it is"),
            tool_line("solver", 0, "stdout:\n1"),
            call("solver", 0, start, "I try.", tools=[use]),
        ],
        ["solver"],
        where="x",
    )
    assert order(calls) == [("solver", 0), ("solver", 1)]
    assert heard(calls) == [
        ("system", "instructions to solver", "Be right."),
        ("heard", "the task to solver", TASK),
        ("said", "solver says", "I try."),
        ("tool", "solver to python_exec: code", "print(1)"),
        ("tool", "solver to python_exec: stdin", "1"),
        ("result", "python_exec to solver", "stdout:\n1"),
        ("reasoning", "solver thinks", "so it is"),
        ("said", "solver says", "print(2)"),
    ]
    assert [b.code for b in calls[0].blocks] == [False, False, False, True, False, False]


def test_a_pipeline_stands_in_its_order_with_senders() -> None:
    plan = "Sort the numbers first, then walk from both ends."
    calls = build_calls(
        [
            call(
                "a_tester", 0, [user(f"{TASK}\n--- from zeno ---\n{plan}")], "Fine as it stands."
            ),
            call("zeno", 0, [user(TASK)], plan),
        ],
        ["zeno", "a_tester"],
        where="x",
    )
    assert order(calls) == [("zeno", 0), ("a_tester", 0)]
    assert ("heard", "zeno to a_tester") in [block[:2] for block in heard(calls)]


def test_peers_of_a_round_stand_together_and_a_rewritten_history_shows_only_what_is_new() -> None:
    said_first = {"p0": "My answer uses a heap of sizes.", "p1": "Mine counts in a plain list."}
    lines = []
    for me, other in (("p0", "p1"), ("p1", "p0")):
        lines.append(call(me, 0, [user(TASK)], said_first[me]))
        again = [user(TASK), said(said_first[me]), user(f"Peer 1:\n{said_first[other]}")]
        lines.append(call(me, 1, again, f"{me} stays with it."))
    calls = build_calls(lines, ["p0", "p1"], where="x")
    assert order(calls) == [("p0", 0), ("p1", 0), ("p0", 1), ("p1", 1)]
    assert [b.heading for b in calls[2].blocks] == ["p1 to p0", "p0 says"]


def test_a_manager_waits_for_the_worker_whom_it_told_what_to_do() -> None:
    wish = "Write the whole program and try it with large input."
    use = ("d1", "delegate_to_coder_worker", json.dumps({"instructions": wish}))
    report = "Here is the program, it took two seconds."
    start = [system("Manage."), user(TASK)]
    calls = build_calls(
        [
            call("coder_worker", 0, [user(f"{TASK}\n{wish}")], report),
            call("manager", 0, start, "", tools=[use]),
            call("manager", 1, [*start, said("", use), answered("d1", report)], "TERMINATE"),
        ],
        ["manager", "coder_worker"],
        where="x",
    )
    assert order(calls) == [("manager", 0), ("coder_worker", 0), ("manager", 1)]
    headings = [b.heading for b in calls[0].blocks]
    assert "manager to delegate_to_coder_worker: instructions" in headings
    assert report not in [b.text for b in calls[0].blocks]
    assert calls[1].blocks[0].heading == "manager to coder_worker"
    assert calls[2].blocks[0].heading == "coder_worker to manager"


def test_agents_that_write_the_same_do_not_end_in_a_circle() -> None:
    same = "We all say the very same thing here."
    lines = [
        call(me, step, [user(f"{same} {me}" if step else TASK)], same)
        for me in ("p0", "p1")
        for step in (0, 1)
    ]
    assert len(build_calls(lines, [], where="x")) == 4
    both = [call(me, 0, [user(f"{TASK} {me}")], f"words of {me} alone") for me in "ab"]
    for line, other in zip(both, "ba", strict=True):
        line["request"]["messages"].append(user(f"words of {other} alone"))
    assert order(build_calls(both, ["b", "a"], where="x")) == [("b", 0), ("a", 0)]


@pytest.mark.parametrize("arguments", ["", "{}", "no json {", "[1]", '{"code": 5, "x": [1]}'])
def test_any_arguments_of_a_tool_are_shown(arguments: str) -> None:
    (one,) = build_calls(
        [call("s", 0, [user(TASK)], "", tools=[("c", "python_exec", arguments)])], [], where="x"
    )
    assert one.blocks[1].heading.startswith("s to python_exec")
    assert one.blocks[-1].heading == "python_exec gave nothing back to s"


def test_results_that_were_never_read_are_shown() -> None:
    uses = [("c1", "python_exec", "{}"), ("c2", "python_exec", "{}")]
    lines = [call("s", 0, [user(TASK)], "", tools=uses)]
    lines += [tool_line("s", 0, "one"), tool_line("s", 0, "two")]
    texts = [text for _, _, text in heard(build_calls(lines, [], where="x"))]
    assert texts[-2:] == ["one", "two"]


@pytest.mark.parametrize(
    "change", [{"reply": {"text": "x"}}, {"request": None}, {"request": {"messages": [3]}}]
)
def test_a_line_of_another_shape_is_a_data_error(change: dict[str, Any]) -> None:
    line = call("s", 0, [user(TASK)], "x") | change
    with pytest.raises(DataError, match="not what a transcript holds"):
        build_calls([line], [], where="t.jsonl")


def test_times_come_from_the_file_beside_or_are_unknown(tmp_path: Path) -> None:
    for timing, expected in ((True, 0.5), (False, None)):
        folder = write_cell(
            tmp_path / str(timing),
            lines=[call("solver", 0, [user(TASK)], "x")],
            predictions=[prediction("q1")],
            verdicts=[verdict("q1")],
            timing=timing,
        )
        with CellConversations(folder, CELL) as cell:
            found = cell.conversation("q1")
        assert found.calls[0].latency_s == found.model_s == expected
        assert found.judge_s == (0.125 if timing else None)


def test_damaged_and_missing_files_are_data_errors(tmp_path: Path) -> None:
    def fresh(name: str) -> Path:
        return write_cell(
            tmp_path / name,
            lines=[call("solver", 0, [user(TASK)], "x")] * 2,
            predictions=[prediction("q1")],
            verdicts=[verdict("q1")],
        )

    for name in ("predictions", "verdicts", "judge_timing", "transcript"):
        folder = fresh(name)
        path = folder / f"{name}.jsonl"
        path.write_text('{"half": \n' + path.read_text())
        with pytest.raises(DataError, match=f"{name}.jsonl: line 1 is no"):
            CellConversations(folder, CELL)
    folder = fresh("gone")
    (folder / "transcript.jsonl").unlink()
    with pytest.raises(DataError, match="there is no transcript"):
        CellConversations(folder, CELL)
    (folder / "predictions.jsonl").unlink()
    with pytest.raises(DataError, match="no answers yet"):
        CellConversations(folder, CELL)


def test_every_character_can_be_seen_and_none_acts() -> None:
    shown = visible(f"a\tb\r\nc{ESCAPES}漢字👩‍💻")
    assert shown.startswith("a\tb\nc\\x1b[2J\\x1b]0;title\\x07\\x1b[31mred\\x9b5m\\x00\\x08\\x7f")
    assert "\\u202eevil\\u2066\\ud800\\u2028end漢字👩‍💻" in shown
    shown.encode()
    assert one_line(" a\nb\x1b ") == "a b\\x1b"


def test_runs_of_lines_that_were_shown_are_left_out() -> None:
    repeats = Repeats()
    text = "\n".join(f"line {n}" for n in range(10))
    assert repeats.shorten(text, "[{n}]") == text
    repeats.note(text)
    assert repeats.shorten(f"new\n{text}\nend", "[{n}]") == "new\n[10]\nend"
    assert repeats.shorten(text, "[{n}]") == "[10]"
    few = "line 1\nline 2\nother"
    assert repeats.shorten(few, "[{n}]") == few
