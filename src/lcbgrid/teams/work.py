"""One problem on a team's desk: who asked how often, what it cost, and when to stop."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

from lcbgrid.core.hashing import derived_seed
from lcbgrid.models.types import CallId, ChatReply, ChatRequest, Message
from lcbgrid.problems.schema import Problem

if TYPE_CHECKING:
    from lcbgrid.config.model_spec import SamplingSpec
    from lcbgrid.config.team_spec import TeamSpec
    from lcbgrid.teams.tools import ToolBox

BudgetEnd = Literal["token_limit", "time_limit"]


class Client(Protocol):
    """Whoever answers model calls: ``models.client.ModelClient``, or what stands before it."""

    async def chat(self, request: ChatRequest) -> ChatReply:
        """Answer; raises ModelCallError if the model cannot be asked."""
        ...


@dataclass(slots=True)
class Spent:
    """What an answer cost so far; tokens as the endpoint counted them."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    total_tokens: int = 0
    n_llm_calls: int = 0
    n_tool_calls: int = 0
    n_bad_tool_calls: int = 0

    def add(self, reply: ChatReply) -> None:
        """Add one model call."""
        self.prompt_tokens += reply.usage.prompt_tokens
        self.completion_tokens += reply.usage.completion_tokens
        self.total_tokens += reply.usage.total_tokens
        self.n_llm_calls += 1


@dataclass(slots=True)
class Meter:
    """The budget of one line of work: a whole team, or a member that works beside others.

    Members that work in parallel have a meter each, so that what one of them may do never
    depends on who was faster. Time is the model time of the calls, as the transcript keeps it, so
    a resumed run stops where the undisturbed one did. A single call is bounded by the model's
    ``retry.timeout_s``.
    """

    max_tokens: int | None = None
    max_time_s: float | None = None
    tokens: int = 0
    time_s: float = 0.0

    def add(self, reply: ChatReply) -> None:
        """Count one model call."""
        self.tokens += reply.usage.total_tokens
        self.time_s += reply.latency_s + reply.waited_s

    def end(self) -> BudgetEnd | None:
        """Return which limit is reached, or ``None``."""
        if self.max_tokens is not None and self.tokens >= self.max_tokens:
            return "token_limit"
        if self.max_time_s is not None and self.time_s >= self.max_time_s:
            return "time_limit"
        return None


@dataclass(frozen=True, slots=True)
class Context:
    """All that a team needs besides problem and prompts."""

    client: Client
    tools: ToolBox
    spec: TeamSpec
    sampling: SamplingSpec
    cell_seed: int
    sample_index: int

    def meters(self, n: int = 1) -> list[Meter]:
        """Return the problem's budget, shared equally by ``n`` members that work in parallel."""
        tokens = self.spec.max_tokens_per_problem
        share = None if tokens is None else max(1, tokens // n)
        return [Meter(share, self.spec.max_time_s_per_problem) for _ in range(n)]


@dataclass(slots=True)
class Work:
    """What one answer needs while it is made.

    ``by_agent`` is in the order in which agents were enrolled, not in that of their calls.
    """

    problem: Problem
    context: Context
    copies: bool = False
    by_agent: dict[str, Spent] = field(default_factory=dict)

    def enroll(self, *agents: str) -> None:
        """Name agents in their order, so that records do not depend on who was first."""
        for agent in agents:
            self.by_agent.setdefault(agent, Spent())

    def spent(self, agent: str) -> Spent:
        """Return what an agent has cost."""
        return self.by_agent.setdefault(agent, Spent())

    def total(self) -> Spent:
        """Return what all agents have cost."""
        total = Spent()
        for spent in self.by_agent.values():
            for name in Spent.__dataclass_fields__:
                setattr(total, name, getattr(total, name) + getattr(spent, name))
        return total

    def call_id(self, agent: str, step: int) -> CallId:
        """Return the identity of one call of an agent."""
        return CallId(self.problem.question_id, self.context.sample_index, agent, step)

    async def ask(
        self,
        agent: str,
        step: int,
        messages: list[Message],
        *,
        tools: tuple[dict[str, Any], ...] = (),
        meter: Meter | None = None,
    ) -> ChatReply:
        """Make one model call of one agent, with a seed of its own, and count it.

        Raises:
            ModelCallError: The model cannot be asked.
        """
        context = self.context
        call = self.call_id(agent, step)
        seed = derived_seed(context.cell_seed, call.question_id, context.sample_index, agent, step)
        request = ChatRequest(
            messages=tuple(messages), tools=tools, sampling=self._sampling(), seed=seed, call=call
        )
        reply = await context.client.chat(request)
        self.spent(agent).add(reply)
        if meter is not None:
            meter.add(reply)
        return reply

    def _sampling(self) -> SamplingSpec:
        """Copies of a role are never greedy: they would all say the same (teams spec., Q10)."""
        sampling = self.context.sampling
        if self.copies and sampling.temperature == 0:
            return sampling.model_copy(
                update={"temperature": self.context.spec.copies_temperature}
            )
        return sampling
