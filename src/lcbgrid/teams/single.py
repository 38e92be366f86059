"""``single``: one agent that thinks, runs code with a tool, and answers."""

from __future__ import annotations

from lcbgrid.problems.schema import Problem
from lcbgrid.scenarios import code_generation
from lcbgrid.teams.agent import Agent
from lcbgrid.teams.bundle import PromptBundle
from lcbgrid.teams.interface import Answer, Member, TeamPlan, end_status, register
from lcbgrid.teams.work import Context, Work


class SingleTeam:
    """One agent with ``python_exec``."""

    def __init__(self, plan: TeamPlan) -> None:
        spec = plan.spec
        self._name = spec.roles[0].name
        self._agent = Agent(
            spec.roles[0],
            max_model_calls=spec.max_model_calls,
            max_tool_calls=spec.max_tool_calls,
        )

    async def solve(self, problem: Problem, bundle: PromptBundle, context: Context) -> Answer:
        """Run the loop and take the program from the last reply, or from an earlier one."""
        work = Work(problem, context)
        history = [
            {
                "role": "system",
                "content": code_generation.with_contract(bundle.prompts[self._name]),
            },
            {"role": "user", "content": code_generation.user_message(problem)},
        ]
        turn = await self._agent.turn(work, self._name, history, meter=context.meters()[0])
        found = turn.program(problem)
        status = end_status(turn.end, found)
        spent = work.total()
        return Answer(
            extraction=found,
            status=status,
            finish_reason=turn.finish_reason,
            spent=spent,
            message=turn.message,
            members=(Member(self._name, self._name, status, turn.text, found.code, spent),),
            winner=0,
        )


register("single")(SingleTeam)
