"""``sequential``: a pipeline in which every stage reads the texts of all earlier ones.

Teams specification, sections 1.3, 2 and 4, with Q6 and Q18 mended: the program handed in is that
of the last stage that wrote one, and thinking is not handed on. So a stage that spoils a right
program decides, as it would in a real pipeline; a stage that wrote none does not.
"""

from __future__ import annotations

import dataclasses
import functools
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from lcbgrid.problems.schema import Problem
from lcbgrid.scenarios import code_generation
from lcbgrid.teams.agent import Agent, Turn
from lcbgrid.teams.bundle import PromptBundle
from lcbgrid.teams.communication.formats import check_format
from lcbgrid.teams.communication.handoff import Handoff, hand_off
from lcbgrid.teams.communication.measure import measure
from lcbgrid.teams.interface import Answer, TeamPlan, end_status, register
from lcbgrid.teams.programs import Writer, choose, program_in
from lcbgrid.teams.roles import agent_names, member, system_prompt
from lcbgrid.teams.work import Context, Meter, Work

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph
    from langgraph.runtime import Runtime

_WROTE_NOTHING = "(This stage wrote nothing.)"
_BUDGETS = ("token_limit", "time_limit")


@dataclass(frozen=True, slots=True)
class _Stage:
    """A stage that is done; ``handoff`` is ``None`` if it wrote nothing."""

    turn: Turn
    handoff: Handoff | None


class _State(TypedDict):
    done: Annotated[list[_Stage], operator.add]
    over: bool


@dataclass(frozen=True, slots=True)
class _Run:
    """What one walk through the graph needs."""

    work: Work
    bundle: PromptBundle
    meter: Meter


class SequentialTeam:
    """One agent a stage, in the order of the lineup; a LangGraph graph without branches.

    When the problem's budget is used up, the stages not reached stay ``idle`` and the answer's
    status says which limit it was.
    """

    def __init__(self, plan: TeamPlan) -> None:
        check_format(plan.communication)
        self._format = plan.communication
        self._roles = plan.spec.lineup(plan.size)
        self._names = agent_names(self._roles)
        self._agents = [
            Agent(
                role,
                max_model_calls=plan.spec.max_model_calls,
                max_tool_calls=plan.spec.max_tool_calls,
            )
            for role in self._roles
        ]

    async def solve(self, problem: Problem, bundle: PromptBundle, context: Context) -> Answer:
        """Run the stages and hand in the program of the last one that wrote any.

        Raises:
            ModelCallError: The model cannot be asked.
        """
        work = Work(problem, context)
        work.enroll(*self._names)
        meter = context.meters()[0]
        final = await self._graph.ainvoke(
            {"done": [], "over": False},
            config={"recursion_limit": len(self._roles) + 2},
            context=_Run(work, bundle, meter),
        )
        return self._answer(work, meter, final["done"])

    @functools.cached_property
    def _graph(self) -> CompiledStateGraph[Any, Any, Any, Any]:
        from langgraph.graph import END, START, StateGraph

        graph = StateGraph(_State, context_schema=_Run)
        nodes = [f"stage_{name}" for name in self._names]
        for index, node in enumerate(nodes):
            graph.add_node(node, functools.partial(self._stage, index))
        graph.add_edge(START, nodes[0])
        for node, following in zip(nodes, [*nodes[1:], END], strict=True):
            graph.add_conditional_edges(node, self._after, {"next": following, "end": END})
        return graph.compile()

    async def _stage(self, index: int, state: _State, runtime: Runtime[_Run]) -> dict[str, Any]:
        run, role, name = runtime.context, self._roles[index], self._names[index]
        problem = run.work.problem
        turn = await self._agents[index].turn(
            run.work,
            name,
            [
                {"role": "system", "content": system_prompt(role, run.bundle, self._format)},
                {"role": "user", "content": self._user(index, problem, state["done"])},
            ],
            meter=run.meter,
        )
        handoff = None
        if turn.text:
            handoff = hand_off(
                turn.text,
                self._format,
                role=name,
                topology="sequential",
                handoff="prior_stage",
                code=program_in(turn.text, role, problem),
            )
        return {"done": [_Stage(turn, handoff)], "over": run.meter.end() is not None}

    async def _after(self, state: _State) -> str:  # see Agent
        return "end" if state["over"] else "next"

    def _user(self, index: int, problem: Problem, done: Sequence[_Stage]) -> str:
        task = f"You are {self._names[index]}, stage {index + 1} of {len(self._roles)}."
        if done:
            task += " Do your part; what the earlier stages wrote follows the problem."
        else:
            task += " Do your part; nobody has worked on this problem before you."
        parts = [task, f"PROBLEM:\n{code_generation.user_message(problem)}"]
        for name, stage in zip(self._names, done, strict=False):
            text = stage.handoff.rendered if stage.handoff else _WROTE_NOTHING
            parts.append(f"----- earlier stage: {name} -----\n{text}")
        return "\n\n".join(parts)

    def _answer(self, work: Work, meter: Meter, done: Sequence[_Stage]) -> Answer:
        problem = work.problem
        writers = [
            Writer(index, self._roles[index], done[index].turn.replies)
            for index in reversed(range(len(done)))
        ]
        chosen, found = choose(writers, problem, runs_count=True)
        deciding = done[chosen.member if chosen else -1].turn
        end, budget = deciding.end, meter.end()
        if budget and (len(done) < len(self._roles) or done[-1].turn.end in _BUDGETS):
            end = budget
        members = [
            member(work, name, role, [s.turn for s in done[i : i + 1]], runs_count=True)
            for i, (name, role) in enumerate(zip(self._names, self._roles, strict=True))
        ]
        if chosen and members[chosen.member].code is None:
            winner = members[chosen.member]
            members[chosen.member] = dataclasses.replace(winner, code=found.code)
        return Answer(
            extraction=found,
            status=end_status(end, found),
            finish_reason=deciding.finish_reason,
            spent=work.total(),
            message=deciding.message,
            members=tuple(members),
            winner=chosen.member if chosen else None,
            communication=self._measured(done),
        )

    def _measured(self, done: Sequence[_Stage]) -> dict[str, Any]:
        """Measure the reports; every pair of an earlier and a later stage is one hand-off."""
        given = [stage.handoff for stage in done]
        read = [handoff for later in range(len(done)) for handoff in given[:later] if handoff]
        return measure(
            self._format,
            [(handoff.role, handoff.raw) for handoff in given if handoff],
            read,
            required_roles=self._names,
        )


register("sequential")(SequentialTeam)
