"""``direct``: one call, one program; LiveCodeBench's own protocol."""

from __future__ import annotations

from lcbgrid.problems.schema import Problem
from lcbgrid.scenarios import code_generation
from lcbgrid.scenarios.extract import extract
from lcbgrid.teams.agent import visible
from lcbgrid.teams.bundle import PromptBundle
from lcbgrid.teams.interface import Answer, Member, TeamPlan, answer_status, register
from lcbgrid.teams.work import Context, Work


class DirectTeam:
    """A single model call without tools."""

    def __init__(self, plan: TeamPlan) -> None:
        self._role = plan.spec.roles[0].name

    async def solve(self, problem: Problem, bundle: PromptBundle, context: Context) -> Answer:
        """Ask once and take the program from the reply."""
        work = Work(problem, context)
        messages = [
            {
                "role": "system",
                "content": code_generation.with_contract(bundle.prompts[self._role]),
            },
            {"role": "user", "content": code_generation.user_message(problem)},
        ]
        reply = await work.ask(self._role, 0, messages)
        found = extract(reply.text, fn_name=problem.fn_name)
        status = answer_status(reply, found)
        spent = work.total()
        return Answer(
            extraction=found,
            status=status,
            finish_reason=reply.finish_reason,
            spent=spent,
            message=reply.message,
            members=(
                Member(self._role, self._role, status, visible(reply.text), found.code, spent),
            ),
            winner=0,
        )


register("direct")(DirectTeam)
