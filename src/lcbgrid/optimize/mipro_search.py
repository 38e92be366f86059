"""The search of MIPRO over combinations of instructions and demo sets.

Optimizers specification, sections 4.2 (step 3), 8.4 and 9 (items 3, 5, 6, 8 and 14).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, product
from typing import TYPE_CHECKING, Any

from lcbgrid.optimize.canonical import content_hash
from lcbgrid.optimize.curve import Observation
from lcbgrid.optimize.demos import DemoSet
from lcbgrid.optimize.errors import BudgetSpent
from lcbgrid.optimize.estimate import posterior_means
from lcbgrid.optimize.interface import Batch, Job, Row, Runner, Trials
from lcbgrid.optimize.mipro_texts import LOOKED_AT, Instructions
from lcbgrid.optimize.pruning import curtailed, hard_first, is_worse
from lcbgrid.optimize.rows import row_id
from lcbgrid.optimize.switches import (
    ANYTIME,
    CURTAILED,
    HARD_FIRST,
    NOISE_AWARE,
    PAIRED,
    TAIL,
)
from lcbgrid.optimize.texts import with_demos
from lcbgrid.teams.bundle import PromptBundle

if TYPE_CHECKING:
    import optuna

PHASE = "optimization/mipro"
SEED, TRIALS, MOST_TRIALS = 9, 3, 60
NO_REPEATS, MORE = "no_repeats", "more_trials"
RUNGS, RUNG = "rungs", 8
PLANNED, FRESH = "planned_trials", "fresh_instructions"
REDRAWS = 4  # then the first combination that is left
Params = Mapping[str, int]


@dataclass(slots=True)
class Combinations:
    """The state of one search.

    Attributes:
        job: Says which improvements are in force.
        runner: Makes the rollouts.
        trials: Where evaluated bundles go.
        validation: The rows that decide.
        instructions: Texts of each role by index; the first is the seed's.
        sets: Demo sets; the first is empty.
        best: The best bundle so far.
        best_params: Its combination.
        best_scores: Its scores by row.
        whole: Bundles that ran all rows, by execution digest.
        spent: The budget ended a trial.
    """

    job: Job
    runner: Runner
    trials: Trials
    validation: Sequence[Row]
    instructions: Instructions
    sets: Sequence[DemoSet]
    best: PromptBundle
    best_params: Params = field(default_factory=dict)
    best_scores: dict[str, float] = field(default_factory=dict)
    whole: dict[str, PromptBundle] = field(default_factory=dict)
    tried: dict[tuple[int, ...], float] = field(default_factory=dict)
    finished: list[tuple[Params, float]] = field(default_factory=list)
    seen: list[tuple[str, str, float]] = field(default_factory=list)
    observations: list[Observation] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)
    spent: bool = False
    retests: int = 0
    _plan: list[dict[str, int]] = field(default_factory=list)
    _due: bool = False
    _study: optuna.Study | None = None
    _told: int = 0

    async def run(self) -> str:
        """Try the seed and then combinations; return the stop reason."""
        rounds = MOST_TRIALS if self.job.has(MORE) else TRIALS
        reason = "num_trials_complete"
        try:
            await self.evaluate(0, dict.fromkeys(self.params(), 0))
            self._plan = self._first_plan()
            for number in range(1, rounds + 1):
                if self.spent or not self._fits():
                    break
                chosen = await self._next(number)
                if chosen is None:
                    break
                await self.evaluate(number, chosen)
            self.spent = self.spent or not self._fits()
            await self._retest()
        except BudgetSpent:
            self.spent = True
        return "rollout_budget_spent" if self.spent else reason

    def _left(self) -> int:
        return self.runner.ledger.snapshot().remaining

    def _fits(self) -> bool:
        """Whether a trial is worth beginning: with re-tests at the end, only if it can win."""
        return self._left() >= (len(self.validation) if self.job.has(TAIL) else 1)

    async def _retest(self) -> None:
        """Spend what is left on paired re-tests of the best and the seed."""
        seed = self.runner.seed_bundle
        if not self.job.has(TAIL) or self.best is seed:
            return
        while (size := min(len(self.validation), self._left() // 2)) > 0:
            self.retests += 1
            for bundle in (seed, self.best):
                batch = await self.runner.run_batch(
                    self.validation[:size],
                    bundle,
                    phase=PHASE,
                    iteration=self.retests,
                    slot="retest",
                )
                self._saw(bundle, batch)

    def incumbent(self) -> PromptBundle:
        """Return what would be deployed; the seed wins ties."""
        if not self.job.has(NOISE_AWARE) or not self.whole:
            return self.best
        means = posterior_means(self.seen)
        return self.whole[max(self.whole, key=lambda digest: means[digest].mean)]

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
            texts[role] = with_demos(self.instructions.texts[role][chosen[f"{role}_instr"]], shown)
            demos[role] = shown
        return PromptBundle(texts, {**seed.metadata, "examples": demos}, seed.demos)

    async def evaluate(self, number: int, chosen: Params) -> None:
        """Validate a combination and record it.

        Raises:
            BudgetSpent: Not a row of it was run.
        """
        bundle, rows = self.render(chosen), self._rows()
        before = self._left()
        batch = await self._batch(number, bundle, rows)
        self._saw(bundle, batch)
        self.spent = self.spent or batch.truncated
        mean = self._mean(rows, batch)
        self.tried[tuple(chosen.values())] = mean
        self.finished.append((chosen, mean))
        whole = len(batch.records) == len(rows)
        soft = self.job.profile == "reference" and not batch.curtailed
        if whole:
            self.whole.setdefault(bundle.exec_digest, bundle)
        best_sum = sum(self.best_scores.values()) if self.best_scores else -1.0
        if (whole or soft) and sum(batch.scores) > best_sum:
            self.best, self.best_params = bundle, chosen
            found = {record.example_id: record.score or 0.0 for record in batch.records}
            self.best_scores = {
                row_id(row): found.get(row_id(row), 0.0) for row in self.validation
            }
            if number and self.job.has(FRESH):
                self._plan = [one for one in self._plan if not _changes_texts(one)]
                self._due = True
        self._note(number, chosen, bundle, batch, mean, before)

    def _rows(self) -> list[Row]:
        """Return the rows in the order in which a trial runs them."""
        if self.best_scores and self.job.has(HARD_FIRST) and self.job.has(PAIRED):
            return hard_first(self.validation, self.best_scores)
        return list(self.validation)

    def _mean(self, rows: Sequence[Row], batch: Batch) -> float:
        """Return a trial's value.

        As published, rows that the budget did not reach count 0. Otherwise the others are taken
        to end as they did for the best bundle where the chance is shared, else as the mean.
        """
        scores, total = batch.scores, len(rows)
        if len(scores) == total or self.job.profile == "reference":
            return sum(scores) / total
        if not self.job.has(PAIRED) or not self.best_scores:
            return sum(scores) / len(scores)
        rest = [self.best_scores[row_id(row)] for row in rows[len(scores) :]]
        return (sum(scores) + sum(rest)) / total

    async def _batch(self, number: int, bundle: PromptBundle, rows: Sequence[Row]) -> Batch:
        paired = self.job.has(PAIRED)
        best = [self.best_scores[row_id(row)] for row in rows] if self.best_scores else []
        exact, anytime = self.job.has(CURTAILED), self.job.has(ANYTIME) and paired
        rung = RUNG if paired and self.job.has(RUNGS) and len(rows) > 2 * RUNG else len(rows)

        def lost(scores: Sequence[float]) -> bool:
            if exact and curtailed(sum(scores), len(rows) - len(scores), sum(best)):
                return True
            if len(scores) >= rung and sum(scores[:rung]) <= sum(best[:rung]):
                return True
            return anytime and is_worse(scores, best)

        return await self.runner.run_batch(
            rows,
            bundle,
            phase=PHASE,
            iteration=0 if paired else number,
            slot="validation" if paired else bundle.digest,
            stop=lost if best else None,
        )

    def _saw(self, bundle: PromptBundle, batch: Batch) -> None:
        name = bundle.exec_digest
        self.seen += [(name, item.example_id, item.score or 0.0) for item in batch.records]

    def _note(
        self,
        number: int,
        chosen: Params,
        bundle: PromptBundle,
        batch: Batch,
        mean: float,
        before: int,
    ) -> None:
        ledger = self.runner.ledger.snapshot()
        roles = self.runner.role_order
        self.trials.trial(
            f"{number}/combination",
            bundle=bundle,
            params=dict(chosen),
            value=mean,
            scores=batch.scores,
            state="pruned" if batch.curtailed or batch.truncated else "complete",
            attributes={
                "kind": "combination" if number else "seed",
                "parents": [],
                "rows": content_hash([record.example_id for record in batch.records]),
                "charged": before - ledger.remaining,
                "ledger_after": ledger.charged,
                "tokens": sum(record.usage.total_tokens for record in batch.records),
                "accepted": self.best is bundle,
                "incumbent_after": self.best.full_digest,
                "curtailed_at": len(batch.scores) if batch.curtailed else None,
                "examples": {role: self.sets[chosen[f"{role}_demo"]].ids for role in roles},
                "tips": {
                    role: self.instructions.tips[role][chosen[f"{role}_instr"]] for role in roles
                },
            },
        )
        best_mean = sum(self.best_scores.values()) / len(self.validation)
        self.observations.append(
            Observation(ledger.charged, self.best.full_digest, "trial", number, best_mean)
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
                "charged": ledger.charged,
            }
        )

    def _first_plan(self) -> list[dict[str, int]]:
        """Return what the first trials change in the best combination.

        First the new instructions, one for each role at a time; then each demo set for all roles
        beside the best instructions. One trial then says something of every role, where
        a draw at random mixes them all.
        """
        if not self.job.has(PLANNED):
            return []
        texts, roles = self.instructions.texts, self.runner.role_order
        most = max(map(len, texts.values()))
        larger, *others = sorted(
            range(len(self.sets)), key=lambda index: -len(self.sets[index].rows)
        )
        examples = {f"{role}_demo": larger for role in roles}
        plan = [
            {f"{role}_instr": min(number, len(texts[role]) - 1) for role in roles} | examples
            for number in range(1, most)
        ]
        return plan + [{f"{role}_demo": number for role in roles} for number in others]

    async def _next(self, number: int) -> Params | None:
        """Return the next combination: of the plan, of the sampler, or with new instructions."""
        while True:
            while self._plan:
                chosen = {**self.best_params, **self._plan.pop(0)}
                if tuple(chosen.values()) not in self.tried:
                    return chosen
            if not self._due or not self.job.has(FRESH):
                self._due = True
                return self.ask(number)
            self._due = False
            await self._refresh()

    async def _refresh(self) -> None:
        """Get new instructions and plan a trial for each, unless none come or none fits."""
        if self._left() < LOOKED_AT + len(self.validation):
            return
        current = {
            role: self.instructions.texts[role][self.best_params[f"{role}_instr"]]
            for role in self.runner.role_order
        }
        new = await self.instructions.more(self.best, current)
        self._plan = [{f"{role}_instr": index for role, index in one.items()} for one in new]
        self._study, self._told = None, 0  # a study's choices may not grow

    def ask(self, number: int) -> Params | None:
        """Return the next combination of the sampler; ``None`` if all were tried.

        The sampler is made anew from a derived seed and the finished trials, so it has no state
        that a resumed search would lack (section 8.4).
        """
        improved = self.job.has(NO_REPEATS)
        base = SEED + self.job.optimizer_seed
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
        return len(self.instructions.texts[role]) if kind == "instr" else len(self.sets)

    def _sampled(self, seed: int, *, startup: int) -> Params:
        """Ask a new sampler; the study in memory only gains the trials that it lacks.

        What was asked is marked as failed at once, which samplers pass over: a trial counts with
        its value, when that is known.
        """
        import optuna

        space: dict[str, optuna.distributions.BaseDistribution] = {
            name: optuna.distributions.CategoricalDistribution(range(self._choices(name)))
            for name in self.params()
        }
        if self._study is None:
            optuna.logging.set_verbosity(optuna.logging.WARNING)
            self._study = optuna.create_study(direction="maximize")
        for chosen, value in self.finished[self._told :]:
            self._study.add_trial(
                optuna.trial.create_trial(params=dict(chosen), distributions=space, value=value)
            )
        self._told = len(self.finished)
        self._study.sampler = optuna.samplers.TPESampler(
            seed=seed, multivariate=True, n_startup_trials=startup, constant_liar=False
        )
        asked = self._study.ask(space)
        self._study.tell(asked, state=optuna.trial.TrialState.FAIL)
        return {name: int(asked.params[name]) for name in self.params()}


def _changes_texts(change: Params) -> bool:
    return any(name.endswith("_instr") for name in change)
