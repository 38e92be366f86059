"""A small landscape, and a method that tries what the reflection model writes."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lcbgrid.models.simulate.landscape import Landscape
from lcbgrid.optimize.curve import Observation
from lcbgrid.optimize.errors import BudgetSpent
from lcbgrid.optimize.interface import Job, Outcome, Reflection, Row, Runner, Trials, register
from lcbgrid.optimize.landscape_cell import LandscapeWorld
from lcbgrid.teams.bundle import PromptBundle

SPLITS = {"train": 12, "validation": 10, "test": 8}
ROLES = ("coder", "debugger")


def small_world(seed: int = 3, **options: Any) -> LandscapeWorld:
    """Return a fresh world on a landscape with few rows."""
    return LandscapeWorld(Landscape.generate(seed, ROLES, splits=SPLITS), **options)


@register("random_rewrites")
class RandomRewrites:
    """Accepts a rewrite of a random role that does better on all validation rows."""

    async def optimize(
        self,
        job: Job,
        runner: Runner,
        reflection: Reflection,
        trials: Trials,
        train: Sequence[Row],
        validation: Sequence[Row],
    ) -> Outcome:
        choose = random.Random(job.optimizer_seed)
        best, best_score = runner.seed_bundle, -1.0
        seen = [Observation(0, best.full_digest, "initial")]
        events: list[dict[str, Any]] = []
        step = 0
        try:
            while True:
                child = best
                if step:
                    role = choose.choice(runner.role_order)
                    learned = await runner.run_batch(
                        choose.sample(list(train), 2), best, phase="random", iteration=step
                    )
                    said = [record.feedback or "" for record in learned.records]
                    prompt = "Improve this prompt:\n" + best.prompts[role] + "\n".join(said)
                    text = await reflection.complete(
                        prompt, phase="random", iteration=step, role=role
                    )
                    child = PromptBundle({**best.prompts, role: text.strip() or "nothing"})
                batch = await runner.run_batch(
                    validation, child, phase="random", iteration=0, slot="validation"
                )
                score = sum(batch.scores) / len(validation)
                trials.trial(
                    f"{step}",
                    bundle=child,
                    params={"step": step},
                    value=score,
                    scores=batch.scores,
                )
                if score > best_score and not batch.truncated:
                    best, best_score = child, score
                events.append({"step": step, "score": score})
                charged = runner.ledger.snapshot().charged
                seen.append(Observation(charged, best.full_digest, "step", step, best_score))
                step += 1
        except BudgetSpent:
            pass
        return Outcome(best, "budget", tuple(seen), tuple(events), {"steps": step})


def sealed_bytes(folder: Path) -> dict[str, bytes]:
    """Return the files of a job that must not depend on how it was run."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and not path.name.endswith((".lock", ".flock"))
        and path.name not in ("study.log", "times.jsonl")
    }
