"""GEPA: reflective evolution of role texts with a Pareto front over validation rows.

Optimizers specification, section 4.1; the engine is the package ``gepa``.
"""

from __future__ import annotations

from collections.abc import Sequence

from lcbgrid.optimize.gepa_adapter import Style
from lcbgrid.optimize.gepa_search import FULL_EVALS, Policy, search_with_gepa
from lcbgrid.optimize.interface import (
    Job,
    Outcome,
    Reflection,
    Row,
    Runner,
    Trials,
    register,
)
from lcbgrid.optimize.records import RunRecord
from lcbgrid.optimize.switches import RICH
from lcbgrid.optimize.texts import (
    OUTPUT,
    TRACE,
    between_fences,
    clip,
    fenced,
    spoken,
    task_text,
)


def gepa_style(*, alone: bool, rich: bool) -> Style:
    """Return how GEPA shows rollouts and asks for a text.

    Args:
        alone: The team has one prompt, so all messages are that role's.
        rich: Show what the metric says, not only the score (section 9, item 10).
    """

    def shown(row: Row, record: RunRecord | None, role: str) -> str | None:
        if record is None:
            return f"Task:\n{task_text(row)}\nFeedback: it was not run and counts 0."
        said = "\n".join(spoken(record, role, alone=alone))
        feedback = f"this attempt scored {record.score or 0.0:g} of 1."
        if rich and record.feedback:
            feedback = f"{feedback} {record.feedback}"
        return (
            f"Task:\n{task_text(row)}\n"
            f"What the {role} wrote (the attempt ended as {record.status!s}):\n"
            f"{clip(said, TRACE)}\n"
            f"What the team handed in:\n{clip(record.final_output, OUTPUT)}\n"
            f"Feedback: {feedback}"
        )

    return Style(shown, _prompt, between_fences)


def _prompt(role: str, text: str, shown: Sequence[str]) -> str:
    cases = "\n\n".join(f"Attempt {number}\n{case}" for number, case in enumerate(shown, 1))
    return (
        f"A team of language models works from one prompt for each role. Improve this prompt "
        f"of the role {role} so that more attempts succeed.\n\n"
        f"The current prompt of {role}:\n{fenced(text)}\n\n"
        f"Attempts that were made with it:\n\n{cases}\n\n"
        "Work out from the attempts what the prompt lacks, says wrongly or leaves open; keep "
        "what works, facts on the task that later attempts need, and every name, tag and "
        "placeholder in braces. Write a prompt that serves other tasks of this sort as well as "
        "these. Answer with the whole new prompt inside one fence of three backticks."
    )


@register("gepa")
class Gepa:
    """Evolves one role at a time, and validates what does better on a minibatch."""

    version = 2
    libraries = ("gepa",)

    async def optimize(
        self,
        job: Job,
        runner: Runner,
        reflection: Reflection,
        trials: Trials,
        train: Sequence[Row],
        validation: Sequence[Row],
    ) -> Outcome:
        """Search; see ``interface.Optimizer.optimize``."""
        policy = Policy(
            phase="optimization/gepa",
            style=gepa_style(alone=len(runner.role_order) == 1, rich=job.has(RICH)),
            temperature=1.0,
            soft=True,
            by_bundle=True,
            plateau=True,
            capped="rollout_budget_spent",
            ended="max_full_evals",
            full_evals=FULL_EVALS,
        )
        return await search_with_gepa(policy, job, runner, reflection, trials, train, validation)
