"""An agent's turn inside a framework that is not ours.

The framework decides when the model is asked and which messages it gets; a ``Seat`` is all that
it can ask and all that it can run. So every call is in the transcript with a seed and a step of
its own, the limits are those of our own loop (``teams.agent``), and they end softly: a framework
that goes on asking gets the agent's last text, and the model is not asked again.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from lcbgrid.config.team_spec import RoleSpec, TeamSpec
from lcbgrid.core.errors import ConfigError
from lcbgrid.models.types import ChatReply, Message, ToolCall
from lcbgrid.teams.agent import BAD_CALLS_BORNE, NOT_RUN, Turn, TurnEnd, as_message
from lcbgrid.teams.interface import TeamPlan
from lcbgrid.teams.tools import is_refusal
from lcbgrid.teams.work import Meter, Work

SAID_NOTHING = "(no answer)"


def need(module: str, distribution: str, install: str) -> None:
    """Import a framework, or say how to install it.

    Args:
        module: What is imported.
        distribution: The package's name.
        install: The arguments of ``pip install`` that bring it.

    Raises:
        ConfigError: It is not installed, or its dependencies do not fit.
    """
    try:
        importlib.import_module(module)
    except ImportError as error:
        raise ConfigError(
            f"this team needs the package {distribution}",
            value=str(error),
            remedy=f"run: pip install {install} (docs/howto/frameworks.md)",
        ) from None


def only_freeform(plan: TeamPlan) -> None:
    """Refuse communication formats, which need our own hand-offs.

    Raises:
        ConfigError: The cell asks for another format than ``freeform``.
    """
    if plan.communication != "freeform":
        raise ConfigError(
            f"the team {plan.spec.builder} only talks in freeform",
            where="communication",
            value=plan.communication,
            remedy="use the LangGraph team for this format",
        )


@dataclass(slots=True)
class Seat:
    """What one agent may do in one turn, and what it did.

    Attributes:
        work: The problem.
        name: The agent's name in calls and records.
        role: Its role.
        meter: The budget.
        limit: Model calls in this turn.
        max_tool_calls: Tool calls of one reply that are run.
        first_step: Calls that this agent has made in earlier turns.
        private: The framework shows the last reply to nobody else, so it may keep its thinking.
        replies: What the model said, as received.
        n_bad: Tool calls so far that could not be run.
        shown: Tool calls as the framework got them, by the id that it knows.
        closed: The turn is over; the model is not asked again.
        failure: What went wrong here first; frameworks wrap it or turn it into text.
        closed: The turn is over; the model is not asked again.
        failure: What went wrong here first; frameworks wrap it or turn it into text.
    """

    work: Work
    name: str
    role: RoleSpec
    meter: Meter
    limit: int
    max_tool_calls: int
    first_step: int = 0
    private: bool = False
    replies: list[ChatReply] = field(default_factory=list)
    n_bad: int = 0
    shown: dict[str, ToolCall] = field(default_factory=dict)
    closed: bool = False
    failure: BaseException | None = None

    @classmethod
    def of(
        cls, spec: TeamSpec, work: Work, name: str, role: RoleSpec, meter: Meter, step: int = 0
    ) -> Seat:
        """Return a seat with the limits of a team."""
        limit = spec.max_model_calls if role.tools else 1
        return cls(work, name, role, meter, limit, spec.max_tool_calls, step)

    async def ask(self, messages: Sequence[Message]) -> ChatReply:
        """Ask the model and return its reply as the framework may keep it.

        Its tool calls have ids that are unique for the agent (``wire_id`` gives the server's), the
        name of a tool that exists, and arguments that are an object. What the model really wrote
        is used when the tool runs, and that is where mistakes are answered.

        Raises:
            ModelCallError: The model cannot be asked.
        """
        n = len(self.replies)
        if self.closed or n >= self.limit or (n and self.meter.end() is not None):
            self.closed = True
            return ChatReply(text=self.said())
        may_call = n < self.limit - 1 and self.n_bad < BAD_CALLS_BORNE
        tools = self.work.context.tools.schemas(self.role.tools) if may_call else ()
        step = self.first_step + n
        with self._kept():
            reply = await self.work.ask(
                self.name, step, list(messages), tools=tools, meter=self.meter
            )
        self.replies.append(reply)
        if not reply.tool_calls or n == self.limit - 1:
            self.closed = True
            text = (reply.text or SAID_NOTHING) if self.private else self.said()
            return dataclasses.replace(reply, text=text, tool_calls=())
        shown = as_message(reply, True)["tool_calls"]
        calls = tuple(
            ToolCall(f"{step}.{index}.{call.id}", self._known(call.name), wire["arguments"])
            for index, (call, wire) in enumerate(
                zip(reply.tool_calls, (one["function"] for one in shown), strict=True)
            )
        )
        self.shown.update({call.id: call for call in calls})
        return dataclasses.replace(reply, tool_calls=calls)

    async def run(self, call_id: str) -> str:
        """Run one tool call of the newest reply and return what the model reads.

        Args:
            call_id: Its id as ``ask`` gave it.
        """
        index = int(call_id.split(".", 2)[1])
        if index >= self.max_tool_calls:
            return NOT_RUN.format(limit=self.max_tool_calls)
        call = self.replies[-1].tool_calls[index]
        where = self.work.call_id(self.name, self.first_step + len(self.replies) - 1)
        with self._kept():
            text = await self.work.context.tools.call(call, where, index, self.role.tools)
        spent, bad = self.work.spent(self.name), is_refusal(text)
        spent.n_tool_calls += 1
        spent.n_bad_tool_calls += bad
        self.n_bad += bad
        return text

    @contextlib.contextmanager
    def _kept(self) -> Iterator[None]:
        try:
            yield
        except BaseException as error:
            self.failure = self.failure or error
            raise

    def _known(self, name: str) -> str:
        return name if name in self.role.tools or not self.role.tools else self.role.tools[0]

    def said(self) -> str:
        """Return what others read of this turn, or a text that says that there is nothing."""
        return (self.turn().text if self.replies else "") or SAID_NOTHING

    def turn(self, messages: Sequence[Message] = ()) -> Turn:
        """Return the turn as our own agents give it; at least one reply is there.

        Args:
            messages: What the framework would send again.
        """
        return Turn(list(messages), tuple(self.replies), self._end())

    def _end(self) -> TurnEnd:
        last = self.replies[-1]
        if last.status != "ok":
            return last.status
        if last.tool_calls and len(self.replies) < self.limit:
            return self.meter.end() or "ok"
        return "step_limit" if len(self.replies) == self.limit > 1 else "ok"


def wire_id(call_id: str) -> str:
    """Return the id that the server gave to a tool call, from the one that ``Seat.ask`` gave."""
    return call_id.split(".", 2)[2]
