"""``decentralized``: peers solve the problem, read each other's answers, and revise in rounds.

Teams specification, sections 1.5, 4 and 8, with Q5, Q10 and Q11 mended: peers have seeds of their
own, are searched only in what they wrote themselves, and read programs whole. Peers of a round
work at once, and nobody reads an answer of the same round.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypedDict

from lcbgrid.models.failures import ModelCallError
from lcbgrid.models.types import Message
from lcbgrid.problems.schema import Problem
from lcbgrid.scenarios import code_generation
from lcbgrid.teams.agent import Agent, Turn
from lcbgrid.teams.ballot import elected
from lcbgrid.teams.bundle import PromptBundle
from lcbgrid.teams.communication import contracts
from lcbgrid.teams.communication.handoff import Handoff, hand_off
from lcbgrid.teams.communication.measure import measure
from lcbgrid.teams.copies import candidate, copy_names, side_by_side
from lcbgrid.teams.interface import Answer, TeamPlan, register
from lcbgrid.teams.work import Context, Meter, Work

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph
    from langgraph.runtime import Runtime

_OTHERS = "The other peers answered this in the last round:"
_REVISE = """Compare their answers with yours. Change yours only if one of them shows a case that
it gets wrong, or is fast enough where it is not. Then give the whole program again in one
```python block, changed or not. The problem once more:"""
_NO_ANSWER = "(no answer)"


class _State(TypedDict):
    round: int


@dataclass(slots=True)
class _Peer:
    """One peer over all rounds."""

    name: str
    history: list[Message]
    meter: Meter
    turns: list[Turn] = field(default_factory=list)
    loss: ModelCallError | None = None

    @property
    def n_calls(self) -> int:
        return sum(len(turn.replies) for turn in self.turns)

    @property
    def active(self) -> bool:
        return self.loss is None and self.meter.end() is None


@dataclass(frozen=True, slots=True)
class _Run:
    work: Work
    peers: list[_Peer]
    handoffs: list[Handoff]


class DecentralizedTeam:
    """Copies of one role in a debate; a LangGraph graph of one node that goes round."""

    def __init__(self, plan: TeamPlan) -> None:
        spec = plan.spec
        self._role = spec.roles[0]
        self._format = plan.communication
        self._rounds = spec.rounds
        self._names = copy_names(self._role, plan.size)
        self._agent = Agent(
            self._role,
            max_model_calls=spec.max_model_calls,
            max_tool_calls=spec.max_tool_calls,
        )

    async def solve(self, problem: Problem, bundle: PromptBundle, context: Context) -> Answer:
        """Debate, then choose one program.

        A peer that is lost, or whose budget is used up, stays with what it said before.

        Raises:
            ModelCallError: The model cannot be asked, or those that are left wrote no program.
        """
        work = Work(problem, context, copies=True)
        work.enroll(*self._names)
        system = code_generation.with_contract(bundle.prompts[self._role.name])
        start: list[Message] = [
            {"role": "system", "content": contracts.with_contract(system, self._format)},
            {"role": "user", "content": code_generation.user_message(problem)},
        ]
        meters = context.meters(len(self._names))
        peers = [
            _Peer(name, list(start), meter)
            for name, meter in zip(self._names, meters, strict=True)
        ]
        run = _Run(work, peers, [])
        await self._graph.ainvoke(
            {"round": 0}, config={"recursion_limit": self._rounds + 2}, context=run
        )
        reports = [
            (peer.name, turn.text)
            for number in range(self._rounds)
            for peer in peers
            for turn in peer.turns[number : number + 1]
        ]
        return await elected(
            work,
            [candidate(work, p.name, self._role, p.turns, p.loss) for p in peers],
            [peer.loss for peer in peers if peer.loss is not None],
            communication=measure(self._format, reports, run.handoffs),
        )

    @functools.cached_property
    def _graph(self) -> CompiledStateGraph[Any, Any, Any, Any]:
        from langgraph.graph import END, START, StateGraph

        graph = StateGraph(_State, context_schema=_Run)
        graph.add_node("debate", self._debate)
        graph.add_edge(START, "debate")
        graph.add_conditional_edges("debate", self._next, {"again": "debate", "end": END})
        return graph.compile()

    async def _next(self, state: _State) -> str:
        return "again" if state["round"] < self._rounds else "end"

    async def _debate(self, state: _State, runtime: Runtime[_Run]) -> dict[str, Any]:
        run = runtime.context
        active = [index for index, peer in enumerate(run.peers) if peer.active]
        if state["round"] > 0:
            said = {i: peer.turns[-1] for i, peer in enumerate(run.peers) if peer.turns}
            for index in active:
                run.peers[index].history.append(self._others(index, said, run))

        async def turn(index: int) -> Turn:
            peer = run.peers[index]
            return await self._agent.turn(
                run.work, peer.name, peer.history, meter=peer.meter, first_step=peer.n_calls
            )

        for index, result in (await side_by_side(turn, active)).items():
            peer = run.peers[index]
            if isinstance(result, ModelCallError):
                peer.loss = result
            else:
                peer.turns.append(result)
                peer.history.extend(result.messages)
        return {"round": state["round"] + 1}

    def _others(self, reader: int, said: Mapping[int, Turn], run: _Run) -> Message:
        """Return the message with the other peers' last answers; they are numbered from 1."""
        parts = [_OTHERS]
        others = (index for index in range(len(run.peers)) if index != reader)
        for number, index in enumerate(others, start=1):
            text = _NO_ANSWER
            if index in said and said[index].text:
                handoff = hand_off(
                    said[index].text,
                    self._format,
                    role=self._names[index],
                    topology="decentralized",
                    handoff="peer_previous_round",
                    target=f"peer_{number}",
                    code=said[index].program(run.work.problem).code,
                )
                run.handoffs.append(handoff)
                text = handoff.rendered
            parts.append(f"Peer {number}:\n{text}")
        parts.append(f"{_REVISE}\n{code_generation.user_message(run.work.problem)}")
        return {"role": "user", "content": "\n\n".join(parts)}


register("decentralized")(DecentralizedTeam)
