"""MIPRO: a joint search over instructions and demo sets with Optuna's TPE sampler.

Optimizers specification, sections 4.2, 8.4 and 9 (items 3, 5, 6 and 8).
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, product
from typing import TYPE_CHECKING, Any

from lcbgrid.optimize.canonical import content_hash
from lcbgrid.optimize.curve import Observation
from lcbgrid.optimize.demos import DEMOS, DemoSet, bootstrapped
from lcbgrid.optimize.errors import BudgetSpent
from lcbgrid.optimize.gepa_rollouts import ANYTIME, CURTAILED, PAIRED, is_worse
from lcbgrid.optimize.grounding import Grounding
from lcbgrid.optimize.interface import (
    Batch,
    Job,
    Outcome,
    Reflection,
    Row,
    Runner,
    Trials,
    register,
)
from lcbgrid.optimize.proposer import Proposer
from lcbgrid.optimize.pruning import curtailed
from lcbgrid.optimize.rows import row_id
from lcbgrid.optimize.texts import with_demos
from lcbgrid.teams.bundle import PromptBundle

if TYPE_CHECKING:
    import optuna

PHASE = "optimization/mipro"
TRIALS, SEED, MORE_TRIALS = 3, 9, 60
NO_REPEATS = "no_repeats"
REDRAWS = 4  # then the first combination that is left
Params = Mapping[str, int]


@dataclass(slots=True)
class _Search:
    """The state of one search."""

    job: Job
    runner: Runner
    trials: Trials
    validation: Sequence[Row]
    texts: Mapping[str, Sequence[str]]
    sets: Sequence[DemoSet]
    best: PromptBundle
    best_scores: dict[str, float] = field(default_factory=dict)
    tried: dict[tuple[int, ...], float] = field(default_factory=dict)
    finished: list[tuple[Params, float]] = field(default_factory=list)
    observations: list[Observation] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)
    spent: bool = False

    def params(self) -> list[str]:
        """Return the names of the parameters."""
        return [f"{role}_{kind}" for role in self.runner.role_order for kind in ("instr", "demo")]

    def render(self, chosen: Params) -> PromptBundle:
        """Return the bundle of a combination; the seed bundle itself if all indices are 0."""
        seed = self.runner.seed_bundle
        if not any(chosen.values()):
            return seed
        alone = len(self.runner.role_order) == 1
        texts, demos = {}, {}
        for role in self.runner.role_order:
            shown = self.sets[chosen[f"{role}_demo"]].of(role, alone=alone)
            texts[role] = with_demos(self.texts[role][chosen[f"{role}_instr"]], shown)
            demos[role] = shown
        return PromptBundle(texts, {**seed.metadata, "examples": demos}, seed.demos)

    async def evaluate(self, number: int, chosen: Params) -> None:
        """Validate a combination and record it.

        Raises:
            BudgetSpent: Not a row of it was run.
        """
        bundle = self.render(chosen)
        batch = await self._batch(number, bundle)
        scores = batch.scores
        padded = scores + [0.0] * (len(self.validation) - len(scores))
        self.spent = self.spent or batch.truncated
        whole = len(scores) == len(self.validation)
        soft = self.job.profile == "reference"
        mean = sum(padded if soft else scores) / (len(padded) if soft else len(scores))
        self.tried[tuple(chosen.values())] = mean
        self.finished.append((chosen, mean))
        best_sum = sum(self.best_scores.values()) if self.best_scores else -1.0
        if (whole or (soft and not batch.curtailed)) and sum(scores) > best_sum:
            self.best = bundle
            names = map(row_id, self.validation)
            self.best_scores = dict(zip(names, padded, strict=True))
        self._note(number, chosen, bundle, batch, mean)

    async def _batch(self, number: int, bundle: PromptBundle) -> Batch:
        paired = self.job.has(PAIRED)
        return await self.runner.run_batch(
            self.validation,
            bundle,
            phase=PHASE,
            iteration=0 if paired else number,
            slot="validation" if paired else bundle.digest,
            stop=self._lost if self.best_scores else None,
        )

    def _lost(self, scores: Sequence[float]) -> bool:
        paired = list(self.best_scores.values())
        left = len(self.validation) - len(scores)
        if self.job.has(CURTAILED) and curtailed(sum(scores), left, sum(paired)):
            return True
        return self.job.has(ANYTIME) and self.job.has(PAIRED) and is_worse(scores, paired)

    def _note(
        self, number: int, chosen: Params, bundle: PromptBundle, batch: Batch, mean: float
    ) -> None:
        charged = self.runner.ledger.snapshot().charged
        partial = batch.curtailed or batch.truncated
        self.trials.trial(
            f"{number}/combination",
            bundle=bundle,
            params=dict(chosen),
            value=mean,
            scores=batch.scores,
            state="pruned" if partial else "complete",
            attributes={
                "kind": "combination" if number else "seed",
                "charged": charged,
                "curtailed_at": len(batch.scores) if batch.curtailed else None,
                "examples": {
                    role: self.sets[chosen[f"{role}_demo"]].ids for role in self.runner.role_order
                },
            },
        )
        best_mean = sum(self.best_scores.values()) / len(self.validation)
        self.observations.append(
            Observation(charged, self.best.full_digest, "trial", number, best_mean)
        )
        self.events.append(
            {
                "event": "trial",
                "iteration": number,
                "params": dict(chosen),
                "mean": mean,
                "rows": len(batch.scores),
                "curtailed": batch.curtailed,
                "accepted": self.best is bundle,
                "charged": charged,
            }
        )

    def ask(self, number: int) -> Params | None:
        """Return the next combination; ``None`` if all were tried.

        The sampler is made anew from a derived seed and the finished trials, so it has no state
        that a resumed search would lack (section 8.4).
        """
        improved = self.job.has(NO_REPEATS)
        base = SEED + self.job.optimizer_seed
        chosen: Params = {}
        for attempt in range(REDRAWS if improved else 1):
            seed = int(content_hash([base, number, attempt])[:8], 16)
            chosen = self._sampled(seed, startup=1 if improved else 10)
            if not improved or tuple(chosen.values()) not in self.tried:
                return chosen
        names = self.params()
        every = product(*(range(self._choices(name)) for name in names))
        left = (item for item in every if item not in self.tried)
        return next((dict(zip(names, item, strict=True)) for item in islice(left, 1)), None)

    def _choices(self, name: str) -> int:
        role, _, kind = name.rpartition("_")
        return len(self.texts[role]) if kind == "instr" else len(self.sets)

    def _sampled(self, seed: int, *, startup: int) -> Params:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        space: dict[str, optuna.distributions.BaseDistribution] = {
            name: optuna.distributions.CategoricalDistribution(range(self._choices(name)))
            for name in self.params()
        }
        sampler = optuna.samplers.TPESampler(
            seed=seed, multivariate=True, n_startup_trials=startup, constant_liar=False
        )
        study = optuna.create_study(direction="maximize", sampler=sampler)
        for chosen, value in self.finished:
            study.add_trial(
                optuna.trial.create_trial(params=dict(chosen), distributions=space, value=value)
            )
        asked = study.ask(space)
        return {name: int(asked.params[name]) for name in self.params()}


@register("mipro")
class Mipro:
    """Bootstraps demos, proposes instructions, and searches their combinations."""

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
        seed = runner.seed_bundle
        start = Observation(0, seed.full_digest, "initial")
        sets, spent = await bootstrapped(runner, train, rng, phase=PHASE, at_once=DEMOS)
        if spent:
            return _ended(runner, [start])
        proposer = Proposer(job, reflection, seed, phase=PHASE)
        grounding = Grounding(
            reflection,
            proposer,
            seed,
            runner.role_order,
            PHASE,
            rng,
            pad=not job.has(NO_REPEATS),
        )
        texts, tips = await grounding.instructions(await grounding.summary(train), sets)
        search = _Search(job, runner, trials, validation, texts, sets, seed)
        search.observations.append(start)
        reason = await _searched(search)
        last = search.observations[-1]
        charged = runner.ledger.snapshot().charged
        search.observations.append(
            Observation(charged, search.best.full_digest, reason, last.native_iteration)
        )
        return Outcome(
            incumbent=search.best,
            stop_reason=reason,
            observations=tuple(search.observations),
            events=tuple(search.events),
            metadata={
                "tips": tips,
                "examples": [one.ids for one in sets],
                "refused": [[role, list(names)] for role, names in proposer.refused],
                "malformed_replies": proposer.malformed,
            },
        )


async def _searched(search: _Search) -> str:
    """Try the seed and then combinations; return the stop reason."""
    none = dict.fromkeys(search.params(), 0)
    rounds = TRIALS if search.job.profile == "reference" else MORE_TRIALS
    try:
        await search.evaluate(0, none)
        for number in range(1, rounds + 1):
            if search.spent:
                break
            chosen = search.ask(number)
            if chosen is None:
                break
            await search.evaluate(number, chosen)
    except BudgetSpent:
        search.spent = True
    return "rollout_budget_spent" if search.spent else "num_trials_complete"


def _ended(runner: Runner, observations: Sequence[Observation]) -> Outcome:
    """Return the seed: the budget did not reach beyond the demos."""
    seed, charged = runner.seed_bundle, runner.ledger.snapshot().charged
    reason = "rollout_budget_spent"
    last = Observation(charged, seed.full_digest, reason)
    return Outcome(seed, reason, (*observations, last), metadata={"examples": []})
