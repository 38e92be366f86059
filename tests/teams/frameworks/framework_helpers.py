"""Shared by the tests of the framework teams: shipped teams, and what has to hold for each."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
from helpers import STDIN, EchoTools, ScriptedClient
from lineup_helpers import check_histories, run_team, team

from lcbgrid.config.model_spec import SamplingSpec
from lcbgrid.config.team_spec import TeamSpec
from lcbgrid.models.types import ChatReply, ChatRequest
from lcbgrid.teams.bundle import PromptBundle
from lcbgrid.teams.interface import Answer, build
from lcbgrid.teams.work import Context

__all__ = ["asked", "check_histories", "run_many", "run_team", "team"]


def asked(client: ScriptedClient) -> list[Any]:
    """What a client was asked, in an order that does not depend on who was first."""
    return sorted(
        (str(r.call), r.seed, repr(r.messages), repr(r.tools), r.sampling.temperature)
        for r in client.requests
    )


def run_many(
    spec: TeamSpec, size: int, reply: Callable[[ChatRequest], ChatReply], n: int
) -> list[Answer]:
    """Let one team solve many problems at once; replies may depend on the question."""

    class Slow(ScriptedClient):
        async def chat(self, request: ChatRequest) -> ChatReply:
            await asyncio.sleep(0.001 * (hash(request.seed) % 7))
            return await super().chat(request)

    client = Slow(reply)
    bundle = PromptBundle({role.name: f"ROLE OF {role.name}." for role in spec.roles})
    built = build(spec, size)

    async def solve(index: int) -> Answer:
        context = Context(
            client=client,  # type: ignore[arg-type]
            tools=EchoTools(),  # type: ignore[arg-type]
            spec=spec,
            sampling=SamplingSpec(),
            cell_seed=3,
            sample_index=index,
        )
        return await built.solve(STDIN, bundle, context)

    async def all_of_them() -> list[Answer]:
        return list(await asyncio.gather(*(solve(index) for index in range(n))))

    answers = asyncio.run(all_of_them())
    check_histories(client.requests)
    return answers
