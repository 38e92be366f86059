"""The search that gepa and mamut_gepa share: the engine in a thread, the budget as hard cap.

Optimizers specification, sections 2, 4.1, 4.6 and 9 (items 8 and 14).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from gepa.api import optimize

from lcbgrid.core.errors import InfrastructureError
from lcbgrid.optimize.errors import BudgetSpent
from lcbgrid.optimize.gepa_adapter import Acceptance, Adapter, Name, Style
from lcbgrid.optimize.gepa_log import SearchLog
from lcbgrid.optimize.gepa_rollouts import Bridge, Halt, Rollouts
from lcbgrid.optimize.gepa_sampling import FailingRows
from lcbgrid.optimize.interface import Job, Outcome, Reflection, Row, Runner, Trials
from lcbgrid.optimize.proposer import Proposer
from lcbgrid.optimize.switches import TAIL

JOINT, FROM_BEST = "joint_rewrites", "best_parent"
MINIBATCH, MERGES, PATIENCE, FULL_EVALS, OVERLAP = 3, 5, 3, 5, 5
IDLE = 20  # iterations without a rollout: no proposal could be used
ENDLESS = 20  # rows asked for, for each of the budget, of which most were then free


@dataclass(frozen=True, slots=True)
class Policy:
    """Where the two methods differ.

    Attributes:
        phase: First part of the seeds.
        style: How the reflection model is asked.
        temperature: Of the reflection model.
        soft: In the reference profile, rows beyond the budget count 0.
        by_bundle: In the reference profile, the seeds of rollouts depend on the bundle.
        plateau: Ends after three full validations without a better best.
        capped: Stop reason when the budget is spent.
        ended: Stop reason when the engine's own cap is reached.
        full_evals: The engine's cap in passes over all rows; 0: the budget.
    """

    phase: str
    style: Style
    temperature: float
    soft: bool
    by_bundle: bool
    plateau: bool
    capped: str
    ended: str
    full_evals: int


class _Quiet:
    """A logger for the engine; what matters is in the events."""

    def log(self, message: str) -> None:
        """Drop a line."""


@dataclass(slots=True)
class _Stopper:
    """Asked by the engine before each iteration."""

    policy: Policy
    rollouts: Rollouts
    log: SearchLog
    cap: int
    reason: str = ""
    idle: int = 0
    left: int = -1

    def __call__(self, state: Any) -> bool:
        """Return whether to stop, and remember why."""
        budget = self.rollouts.job.budget
        left = self.rollouts.remaining()
        self.idle, self.left = (self.idle + 1 if left == self.left else 0), left
        spent = self.rollouts.soft and self.rollouts.requested >= budget
        if spent or left == 0:
            self.reason = self.policy.capped
        elif self.idle >= IDLE:
            self.reason = "no_new_texts"
        elif self.policy.plateau and self.log.flat >= PATIENCE:
            self.reason = "full_eval_plateau"
        elif state.total_num_evals >= self.cap:
            self.reason = self.policy.ended
        return bool(self.reason)


async def search_with_gepa(
    policy: Policy,
    job: Job,
    runner: Runner,
    reflection: Reflection,
    trials: Trials,
    train: Sequence[Row],
    validation: Sequence[Row],
) -> Outcome:
    """Run the engine and return what it found.

    Raises:
        InfrastructureError: A row or the reflection model was lost.
    """
    bridge = Bridge()
    reference = job.profile == "reference"
    rollouts = Rollouts(
        job,
        runner,
        bridge,
        policy.phase,
        soft=policy.soft and reference,
        by_bundle=policy.by_bundle,
    )
    log = SearchLog(rollouts, trials, train, validation)
    proposer = Proposer(
        job, reflection, runner.seed_bundle, phase=policy.phase, temperature=policy.temperature
    )
    adapter = Adapter(rollouts, proposer, policy.style, log, validation)
    cap = policy.full_evals * (len(train) + len(validation)) if reference else 0
    stopper = _Stopper(policy, rollouts, log, cap or ENDLESS * job.budget)
    run = _engine_run(job, runner, adapter, stopper, log, rollouts, train, validation)
    await _in_thread(bridge, run)
    stopper.reason = stopper.reason or policy.capped
    retests = await asyncio.to_thread(_retested, job, rollouts, log, validation)
    chosen = log.incumbent()
    log.observe(stopper.reason)
    return Outcome(
        incumbent=log.candidates[chosen].bundle if log.candidates else runner.seed_bundle,
        stop_reason=stopper.reason,
        observations=tuple(log.observations),
        events=tuple(log.events),
        metadata={
            "candidates": len(log.candidates),
            "incumbent_index": chosen,
            "iterations": log.iteration,
            "refused": [[role, list(names)] for role, names in proposer.refused],
            "malformed_replies": proposer.malformed,
            "requested": rollouts.requested,
            "retest_rounds": retests,
            "refits": log.refits,
        },
    )


def _engine_run(
    job: Job,
    runner: Runner,
    adapter: Adapter,
    stopper: _Stopper,
    log: SearchLog,
    rollouts: Rollouts,
    train: Sequence[Row],
    validation: Sequence[Row],
) -> Callable[[], None]:
    """Return the call of the engine, every option given (section 2, fact 5)."""
    seed = {Name(role): runner.seed_bundle.prompts[role] for role in sorted(runner.role_order)}
    options: dict[str, Any] = {
        "seed_candidate": seed,
        "trainset": list(train),
        "valset": list(validation),
        "adapter": adapter,
        "task_lm": None,
        "evaluator": None,
        "reflection_lm": None,
        "reflection_lm_kwargs": None,
        "candidate_selection_strategy": "current_best" if job.has(FROM_BEST) else "pareto",
        "frontier_type": "instance",
        "skip_perfect_score": True,
        "batch_sampler": "epoch_shuffled",
        "reflection_minibatch_size": min(MINIBATCH, len(train)),
        "perfect_score": 1.0,
        "reflection_prompt_template": None,
        "custom_candidate_proposer": None,
        "module_selector": "all" if job.has(JOINT) else "round_robin",
        "use_merge": True,
        "max_merge_invocations": MERGES,
        "merge_val_overlap_floor": min(OVERLAP, len(validation)),
        "max_metric_calls": None,
        "max_reflection_cost": None,
        "stop_callbacks": [stopper],
        "logger": _Quiet(),
        "run_dir": None,
        "callbacks": [log],
        "use_wandb": False,
        "use_mlflow": False,
        "track_best_outputs": False,
        "display_progress_bar": False,
        "use_cloudpickle": False,
        "cache_evaluation": False,
        "seed": job.optimizer_seed,
        "raise_on_exception": True,
        "val_evaluation_policy": "full_eval",
        "acceptance_criterion": Acceptance(rollouts, log, validation),
        "sampling_strategy": FailingRows(rollouts, train, job.optimizer_seed)
        if rollouts.chosen
        else None,
        "selection_strategy": None,
        "reflection_strategy": None,
    }

    def run() -> None:
        optimize(**options)

    return run


async def _in_thread(bridge: Bridge, run: Callable[[], None]) -> None:
    """Run the engine in a thread until it ends or the budget does.

    Raises:
        BaseException: What ended it, other than the budget.
    """

    def guarded() -> BaseException | None:
        try:
            run()
        except Halt as halt:
            return halt.__cause__ or halt
        return None

    try:
        ended = await asyncio.to_thread(guarded)
    except asyncio.CancelledError:
        bridge.closed = True
        raise
    if ended is not None and not isinstance(ended, BudgetSpent):
        raise ended


def _retested(job: Job, rollouts: Rollouts, log: SearchLog, validation: Sequence[Row]) -> int:
    """Spend the tail on re-tests of the incumbent against the seed; return the rounds.

    Raises:
        InfrastructureError: A row was lost.
    """
    chosen = log.incumbent()
    if not job.has(TAIL) or chosen == 0:
        return 0
    pair = [log.candidates[0].bundle, log.candidates[chosen].bundle]
    try:
        return rollouts.retests(validation, pair)
    except Halt as halt:
        if isinstance(halt.__cause__, BudgetSpent):
            return 0
        if isinstance(halt.__cause__, Exception):
            raise halt.__cause__ from None
        raise InfrastructureError(str(halt)) from None
