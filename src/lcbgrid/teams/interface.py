"""What a team is: it gets a problem and prompts, and gives an answer."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from lcbgrid.config.team_spec import TeamSpec
from lcbgrid.core.errors import ConfigError, nearest
from lcbgrid.models.types import ChatReply
from lcbgrid.problems.schema import Problem
from lcbgrid.scenarios.extract import Extraction
from lcbgrid.teams.bundle import PromptBundle
from lcbgrid.teams.work import Context, Spent

AnswerStatus = Literal[
    "ok",
    "truncated",
    "empty",
    "no_code",
    "context_limit",
    "step_limit",
    "token_limit",
    "time_limit",
    "infra_error",
]


@dataclass(frozen=True, slots=True)
class Member:
    """What one agent contributed.

    Attributes:
        agent: Its name, as in the transcript; ``role`` without its number.
        role: Its role.
        status: How its last turn ended; ``infra_error`` if it was lost, ``idle`` if it had none.
        text: What it said last, without thinking.
        code: The program in that, if any.
        spent: What it cost.
    """

    agent: str
    role: str
    status: str
    text: str
    code: str | None
    spent: Spent


@dataclass(frozen=True, slots=True)
class Answer:
    """What a team gives back.

    ``status`` says how the answer ended; a program may be there with any of them but ``no_code``
    and ``infra_error``.

    Attributes:
        extraction: The program.
        status: How it ended.
        finish_reason: How the server said that the deciding reply ended.
        spent: Sum over all agents.
        message: Says more about a status.
        members: Agents in their order.
        winner: Index in ``members`` of the agent whose program was chosen.
        vote: How the choice was made, if there was one.
        communication: Measurements of the communication format.
        n_turns: Turns of a conversation that has no fixed end.
    """

    extraction: Extraction
    status: AnswerStatus
    finish_reason: str
    spent: Spent = field(default_factory=Spent)
    message: str | None = None
    members: tuple[Member, ...] = ()
    winner: int | None = None
    vote: Mapping[str, Any] | None = None
    communication: Mapping[str, Any] | None = None
    n_turns: int | None = None


class Team(Protocol):
    """A topology."""

    async def solve(self, problem: Problem, bundle: PromptBundle, context: Context) -> Answer:
        """Work on one problem; raises ModelCallError if the model cannot be asked."""
        ...


@dataclass(frozen=True, slots=True)
class TeamPlan:
    """What a builder gets: the topology's spec and the values of the cell's axes."""

    spec: TeamSpec
    size: int
    communication: str = "freeform"


Builder = Callable[[TeamPlan], Team]
_builders: dict[str, Builder] = {}
_OWN = ("direct", "single", "independent", "sequential", "centralized", "decentralized")
_FRAMEWORKS = {  # builder name -> module that registers it; imported when it is asked for
    "crewai_sequential": "lcbgrid.teams.frameworks.crewai_team",
    "autogen_centralized": "lcbgrid.teams.frameworks.autogen_team",
    "agents_sdk_decentralized": "lcbgrid.teams.frameworks.agents_sdk_team",
}


def register(name: str) -> Callable[[Builder], Builder]:
    """Register the builder of a topology under a name."""

    def keep(builder: Builder) -> Builder:
        _builders[name] = builder
        return builder

    return keep


def build(spec: TeamSpec, size: int | None = None, communication: str = "freeform") -> Team:
    """Build the team that a spec names.

    The module ``lcbgrid.teams.<builder>`` is imported for it, so a new topology is one file there.

    Args:
        spec: The topology.
        size: Team size; default: the first that it offers.
        communication: How agents write to each other.

    Raises:
        ConfigError: No builder has that name.
    """
    if spec.builder not in _builders:
        _import(_FRAMEWORKS.get(spec.builder, f"lcbgrid.teams.{spec.builder}"))
    if spec.builder not in _builders:
        raise ConfigError(
            "no such team builder",
            value=spec.builder,
            remedy=nearest(spec.builder, {*_builders, *_OWN, *_FRAMEWORKS}),
        )
    return _builders[spec.builder](TeamPlan(spec, size or spec.sizes[0], communication))


def _import(module: str) -> None:
    if importlib.util.find_spec(module) is not None:
        importlib.import_module(module)


def answer_status(reply: ChatReply, extraction: Extraction) -> AnswerStatus:
    """Return the status of an answer that ends with this reply.

    A cut reply is ``truncated`` even if a program was found in it (reports, R29).
    """
    return end_status(reply.status, extraction)


def end_status(end: str, extraction: Extraction) -> AnswerStatus:
    """Return the status of an answer, given how the deciding turn ended and what was found.

    A limit of ours that was reached is told even if a program was found: with a higher limit
    there might be another one.
    """
    if end == "truncated" or (end == "ok" and extraction.truncated):
        return "truncated"
    if end != "ok":
        return end  # type: ignore[return-value]
    return "ok" if extraction.code is not None else "no_code"
