"""A scripted model client and toolbox for team tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from lcbgrid.config.model_spec import SamplingSpec
from lcbgrid.config.team_spec import RoleSpec, TeamSpec
from lcbgrid.models.types import ChatReply, ChatRequest, ToolCall, Usage
from lcbgrid.problems.schema import Problem
from lcbgrid.teams.bundle import PromptBundle
from lcbgrid.teams.interface import Answer, build
from lcbgrid.teams.work import Context

F = "```"
STDIN = Problem(
    question_id="q1",
    title="Sum",
    statement="Print the sum of all numbers.",
    starter_code="",
    fn_name=None,
    platform="p",
    difficulty="easy",
    contest_id="c",
    contest_date="2025-01-01T00:00:00",
)
STARTER = "class Solution:\n    def total(self, xs: List[int]) -> int:\n        "
FUNCTIONAL = Problem(
    question_id="q2",
    title="Sum",
    statement="Return the sum.",
    starter_code=STARTER,
    fn_name="total",
    platform="p",
    difficulty="easy",
    contest_id="c",
    contest_date="2025-01-01T00:00:00",
)
USAGE = Usage(10, 5, 15)


def text(content: str | None, *, finish: str = "stop", status: Any = "ok") -> ChatReply:
    """A reply with text."""
    return ChatReply(text=content, finish_reason=finish, usage=USAGE, status=status)


def calls(*arguments: str, name: str = "python_exec", content: str = "") -> ChatReply:
    """A reply with tool calls, each with raw argument text."""
    tools = tuple(ToolCall(f"c{i}", name, text) for i, text in enumerate(arguments))
    return ChatReply(text=content, tool_calls=tools, finish_reason="tool_calls", usage=USAGE)


class ScriptedClient:
    """Answers from a list, or from a function of the request; keeps what it was asked."""

    def __init__(self, replies: Sequence[ChatReply] | Callable[[ChatRequest], ChatReply]) -> None:
        self.requests: list[ChatRequest] = []
        self._replies = replies

    async def chat(self, request: ChatRequest) -> ChatReply:
        """Answer one request."""
        self.requests.append(request)
        if callable(self._replies):
            return self._replies(request)
        return self._replies[len(self.requests) - 1]


class EchoTools:
    """Tools that say what they were called with."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []

    def schemas(self, tools: tuple[str, ...]) -> tuple[dict[str, Any], ...]:
        """One small schema a tool."""
        return tuple({"type": "function", "function": {"name": name}} for name in tools)

    async def call(self, call: ToolCall, where: object, index: int, allowed: object) -> str:
        """Echo."""
        self.calls.append((call.name, call.arguments))
        return f"ran {call.id}"


def spec(builder: str, **changes: Any) -> TeamSpec:
    """A team of one solver."""
    tools = ("python_exec",) if builder == "single" else ()
    role = RoleSpec(name="solver", tools=tools, delivers=True)
    return TeamSpec(builder=builder, roles=(role,), **changes)


async def solve(
    team: TeamSpec, client: ScriptedClient, problem: Problem = STDIN, tools: Any = None
) -> Answer:
    """Let the team of a spec solve a problem with a scripted client."""
    context = Context(
        client=client,  # type: ignore[arg-type]
        tools=tools or EchoTools(),
        spec=team,
        sampling=SamplingSpec(),
        cell_seed=3,
        sample_index=0,
    )
    return await build(team).solve(problem, PromptBundle({"solver": "You solve."}), context)
