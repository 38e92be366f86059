"""The runner of a search: rollouts in parallel, charged to one ledger, answered once.

Optimizers specification, sections 1, 3.1, 8.4 and 9 (items 1, 3 and 5). Nothing that a method can
see depends on how many rollouts are under way at a time or on which of them ends first.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lcbgrid.core.errors import InfrastructureError
from lcbgrid.optimize.attempts import (
    MAXIMUM_ATTEMPTS,
    Attempts,
    Execute,
    all_or_cancelled,
    finished,
)
from lcbgrid.optimize.bundles import check_bundle
from lcbgrid.optimize.errors import BudgetSpent, ContractError
from lcbgrid.optimize.interface import Batch, Job, Row
from lcbgrid.optimize.journal import RolloutJournal, RolloutKey
from lcbgrid.optimize.ledger import BudgetLedger, Reservation, Snapshot
from lcbgrid.optimize.records import RunRecord
from lcbgrid.optimize.rows import RowBook
from lcbgrid.optimize.seeds import logical_seed
from lcbgrid.teams.bundle import PromptBundle

WINDOW = 4
REUSE = "reuse_results"
Stop = Callable[[Sequence[float]], bool]


@dataclass(frozen=True, slots=True)
class Rollout:
    """What became of a row that was asked for; one line of ``records.jsonl``.

    Attributes:
        phase: What the method said of the batch.
        iteration: The same.
        slot: The same.
        exec_digest: What ran.
        attempts: How many were made; 0 if the answer was known and free.
        charged_after: The ledger when the batch had been settled.
        record: What it gave.
    """

    phase: str
    iteration: int
    slot: str
    exec_digest: str
    attempts: int
    charged_after: int
    record: RunRecord

    def to_json(self) -> dict[str, Any]:
        """Return the line as a JSON object."""
        return {
            "phase": self.phase,
            "iteration": self.iteration,
            "slot": self.slot,
            "exec_digest": self.exec_digest,
            "attempts": self.attempts,
            "charged_after": self.charged_after,
            "record": self.record.to_json(),
            "record_sha256": self.record.digest,
        }


@dataclass(frozen=True, slots=True)
class _Call:
    """A row of a batch on its way; ``record`` is there once it is known."""

    row: Row
    key: RolloutKey
    record: RunRecord | None = None
    attempts: int = 0


class JournalledRunner:
    """Implements ``interface.Runner`` over an executor and a journal.

    With the improvement ``reuse_results`` (on in the improved profile) a row's seed depends on
    phase, iteration and slot alone, so the same bundle in the same slot is the same rollout: it
    is answered from memory, for free. Without it every use of a slot by a bundle is a new draw.

    Batches run one after the other, in the order in which they were asked for.

    Args:
        job: Its seed, cell, budget and profile.
        seed_bundle: Every bundle must have its roles.
        role_order: The roles in the order in which they work.
        rows: All rows that may be run: train and validation, never test.
        execute: Runs a bundle on a row.
        journal: Of this job; ``None`` keeps one in memory.
        ledger: ``None``: a new one with the job's budget.
        max_in_flight: Rollouts under way at a time; changes nothing but the time it takes.
        window: Rows that a batch with a ``stop`` runs at a time when the rule may end it at any
            row. Part of the job, because it changes what is charged.
        progress: Told the ledger whenever something was settled.

    Raises:
        ContractError: The seed bundle has a defect, or its roles are not those of the order.
    """

    def __init__(
        self,
        job: Job,
        seed_bundle: PromptBundle,
        role_order: Sequence[str],
        rows: Iterable[Row],
        execute: Execute,
        *,
        journal: RolloutJournal | None = None,
        ledger: BudgetLedger | None = None,
        max_in_flight: int = 16,
        window: int = WINDOW,
        progress: Callable[[Snapshot], None] | None = None,
    ) -> None:
        check_bundle(seed_bundle)
        if sorted(role_order) != sorted(seed_bundle.prompts):
            raise ContractError("the order of roles is not that of the bundle", value=role_order)
        if window < 1:
            raise ContractError("a window holds at least one row", value=window)
        self.job = job
        self.seed_bundle = seed_bundle
        self.role_order = tuple(role_order)
        self.ledger = BudgetLedger(job.budget) if ledger is None else ledger
        self.rollouts: list[Rollout] = []
        self._book = RowBook(rows)
        self._attempts = Attempts(
            execute,
            RolloutJournal() if journal is None else journal,
            cell_id=job.cell_id,
            max_in_flight=max_in_flight,
        )
        self._reuse = job.has(REUSE)
        self._window = window
        self._progress = progress
        self._turn = asyncio.Lock()
        self._closed = False
        self._uses: Counter[tuple[str | int, ...]] = Counter()
        self._done: Counter[tuple[str | int, ...]] = Counter()
        self._known: dict[RolloutKey, RunRecord] = {}

    @property
    def executed(self) -> int:
        """Attempts that the journal could not answer."""
        return self._attempts.executed

    async def close(self) -> None:
        """Begin no further batch, and wait until the one that is under way is settled."""
        self._closed = True
        async with self._turn:
            return

    async def run_batch(
        self,
        rows: Sequence[Row],
        bundle: PromptBundle,
        *,
        phase: str,
        iteration: int,
        slot: str = "",
        stop: Stop | None = None,
    ) -> Batch:
        """Run a bundle on rows; see ``interface.Runner.run_batch``.

        Raises:
            BudgetSpent: Not one row can be answered.
            ContractError: A row or the bundle is refused; nothing was charged.
            InfrastructureError: A row failed three times; the others are settled.
        """
        checked = self._book.checked(rows)
        check_bundle(bundle, self.seed_bundle)
        done: list[RunRecord] = []
        truncated = stopped = False
        left = list(checked.items())
        async with self._turn:
            if self._closed:
                raise ContractError("the search has ended", where=phase)
            while left and not truncated and not stopped:
                size = self._rows_at_once([record.score or 0.0 for record in done], left, stop)
                calls = [
                    self._call(name, row, bundle, phase, iteration, slot)
                    for name, row in left[:size]
                ]
                new = await self._run(calls, bundle, (phase, iteration, slot), started=bool(done))
                truncated = len(new) < len(calls)
                before = len(done)
                done += new
                stopped = stop is not None and _stops(stop, done, before)
                left = left[size:]
        curtailed = stopped and len(done) < len(rows)
        return Batch(tuple(done), len(rows), truncated=truncated, curtailed=curtailed)

    def _rows_at_once(self, scores: list[float], left: Sequence[object], stop: Stop | None) -> int:
        """Return how many rows to start before the rule is asked again.

        As many as it takes until the rule could end the batch at all, if only failures or only
        successes came; but a window at least, so that rollouts are not made one by one.
        """
        if stop is None:
            return len(left)
        ahead = min(self._window, len(left))
        while ahead < len(left) and not any(
            stop([*scores, *[score] * ahead]) for score in (0.0, 1.0)
        ):
            ahead += 1
        return ahead

    def _call(
        self, name: str, row: Row, bundle: PromptBundle, phase: str, iteration: int, slot: str
    ) -> _Call:
        digest = bundle.exec_digest
        turn = 0 if self._reuse else self._uses[phase, iteration, slot, digest, name]
        seed = logical_seed(
            optimizer_seed=self.job.optimizer_seed,
            cell_id=self.job.cell_id,
            phase=phase,
            iteration=iteration,
            example_id=name,
            role=slot,
            turn=turn,
        )
        key = RolloutKey(digest, name, seed)
        if self._reuse and key in self._known:
            return _Call(row, key, self._known[key])
        return _Call(row, key._replace(occurrence=self._done[digest, name, seed]))

    async def _run(
        self,
        calls: Sequence[_Call],
        bundle: PromptBundle,
        where: tuple[str, int, str],
        *,
        started: bool,
    ) -> list[RunRecord]:
        """Answer as many calls as the budget reaches, in order."""
        paid = [index for index, call in enumerate(calls) if call.record is None]
        answered = list(calls)
        if paid:
            try:
                reservation = self.ledger.reserve(len(paid))
            except BudgetSpent:
                if not started and paid[0] == 0:
                    raise
                answered = answered[: paid[0]]
            else:
                if reservation.slots < len(paid):
                    answered = answered[: paid[reservation.slots]]
                open_calls = {i: answered[i] for i in paid[: reservation.slots]}
                closed = await self._settled(open_calls, bundle, reservation)
                answered = [closed.get(index, call) for index, call in enumerate(answered)]
        return self._folded(answered, where)

    async def _settled(
        self, calls: Mapping[int, _Call], bundle: PromptBundle, reservation: Reservation
    ) -> dict[int, _Call]:
        """Make attempts at all calls until each has a score or three of them are spent."""
        closed: dict[int, _Call] = dict(calls)
        pending = list(calls)
        for attempt in range(MAXIMUM_ATTEMPTS):
            records = await self._round([closed[i] for i in pending], bundle, attempt, reservation)
            for index, record in zip(pending, records, strict=True):
                closed[index] = replace(closed[index], record=record, attempts=attempt + 1)
            pending = [
                index for index, record in zip(pending, records, strict=True) if not record.usable
            ]
            if not pending or attempt + 1 == MAXIMUM_ATTEMPTS:
                break
            reservation = self.ledger.reserve(len(pending))  # their slots were freed just now
        return closed

    async def _round(
        self,
        calls: Sequence[_Call],
        bundle: PromptBundle,
        attempt: int,
        reservation: Reservation,
    ) -> list[RunRecord]:
        tasks = [
            asyncio.ensure_future(
                self._attempts.attempt(call.row, bundle, call.key._replace(attempt=attempt))
            )
            for call in calls
        ]
        try:
            records = await all_or_cancelled(tasks)
        except BaseException:
            self.ledger.commit_prefix(reservation, [item.status for item in finished(tasks)])
            raise
        self._attempts.journal.sync()
        self.ledger.commit(reservation, [record.status for record in records])
        if self._progress is not None:
            self._progress(self.ledger.snapshot())
        return records

    def _folded(self, calls: Sequence[_Call], where: tuple[str, int, str]) -> list[RunRecord]:
        """Remember what was answered, in order.

        Raises:
            InfrastructureError: A row was lost.
        """
        charged = self.ledger.snapshot().charged
        records = []
        lost: RunRecord | None = None
        for call in calls:
            record, key = call.record, call.key
            if record is None:
                raise ContractError("a row was not answered", value=key.example_id)
            self._uses[(*where, key.exec_digest, key.example_id)] += 1
            if call.attempts:
                self._done[key.exec_digest, key.example_id, key.request_seed] += 1
            if record.usable:
                self._known.setdefault(key._replace(occurrence=0), record)
            else:
                lost = lost or record
            records.append(record)
            self.rollouts.append(Rollout(*where, key.exec_digest, call.attempts, charged, record))
        if lost is not None:
            self._closed = True  # batches that wait for their turn are not begun
            raise InfrastructureError(
                f"a rollout failed {MAXIMUM_ATTEMPTS} times: {lost.error}",
                where=lost.example_id,
                remedy="see to the endpoint; finished rollouts are kept",
            )
        return records


def _stops(stop: Stop, records: Sequence[RunRecord], before: int) -> bool:
    """Return whether the rule ends the batch at any of the rows that are new."""
    scores = [record.score or 0.0 for record in records]
    return any(stop(scores[:count]) for count in range(before + 1, len(scores) + 1))
