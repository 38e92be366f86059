"""Rollouts for an engine that runs in a thread, charged to the job's ledger.

Optimizers specification, sections 2 (engine facts), 3.1, 3.3 and 9 (items 3, 5, 6 and 8).
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from lcbgrid.optimize.errors import BudgetSpent
from lcbgrid.optimize.estimate import posterior_means
from lcbgrid.optimize.interface import Batch, Job, Row, Runner
from lcbgrid.optimize.pruning import curtailed, hard_first, is_worse
from lcbgrid.optimize.records import RunRecord
from lcbgrid.optimize.rows import row_id
from lcbgrid.optimize.runner import REUSE
from lcbgrid.optimize.switches import ANYTIME, CURTAILED, HARD_FIRST, PAIRED
from lcbgrid.teams.bundle import PromptBundle

FAILING = "failing_rows"
_T = TypeVar("_T")


class Halt(BaseException):
    """Ends the engine at once; no ``Exception``, because the engine swallows those."""


class Bridge:
    """Lets a thread wait for coroutines of the event loop that made it."""

    def __init__(self) -> None:
        self.closed = False
        self._loop = asyncio.get_running_loop()

    def call(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Run a coroutine on the loop and return what it gave.

        Raises:
            Halt: It failed, or the search was cancelled; the cause is chained.
        """
        if self.closed:
            work.close()
            raise Halt("the search was cancelled")
        try:
            return asyncio.run_coroutine_threadsafe(work, self._loop).result()
        except Exception as error:
            raise Halt(str(error)) from error


@dataclass(slots=True)
class Rollouts:
    """Evaluates bundles for the engine.

    Attributes:
        job: Says which improvements are in force.
        runner: Makes the rollouts.
        bridge: To the runner's event loop.
        phase: First part of the rollouts' seeds.
        soft: Rows beyond the budget count 0 and are not run (section 3.3).
        by_bundle: Seeds depend on the bundle, as published for gepa; else on the event.
        requested: Rows that were asked for, run or not.
        seen: (bundle, row, score) of every rollout.
        known: Records of validation rows, and of train rows where minibatches are chosen among
            them, by bundle; only where rollouts are paired.
        tokens: Of all rollouts of a bundle.
    """

    job: Job
    runner: Runner
    bridge: Bridge
    phase: str
    soft: bool = False
    by_bundle: bool = False
    requested: int = 0
    seen: list[tuple[str, str, float]] = field(default_factory=list)
    known: dict[str, dict[str, RunRecord]] = field(default_factory=dict)
    tokens: Counter[str] = field(default_factory=Counter)

    @property
    def paired(self) -> bool:
        """Whether bundles share the seeds of a row."""
        return self.job.has(PAIRED)

    @property
    def chosen(self) -> bool:
        """Whether minibatches are chosen among rows that the parent fails."""
        return self.paired and self.job.has(FAILING)

    def remaining(self) -> int:
        """Return what is left of the budget."""
        return self.runner.ledger.snapshot().remaining

    def bundle(self, candidate: Mapping[str, str]) -> PromptBundle:
        """Return the bundle of a candidate, which keeps what else the seed bundle holds."""
        seed = self.runner.seed_bundle
        texts = {str(name): str(text) for name, text in candidate.items()}
        return PromptBundle(texts, seed.metadata, seed.demos)

    def minibatch(
        self,
        rows: Sequence[Row],
        bundle: PromptBundle,
        iteration: int,
        parent: Sequence[float] | None,
    ) -> list[RunRecord | None]:
        """Run a minibatch; ``None`` stands for a row that was not run.

        With curtailment the rows that the parent failed come first, and the others are run only
        if the child can still be strictly better: without any error, since it would be refused.
        """
        if parent is None or not self.job.has(CURTAILED):
            return self._minibatch(rows, bundle, iteration)
        failed = [index for index, score in enumerate(parent) if score < 1]
        rest = [index for index, score in enumerate(parent) if score >= 1]
        found: list[RunRecord | None] = [None] * len(rows)
        for part in (failed, rest):
            if part:
                records = self._minibatch([rows[i] for i in part], bundle, iteration)
                for index, record in zip(part, records, strict=True):
                    found[index] = record
            total = sum(_score(record) for record in found)
            if curtailed(total, len(rest) if part is failed else 0, sum(parent)):
                break
        return found

    def _minibatch(
        self, rows: Sequence[Row], bundle: PromptBundle, iteration: int
    ) -> list[RunRecord | None]:
        if self.chosen:
            return self._remembered(rows, bundle, "train")
        return self._run(rows, bundle, iteration, "minibatch")

    def validation(
        self, rows: Sequence[Row], bundle: PromptBundle, iteration: int
    ) -> list[RunRecord | None]:
        """Run validation rows; where rollouts are paired, each row of a bundle once."""
        if not self.paired:
            return self._run(rows, bundle, iteration, "validation")
        return self._remembered(rows, bundle, "validation")

    def _remembered(
        self, rows: Sequence[Row], bundle: PromptBundle, slot: str
    ) -> list[RunRecord | None]:
        """Run each row of a bundle once, with the same seed for all bundles."""
        known = self.known.setdefault(bundle.exec_digest, {})
        left = [row for row in rows if row_id(row) not in known]
        if left:
            fresh = self._run(left, bundle, 0, slot)
            for row, record in zip(left, fresh, strict=True):
                if record is not None:
                    known[row_id(row)] = record
        return [known.get(row_id(row)) for row in rows]

    def contest(
        self, rows: Sequence[Row], bundle: PromptBundle, best: Mapping[str, float]
    ) -> bool:
        """Run validation until the bundle has no chance to beat the best; whether it does.

        Exact curtailment and the anytime-valid test on the rows that both have run (section 9,
        items 5 and 6), whichever are in force.
        """
        if self.job.has(HARD_FIRST):
            rows = hard_first(rows, best)
        paired = [best[row_id(row)] for row in rows]
        exact, anytime = self.job.has(CURTAILED), self.job.has(ANYTIME)

        def lost(scores: Sequence[float]) -> bool:
            if exact and curtailed(sum(scores), len(rows) - len(scores), sum(paired)):
                return True
            return anytime and is_worse(scores, paired)

        batch = self._batch(rows, bundle, 0, "validation", lost)
        known = self.known.setdefault(bundle.exec_digest, {})
        known.update({record.example_id: record for record in batch.records})
        if batch.truncated:
            raise Halt("a validation did not fit") from BudgetSpent("validation")
        return len(batch.records) == len(rows) and not lost(batch.scores)

    def retests(self, rows: Sequence[Row], pair: Sequence[PromptBundle]) -> int:
        """Spend what is left on paired re-tests of two bundles; return the rounds made."""
        rounds = 0
        while (size := min(len(rows), self.remaining() // 2)) > 0:
            rounds += 1
            for bundle in pair:
                self._batch(rows[:size], bundle, rounds, "retest")
        return rounds

    def means(self) -> dict[str, float]:
        """Return the shrunken mean of every bundle that has run (section 9, item 8)."""
        return {name: found.mean for name, found in posterior_means(self.seen).items()}

    def _run(
        self, rows: Sequence[Row], bundle: PromptBundle, iteration: int, slot: str
    ) -> list[RunRecord | None]:
        self.requested += len(rows)
        once = {row_id(row): row for row in rows}  # the engine may pad a batch with a row again
        left = self.remaining()
        if not self.soft and left < len(once):
            raise Halt("a batch does not fit") from BudgetSpent("batch")
        if not left:
            return [None] * len(rows)
        batch = self._batch(list(once.values()), bundle, iteration, slot)
        found = {record.example_id: record for record in batch.records}
        return [found.get(row_id(row)) for row in rows]

    def _batch(
        self,
        rows: Sequence[Row],
        bundle: PromptBundle,
        iteration: int,
        slot: str,
        stop: Any = None,
    ) -> Batch:
        if self.by_bundle and not self.paired:
            # where results are reused, the iteration keeps every minibatch a new draw
            iteration, slot = iteration if self.job.has(REUSE) else 0, bundle.digest
        batch = self.bridge.call(
            self.runner.run_batch(
                rows, bundle, phase=self.phase, iteration=iteration, slot=slot, stop=stop
            )
        )
        name = bundle.exec_digest
        self.tokens[name] += sum(item.usage.total_tokens for item in batch.records)
        self.seen += [(name, item.example_id, item.score or 0.0) for item in batch.records]
        return batch


def _score(record: RunRecord | None) -> float:
    return 0.0 if record is None else record.score or 0.0
