"""One attempt at a rollout: from the journal, or by the injected executor.

Optimizers specification, section 1 (infrastructure failures) and 8.4 (replay).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from lcbgrid.core.errors import InfrastructureError
from lcbgrid.optimize.errors import ContractError
from lcbgrid.optimize.journal import RolloutJournal, RolloutKey
from lcbgrid.optimize.records import RunRecord, Status
from lcbgrid.optimize.rows import Row
from lcbgrid.optimize.scrub import scrub
from lcbgrid.teams.bundle import PromptBundle

MAXIMUM_ATTEMPTS = 3
Execute = Callable[[Row, PromptBundle, int], Awaitable[RunRecord]]
"""Runs a bundle on a row with a request seed.

A failure of the infrastructure comes back as such a record or is raised as
``InfrastructureError``; any other exception ends the search.
"""


class Attempts:
    """Makes attempts, a bounded number of them at a time, and keeps what they gave.

    Args:
        execute: What runs a bundle on a row.
        journal: Answers attempts that were made before.
        cell_id: Stands in the records of failures.
        max_in_flight: Attempts under way at a time.

    Raises:
        ContractError: Not one attempt may be under way.
    """

    def __init__(
        self, execute: Execute, journal: RolloutJournal, *, cell_id: str, max_in_flight: int
    ) -> None:
        if max_in_flight < 1:
            raise ContractError("at least one rollout must be under way", value=max_in_flight)
        self.journal = journal
        self.executed = 0
        self._execute = execute
        self._cell_id = cell_id
        self._slots = asyncio.Semaphore(max_in_flight)
        self._broken: Exception | None = None

    async def attempt(self, row: Row, bundle: PromptBundle, key: RolloutKey) -> RunRecord:
        """Return the record of one attempt; it may be one of an infrastructure failure.

        Raises:
            ContractError: What came back is no record, or one of another row or seed.
        """
        known = self.journal.record(key)
        if known is not None:
            return known
        async with self._slots:
            if self._broken is not None:  # it is too late to cancel what waits for a slot
                raise ContractError("an earlier rollout broke the search") from self._broken
            try:
                return self.journal.keep(key, await self._made(row, bundle, key))
            except Exception as error:
                self._broken = error
                raise

    async def _made(self, row: Row, bundle: PromptBundle, key: RolloutKey) -> RunRecord:
        self.executed += 1
        try:
            record = await self._execute(row, bundle, key.request_seed)
        except InfrastructureError as error:
            return self._lost(key, error)
        if not isinstance(record, RunRecord):
            raise ContractError(
                "a rollout gives a record", where=key.example_id, value=type(record).__name__
            )
        return record

    def _lost(self, key: RolloutKey, error: Exception) -> RunRecord:
        return RunRecord(
            cell_id=self._cell_id,
            example_id=key.example_id,
            status=Status.INFRASTRUCTURE_FAILURE,
            final_output="",
            score=None,
            request_seed=key.request_seed,
            error=scrub(f"{type(error).__name__}: {error}"),
        )


async def all_or_cancelled(tasks: Sequence[asyncio.Task[RunRecord]]) -> list[RunRecord]:
    """Return what the tasks gave; if one raises, the others are cancelled and waited for."""
    try:
        return await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise


def finished(tasks: Sequence[asyncio.Task[RunRecord]]) -> list[RunRecord]:
    """Return the records of the tasks that came to one."""
    return [
        task.result()
        for task in tasks
        if task.done() and not task.cancelled() and task.exception() is None
    ]
