"""An agent's turn: it thinks, runs code with its tools, and answers (a ReAct loop).

A turn is what a node of a topology's graph does. It is a plain loop: a super-step of LangGraph
costs as much CPU as a model call does. The loop has a limit of its own that ends softly: the last
call gets no tools, so the agent has to answer (reports, R56). What goes into a history is always
valid for strict servers: every tool call has its answer, arguments that are no JSON object are not
sent again, and no call is left open.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from lcbgrid.config.team_spec import RoleSpec
from lcbgrid.models.types import ChatReply, Message, ToolCall
from lcbgrid.problems.schema import Problem
from lcbgrid.scenarios.extract import Extraction, extract, is_program, strip_thinking
from lcbgrid.teams.tools import BadArguments, is_refusal, parse_arguments
from lcbgrid.teams.work import Meter, Work

TurnEnd = Literal[
    "ok", "truncated", "empty", "context_limit", "step_limit", "token_limit", "time_limit"
]
BAD_CALLS_BORNE = 2  # then an agent gets no tools any more: it would go on like this
NO_TEXT = "(no text)"  # some servers refuse an empty message of an assistant
NOT_RUN = "ERROR: not run; at most {limit} calls in one reply"


@dataclass(frozen=True, slots=True)
class Turn:
    """What an agent did when it was asked once.

    Attributes:
        messages: New messages for the history, assistant and tool, valid to be sent again.
        replies: The model's replies as received.
        end: How the turn ended.
    """

    messages: list[Message]
    replies: tuple[ChatReply, ...]
    end: TurnEnd

    @property
    def text(self) -> str:
        """What the agent says to others: its last text, without thinking.

        The newest reply with text and without tool calls, else the newest with text, else empty.
        """
        spoken = [(reply, visible(reply.text)) for reply in self.replies]
        for reply, text in reversed(spoken):
            if text and not reply.tool_calls:
                return text
        return next((text for _, text in reversed(spoken) if text), "")

    @property
    def finish_reason(self) -> str:
        """How the server said that the last reply ended."""
        return self.replies[-1].finish_reason

    @property
    def message(self) -> str | None:
        """Says more about an end other than ``ok``."""
        return self.replies[-1].message

    def program(self, problem: Problem) -> Extraction:
        """Find the program in the agent's own replies; see ``find_program``."""
        return find_program(self.replies, problem)


class Agent:
    """One role of a team; it keeps nothing between turns.

    Args:
        role: Its tools.
        max_model_calls: Calls in one turn; an agent without tools makes one.
        max_tool_calls: Tool calls of one reply that are run.
    """

    def __init__(self, role: RoleSpec, *, max_model_calls: int, max_tool_calls: int) -> None:
        self.role = role
        self._limit = max_model_calls if role.tools else 1
        self._max_tool_calls = max_tool_calls

    async def turn(
        self,
        work: Work,
        name: str,
        history: list[Message],
        *,
        meter: Meter,
        first_step: int = 0,
    ) -> Turn:
        """Let the agent work on a history that ends with something to answer.

        Args:
            work: The problem.
            name: The agent's name in calls and records; two agents never share one.
            history: System, user and earlier messages; not changed.
            meter: The budget.
            first_step: Number of calls that this agent has made before.

        Raises:
            ModelCallError: The model cannot be asked.
        """
        messages: list[Message] = []
        replies: list[ChatReply] = []
        n_bad = 0
        while True:
            step = first_step + len(replies)
            may_call = len(replies) < self._limit - 1 and n_bad < BAD_CALLS_BORNE
            reply = await work.ask(
                name,
                step,
                [*history, *messages],
                tools=work.context.tools.schemas(self.role.tools) if may_call else (),
                meter=meter,
            )
            replies.append(reply)
            goes_on = bool(reply.tool_calls) and len(replies) < self._limit
            messages.append(as_message(reply, goes_on))
            if not goes_on:
                break
            answers, bad = await self._answer_calls(work, name, step, reply)
            messages += answers
            n_bad += bad
            if meter.end():
                break
        return Turn(messages, tuple(replies), self._end(replies, meter))

    async def _answer_calls(
        self, work: Work, name: str, step: int, reply: ChatReply
    ) -> tuple[list[Message], int]:
        """Run the tool calls of a reply; return their answers and how many made no sense."""
        where, spent = work.call_id(name, step), work.spent(name)
        answers: list[Message] = []
        n_bad = 0
        for index, call in enumerate(reply.tool_calls):
            if index < self._max_tool_calls:
                text = await work.context.tools.call(call, where, index, self.role.tools)
                spent.n_tool_calls += 1
                n_bad += is_refusal(text)
            else:
                text = NOT_RUN.format(limit=self._max_tool_calls)
            answers.append({"role": "tool", "tool_call_id": call.id, "content": text})
        spent.n_bad_tool_calls += n_bad
        return answers, n_bad

    def _end(self, replies: Sequence[ChatReply], meter: Meter) -> TurnEnd:
        last = replies[-1]
        if last.status != "ok":
            return last.status
        if last.tool_calls and len(replies) < self._limit:
            return meter.end() or "ok"
        return "step_limit" if len(replies) == self._limit > 1 else "ok"


def as_message(reply: ChatReply, keeps_calls: bool) -> Message:
    """Return the message that stands for a reply in later requests.

    Arguments that are no JSON object become an empty one: some servers refuse to be shown again
    what the model wrote (teams specification, section 1.4). Calls that nobody answers are dropped.
    """
    if not keeps_calls:
        said = reply.text if reply.text and reply.text.strip() else NO_TEXT
        return {"role": "assistant", "content": said}
    calls = tuple(
        call if _is_object(call.arguments) else dataclasses.replace(call, arguments="{}")
        for call in reply.tool_calls
    )
    return dataclasses.replace(reply, tool_calls=calls).to_message()


def _is_object(arguments: str) -> bool:
    try:
        return isinstance(json.loads(arguments), dict)
    except (ValueError, RecursionError):
        return False


def visible(text: str | None) -> str:
    """Return a reply's text as others read it: without thinking, stripped."""
    return strip_thinking(text or "")[0].strip()


def find_program(replies: Sequence[ChatReply], problem: Problem) -> Extraction:
    """Search an agent's own replies, newest first; then the code of its tool calls."""
    newest = extract(replies[-1].text, fn_name=problem.fn_name)
    if newest.code is not None:
        return newest
    for reply in reversed(replies[:-1]):
        found = extract(reply.text, fn_name=problem.fn_name)
        if found.code is not None:
            return Extraction(found.code, f"earlier_{found.method}", newest.truncated)
    for reply in reversed(replies):
        for call in reversed(reply.tool_calls):
            code = _code_of(call)
            if code is not None:
                return Extraction(code, "tool_argument", newest.truncated)
    return newest


def _code_of(call: ToolCall) -> str | None:
    try:
        code, _ = parse_arguments(call)
    except BadArguments:
        return None
    return code if is_program(code) else None
