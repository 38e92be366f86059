"""Permutation tests over items: is there a gain, and does it depend on the topology?

Optimizers specification, section 7, our additions. Rows are the unit: what all seeds and all cells
found on one row is flipped together, so results on one row may depend on each other in any way.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from lcbgrid.optimize.errors import ContractError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

RESAMPLES = 20_000
_EXACT_ROWS = 14  # 2**14 sign patterns are fewer than the resamples
_TOLERANCE = 1e-9  # sums of the same terms in another order are one value
_CHUNK = 1000


class Interaction(NamedTuple):
    """Whether gains of optimizers differ between topologies beyond both main effects.

    Attributes:
        statistic: Sum of squared interaction effects, in percentage points squared.
        p_value: Of no interaction.
        effects_pp: By topology and optimizer, what the gain is above what the topology's mean
            and the optimizer's mean let expect.
    """

    statistic: float
    p_value: float
    effects_pp: dict[tuple[str, str], float]


def sign_test(
    differences: Sequence[Sequence[float]], *, resamples: int = RESAMPLES, seed: int = 0
) -> float:
    """Return the two-sided p-value of no gain, signs flipped by row over all seeds at once.

    For whole differences (scores of 0 and 1) the distribution is counted exactly, for any number
    of rows; for others it is sampled, or counted if there are few rows.

    Args:
        differences: Deployed minus baseline, by seed and then by row, the same rows in each.
        resamples: Sign patterns to draw where they are not counted.
        seed: Of the draws.

    Raises:
        ContractError: No row, or another number of rows in one seed.
    """
    if not differences or not differences[0] or len({len(c) for c in differences}) > 1:
        raise ContractError("a sign test needs the same rows, at least one, in each seed")
    sums = [sum(row) for row in zip(*differences, strict=True)]
    if all(float(total).is_integer() for total in sums):
        return _counted([int(total) for total in sums])
    import numpy as np

    column = np.array(sums, dtype=float)[:, None]
    return _p_value(column, resamples, seed)


def _counted(sums: Sequence[int]) -> float:
    """Return the exact p-value: a polynomial counts the sign patterns of each total.

    Rows of one size are one factor with binomial coefficients; rows of 0 change no total.
    """
    sizes = Counter(abs(value) for value in sums if value)
    patterns = {0: 1}
    for size, times in sorted(sizes.items()):
        factor = [(size * (2 * k - times), math.comb(times, k)) for k in range(times + 1)]
        following: dict[int, int] = {}
        for total, count in patterns.items():
            for step, ways in factor:
                following[total + step] = following.get(total + step, 0) + count * ways
        patterns = following
    seen = abs(sum(sums))
    extreme = sum(count for total, count in patterns.items() if abs(total) >= seen)
    return extreme / (1 << sizes.total())


def interaction(
    gains: Mapping[tuple[str, str], Sequence[Sequence[float]]],
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Interaction:
    """Test the interaction topology x optimizer, stratified by row.

    On each row the gains, averaged over seeds, make a table of topologies by optimizers; with the
    means of its lines and columns taken away only interaction and noise are left. Without
    interaction such a table is as likely as its negative, so signs are flipped row by row.

    Args:
        gains: (topology, optimizer) -> differences by seed and row; every topology with every
            optimizer, the same rows in the same order.
        resamples: Sign patterns to draw; with up to 14 rows all of them are counted.
        seed: Of the draws.

    Raises:
        ContractError: A combination or a row is missing, or there is only one topology or
            optimizer.
    """
    import numpy as np

    topologies = list(dict.fromkeys(topology for topology, _ in gains))
    optimizers = list(dict.fromkeys(optimizer for _, optimizer in gains))
    missing = [(t, o) for t in topologies for o in optimizers if (t, o) not in gains]
    if missing or min(len(topologies), len(optimizers)) < 2:
        raise ContractError(
            "an interaction needs at least two topologies and two optimizers, in all combinations",
            value=missing[0] if missing else len(gains),
        )
    if len({len(column) for cell in gains.values() for column in cell}) != 1:
        raise ContractError("all cells of an interaction have the same rows")
    cells = [
        np.mean([list(c) for c in gains[t, o]], axis=0) for t in topologies for o in optimizers
    ]
    table = np.array(cells).T.reshape(-1, len(topologies), len(optimizers)) * 100
    residual = (
        table
        - table.mean(axis=2, keepdims=True)
        - table.mean(axis=1, keepdims=True)
        + table.mean(axis=(1, 2), keepdims=True)
    )
    flat = residual.reshape(len(residual), -1)
    effects = flat.mean(axis=0)
    names = [(t, o) for t in topologies for o in optimizers]
    return Interaction(
        statistic=float((effects**2).sum()),
        p_value=_p_value(flat, resamples, seed),
        effects_pp={name: float(value) for name, value in zip(names, effects, strict=True)},
    )


def _p_value(rows: NDArray[np.float64], resamples: int, seed: int) -> float:
    """Return how often flipped rows have a mean at least as far from 0 as the rows have."""
    import numpy as np

    seen = float((rows.sum(axis=0) ** 2).sum())
    bar = seen - _TOLERANCE * (1 + float((abs(rows).sum(axis=0) ** 2).sum()))
    n = len(rows)
    if n <= _EXACT_ROWS:
        patterns = np.arange(2**n)[:, None] >> np.arange(n) & 1
        return float(np.mean(_squares(patterns, rows) >= bar))
    source = np.random.default_rng(seed)
    extreme = 0
    for start in range(0, resamples, _CHUNK):
        count = min(_CHUNK, resamples - start)
        extreme += int((_squares(source.integers(0, 2, (count, n)), rows) >= bar).sum())
    return (1 + extreme) / (1 + resamples)  # the pattern that was seen is one of them


def _squares(patterns: NDArray[np.int64], rows: NDArray[np.float64]) -> NDArray[np.float64]:
    totals: NDArray[np.float64] = (1.0 - 2.0 * patterns) @ rows
    squares: NDArray[np.float64] = (totals**2).sum(axis=1)
    return squares
