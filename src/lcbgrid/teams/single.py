"""``single``: one agent that thinks, runs code with a tool, and answers (a ReAct loop).

A LangGraph graph of two nodes, ``agent`` and ``tools``. The loop has a limit of its own that ends
softly: the last call gets no tools, so the agent has to answer, and the answer is marked
``step_limit`` (reports, R56).
"""

from __future__ import annotations

import functools
import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from lcbgrid.config.team_spec import RoleSpec, TeamSpec
from lcbgrid.models.types import CallId, ChatReply, Message
from lcbgrid.problems.schema import Problem
from lcbgrid.scenarios import code_generation
from lcbgrid.scenarios.extract import Extraction, extract, is_program
from lcbgrid.teams.bundle import PromptBundle
from lcbgrid.teams.interface import Answer, Context, Spent, answer_status, register
from lcbgrid.teams.tools import BadArguments, parse_arguments

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph
    from langgraph.runtime import Runtime


class _State(TypedDict):
    messages: Annotated[list[Message], operator.add]
    replies: Annotated[list[ChatReply], operator.add]


@dataclass(frozen=True, slots=True)
class _Run:
    """What one walk through the graph needs."""

    problem: Problem
    context: Context
    spent: Spent


class SingleTeam:
    """One agent with ``python_exec``."""

    def __init__(self, spec: TeamSpec) -> None:
        self._role: RoleSpec = spec.roles[0]
        self._limit = spec.max_model_calls
        self._max_tool_calls = spec.max_tool_calls

    async def solve(self, problem: Problem, bundle: PromptBundle, context: Context) -> Answer:
        """Run the loop and take the program from the last reply, or from an earlier one."""
        spent = Spent()
        system = code_generation.with_contract(bundle.prompts[self._role.name])
        start: dict[str, Any] = {
            "messages": [
                {"role": "system", "content": system},
                {"role": "user", "content": code_generation.user_message(problem)},
            ],
            "replies": [],
        }
        final = await self._graph.ainvoke(
            start,
            config={"recursion_limit": 2 * self._limit + 2},
            context=_Run(problem, context, spent),
        )
        replies: list[ChatReply] = final["replies"]
        found = _find_program(replies, problem)
        status = answer_status(replies[-1], found)
        if status in ("ok", "no_code") and self._hit_limit(replies):
            status = "step_limit"
        return Answer(
            extraction=found,
            status=status,
            finish_reason=replies[-1].finish_reason,
            spent=spent,
            message=replies[-1].message,
        )

    def _hit_limit(self, replies: list[ChatReply]) -> bool:
        return len(replies) == self._limit and self._limit > 1

    @functools.cached_property
    def _graph(self) -> CompiledStateGraph[Any, Any, Any, Any]:
        from langgraph.graph import END, START, StateGraph

        graph = StateGraph(_State, context_schema=_Run)
        graph.add_node("agent", self._agent)
        graph.add_node("tools", self._tools)
        graph.add_edge(START, "agent")
        graph.add_conditional_edges("agent", self._next, {"tools": "tools", "end": END})
        graph.add_edge("tools", "agent")
        return graph.compile()

    async def _agent(self, state: _State, runtime: Runtime[_Run]) -> dict[str, Any]:
        run = runtime.context
        step = len(state["replies"])
        may_call = step < self._limit - 1
        tools = run.context.tools.schemas(self._role.tools) if may_call else ()
        reply = await run.context.ask(
            run.spent,
            problem=run.problem,
            agent=self._role.name,
            step=step,
            messages=state["messages"],
            tools=tools,
        )
        return {"messages": [reply.to_message()], "replies": [reply]}

    async def _tools(self, state: _State, runtime: Runtime[_Run]) -> dict[str, Any]:
        run = runtime.context
        step = len(state["replies"]) - 1
        where = CallId(run.problem.question_id, run.context.sample_index, self._role.name, step)
        answers = []
        for index, call in enumerate(state["replies"][-1].tool_calls):
            if index < self._max_tool_calls:
                text = await run.context.tools.call(call, where, index, self._role.tools)
                run.spent.n_tool_calls += 1
            else:
                text = f"ERROR: not run; at most {self._max_tool_calls} calls in one reply"
            answers.append({"role": "tool", "tool_call_id": call.id, "content": text})
        return {"messages": answers}

    def _next(self, state: _State) -> str:
        last = state["replies"][-1]
        return "tools" if last.tool_calls and len(state["replies"]) < self._limit else "end"


def _find_program(replies: list[ChatReply], problem: Problem) -> Extraction:
    """Search the agent's own replies, newest first; then the code of its last tool call."""
    newest = extract(replies[-1].text, fn_name=problem.fn_name)
    if newest.code is not None:
        return newest
    for reply in reversed(replies[:-1]):
        found = extract(reply.text, fn_name=problem.fn_name)
        if found.code is not None:
            return Extraction(found.code, f"earlier_{found.method}", newest.truncated)
    for reply in reversed(replies):
        for call in reversed(reply.tool_calls):
            try:
                code, _ = parse_arguments(call)
            except BadArguments:
                continue
            if is_program(code):
                return Extraction(code, "tool_argument", newest.truncated)
    return newest


register("single")(SingleTeam)
