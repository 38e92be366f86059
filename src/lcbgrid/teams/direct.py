"""``direct``: one call, one program; LiveCodeBench's own protocol."""

from __future__ import annotations

from lcbgrid.config.team_spec import TeamSpec
from lcbgrid.problems.schema import Problem
from lcbgrid.scenarios import code_generation
from lcbgrid.scenarios.extract import extract
from lcbgrid.teams.bundle import PromptBundle
from lcbgrid.teams.interface import Answer, Context, Spent, answer_status, register


class DirectTeam:
    """A single model call without tools."""

    def __init__(self, spec: TeamSpec) -> None:
        self._role = spec.roles[0].name

    async def solve(self, problem: Problem, bundle: PromptBundle, context: Context) -> Answer:
        """Ask once and take the program from the reply."""
        spent = Spent()
        messages = [
            {
                "role": "system",
                "content": code_generation.with_contract(bundle.prompts[self._role]),
            },
            {"role": "user", "content": code_generation.user_message(problem)},
        ]
        reply = await context.ask(
            spent, problem=problem, agent=self._role, step=0, messages=messages
        )
        found = extract(reply.text, fn_name=problem.fn_name)
        return Answer(
            extraction=found,
            status=answer_status(reply, found),
            finish_reason=reply.finish_reason,
            spent=spent,
            message=reply.message,
        )


register("direct")(DirectTeam)
