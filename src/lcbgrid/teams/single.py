"""``single``: one agent that thinks, runs code with a tool, and answers."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict

from lcbgrid.models.types import Message
from lcbgrid.problems.schema import Problem
from lcbgrid.scenarios import code_generation
from lcbgrid.teams.agent import Agent, Turn
from lcbgrid.teams.bundle import PromptBundle
from lcbgrid.teams.interface import Answer, Member, TeamPlan, end_status, register
from lcbgrid.teams.work import Context, Meter, Work

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph
    from langgraph.runtime import Runtime


class _State(TypedDict):
    turn: Turn | None


@dataclass(frozen=True, slots=True)
class _Run:
    work: Work
    history: list[Message]
    meter: Meter


class SingleTeam:
    """One agent with ``python_exec``; a LangGraph graph of one node."""

    def __init__(self, plan: TeamPlan) -> None:
        spec = plan.spec
        self._name = spec.roles[0].name
        self._agent = Agent(
            spec.roles[0],
            max_model_calls=spec.max_model_calls,
            max_tool_calls=spec.max_tool_calls,
        )

    async def solve(self, problem: Problem, bundle: PromptBundle, context: Context) -> Answer:
        """Run the loop and take the program from the last reply, or from an earlier one."""
        work = Work(problem, context)
        history = [
            {
                "role": "system",
                "content": code_generation.with_contract(bundle.prompts[self._name]),
            },
            {"role": "user", "content": code_generation.user_message(problem)},
        ]
        final = await self._graph.ainvoke(
            {"turn": None}, context=_Run(work, history, context.meters()[0])
        )
        turn: Turn = final["turn"]
        found = turn.program(problem)
        status = end_status(turn.end, found)
        spent = work.total()
        return Answer(
            extraction=found,
            status=status,
            finish_reason=turn.finish_reason,
            spent=spent,
            message=turn.message,
            members=(Member(self._name, self._name, status, turn.text, found.code, spent),),
            winner=0,
        )

    @functools.cached_property
    def _graph(self) -> CompiledStateGraph[Any, Any, Any, Any]:
        from langgraph.graph import END, START, StateGraph

        graph = StateGraph(_State, context_schema=_Run)
        graph.add_node("solver", self._solve)
        graph.add_edge(START, "solver")
        graph.add_edge("solver", END)
        return graph.compile()

    async def _solve(self, state: _State, runtime: Runtime[_Run]) -> dict[str, Any]:
        run = runtime.context
        return {"turn": await self._agent.turn(run.work, self._name, run.history, meter=run.meter)}


register("single")(SingleTeam)
