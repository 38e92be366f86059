"""What stands at the head and the end of a conversation, in words, for text and page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from lcbgrid.analysis.conversations.model import NOT_JUDGED, Call, Conversation

Fact = tuple[str, str]
_SHOWN_FAILURES = 5


def head_facts(conversation: Conversation, cell: str) -> list[Fact]:
    """Return names and values: what this is, how it ended, what it cost."""
    prediction = conversation.prediction
    usage = prediction.get("usage") or {}
    names = (conversation.title, prediction.get("difficulty"), prediction.get("platform"))
    about = ", ".join(str(name) for name in names if name)
    facts = [
        ("cell", cell),
        ("question", f"{conversation.question_id} ({about})" if about else ""),
        ("sample", str(conversation.sample_index)),
        ("answer", _answer(prediction)),
        ("verdict", verdict_line(conversation.verdict)),
        (
            "cost",
            f"{usage.get('total_tokens', 0)} tokens ({usage.get('prompt_tokens', 0)} in, "
            f"{usage.get('completion_tokens', 0)} out), {usage.get('n_llm_calls', 0)} calls, "
            f"{usage.get('n_tool_calls', 0)} tool calls",
        ),
        ("time", f"model {seconds(conversation.model_s)}, judge {seconds(conversation.judge_s)}"),
    ]
    return [(name, value or conversation.question_id) for name, value in facts]


def verdict_line(verdict: Mapping[str, Any] | None) -> str:
    """Return status, tests passed and rules in one line."""
    if not verdict:
        return NOT_JUDGED.replace("_", " ")
    words = [
        str(verdict["status"]),
        f"{verdict.get('n_passed', 0)} of {verdict.get('n_total', 0)} tests passed",
    ]
    if verdict.get("rules"):
        words.append(f"rules {verdict['rules']}, sandbox {verdict.get('tier')}")
    return ", ".join(words)


def verdict_facts(verdict: Mapping[str, Any] | None) -> list[Fact]:
    """Return what the judge says; of hidden tests only what ``verdicts.jsonl`` holds."""
    facts = [("verdict", verdict_line(verdict))]
    if not verdict:
        return facts
    words = {
        "message": "reason",
        "checker": "checker",
        "errata": "known flaw of the problem",
        "undecided": "undecided",
    }
    facts += [(said, str(verdict[key])) for key, said in words.items() if verdict.get(key)]
    failed = [t for t in verdict.get("tests") or [] if t.get("status") != "passed"]
    for test in failed[:_SHOWN_FAILURES]:
        detail = f": {test['detail']}" if test.get("detail") else ""
        printed = f"; it printed {test['got']!r}" if test.get("got") else ""
        facts.append((f"test {test.get('index')}", f"{test.get('status')}{detail}{printed}"))
    if len(failed) > _SHOWN_FAILURES:
        counts = _counted(t.get("status") for t in failed[_SHOWN_FAILURES:])
        facts.append(("other tests", counts))
    return facts


def team_facts(prediction: Mapping[str, Any]) -> list[Fact]:
    """Return the members, each with how it ended, and whose program was chosen and how."""
    facts = []
    members = prediction.get("agents") or []
    winner = prediction.get("winner")
    for index, member in enumerate(members):
        spent = member.get("spent") or {}
        words = [
            str(member.get("status")),
            "has a program" if member.get("code") else "no program",
            f"{spent.get('total_tokens', 0)} tokens",
        ]
        if index == winner and len(members) > 1:
            words.append("its program was chosen")
        facts.append((str(member.get("agent")), ", ".join(words)))
    for key, said in (("vote", "vote"), ("communication", "communication")):
        value = prediction.get(key)
        if isinstance(value, Mapping):
            parts = (f"{k.removeprefix(f'{key}_')}: {_short(v)}" for k, v in value.items())
            facts.append((said, ", ".join(parts)))
    if prediction.get("n_turns") is not None:
        facts.append(("turns", str(prediction["n_turns"])))
    return facts


def call_line(call: Call) -> str:
    """Return what one call cost and how it ended."""
    words = [
        f"{call.usage.prompt_tokens} tokens in",
        f"{call.usage.completion_tokens} out",
        f"time {seconds(call.latency_s)}",
        f"finish reason {call.finish_reason or 'none'}",
    ]
    if call.status != "ok":
        words.append(call.status + (f" ({call.message})" if call.message else ""))
    if call.retries:
        words.append(f"{call.retries} retries, waited {seconds(call.waited_s)}")
    return ", ".join(words)


def seconds(value: float | None) -> str:
    """Return a measured time for reading."""
    return "not measured" if value is None else f"{value:.2f} s"


def _answer(prediction: Mapping[str, Any]) -> str:
    words = [str(prediction.get("status"))]
    if prediction.get("extraction") not in (None, "none"):
        words.append(f"program found as {prediction['extraction']}")
    if prediction.get("finish_reason"):
        words.append(f"finish reason {prediction['finish_reason']}")
    if prediction.get("error"):
        words.append(str(prediction["error"]))
    return ", ".join(words)


def _counted(values: Iterable[object]) -> str:
    return ", ".join(f"{n} {name}" for name, n in sorted(Counter(map(str, values)).items()))


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 80 else text[:79] + "\N{HORIZONTAL ELLIPSIS}"
