"""Is a gain real? Bootstrap interval, exact McNemar, Holm, and gain per token.

Optimizers specification, section 7. The functions take scores of complete cells (module
``cells``) and answer ``None`` where a quantity is not defined.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from lcbgrid.core.errors import ConfigError
from lcbgrid.optimize.errors import ContractError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

REPLICATES = 10_000
MINIMUM_REPLICATES = 100
_CHUNK_VALUES = 2_000_000
_KEPT_VALUES = 8_000_000  # of one shape: 64 MB
Label = TypeVar("Label", str, tuple[str, ...])


class Bounds(NamedTuple):
    """A 95 % interval in percentage points."""

    low: float
    high: float


def bootstrap_interval(
    differences: Sequence[Sequence[float]], *, replicates: int = REPLICATES, seed: int = 0
) -> Bounds:
    """Return the seed-stratified paired bootstrap interval of a gain.

    A replicate draws as many seeds as there are, with replacement; for each it draws as many
    pairs of that seed as there are rows, with replacement, and takes their mean difference; it is
    the mean of those, times 100. The draws are those of ``random.Random(seed).choices``, one call
    for the seeds and one for the pairs of each drawn seed, whatever computes them.

    Args:
        differences: Deployed minus baseline score, by seed and then by row.
        replicates: How many, at least 100.
        seed: Of the draws.

    Raises:
        ConfigError: Fewer than 100 replicates.
        ContractError: No seed, no row, or another number of rows in one seed.
    """
    import numpy as np

    if replicates < MINIMUM_REPLICATES:
        raise ConfigError(
            f"a bootstrap needs at least {MINIMUM_REPLICATES} replicates", value=replicates
        )
    if not differences or not differences[0]:
        raise ContractError("a bootstrap needs a seed and a row")
    if len({len(column) for column in differences}) > 1:
        raise ContractError("seeds of a complete cell have the same rows")
    table = np.array(differences, dtype=float)
    n_seeds, n_rows = table.shape
    gains = np.empty(replicates)
    place = 0
    for pairs in _drawn(n_seeds, n_rows, replicates, seed):
        means = np.take(table, pairs).sum(axis=2) / n_rows
        gains[place : place + len(pairs)] = means.sum(axis=1) / n_seeds * 100
        place += len(pairs)
    gains.sort()
    low = 25 * replicates // 1000  # floor(0.025 R), in whole numbers
    high = -(-975 * replicates // 1000) - 1  # ceil(0.975 R) - 1
    return Bounds(float(gains[low]), float(gains[high]))


def _drawn(n_seeds: int, n_rows: int, replicates: int, seed: int) -> Iterator[NDArray[np.intp]]:
    """Yield which pairs each replicate draws; cells of one shape share the draws."""
    if n_seeds * n_rows * replicates <= _KEPT_VALUES:
        yield from _kept(n_seeds, n_rows, replicates, seed)
    else:
        yield from _draws(n_seeds, n_rows, replicates, seed)


@functools.lru_cache(maxsize=3)
def _kept(n_seeds: int, n_rows: int, replicates: int, seed: int) -> tuple[NDArray[np.intp], ...]:
    return tuple(_draws(n_seeds, n_rows, replicates, seed))


def _draws(n_seeds: int, n_rows: int, replicates: int, seed: int) -> Iterator[NDArray[np.intp]]:
    """Yield arrays of replicate, seed and row: the place of a pair in the table, read row-wise."""
    import numpy as np

    source = _same_stream(seed)
    per_replicate = n_seeds * (1 + n_rows)
    step = max(1, _CHUNK_VALUES // per_replicate)
    for start in range(0, replicates, step):
        numbers = source.random_sample((min(step, replicates - start), per_replicate))
        seeds = (numbers[:, :n_seeds] * n_seeds).astype(np.intp)
        rows = (numbers[:, n_seeds:] * n_rows).astype(np.intp)
        yield seeds[:, :, None] * n_rows + rows.reshape(-1, n_seeds, n_rows)


def _same_stream(seed: int) -> np.random.RandomState:
    """Return a generator of numpy that gives the very numbers of ``random.Random(seed)``."""
    import numpy as np

    internal = random.Random(seed).getstate()[1]
    source = np.random.RandomState()
    key = np.array(internal[:-1], dtype=np.uint32)
    source.set_state(("MT19937", key, int(internal[-1]), 0, 0.0))
    return source


def mcnemar(wins: int, losses: int) -> float:
    """Return the exact two-sided p-value of a number of wins against a number of losses."""
    if min(wins, losses) < 0:
        raise ContractError("a count is a natural number", value=min(wins, losses))
    n = wins + losses
    if n == 0:
        return 1.0
    return min(1.0, 2 * binomial_sum(n, min(wins, losses)) / (1 << n))


def binomial_sum(n: int, last: int) -> int:
    """Return the exact sum of C(n, k) for k from 0 to ``last``, each term from the one before."""
    term = total = 1
    for k in range(last):
        term = term * (n - k) // (k + 1)
        total += term
    return total


def mcnemar_of(baseline: Sequence[float], deployed: Sequence[float]) -> float | None:
    """Return McNemar's p-value of two columns of scores; ``None`` unless all are 0 or 1."""
    if any(score not in (0, 1) for score in (*baseline, *deployed)):
        return None
    pairs = list(zip(baseline, deployed, strict=True))
    wins = sum(new > old for old, new in pairs)
    losses = sum(new < old for old, new in pairs)
    return mcnemar(wins, losses)


def holm(p_values: Mapping[Label, float]) -> dict[Label, float]:
    """Return Holm's adjusted p-values of one family, by label.

    Equal p-values are taken in the order of their labels.
    """
    adjusted: dict[Label, float] = {}
    before = 0.0
    ordered = sorted(p_values.items(), key=lambda item: (item[1], item[0]))
    for index, (label, p_value) in enumerate(ordered):
        before = max(before, min(1.0, (len(ordered) - index) * p_value))
        adjusted[label] = before
    return {label: adjusted[label] for label in p_values}


def holm_by_family(
    p_values: Mapping[Label, float], family: Mapping[Label, Hashable]
) -> dict[Label, float]:
    """Return Holm's adjusted p-values, each family corrected for itself.

    Args:
        p_values: p-value by label.
        family: Family by label, such as (task, model).
    """
    adjusted: dict[Label, float] = {}
    for name in dict.fromkeys(family[label] for label in p_values):
        members = {label: p for label, p in p_values.items() if family[label] == name}
        adjusted.update(holm(members))
    return {label: adjusted[label] for label in p_values}


def gain_per_1000_tokens(delta_pp: float | None, tokens: float | None) -> float | None:
    """Return percentage points gained per 1,000 tokens; ``None`` if either is not known.

    Args:
        delta_pp: The gain.
        tokens: What the gain cost: of the search, or what an answer costs more than before.
            Nothing is not divided by.
    """
    if delta_pp is None or not tokens:
        return None
    return delta_pp * 1000 / tokens
