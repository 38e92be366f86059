"""Final evaluations: a bundle on every row of a split, with paired seeds, free of the budget.

Optimizers specification, sections 3.2 and 6.7. No method is part of an evaluation's identity, so
all methods of a condition share the seed bundle's.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

from lcbgrid.core import locks
from lcbgrid.core.errors import BusyError
from lcbgrid.optimize.attempts import MAXIMUM_ATTEMPTS, Attempts, all_or_cancelled
from lcbgrid.optimize.canonical import content_hash
from lcbgrid.optimize.cell import Cell
from lcbgrid.optimize.errors import ArtifactError
from lcbgrid.optimize.interface import Row
from lcbgrid.optimize.journal import RolloutJournal, RolloutKey
from lcbgrid.optimize.records import RunRecord, Usage
from lcbgrid.optimize.rows import RowBook
from lcbgrid.optimize.sealed import SealedFolder
from lcbgrid.optimize.seeds import paired_seed
from lcbgrid.teams.bundle import PromptBundle

SCHEMA = "lcbgrid-evaluation/v1"
LOCK_WAIT_S, LOCK_POLL_S = 24 * 3600.0, 0.1


def evaluation_identity(
    cell: Cell, bundle: PromptBundle, rows: Sequence[Row], *, split: str, optimizer_seed: int
) -> dict[str, Any]:
    """Return what an evaluation is; its hash is the evaluation's name.

    Args:
        cell: Gives the condition.
        bundle: What runs.
        rows: The whole split, in order.
        split: ``validation`` or ``test``.
        optimizer_seed: Part of the paired seeds.
    """
    book = RowBook(rows)
    return {
        "schema": SCHEMA,
        "condition_id": cell.condition_id,
        "split": split,
        "evaluation_seed": optimizer_seed,
        "exec_digest": bundle.exec_digest,
        "ordered_ids": list(book.checked(rows)),
        "rows_sha256": content_hash(list(rows)),
    }


async def run_evaluation(
    cell: Cell,
    bundle: PromptBundle,
    rows: Sequence[Row],
    *,
    split: str,
    optimizer_seed: int,
    journal: RolloutJournal | None = None,
    max_in_flight: int = 16,
) -> list[RunRecord]:
    """Return the records of a bundle, in the order of the rows.

    A row that failed three times comes back as an unusable record.
    """
    attempts = Attempts(
        cell.evaluate,
        RolloutJournal() if journal is None else journal,
        cell_id=cell.cell_id,
        max_in_flight=max_in_flight,
    )

    async def one(name: str, row: Row) -> RunRecord:
        seed = paired_seed(
            condition=cell.condition_id,
            optimizer_seed=optimizer_seed,
            split=split,
            example_id=name,
        )
        key = RolloutKey(bundle.exec_digest, name, seed)
        for attempt in range(MAXIMUM_ATTEMPTS):
            record = await attempts.attempt(row, bundle, key._replace(attempt=attempt))
            if record.usable:
                break
        return record

    wanted = RowBook(rows).checked(rows)
    return await all_or_cancelled(
        [asyncio.ensure_future(one(name, row)) for name, row in wanted.items()]
    )


async def sealed_evaluation(
    folder: Path,
    cell: Cell,
    bundle: PromptBundle,
    rows: Sequence[Row],
    *,
    split: str,
    optimizer_seed: int,
    max_in_flight: int = 16,
) -> tuple[str, list[RunRecord]]:
    """Return an evaluation's name and records; run it if it is not sealed in the folder.

    The folder may be shared by jobs: the evaluation is made under its own lock, and a run that
    was interrupted goes on from its journal.

    Raises:
        ArtifactError: What is sealed there is not this evaluation.
    """
    identity = evaluation_identity(cell, bundle, rows, split=split, optimizer_seed=optimizer_seed)
    name = content_hash(identity)
    store = SealedFolder(folder)
    file, journal_path = f"{name}.json", folder / f"{name}.jsonl"
    async with _held(folder / f"{name}.lock"):
        if not store.exists(file):
            journal = RolloutJournal(journal_path, name)
            try:
                records = await run_evaluation(
                    cell,
                    bundle,
                    rows,
                    split=split,
                    optimizer_seed=optimizer_seed,
                    journal=journal,
                    max_in_flight=max_in_flight,
                )
            finally:
                journal.close()
            store.write(file, _content(name, identity, records, len(journal)))
        journal_path.unlink(missing_ok=True)
        content = store.read(file)
    if content["identity"] != identity:
        raise ArtifactError("another evaluation lies under this name", where=file)
    return name, [RunRecord.from_json(record) for record in content["records"]]


@contextlib.asynccontextmanager
async def _held(path: Path) -> AsyncIterator[None]:
    """Hold an evaluation's lock; waiting lets other jobs of this process go on.

    Raises:
        BusyError: It was not free within a day.
    """
    deadline = time.monotonic() + LOCK_WAIT_S
    while True:
        try:
            descriptor = locks.acquire(path, what="an evaluation")
            break
        except BusyError:
            if time.monotonic() >= deadline:
                raise
        await asyncio.sleep(LOCK_POLL_S)
    try:
        yield
    finally:
        os.close(descriptor)


def _content(
    name: str, identity: dict[str, Any], records: Sequence[RunRecord], attempts: int
) -> dict[str, Any]:
    usable = sum(record.usable for record in records)
    return {
        "evaluation_id": name,
        "identity": identity,
        "records": [record.to_json() for record in records],
        "usage": {
            "task": sum((record.usage for record in records), Usage()).to_json(),
            "attempts": attempts,
            "infrastructure_failures": attempts - usable,
            "search_budget_charged": 0,
        },
    }
