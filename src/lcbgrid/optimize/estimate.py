"""How good is a bundle, given all its rollouts? A shrunken estimate instead of the highest mean.

Optimizers specification, section 9, item 8. The highest of many observed means belongs to a lucky
bundle more often than to a good one, and means over different rows are not alike, because rows
differ in difficulty. So each score is held against what other bundles reached on its row, and the
excess is shrunken towards the mean of all as in a Beta-binomial model:

    mean = m + sum(score - expected on its row) / (n + strength)

Where no other bundle ran a row, ``m`` is expected there; without any shared row this is exactly
the posterior mean of a Beta prior of mean ``m`` and weight ``strength``.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from lcbgrid.optimize.errors import ContractError

STRENGTH = 10.0
ROW_STRENGTH = 2.0


@dataclass(frozen=True, slots=True)
class Estimate:
    """What is believed of a bundle.

    Attributes:
        mean: Posterior mean of its score on an average row.
        deviation: Posterior standard deviation.
        n: Rollouts that it rests on.
    """

    mean: float
    deviation: float
    n: int

    def lower(self, z: float = 1.645) -> float:
        """Return a lower bound, ``z`` deviations below the mean."""
        return max(0.0, self.mean - z * self.deviation)


def posterior_means(
    observations: Iterable[tuple[str, str, float]],
    *,
    strength: float = STRENGTH,
    row_strength: float = ROW_STRENGTH,
) -> dict[str, Estimate]:
    """Return the estimate of every bundle, in the order of their first rollouts.

    Args:
        observations: (bundle, row, score) of all usable rollouts, repeats included.
        strength: Rollouts that the prior of a bundle weighs.
        row_strength: Rollouts that the prior of a row weighs.

    Raises:
        ContractError: A score is not in [0, 1], or a prior weighs nothing.
    """
    if not (strength > 0 and row_strength > 0):
        raise ContractError("a prior weighs more than nothing", value=min(strength, row_strength))
    by_bundle: dict[str, dict[str, list[float]]] = {}
    by_row: dict[str, list[float]] = defaultdict(list)
    for bundle, row, score in observations:
        if not 0 <= score <= 1:
            raise ContractError("a score is in [0, 1]", where=row, value=str(score))
        by_bundle.setdefault(bundle, {}).setdefault(row, []).append(score)
        by_row[row].append(score)
    n_all = sum(map(len, by_row.values()))
    total = math.fsum(score for scores in by_row.values() for score in scores)
    overall = (1 + total) / (2 + n_all)
    row_sums = {row: (math.fsum(scores), len(scores)) for row, scores in by_row.items()}
    estimates = {}
    for bundle, rows in by_bundle.items():
        n = sum(map(len, rows.values()))
        excess = math.fsum(
            math.fsum(own) - len(own) * _expected(own, row_sums[row], overall, row_strength)
            for row, own in rows.items()
        )
        mean = min(1.0, max(0.0, overall + excess / (n + strength)))
        variance = mean * (1 - mean) / (n + strength + 1)
        estimates[bundle] = Estimate(mean, math.sqrt(variance), n)
    return estimates


def _expected(
    own: list[float], everyone: tuple[float, int], overall: float, row_strength: float
) -> float:
    """Return what other bundles reached on a row, shrunken to the mean of all."""
    total, count = everyone
    others, n_others = total - math.fsum(own), count - len(own)
    return (row_strength * overall + others) / (row_strength + n_others)
