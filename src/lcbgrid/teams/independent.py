"""``independent``: copies of one agent solve the problem apart, and their programs vote.

Teams specification, sections 1.2 and 8, with Q10 and Q20 mended: copies have seeds of their own
and are never greedy, and a member that is slow or lost holds up nobody.
"""

from __future__ import annotations

import functools
import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from lcbgrid.models.failures import ModelCallError
from lcbgrid.models.types import Message
from lcbgrid.problems.schema import Problem
from lcbgrid.scenarios import code_generation
from lcbgrid.teams.agent import Agent, Turn
from lcbgrid.teams.ballot import elected
from lcbgrid.teams.bundle import PromptBundle
from lcbgrid.teams.communication import contracts
from lcbgrid.teams.communication.measure import measure
from lcbgrid.teams.copies import candidate, copy_names, side_by_side
from lcbgrid.teams.interface import Answer, TeamPlan, register
from lcbgrid.teams.work import Context, Meter, Work

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph
    from langgraph.runtime import Runtime


class _State(TypedDict):
    results: Annotated[dict[int, Turn | ModelCallError], operator.or_]


@dataclass(frozen=True, slots=True)
class _Run:
    work: Work
    history: list[Message]
    meters: list[Meter]


class IndependentTeam:
    """Copies of one role; a LangGraph graph of one node for each, all started at once."""

    def __init__(self, plan: TeamPlan) -> None:
        spec = plan.spec
        self._role = spec.roles[0]
        self._format = plan.communication
        self._names = copy_names(self._role, plan.size)
        self._agent = Agent(
            self._role,
            max_model_calls=spec.max_model_calls,
            max_tool_calls=spec.max_tool_calls,
        )

    async def solve(self, problem: Problem, bundle: PromptBundle, context: Context) -> Answer:
        """Let all copies work at once, then choose one program.

        Raises:
            ModelCallError: The model cannot be asked, or those that are left wrote no program.
        """
        work = Work(problem, context, copies=True)
        work.enroll(*self._names)
        system = code_generation.with_contract(bundle.prompts[self._role.name])
        history: list[Message] = [
            {"role": "system", "content": contracts.with_contract(system, self._format)},
            {"role": "user", "content": code_generation.user_message(problem)},
        ]
        final = await self._graph.ainvoke(
            {"results": {}},
            context=_Run(work, history, context.meters(len(self._names))),
        )
        results = final["results"]
        losses = {i: r for i, r in results.items() if isinstance(r, ModelCallError)}
        turns = {i: [r] for i, r in results.items() if not isinstance(r, ModelCallError)}
        candidates = [
            candidate(work, name, self._role, turns.get(index, []), losses.get(index))
            for index, name in enumerate(self._names)
        ]
        reports = [(self._names[i], turns[i][0].text) for i in sorted(turns)]
        return await elected(
            work,
            candidates,
            [losses[index] for index in sorted(losses)],
            communication=measure(self._format, reports),
        )

    @functools.cached_property
    def _graph(self) -> CompiledStateGraph[Any, Any, Any, Any]:
        from langgraph.graph import END, START, StateGraph

        graph = StateGraph(_State, context_schema=_Run)
        for index, name in enumerate(self._names):
            graph.add_node(name, functools.partial(self._work, index))
            graph.add_edge(START, name)
            graph.add_edge(name, END)
        return graph.compile()

    async def _work(self, index: int, _: _State, runtime: Runtime[_Run]) -> dict[str, Any]:
        run = runtime.context

        async def turn(number: int) -> Turn:
            return await self._agent.turn(
                run.work, self._names[number], run.history, meter=run.meters[number]
            )

        return {"results": await side_by_side(turn, [index])}


register("independent")(IndependentTeam)
