"""MIPRO: a joint search over instructions and demo sets with Optuna's TPE sampler.

Optimizers specification, section 4.2; the search itself is in ``mipro_search``.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from lcbgrid.optimize.curve import Observation
from lcbgrid.optimize.demos import DEMOS, bootstrapped
from lcbgrid.optimize.grounding import Grounding
from lcbgrid.optimize.interface import (
    Job,
    Outcome,
    Reflection,
    Row,
    Runner,
    Trials,
    register,
)
from lcbgrid.optimize.mipro_search import NO_REPEATS, PHASE, SEED, Combinations
from lcbgrid.optimize.mipro_texts import Instructions
from lcbgrid.optimize.proposer import Proposer

ONE_WALK, INSTRUCTIONS = "one_walk", "more_instructions"
FEW, MANY = 2, 4


@register("mipro")
class Mipro:
    """Bootstraps demos, proposes instructions, and searches their combinations."""

    version = 2
    libraries = ("optuna",)

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
        rng = random.Random(SEED + job.optimizer_seed)
        start = Observation(0, runner.seed_bundle.full_digest, "initial")
        found = await bootstrapped(
            runner, train, rng, phase=PHASE, at_once=DEMOS, one_walk=job.has(ONE_WALK)
        )
        if found.spent:
            return _ended(runner, [start])
        proposer = Proposer(job, reflection, runner.seed_bundle, phase=PHASE)
        grounding = Grounding(
            reflection,
            proposer,
            runner.seed_bundle,
            runner.role_order,
            PHASE,
            rng,
            pad=not job.has(NO_REPEATS),
            count=MANY if job.has(INSTRUCTIONS) else FEW,
        )
        texts = Instructions(job, runner, train, grounding, found, PHASE)
        await texts.first()
        search = Combinations(
            job, runner, trials, validation, texts, found.sets, runner.seed_bundle
        )
        search.observations.append(start)
        reason = await search.run()
        incumbent, last = search.incumbent(), search.observations[-1]
        charged = runner.ledger.snapshot().charged
        search.observations.append(
            Observation(charged, incumbent.full_digest, reason, last.native_iteration)
        )
        return Outcome(
            incumbent=incumbent,
            stop_reason=reason,
            observations=tuple(search.observations),
            events=tuple(search.events),
            metadata={
                "tips": texts.tips,
                "examples": [one.ids for one in found.sets],
                "refused": [[role, list(names)] for role, names in proposer.refused],
                "malformed_replies": proposer.malformed,
                "retest_rounds": search.retests,
                "refits": grounding.refits,
            },
        )


def _ended(runner: Runner, observations: Sequence[Observation]) -> Outcome:
    """Return the seed: the budget did not reach beyond the demos."""
    seed, charged = runner.seed_bundle, runner.ledger.snapshot().charged
    reason = "rollout_budget_spent"
    last = Observation(charged, seed.full_digest, reason)
    return Outcome(seed, reason, (*observations, last), metadata={"examples": []})
