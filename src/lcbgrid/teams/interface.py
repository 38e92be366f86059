"""What a team is: it gets a problem and prompts, and gives an answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol

from lcbgrid.config.model_spec import SamplingSpec
from lcbgrid.config.team_spec import TeamSpec
from lcbgrid.core.errors import ConfigError, nearest
from lcbgrid.core.hashing import derived_seed
from lcbgrid.models.client import ModelClient
from lcbgrid.models.types import CallId, ChatReply, ChatRequest, Message
from lcbgrid.problems.schema import Problem
from lcbgrid.scenarios.extract import Extraction
from lcbgrid.teams.bundle import PromptBundle
from lcbgrid.teams.tools import ToolBox

AnswerStatus = Literal[
    "ok", "truncated", "empty", "no_code", "context_limit", "step_limit", "infra_error"
]


@dataclass(slots=True)
class Spent:
    """What an answer cost so far; tokens as the endpoint counted them."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    total_tokens: int = 0
    n_llm_calls: int = 0
    n_tool_calls: int = 0

    def add(self, reply: ChatReply) -> None:
        """Add one model call."""
        self.prompt_tokens += reply.usage.prompt_tokens
        self.completion_tokens += reply.usage.completion_tokens
        self.total_tokens += reply.usage.total_tokens
        self.n_llm_calls += 1


@dataclass(frozen=True, slots=True)
class Context:
    """All that a team needs besides problem and prompts."""

    client: ModelClient
    tools: ToolBox
    spec: TeamSpec
    sampling: SamplingSpec
    cell_seed: int
    sample_index: int

    async def ask(
        self,
        spent: Spent,
        *,
        problem: Problem,
        agent: str,
        step: int,
        messages: list[Message],
        tools: tuple[dict[str, object], ...] = (),
    ) -> ChatReply:
        """Make one model call of one agent, with a seed of its own, and count it."""
        call = CallId(problem.question_id, self.sample_index, agent, step)
        seed = derived_seed(self.cell_seed, problem.question_id, self.sample_index, agent, step)
        request = ChatRequest(
            messages=tuple(messages), tools=tools, sampling=self.sampling, seed=seed, call=call
        )
        reply = await self.client.chat(request)
        spent.add(reply)
        return reply


@dataclass(frozen=True, slots=True)
class Answer:
    """What a team gives back.

    ``status`` says how the answer ended; a program may be there with any of them but ``no_code``
    and ``infra_error``.
    """

    extraction: Extraction
    status: AnswerStatus
    finish_reason: str
    spent: Spent = field(default_factory=Spent)
    message: str | None = None


class Team(Protocol):
    """A topology."""

    async def solve(self, problem: Problem, bundle: PromptBundle, context: Context) -> Answer:
        """Work on one problem; raises EndpointError if the model cannot be asked."""
        ...


_builders: dict[str, Callable[[TeamSpec], Team]] = {}


def register(name: str) -> Callable[[Callable[[TeamSpec], Team]], Callable[[TeamSpec], Team]]:
    """Register the builder of a topology under a name."""

    def keep(builder: Callable[[TeamSpec], Team]) -> Callable[[TeamSpec], Team]:
        _builders[name] = builder
        return builder

    return keep


def build(spec: TeamSpec) -> Team:
    """Build the team that a spec names.

    Raises:
        ConfigError: No builder has that name.
    """
    from lcbgrid.teams import direct, single

    del direct, single  # importing them registers them
    if spec.builder not in _builders:
        raise ConfigError(
            "no such team builder", value=spec.builder, remedy=nearest(spec.builder, _builders)
        )
    return _builders[spec.builder](spec)


def answer_status(reply: ChatReply, extraction: Extraction) -> AnswerStatus:
    """Return the status of an answer that ends with this reply.

    A cut reply is ``truncated`` even if a program was found in it (reports, R29).
    """
    if reply.status == "context_limit":
        return "context_limit"
    if reply.status == "truncated" or extraction.truncated:
        return "truncated"
    if reply.status == "empty":
        return "empty"
    return "ok" if extraction.code is not None else "no_code"
