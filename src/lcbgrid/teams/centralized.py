"""``centralized``: a manager gives jobs to workers by calling tools, and hands in the program.

Teams specification, section 1.4, with Q12, Q16 and Q17 mended. The graph has the nodes ``manager``
(one model call), ``tools`` (answers the calls of that reply in their order) and one for each
worker; a delegation leaves ``tools`` for its worker and comes back, so every call is answered
before the manager is asked again.

Turns are counted as one for each model call of the manager and one for each job of a worker, in
every communication format. The last turn is always the manager's, without tools.
"""

from __future__ import annotations

import dataclasses
import functools
import operator
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from lcbgrid.models.types import ChatReply, Message, ToolCall
from lcbgrid.problems.schema import Problem
from lcbgrid.scenarios import code_generation
from lcbgrid.scenarios.extract import extract
from lcbgrid.teams import delegation
from lcbgrid.teams.agent import BAD_CALLS_BORNE, Agent, Turn, as_message, find_program, visible
from lcbgrid.teams.bundle import PromptBundle
from lcbgrid.teams.communication.formats import check_format
from lcbgrid.teams.communication.handoff import Handoff, hand_off
from lcbgrid.teams.communication.measure import measure
from lcbgrid.teams.interface import Answer, Member, TeamPlan, end_status, register
from lcbgrid.teams.programs import Writer, choose, counts, program_in
from lcbgrid.teams.roles import agent_names, member, system_prompt
from lcbgrid.teams.tools import BadArguments, is_refusal, parse_arguments
from lcbgrid.teams.work import Context, Meter, Work

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph
    from langgraph.runtime import Runtime

DEFAULT_MAX_TURNS = 26
NUDGES_BORNE = 2
_NO_TEXT = "(no text)"
_GAVE_UP = "gave_up"


@dataclass(frozen=True, slots=True)
class _Job:
    """A worker's turn."""

    worker: int
    turn: Turn


class _State(TypedDict):
    messages: Annotated[list[Message], operator.add]
    replies: Annotated[list[ChatReply], operator.add]
    jobs: Annotated[list[_Job], operator.add]
    handoffs: Annotated[list[Handoff], operator.add]
    past: Annotated[list[tuple[str, str]], operator.add]
    n_turns: Annotated[int, operator.add]
    n_bad: Annotated[int, operator.add]
    nudges: int
    next_call: int
    goto: str
    end: str


@dataclass(frozen=True, slots=True)
class _Run:
    """What one walk through the graph needs."""

    work: Work
    bundle: PromptBundle
    meter: Meter


class CentralizedTeam:
    """A manager, first in the lineup, and its workers.

    A worker starts each job afresh: it gets its own system prompt and one user message with the
    task, the conversation so far and the job (``delegation.job``). The manager keeps its history
    and reads of a worker only what it hands over.
    """

    def __init__(self, plan: TeamPlan) -> None:
        check_format(plan.communication)
        spec = plan.spec
        self._format = plan.communication
        self._roles = spec.lineup(plan.size)
        self._names = agent_names(self._roles)
        self._manager, self._manager_name = self._roles[0], self._names[0]
        self._max_turns = spec.max_turns.get(plan.size, DEFAULT_MAX_TURNS)
        self._max_tool_calls = spec.max_tool_calls
        self._agents = {
            name: Agent(
                role,
                max_model_calls=spec.max_model_calls,
                max_tool_calls=spec.max_tool_calls,
            )
            for name, role in zip(self._names[1:], self._roles[1:], strict=True)
        }
        workers = dict(zip(self._names[1:], self._roles[1:], strict=True))
        self._note = delegation.manager_note(workers)
        self._delegates = tuple(delegation.delegate_schema(n, r) for n, r in workers.items())
        self._worker_of = {
            f"{delegation.PREFIX}{name}": index
            for index, name in enumerate(self._names[1:], start=1)
        }

    async def solve(self, problem: Problem, bundle: PromptBundle, context: Context) -> Answer:
        """Let the manager work until it hands in, or a limit is reached.

        Raises:
            ModelCallError: The model cannot be asked.
        """
        work = Work(problem, context)
        work.enroll(*self._names)
        start: dict[str, Any] = {
            **{name: [] for name in ("messages", "replies", "jobs", "handoffs", "past")},
            **dict.fromkeys(("n_turns", "n_bad", "nudges", "next_call"), 0),
        }
        final = await self._graph.ainvoke(
            start,
            config={"recursion_limit": 2 * self._max_turns + 4},
            context=_Run(work, bundle, context.meters()[0]),
        )
        return self._answer(work, final)

    @functools.cached_property
    def _graph(self) -> CompiledStateGraph[Any, Any, Any, Any]:
        from langgraph.graph import END, START, StateGraph

        graph = StateGraph(_State, context_schema=_Run)
        graph.add_node("manager", self._ask)
        graph.add_node("tools", self._answer_calls)
        graph.add_edge(START, "manager")
        graph.add_conditional_edges(
            "manager", self._where, {"tools": "tools", "manager": "manager", "end": END}
        )
        ways: dict[Hashable, str] = {"manager": "manager", "end": END}
        for index, name in enumerate(self._names[1:], start=1):
            graph.add_node(_node(name), functools.partial(self._work_on, index))
            graph.add_edge(_node(name), "tools")
            ways[_node(name)] = _node(name)
        graph.add_conditional_edges("tools", self._where, ways)
        return graph.compile()

    async def _where(self, state: _State) -> str:  # see Agent
        return state["goto"]

    # manager

    async def _ask(self, state: _State, runtime: Runtime[_Run]) -> dict[str, Any]:
        """Make one model call of the manager, and decide how it goes on."""
        run = runtime.context
        left = self._max_turns - state["n_turns"]
        tools = () if state["n_bad"] >= BAD_CALLS_BORNE else self._tools(run.work, left)
        reply = await run.work.ask(
            self._manager_name,
            len(state["replies"]),
            self._history(run, state, must_deliver=not tools),
            tools=tools,
            meter=run.meter,
        )
        calls = bool(reply.tool_calls) and bool(tools)
        update: dict[str, Any] = {"replies": [reply], "n_turns": 1, "next_call": 0}
        text = visible(reply.text)
        if calls:
            said = [("manager", text)] if text else []
            return update | {
                "messages": [as_message(reply, keeps_calls=True)],
                "past": said,
                "nudges": 0,
                "goto": "tools",
            }
        end = self._end(run, state, reply, text, left=left, had_tools=bool(tools))
        if end:
            return update | {"goto": "end", "end": end}
        message = {"role": "assistant", "content": (reply.text or "").strip() or _NO_TEXT}
        return update | {
            "messages": [message, {"role": "user", "content": delegation.NUDGE}],
            "nudges": state["nudges"] + 1,
            "goto": "manager",
        }

    def _tools(self, work: Work, left: int) -> tuple[dict[str, Any], ...]:
        """Return the manager's tools; a job has to leave a turn for the last reply."""
        own = work.context.tools.schemas(self._manager.tools) if left > 1 else ()
        return (*own, *self._delegates) if left > 2 else own

    def _history(self, run: _Run, state: _State, *, must_deliver: bool) -> list[Message]:
        system = system_prompt(self._manager, run.bundle, self._format)
        task = f"PROBLEM:\n{code_generation.user_message(run.work.problem)}"
        messages: list[Message] = [
            {"role": "system", "content": f"{system.rstrip()}\n\n{self._note}"},
            {"role": "user", "content": task},
            *state["messages"],
        ]
        if must_deliver:
            last = messages[-1]
            if last["role"] == "user":  # two user messages in a row are too much for some servers
                del messages[-1]
                content = f"{last['content']}\n\n{delegation.DELIVER}"
            else:
                content = delegation.DELIVER
            messages.append({"role": "user", "content": content})
        return messages

    def _end(
        self, run: _Run, state: _State, reply: ChatReply, text: str, *, left: int, had_tools: bool
    ) -> str | None:
        """Return how the conversation ends with a reply without calls; ``None``: it goes on.

        A program without a further job is taken as final, with or without the stop word.
        """
        if reply.status in ("truncated", "context_limit"):
            return reply.status
        if left == 1:
            return "step_limit"
        problem = run.work.problem
        found = extract(delegation.without_stop_word(reply).text, fn_name=problem.fn_name)
        if delegation.stops(text) or counts(found, self._manager, problem, runs_count=False):
            return "ok"
        if state["nudges"] == NUDGES_BORNE or not had_tools:
            return "empty" if reply.status == "empty" else _GAVE_UP
        return run.meter.end()

    # the manager's calls

    async def _answer_calls(self, state: _State, runtime: Runtime[_Run]) -> dict[str, Any]:
        """Answer the calls of the newest reply in order, until one is a job for a worker."""
        run = runtime.context
        limit = run.meter.end()
        if limit:
            return {"goto": "end", "end": limit}
        answers: list[Message] = []
        past: list[tuple[str, str]] = []
        n_bad = 0
        goto, index = "manager", state["next_call"]
        spent = run.work.spent(self._manager_name)
        for call in state["replies"][-1].tool_calls[index:]:
            text, is_bad = self._refusal(call, index, state["n_turns"])
            spent.n_tool_calls += index < self._max_tool_calls
            if text is None and call.name in self._worker_of:
                goto = _node(self._names[self._worker_of[call.name]])
                break
            if text is None:
                where = run.work.call_id(self._manager_name, len(state["replies"]) - 1)
                tools = run.work.context.tools
                text = await tools.call(call, where, index, self._manager.tools)
                is_bad = is_refusal(text)
                if not is_bad:
                    past += [("manager runs python_exec", _shown(call)), ("it gets", text)]
            n_bad += is_bad
            spent.n_bad_tool_calls += is_refusal(text)
            answers.append({"role": "tool", "tool_call_id": call.id, "content": text})
            index += 1
        return {
            "messages": answers,
            "past": past,
            "n_bad": n_bad,
            "next_call": index,
            "goto": goto,
        }

    def _refusal(self, call: ToolCall, index: int, n_turns: int) -> tuple[str | None, bool]:
        """Return why a call is not run (``None``: it is), and whether the model got it wrong.

        What is only too much is refused, but does not cost the manager its tools.
        """
        if index >= self._max_tool_calls:
            limit = self._max_tool_calls
            return f"ERROR: {call.name} was not run; at most {limit} calls in one reply", False
        if call.name in self._worker_of:
            try:
                delegation.parse_instructions(call)
            except BadArguments as error:
                return f"ERROR: {call.name} was not run; {error}", True
            if n_turns + 1 >= self._max_turns:
                why = "no turn is left for a worker, hand in the program"
                return f"ERROR: {call.name} was not run; {why}", False
            return None, False
        if call.name not in self._manager.tools:
            known = ", ".join([*self._manager.tools, *self._worker_of])
            return f"ERROR: there is no tool {call.name!r}; you have: {known}", True
        return None, False

    # workers

    async def _work_on(self, worker: int, state: _State, runtime: Runtime[_Run]) -> dict[str, Any]:
        """Let a worker do the job of the call that is next, and answer that call."""
        run, role, name = runtime.context, self._roles[worker], self._names[worker]
        problem, manager = run.work.problem, self._manager_name
        call = state["replies"][-1].tool_calls[state["next_call"]]
        ask = hand_off(
            delegation.parse_instructions(call),
            self._format,
            role=manager,
            topology="centralized",
            handoff="manager_worker",
            target=name,
        )
        turn = await self._agents[name].turn(
            run.work,
            name,
            [
                {"role": "system", "content": system_prompt(role, run.bundle, self._format)},
                {"role": "user", "content": delegation.job(problem, state["past"], ask.rendered)},
            ],
            meter=run.meter,
            first_step=sum(len(j.turn.replies) for j in state["jobs"] if j.worker == worker),
        )
        handoffs, result = [ask], f"({name} gave no answer: {turn.end})"
        if turn.text:
            back = hand_off(
                turn.text,
                self._format,
                role=name,
                topology="centralized",
                handoff="worker_manager",
                target=manager,
                code=program_in(turn.text, role, problem),
            )
            handoffs, result = [ask, back], back.rendered
        return {
            "messages": [{"role": "tool", "tool_call_id": call.id, "content": result}],
            "jobs": [_Job(worker, turn)],
            "handoffs": handoffs,
            "past": [(f"manager to {name}", ask.rendered), (f"{name} to manager", result)],
            "n_turns": 1,
            "next_call": state["next_call"] + 1,
        }

    # answer

    def _answer(self, work: Work, state: dict[str, Any]) -> Answer:
        problem, jobs, last = work.problem, state["jobs"], state["replies"][-1]
        own = [delegation.without_stop_word(reply) for reply in state["replies"]]
        writers = [Writer(0, self._manager, own)] + [
            Writer(job.worker, self._roles[job.worker], job.turn.replies) for job in reversed(jobs)
        ]
        chosen, found = choose(writers, problem, runs_count=False)
        end = state["end"]
        if end == _GAVE_UP:
            end = "step_limit" if found.code is not None else "ok"
        status = end_status(end, found)
        members = [self._manager_member(work, status, own)]
        for i in range(1, len(self._roles)):
            turns = [job.turn for job in jobs if job.worker == i]
            members.append(member(work, self._names[i], self._roles[i], turns, runs_count=False))
        if chosen:
            winner = members[chosen.member]
            members[chosen.member] = dataclasses.replace(winner, code=found.code)
        return Answer(
            extraction=found,
            status=status,
            finish_reason=last.finish_reason,
            spent=work.total(),
            message=last.message,
            members=tuple(members),
            winner=chosen.member if chosen else None,
            communication=self._measured(state),
            n_turns=state["n_turns"],
        )

    def _manager_member(self, work: Work, status: str, own: Sequence[ChatReply]) -> Member:
        found = find_program(own, work.problem)
        code = found.code if counts(found, self._manager, work.problem, runs_count=False) else None
        text = next((shown for reply in reversed(own) if (shown := visible(reply.text))), "")
        name = self._manager_name
        return Member(name, self._manager.name, status, text, code, work.spent(name))

    def _measured(self, state: dict[str, Any]) -> dict[str, Any]:
        """Measure the reports: what workers hand back, and what the manager says without calls."""
        reports = [(h.role, h.raw) for h in state["handoffs"] if h.is_report]
        said = [visible(reply.text) for reply in state["replies"] if not reply.tool_calls]
        reports += [(self._manager_name, text) for text in said if text]
        required = ("manager", "worker") if len(self._roles) > 1 else ("manager",)
        return measure(self._format, reports, state["handoffs"], required_roles=required)


def _node(worker: str) -> str:
    return f"worker_{worker}"


def _shown(call: ToolCall) -> str:
    """Return what a ``python_exec`` call runs, for those who read the conversation."""
    try:
        code, stdin = parse_arguments(call)
    except BadArguments:
        return call.arguments
    return f"{code}\n\nstdin:\n{stdin}" if stdin else code


register("centralized")(CentralizedTeam)
