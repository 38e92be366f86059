"""Makes a conversation from the lines of a transcript.

A request repeats all that the agent has heard so far; here a text stands where it was new.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from lcbgrid.analysis.conversations.model import Block, Call
from lcbgrid.analysis.conversations.order import CallKey, Listeners, Spoken, in_order
from lcbgrid.core.errors import DataError
from lcbgrid.models.types import ChatReply, Message, ToolCall
from lcbgrid.scenarios.extract import strip_thinking
from lcbgrid.teams.tools import PYTHON_EXEC

TASK: Final = "the task"
_CODE: Final = "code"
_PYTHON_EXEC: Final = PYTHON_EXEC["function"]["name"]


@dataclass(frozen=True, slots=True)
class _Asked:
    """One call with what was new in its request."""

    agent: str
    step: int
    told: tuple[Message, ...]
    new: tuple[Message, ...]
    reply: ChatReply
    measured: bool


def build_calls(
    records: Iterable[Mapping[str, Any]], team: Sequence[str], *, where: object
) -> tuple[Call, ...]:
    """Return the calls of one answer in their order.

    Args:
        records: Lines of a transcript, calls and tool results, each with its ``timing``.
        team: The agents' names in the order of the team.
        where: The file, for messages.

    Raises:
        DataError: A record is not what a transcript holds.
    """
    records = list(records)
    try:
        asked = _asked(record for record in records if record["kind"] == "call")
        ran = _tool_results(record for record in records if record["kind"] == "tool")
        spoken = [_spoken(call) for call in asked.values()]
        listeners = Listeners(spoken)
        order = in_order(spoken, team, listeners)
        return tuple(_call(key, asked, ran.get(key, []), listeners) for key in order)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataError(
            f"a call is not what a transcript holds: {error!r}",
            where=where,
            remedy="the file is damaged or of another version; publish the cell again",
        ) from error


def text_of(content: object) -> str:
    """Return the text of a message; it may come in parts."""
    if isinstance(content, list):
        parts = [part.get("text", "") if isinstance(part, dict) else part for part in content]
        return "\n".join(str(part) for part in parts if part)
    return "" if content is None else str(content)


def _asked(records: Iterable[Mapping[str, Any]]) -> dict[CallKey, _Asked]:
    found: dict[CallKey, _Asked] = {}
    last: dict[str, _Asked] = {}
    for record in sorted(records, key=lambda r: (r["call"]["agent"], r["call"]["step"])):
        agent, step = str(record["call"]["agent"]), int(record["call"]["step"])
        messages = tuple(record["request"]["messages"])
        timing = record.get("timing") or {}
        call = _Asked(
            agent=agent,
            step=step,
            told=messages,
            new=_new(messages, last.get(agent)),
            reply=ChatReply.from_record(record["reply"], timing, cached=True),
            measured="latency_s" in timing,
        )
        found[agent, step] = last[agent] = call
    return found


def _new(messages: tuple[Message, ...], last: _Asked | None) -> tuple[Message, ...]:
    """Return the messages that the agent's call before did not have, its own words left out."""
    if last is None:
        return messages
    same = 0
    for mine, theirs in zip(messages, last.told, strict=False):
        if mine != theirs:
            break
        same += 1
    own = {"", (last.reply.text or "")}
    return tuple(
        message
        for message in messages[same:]
        if message.get("role") != "assistant" or text_of(message.get("content")) not in own
    )


def _tool_results(records: Iterable[Mapping[str, Any]]) -> dict[CallKey, list[str]]:
    found: dict[CallKey, list[str]] = {}
    for record in records:
        if call := record.get("call"):
            key = (str(call["agent"]), int(call["step"]))
            found.setdefault(key, []).append(text_of(record["result"]))
    return found


def _spoken(call: _Asked) -> Spoken:
    arguments = [
        value
        for use in call.reply.tool_calls
        if use.name != _PYTHON_EXEC  # what an agent gives to an interpreter, it tells nobody
        for _, value in _arguments(use)
    ]
    return Spoken(
        agent=call.agent,
        step=call.step,
        told="\n".join(text_of(message.get("content")) for message in call.told),
        new=tuple(
            text_of(message.get("content"))
            for message in call.new
            if message.get("role") != "system"
        ),
        wrote=(strip_thinking(call.reply.text or "")[0], *arguments),
    )


def _call(
    key: CallKey, asked: Mapping[CallKey, _Asked], ran: Sequence[str], listeners: Listeners
) -> Call:
    call = asked[key]
    following = min((k for k in asked if k[0] == key[0] and k[1] > key[1]), default=None)
    before = max((k for k in asked if k[0] == key[0] and k[1] < key[1]), default=None)
    called = {use.id for use in asked[before].reply.tool_calls} if before else set[str]()
    blocks = [
        _heard(message, call.agent, listeners)
        for message in call.new
        if message.get("tool_call_id") not in called
        or listeners.senders(text_of(message.get("content")), call.agent)  # another agent's work
    ]
    reply = call.reply
    if reply.reasoning:
        blocks.append(Block("reasoning", f"{call.agent} thinks", reply.reasoning))
    if reply.text:
        blocks.append(Block("said", f"{call.agent} says", reply.text))
    blocks += _tools(call, asked[following].new if following else (), ran, listeners)
    if not reply.text and not reply.tool_calls:
        blocks.append(Block("note", f"{call.agent} says nothing", ""))
    return Call(
        agent=call.agent,
        step=call.step,
        blocks=tuple(blocks),
        usage=reply.usage,
        finish_reason=reply.finish_reason,
        status=reply.status,
        message=reply.message,
        retries=reply.retries,
        latency_s=reply.latency_s if call.measured else None,
        waited_s=reply.waited_s if call.measured else None,
    )


def _heard(message: Message, agent: str, listeners: Listeners) -> Block:
    text, role = text_of(message.get("content")), message.get("role")
    if role == "system":
        return Block("system", f"instructions to {agent}", text)
    senders = ", ".join(sender for sender, _ in listeners.senders(text, agent))
    if role == "user":
        return Block("heard", f"{senders or TASK} to {agent}", text)
    return Block("heard", f"{senders or message.get('name') or role} to {agent}", text)


def _tools(
    call: _Asked, later: Sequence[Message], ran: Sequence[str], listeners: Listeners
) -> list[Block]:
    """Return each tool call with its result, taken from the request in which it was sent back."""
    results = {m.get("tool_call_id"): text_of(m.get("content")) for m in later if _is_tool(m)}
    uses = call.reply.tool_calls
    blocks: list[Block] = []
    for use in uses:
        blocks += _tool_call(use, call.agent)
        result = results.get(use.id)
        if result is None and len(uses) == len(ran) == 1:
            result = ran[0]
        if result is None:
            note = f"{use.name} gave nothing back to {call.agent}"
            blocks.append(Block("note", note, ""))
            continue
        if not listeners.senders(result, call.agent):  # else it is heard in the next call
            blocks.append(Block("result", f"{use.name} to {call.agent}", result))
    if not results and len(ran) > 1:
        heading = f"a tool to {call.agent}, never read"
        blocks += [Block("result", heading, result) for result in ran]
    return blocks


def _is_tool(message: Message) -> bool:
    return message.get("role") == "tool"


def _tool_call(use: ToolCall, agent: str) -> list[Block]:
    heading = f"{agent} to {use.name}"
    arguments = _arguments(use)
    if not arguments:
        return [Block("tool", heading, use.arguments)]
    return [
        Block("tool", f"{heading}: {name}" if name else heading, value, code=name == _CODE)
        for name, value in arguments
    ]


def _arguments(use: ToolCall) -> list[tuple[str, str]]:
    """Return names and values; what is no JSON object is one value without a name."""
    try:
        given = json.loads(use.arguments or "{}")
    except (ValueError, RecursionError):
        return [("", use.arguments)]
    if not isinstance(given, dict):
        return [("", use.arguments)]
    ordered = sorted(given.items(), key=lambda item: (item[0] != _CODE, item[0]))
    return [
        (name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
        for name, value in ordered
    ]
