"""Cell folders with hand-made conversations, as the run and judge stages publish them."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lcbgrid.core.files import write_json, write_jsonl

CELL = "mine/code_generation/single/r1-freeform/identity/sim/seed0"
OTHER = "mine/code_generation/direct/r1-freeform/identity/sim/seed0"
HOSTILE = (
    "</script></pre><script>window.hacked = 1; document.title = 'hacked'</script>"
    "<img src=x onerror=\"window.hacked = 2\"><svg onload='window.hacked = 3'>"
    '"><a href="javascript:window.hacked=4">x</a>&lt;b&gt;&amp;{{ 7*7 }}{% raw %}'
    "<link rel=stylesheet href=http://127.0.0.1:9/x.css><!-- ]]>"
)
ESCAPES = "\x1b[2J\x1b]0;title\x07\x1b[31mred\x9b5m\x00\x08\x7f\u202eevil\u2066\ud800\u2028end"
PROGRAM = f'import sys\n\ndef f():\n\treturn "漢字 {HOSTILE}"\n\nprint(f() if 1 < 2 else "&amp;")'


def call(
    agent: str,
    step: int,
    messages: Sequence[Mapping[str, Any]],
    text: str | None = "",
    *,
    tools: Sequence[tuple[str, str, str]] = (),
    question: str = "q1",
    sample: int = 0,
    **reply: Any,
) -> dict[str, Any]:
    """Return a call's line; a tool is its id, name and arguments."""
    return {
        "schema_version": 1,
        "kind": "call",
        "key": f"{question}/{sample}/{agent}/{step}",
        "content_key": f"c{question}/{sample}/{agent}/{step}",
        "call": {
            "question_id": question,
            "sample_index": sample,
            "agent": agent,
            "step": step,
        },
        "model": "sim",
        "request": {"messages": list(messages), "seed": 1},
        "reply": {
            "text": text,
            "reasoning": None,
            "tool_calls": [{"id": i, "name": n, "arguments": a} for i, n, a in tools],
            "finish_reason": "tool_calls" if tools else "stop",
            "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
            "status": "ok",
            "message": None,
            **reply,
        },
    }


def tool_line(agent: str, step: int, result: str, *, question: str = "q1") -> dict[str, Any]:
    """Return the line of a tool's result."""
    where = {"question_id": question, "sample_index": 0, "agent": agent, "step": step}
    key = f"t{question}{agent}{step}{len(result)}{result[:3]}"
    return {"schema_version": 1, "kind": "tool", "key": key, "call": where, "result": result}


def system(text: str) -> dict[str, Any]:
    """Return instructions."""
    return {"role": "system", "content": text}


def user(text: str) -> dict[str, Any]:
    """Return a message to the agent."""
    return {"role": "user", "content": text}


def said(text: str, *tools: tuple[str, str, str]) -> dict[str, Any]:
    """Return the agent's own reply, as it is sent back to it."""
    calls = [
        {"id": i, "type": "function", "function": {"name": n, "arguments": a}} for i, n, a in tools
    ]
    return {"role": "assistant", "content": text} | ({"tool_calls": calls} if calls else {})


def answered(tool_id: str, text: str) -> dict[str, Any]:
    """Return a tool's answer as the model reads it."""
    return {"role": "tool", "tool_call_id": tool_id, "content": text}


def prediction(
    question: str, sample: int = 0, *, program: str | None = PROGRAM, **changes: Any
) -> dict[str, Any]:
    """Return a prediction of one agent."""
    spent = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    counts = {"n_llm_calls": 1, "n_tool_calls": 0}
    member = {"agent": "solver", "role": "solver", "status": "ok", "text": "", "code": program}
    return {
        "question_id": question,
        "sample_index": sample,
        "difficulty": "easy",
        "platform": "atcoder",
        "mode": "stdin",
        "predicted_code": program,
        "extraction": "labelled",
        "status": "ok",
        "finish_reason": "stop",
        "usage": spent | counts,
        "agents": [member | {"spent": spent}],
        "winner": 0,
        "vote": None,
        "communication": None,
        "n_turns": None,
        "error": None,
        **changes,
    }


def verdict(question: str, sample: int = 0, status: str = "passed", **more: Any) -> dict[str, Any]:
    """Return a verdict on two tests."""
    right = status == "passed"
    tests = [
        {"index": 0, "status": "passed", "detail": None, "got": None},
        {"index": 1, "status": status, "detail": None if right else "line 1 differs", "got": None},
    ]
    return {
        "question_id": question,
        "sample_index": sample,
        "status": status,
        "n_passed": 2 if right else 1,
        "n_total": 2,
        "message": None if right else "test 1: line 1 differs",
        "tests": tests,
        "rules": "real",
        "tier": "bwrap",
        **more,
    }


def write_cell(
    results: Path,
    *,
    lines: Sequence[Mapping[str, Any]],
    predictions: Sequence[Mapping[str, Any]],
    verdicts: Sequence[Mapping[str, Any]] = (),
    timing: bool = True,
    path: str = CELL,
) -> Path:
    """Write a published cell; lone surrogates stay escaped, as foreign files may have them."""
    folder = results / "runs" / path
    write_jsonl(folder / "predictions.jsonl", predictions)
    _write_ascii(folder / "transcript.jsonl", lines)
    if verdicts:
        write_jsonl(folder / "verdicts.jsonl", verdicts)
    if timing:
        times = [
            {"key": line["key"], "kind": line["kind"], "latency_s": 0.5, "retries": 1}
            | {"waited_s": 0.25}
            for line in lines
        ]
        write_jsonl(folder / "timing.jsonl", times)
        judged = [
            {"question_id": v["question_id"], "sample_index": v["sample_index"], "tests": [t]}
            for v in verdicts
            for t in [{"index": 0, "wall_s": 0.125}]
        ]
        write_jsonl(folder / "judge_timing.jsonl", judged)
    write_json(folder / "cell.json", {"path": path})
    return folder


def _write_ascii(path: Path, lines: Sequence[Mapping[str, Any]]) -> None:
    import json

    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="ascii")


def hostile_results(results: Path) -> Path:
    """Write a results folder whose texts try to get out of where they are shown."""
    code = f"print({HOSTILE!r})"
    use = ("c1", "python_exec", '{"code": ' + _quoted(code) + ', "stdin": "1\\n2\\n"}')
    start = [system(f"You solve. {HOSTILE}"), user(f"Add. {HOSTILE}{ESCAPES}")]
    lines = [
        call("solver", 0, start, "I try it.", tools=[use], reasoning=f"Hm {HOSTILE}{ESCAPES}"),
        tool_line("solver", 0, f"stdout:\n{HOSTILE}{ESCAPES}"),
        call(
            "solver",
            1,
            [*start, said("I try it.", use), answered("c1", f"stdout:\n{HOSTILE}{ESCAPES}")],
            f"Done {HOSTILE}{ESCAPES}\n```python\n{PROGRAM}\n```",
        ),
        call("solver", 0, start, "no idea", question="q2", finish_reason=HOSTILE),
        call("solver", 0, start, None, question=HOSTILE),
    ]
    write_cell(
        results,
        lines=lines,
        predictions=[
            prediction("q1"),
            prediction("q2", program=None, status="no_code", difficulty="hard", error=HOSTILE),
            prediction(HOSTILE, program="print(1)"),
        ],
        verdicts=[
            verdict("q1"),
            verdict("q2", status="no_code", message=HOSTILE),
            verdict(HOSTILE, status="wrong_answer"),
        ],
    )
    titles = {"q1": f"Sum {HOSTILE}", "q2": "Product"}
    write_jsonl(
        results / "problems" / "mine" / "problems.jsonl",
        [{"question_id": key, "title": title} for key, title in titles.items()],
    )
    return results


def _quoted(text: str) -> str:
    import json

    return json.dumps(text)


def copied(results: Path, target: Path) -> Path:
    """Copy a results folder, as somebody would who got it from elsewhere."""
    shutil.copytree(results, target)
    return target
