"""MAMUT-GEPA: one GEPA search over all role texts that sees the whole team's transcript.

Optimizers specification, section 4.6; the engine and the adapter are those of ``gepa``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from lcbgrid.optimize.gepa_adapter import Style
from lcbgrid.optimize.gepa_search import Policy, search_with_gepa
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
    BEGIN,
    END,
    STATEMENT,
    TRACE,
    between_marks,
    clip,
    fenced,
    spoken,
    task_text,
    transcript,
)

TEMPERATURE = 0.7


def mamut_style(*, alone: bool, rich: bool) -> Style:
    """Return how MAMUT-GEPA shows rollouts and asks for a text.

    A rollout in which the role did not speak shows nothing.

    Args:
        alone: The team has one prompt, so all messages but the user's are that role's.
        rich: Show what the metric says, not only the score (section 9, item 10).
    """

    def shown(row: Row, record: RunRecord | None, role: str) -> str | None:
        own = [] if record is None else spoken(record, role, alone=alone)
        if record is None or not own:
            return None
        feedback = f"the team scored {record.score or 0.0:g} of 1 ({record.status!s})."
        if rich and record.feedback:
            feedback = f"{feedback} {record.feedback}"
        return (
            f"Task:\n{task_text(row)}\n"
            f"Role to work on: {role}\n"
            f"Everything that was said:\n{clip(transcript(record), STATEMENT)}\n"
            f"What {role} contributed:\n{clip(chr(10).join(own), TRACE)}\n"
            f"Feedback: {feedback}"
        )

    return Style(shown, _prompt, between_marks)


def _prompt(role: str, text: str, shown: Sequence[str]) -> str:
    cases = "\n\n".join(f"Run {number}\n{case}" for number, case in enumerate(shown, 1))
    return (
        f"Several agents solve tasks together and are judged only by their joint result. "
        f"Improve this prompt of the agent {role}; the others keep theirs.\n\n"
        f"The current prompt of {role}:\n{fenced(text)}\n\n"
        f"Runs of the whole team:\n\n{cases}\n\n"
        f"Find what {role} should do otherwise so that the team as a whole succeeds: what it "
        "passes on, what it leaves to others, what it checks. Keep names, tags and placeholders "
        f"in braces. Write the whole new prompt between {BEGIN} and {END}, and nothing else "
        "there."
    )


@register("mamut_gepa")
class MamutGepa:
    """GEPA with team-wide transcripts, an exact cap, and the seed unless something is as good."""

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
            phase="optimization",
            style=mamut_style(alone=len(runner.role_order) == 1, rich=job.has(RICH)),
            temperature=TEMPERATURE,
            soft=False,
            by_bundle=False,
            plateau=False,
            capped="metric_call_cap",
            ended="native_gepa_stop",
            full_evals=0,
        )
        found = await search_with_gepa(policy, job, runner, reflection, trials, train, validation)
        metadata = {**found.metadata, "texts_changed": _changed(runner, found)}
        return dataclasses.replace(found, metadata=metadata)


def _changed(runner: Runner, found: Outcome) -> list[str]:
    """Return the roles whose text is not the seed's."""
    old, new = runner.seed_bundle.prompts, found.incumbent.prompts
    return [role for role in runner.role_order if old[role] != new[role]]
