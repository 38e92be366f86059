"""``autogen_centralized``: a manager and its workers in an AutoGen ``SelectorGroupChat``.

Everybody speaks into one chat. After a worker the manager speaks. After the manager it is the
worker whose name ends its message; if no name does, a model call under the agent name
``selector`` chooses among the workers (with one worker nothing is asked). The chat ends like
``centralized``: with the stop word on a line of its own, or a program without a further job; or
at a limit. What an agent reads is the chat as AutoGen keeps it; role texts, tools, limits and the
choice of the program are those of ``centralized``.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lcbgrid.config.team_spec import RoleSpec, TeamSpec
from lcbgrid.models.types import ChatReply, Message
from lcbgrid.problems.schema import Problem
from lcbgrid.scenarios import code_generation
from lcbgrid.scenarios.extract import extract
from lcbgrid.teams import delegation
from lcbgrid.teams.bundle import PromptBundle
from lcbgrid.teams.centralized import CentralizedTeam, _Job
from lcbgrid.teams.frameworks.seat import Seat, need, only_freeform, wire_id
from lcbgrid.teams.interface import Answer, TeamPlan, register
from lcbgrid.teams.programs import counts
from lcbgrid.teams.roles import system_prompt
from lcbgrid.teams.work import Context, Meter, Spent, Work

if TYPE_CHECKING:
    from autogen_agentchat.agents import AssistantAgent
    from autogen_agentchat.teams import SelectorGroupChat
    from autogen_core.models import ChatCompletionClient, CreateResult
    from autogen_core.tools import Workbench

SELECTOR = "selector"
SELECTOR_ATTEMPTS = 2
_TASK = "user"
_DECORATION = " \t*_`.:@"
_SELECTOR = "You say who works next in a team that solves a programming problem."
_SELECT = """These are the members of a team:
{roles}

Below is what they have written so far. Say which of {participants} has to work next. Answer with
the name only.

{history}"""


@dataclass(slots=True)
class _Chair:
    """An agent's place in the chat: one seat for each of its turns."""

    spec: TeamSpec
    work: Work
    name: str
    role: RoleSpec
    meter: Meter
    turns: list[Seat] = field(default_factory=list)

    def seat(self) -> Seat:
        """Return the turn that is going on, or begin one."""
        if not self.turns or self.turns[-1].closed:
            step = sum(len(seat.replies) for seat in self.turns)
            self.turns.append(
                Seat.of(self.spec, self.work, self.name, self.role, self.meter, step)
            )
        return self.turns[-1]


Table = dict[str, _Chair]  # everybody who can be asked: the agents in their order, the selector


class AutogenTeam(CentralizedTeam):
    """A manager, first in the lineup, and its workers, in a group chat."""

    def __init__(self, plan: TeamPlan) -> None:
        only_freeform(plan)
        need("autogen_agentchat", "autogen-agentchat", "'lcbgrid[autogen]'")
        super().__init__(plan)
        self._spec = plan.spec
        self._workers = dict(zip(self._names[1:], self._roles[1:], strict=True))

    async def solve(self, problem: Problem, bundle: PromptBundle, context: Context) -> Answer:
        """Let the group talk until the manager hands in, or a limit is reached.

        Raises:
            ModelCallError: The model cannot be asked.
        """
        from autogen_core import CancellationToken

        work = Work(problem, context)
        work.enroll(*self._names, SELECTOR)
        meter = context.meters()[0]
        seated = [*zip(self._names, self._roles, strict=True), (SELECTOR, RoleSpec(name=SELECTOR))]
        table = {name: _Chair(self._spec, work, name, role, meter) for name, role in seated}
        chat = self._chat(table, bundle)
        token = CancellationToken()
        spoken: list[str] = []
        try:
            task = f"PROBLEM:\n{code_generation.user_message(problem)}"
            async for message in chat.run_stream(task=task, cancellation_token=token):
                if getattr(message, "type", "") == "TextMessage" and message.source != _TASK:
                    spoken.append(message.source)
        except Exception as error:
            raise (_failure(table) or error) from None
        finally:
            token.cancel()
        return self._outcome(work, table, spoken)

    def _chat(self, table: Table, bundle: PromptBundle) -> SelectorGroupChat:
        from autogen_agentchat.conditions import FunctionalTermination
        from autogen_agentchat.teams import SelectorGroupChat

        first = table[self._manager_name]

        def is_over(messages: Sequence[Any]) -> bool:
            source = messages[-1].source if messages else _TASK
            return source != _TASK and (
                first.meter.end() is not None
                or (source == self._manager_name and self._ended(first) is not None)
            )

        def next_speaker(messages: Sequence[Any]) -> str | None:
            if messages[-1].source != self._manager_name:
                return self._manager_name
            return self._named(first.turns[-1].said())

        def workers(messages: Sequence[Any]) -> list[str]:
            return list(self._workers)

        return SelectorGroupChat(
            [self._participant(table[name], bundle) for name in self._names],
            model_client=_client(table[SELECTOR]),
            termination_condition=FunctionalTermination(is_over),
            # the manager speaks first, and has the last word, so the number is odd
            max_turns=self._max_turns - (self._max_turns + 1) % 2,
            selector_prompt=_SELECT,
            allow_repeated_speaker=True,
            max_selector_attempts=SELECTOR_ATTEMPTS,
            selector_func=next_speaker,
            candidate_func=workers,
        )

    def _participant(self, chair: _Chair, bundle: PromptBundle) -> AssistantAgent:
        from autogen_agentchat.agents import AssistantAgent

        system = system_prompt(chair.role, bundle, "freeform")
        if chair.name == self._manager_name:
            system = f"{system.rstrip()}\n\n{manager_note(self._workers)}"
        return AssistantAgent(
            chair.name,
            _client(chair),
            description=chair.role.duty or "Leads the team and hands in the program.",
            system_message=system,
            workbench=_workbench(chair),
            max_tool_iterations=max(1, chair.seat().limit),
            reflect_on_tool_use=False,
        )

    def _named(self, text: str) -> str | None:
        """Return the worker whose name stands alone on the last line."""
        lines = [line.strip(_DECORATION) for line in text.splitlines() if line.strip()]
        return lines[-1] if lines and lines[-1] in self._workers else None

    def _ended(self, manager: _Chair) -> str | None:
        """Return how the chat ends with the manager's newest message; ``None``: it goes on."""
        turn = manager.turns[-1].turn()
        reply, problem = turn.replies[-1], manager.work.problem
        if reply.status in ("truncated", "context_limit"):
            return turn.end
        if delegation.stops(turn.text):
            return turn.end
        if not self._workers:
            return turn.end
        found = extract(delegation.without_stop_word(reply).text, fn_name=problem.fn_name)
        is_final = counts(found, self._manager, problem, runs_count=False)
        return turn.end if is_final and self._named(turn.text) is None else None

    def _outcome(self, work: Work, table: Table, spoken: Sequence[str]) -> Answer:
        manager = table[self._manager_name]
        jobs: list[_Job] = []
        for speaker in spoken:
            if speaker != self._manager_name:
                index = self._names.index(speaker)
                seat = table[speaker].turns[sum(job.worker == index for job in jobs)]
                jobs.append(_Job(index, seat.turn()))
        end = self._ended(manager) if spoken[-1] == self._manager_name else None
        state = {
            "replies": [reply for seat in manager.turns for reply in seat.replies],
            "jobs": jobs,
            "handoffs": [],
            "end": end or work_end(manager.meter),
            "n_turns": len(spoken),
        }
        answer = self._answer(work, state)
        # the selector decides in the manager's place, so what it cost is the manager's
        both = _sum(work.spent(self._manager_name), work.spent(SELECTOR))
        leader = dataclasses.replace(answer.members[0], spent=both)
        return dataclasses.replace(answer, members=(leader, *answer.members[1:]))


def _failure(table: Table) -> BaseException | None:
    """Return what went wrong first; AutoGen only passes on its text."""
    seats = (seat for chair in table.values() for seat in chair.turns)
    return next((seat.failure for seat in seats if seat.failure is not None), None)


def work_end(meter: Meter) -> str:
    """Return why a chat stopped that the manager did not end."""
    return meter.end() or "step_limit"


def _sum(one: Spent, other: Spent) -> Spent:
    names = Spent.__dataclass_fields__
    return Spent(**{name: getattr(one, name) + getattr(other, name) for name in names})


def manager_note(workers: Mapping[str, RoleSpec]) -> str:
    """Return the end of the manager's system prompt: who its workers are, and how to finish.

    As in ``centralized``, but a job is given in the chat: there are no tools for it.
    """
    lines = ["## HOW YOU WORK"]
    if workers:
        lines.append("These are your workers:" if len(workers) > 1 else "This is your worker:")
        lines += [f"- {name}: {role.duty}".rstrip(": ") for name, role in workers.items()]
        lines.append(
            "To give a job, write what is to be done and put the worker's name alone on the last "
            "line. The worker answers in the chat, then it is your turn again. While you give "
            "jobs or run code, no program is needed in your reply."
        )
    lines.append(
        "To finish, write the whole program in one ```python block, then the word "
        f"{delegation.STOP_WORD} on a line of its own. Nothing else may follow the block."
    )
    return "\n".join(lines)


def to_messages(given: Sequence[Any]) -> list[Message]:
    """Return AutoGen's messages in the chat form.

    What others said comes as user messages with the speaker's name; several in a row become one,
    since strict servers refuse them.
    """
    messages: list[Message] = []
    for item in given:
        kind = item.type
        if kind == "FunctionExecutionResultMessage":
            messages += [
                {"role": "tool", "tool_call_id": wire_id(one.call_id), "content": one.content}
                for one in item.content
            ]
        elif kind == "AssistantMessage" and not isinstance(item.content, str):
            calls = [
                {
                    "id": wire_id(call.id),
                    "type": "function",
                    "function": {"name": call.name, "arguments": call.arguments},
                }
                for call in item.content
            ]
            messages.append({"role": "assistant", "content": item.thought, "tool_calls": calls})
        elif kind == "UserMessage":
            head = "" if item.source == _TASK else f"----- {item.source} -----\n"
            text = f"{head}{item.content}"
            if messages and messages[-1]["role"] == "user":
                text = f"{messages.pop()['content']}\n\n{text}"
            messages.append({"role": "user", "content": text})
        else:
            role = "system" if kind == "SystemMessage" else "assistant"
            messages.append({"role": role, "content": item.content})
    return messages


def _client(chair: _Chair) -> ChatCompletionClient:
    from autogen_core.models import ChatCompletionClient, ModelInfo, RequestUsage

    class SeatClient(ChatCompletionClient):
        """AutoGen's model client: it asks through the seats of one agent."""

        async def create(self, messages: Sequence[Any], *given: Any, **more: Any) -> CreateResult:
            history = to_messages(messages)
            if history[0]["role"] != "system":  # only what the chat itself asks, of the selector
                history.insert(0, {"role": "system", "content": _SELECTOR})
            seat = chair.seat()
            if seat.failure is not None:
                raise seat.failure
            return _result(await seat.ask(history))

        def create_stream(self, *given: Any, **more: Any) -> AsyncGenerator[Any, None]:
            message = "replies are not streamed"
            raise NotImplementedError(message)

        async def close(self) -> None:
            """Keep the connection, which is not AutoGen's."""

        def actual_usage(self) -> RequestUsage:
            spent = chair.work.spent(chair.name)
            return RequestUsage(spent.prompt_tokens, spent.completion_tokens)

        def total_usage(self) -> RequestUsage:
            return self.actual_usage()

        def count_tokens(self, messages: Sequence[Any], **more: Any) -> int:
            return 0

        def remaining_tokens(self, messages: Sequence[Any], **more: Any) -> int:
            return 1 << 30  # the server says when a prompt does not fit

        @property
        def capabilities(self) -> Any:
            return self.model_info

        @property
        def model_info(self) -> ModelInfo:
            return ModelInfo(
                vision=False,
                function_calling=True,
                json_output=False,
                family="unknown",
                structured_output=False,
                multiple_system_messages=False,
            )

    return SeatClient()


def _result(reply: ChatReply) -> CreateResult:
    from autogen_core import FunctionCall
    from autogen_core.models import CreateResult, RequestUsage

    calls = [
        FunctionCall(id=call.id, name=call.name, arguments=call.arguments)
        for call in reply.tool_calls
    ]
    return CreateResult(
        finish_reason="function_calls" if calls else "stop",
        content=calls or reply.text or "",
        thought=reply.text or None if calls else None,
        usage=RequestUsage(reply.usage.prompt_tokens, reply.usage.completion_tokens),
        cached=False,
    )


def _workbench(chair: _Chair) -> Workbench:
    from autogen_core.tools import TextResultContent, ToolResult, ToolSchema, Workbench

    class SeatWorkbench(Workbench):
        """AutoGen's tools: they run through the seats of one agent."""

        async def list_tools(self) -> list[ToolSchema]:
            return [ToolSchema(name=name, description="") for name in chair.role.tools]

        async def call_tool(
            self,
            name: str,
            arguments: Mapping[str, Any] | None = None,
            cancellation_token: Any = None,
            call_id: str | None = None,
        ) -> ToolResult:
            seat, text = chair.seat(), ""
            with contextlib.suppress(Exception):  # raised by the next model call: here it hangs
                text = await seat.run(call_id or "")
            return ToolResult(name=name, result=[TextResultContent(content=text)])

        async def start(self) -> None: ...

        async def stop(self) -> None: ...

        async def reset(self) -> None: ...

        async def save_state(self) -> Mapping[str, Any]:
            return {}

        async def load_state(self, state: Mapping[str, Any]) -> None: ...

    return SeatWorkbench()


register("autogen_centralized")(AutogenTeam)
