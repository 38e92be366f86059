"""Sets of worked examples for role texts, made from rollouts that went well.

Optimizers specification, section 4.2, step 1.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lcbgrid.optimize.errors import BudgetSpent
from lcbgrid.optimize.interface import Row, Runner
from lcbgrid.optimize.records import RunRecord
from lcbgrid.optimize.rows import row_id
from lcbgrid.optimize.texts import OUTPUT, TRACE, clip, compact, spoken

DEMOS = 4


@dataclass(frozen=True, slots=True)
class DemoSet:
    """Successful rollouts, in the order in which they were found.

    Attributes:
        rows: Their rows.
        records: What they gave.
    """

    rows: tuple[Row, ...] = ()
    records: tuple[RunRecord, ...] = ()

    @property
    def ids(self) -> list[str]:
        """Ids of the rows."""
        return [row_id(row) for row in self.rows]

    def of(self, role: str, *, alone: bool) -> list[Mapping[str, Any]]:
        """Return one demo of a role for each rollout."""
        return [
            {
                "role": role,
                "task": compact(dict(row), 1400),
                "outputs": {
                    "wrote": clip("\n".join(spoken(record, role, alone=alone)), TRACE),
                    "answer": clip(record.final_output, OUTPUT),
                },
            }
            for row, record in zip(self.rows, self.records, strict=True)
        ]


@dataclass(slots=True)
class Bootstrap:
    """What the walks came to.

    Attributes:
        sets: Demo sets; the first is empty.
        failures: Rollouts that went wrong, a row once, in the order in which they were made.
        spent: The budget ended the work.
    """

    sets: list[DemoSet]
    failures: dict[str, tuple[Row, RunRecord]]
    spent: bool = False


async def bootstrapped(
    runner: Runner,
    train: Sequence[Row],
    rng: random.Random,
    *,
    phase: str,
    at_once: int,
    one_walk: bool = False,
) -> Bootstrap:
    """Return three demo sets and the failures on the way.

    Args:
        runner: Runs the seed bundle on train rows.
        train: The rows.
        rng: Shuffles, and draws the size of the second set.
        phase: First part of the seeds.
        at_once: Most successes that a walk looks for; each walk makes at most one pass.
        one_walk: Make both sets of one walk, so that one begins the other, and each row is
            run once.
    """
    shuffled = list(train)
    rng.shuffle(shuffled)
    size = rng.randint(1, at_once)
    done = Bootstrap([DemoSet()], {})
    if one_walk:
        every = await _walk(runner, shuffled, at_once, phase, done)
        done.sets += [DemoSet(every.rows[:size], every.records[:size]), every]
        return done
    for rows, wanted in ((shuffled, size), (list(train), at_once)):
        done.sets.append(await _walk(runner, rows, wanted, phase, done))
    return done


async def _walk(
    runner: Runner, rows: Sequence[Row], wanted: int, phase: str, done: Bootstrap
) -> DemoSet:
    """Walk rows until enough succeed, and note the others.

    Never more rows are under way than successes are missing, so no rollout is in vain.
    """
    kept: list[tuple[Row, RunRecord]] = []
    at = 0
    while len(kept) < wanted and at < len(rows):
        part = rows[at : at + wanted - len(kept)]
        try:
            batch = await runner.run_batch(
                part, runner.seed_bundle, phase=phase, iteration=0, slot="bootstrap"
            )
        except BudgetSpent:
            done.spent = True
            break
        for row, record in zip(part, batch.records, strict=False):
            if (record.score or 0.0) > 0:
                kept.append((row, record))
            else:
                done.failures.setdefault(record.example_id, (row, record))
        at += len(part)
        if batch.truncated:
            done.spent = True
            break
    return DemoSet(tuple(row for row, _ in kept), tuple(record for _, record in kept))
