"""Cells of the table of gains: complete or not, why not, and their sums.

Optimizers specification, section 7. A cell is one method in one condition; its three seeds must
all be there, valid and on the same rows, or it is shown as incomplete with its reasons and takes
part in no mean.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lcbgrid.optimize.errors import ContractError

REQUIRED_SEEDS = (0, 1, 2)


@dataclass(frozen=True, slots=True)
class SeedResult:
    """What one job of a cell found on test.

    Attributes:
        seed: The optimizer seed.
        baseline: The seed bundle's score by row; ``None`` where there is no usable record.
        deployed: The deployed bundle's, likewise.
        fallback_reason: Why the seed bundle was deployed, if it was.
        invalid_reason: Why the job may not be counted, if so.
    """

    seed: int
    baseline: Mapping[str, float | None]
    deployed: Mapping[str, float | None]
    fallback_reason: str | None = None
    invalid_reason: str | None = None

    @property
    def differences(self) -> tuple[float, ...]:
        """Deployed minus baseline, in the order of the rows' IDs, which all seeds share.

        Raises:
            ContractError: A row has no usable record in one of them.
        """
        gains = []
        for row, before in sorted(self.baseline.items()):
            after = self.deployed.get(row)
            if before is None or after is None:
                raise ContractError("a row has no pair of scores", where=row)
            gains.append(after - before)
        return tuple(gains)


@dataclass(frozen=True, slots=True)
class SeedSummary:
    """Means of one seed; ``delta_pp`` in percentage points."""

    seed: int
    n: int
    baseline: float
    deployed: float
    delta_pp: float


@dataclass(frozen=True, slots=True)
class CellSummary:
    """Means over the seeds of a complete cell.

    Attributes:
        seeds: One summary a seed.
        baseline: Macro mean of the seeds' baseline means.
        deployed: Macro mean of the seeds' deployed means.
        delta_pp: Mean gain.
        std_pp: Sample standard deviation of the gains; ``None`` for one seed.
        fallbacks: In how many seeds the seed bundle was deployed.
    """

    seeds: tuple[SeedSummary, ...]
    baseline: float
    deployed: float
    delta_pp: float
    std_pp: float | None
    fallbacks: int


def incomplete_reasons(
    results: Sequence[SeedResult], required: Sequence[int] = REQUIRED_SEEDS
) -> list[str]:
    """Return why a cell is incomplete; empty if it is complete.

    Args:
        results: All results of the cell.
        required: Seeds that must be there exactly once.
    """
    count = Counter(result.seed for result in results)
    reasons = [f"missing_seed:{seed}" for seed in required if not count[seed]]
    reasons += [f"duplicate_seed:{seed}" for seed in sorted(count) if count[seed] > 1]
    reasons += [f"unexpected_seed:{seed}" for seed in sorted(set(count) - set(required))]
    for result in sorted(results, key=lambda item: item.seed):
        why = _invalid(result)
        if why:
            reasons.append(f"invalid_seed:{result.seed}:{why}")
    rows = {frozenset(result.baseline) for result in results if not result.invalid_reason}
    if len(rows) > 1:
        reasons.append("example_ids_differ")
    return reasons


def _invalid(result: SeedResult) -> str | None:
    if result.invalid_reason:
        return result.invalid_reason
    if not result.baseline:
        return "no_rows"
    if set(result.baseline) != set(result.deployed):
        return "unpaired_rows"
    for row, before in result.baseline.items():
        if before is None or result.deployed[row] is None:
            return f"unusable_record:{row}"
    return None


def summarise(results: Sequence[SeedResult]) -> CellSummary:
    """Return the means of a complete cell.

    Raises:
        ContractError: There is no result, or one has no pair of scores for a row.
    """
    if not results:
        raise ContractError("a cell without a result has no mean")
    ordered = sorted(results, key=lambda item: item.seed)
    seeds = tuple(_seed_summary(result) for result in ordered)
    deltas = [seed.delta_pp for seed in seeds]
    return CellSummary(
        seeds=seeds,
        baseline=statistics.fmean(seed.baseline for seed in seeds),
        deployed=statistics.fmean(seed.deployed for seed in seeds),
        delta_pp=statistics.fmean(deltas),
        std_pp=statistics.stdev(deltas) if len(deltas) > 1 else None,
        fallbacks=sum(result.fallback_reason is not None for result in ordered),
    )


def _seed_summary(result: SeedResult) -> SeedSummary:
    gains = result.differences
    if not gains:
        raise ContractError("a seed without a row has no mean", value=result.seed)
    n = len(gains)
    before = math.fsum(score for score in result.baseline.values() if score is not None) / n
    after = math.fsum(result.deployed[row] or 0.0 for row in result.baseline) / n
    return SeedSummary(result.seed, n, before, after, 100 * math.fsum(gains) / n)
