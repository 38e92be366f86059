"""Confidence intervals of pass@1.

What varies is which problems happen to be in the set, so the problem is the unit: answers to one
problem are alike and must not count as independent trials. Two intervals are always given:

* **bootstrap** (Efron 1979), percentile form: problems are drawn with replacement, all answers to
  a problem stay together. Right for any number of answers a problem and of seeds, but it shrinks
  to a point when all problems came out the same, above all at 0 and at 1.
* **Wilson** (1927), the score interval of a proportion with as many trials as problems. Exact in
  kind for one answer a problem, good at 0 and 1 and for few problems; with several answers a
  problem it is too wide, never too narrow, as a share between 0 and 1 varies at most as much as a
  yes or no of the same mean.

The one shown (``choose``) is Wilson's where each problem has one answer, the bootstrap's
elsewhere, and Wilson's again where the bootstrap collapses.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from lcbgrid.config.main_spec import AnalysisSpec

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_DIGITS = 10  # vector units add in different orders; the last bits are not the same everywhere
_BATCH_VALUES = 2_000_000


class Interval(NamedTuple):
    """Bounds of an interval and the method they come from."""

    low: float
    high: float
    method: str


def wilson(share: float, n_problems: int, confidence: float) -> Interval:
    """Return Wilson's score interval of a share seen in ``n_problems`` trials."""
    from statsmodels.stats.proportion import proportion_confint

    low, high = proportion_confint(
        share * n_problems, n_problems, alpha=1 - confidence, method="wilson"
    )
    return Interval(_clip(float(low)), _clip(float(high)), "wilson")


def bootstrap(columns: Sequence[Sequence[float | None]], spec: AnalysisSpec) -> Interval | None:
    """Return the percentile bootstrap interval of a mean over problems and then over seeds.

    Args:
        columns: One column a seed, one value a problem (the share of right answers), problems in
            the same order in each; ``None`` where a seed has no graded answer, never in all.
        spec: Confidence level, number of resamples, and their seed.

    Returns:
        The interval; ``None`` if there are fewer than two problems or nothing varies.
    """
    import numpy as np
    from scipy import stats

    table = np.array([[np.nan if v is None else v for v in c] for c in columns], dtype=float).T
    if table.shape[0] < 2 or np.nanmin(table) == np.nanmax(table):
        return None
    statistic = _column_mean(table) if np.isnan(table).any() else _row_mean(table)
    drawn = stats.bootstrap(
        (np.arange(table.shape[0]),),
        statistic,
        vectorized=True,
        n_resamples=spec.bootstrap_samples,
        batch=max(1, _BATCH_VALUES // table.size),
        confidence_level=spec.confidence,
        method="percentile",
        rng=np.random.default_rng(spec.bootstrap_seed),
    ).confidence_interval
    low, high = float(drawn.low), float(drawn.high)
    return None if low == high else Interval(_clip(low), _clip(high), "bootstrap")


def choose(
    *, wilson_interval: Interval, bootstrap_interval: Interval | None, one_answer: bool
) -> Interval:
    """Return the interval that is shown; the module's text gives the rule."""
    if one_answer or bootstrap_interval is None:
        return wilson_interval
    return bootstrap_interval


def _row_mean(table: NDArray[np.float64]) -> Any:
    """Statistic for a table without gaps: a problem's mean over seeds can be taken first."""
    values = table.mean(axis=1)
    return lambda index, axis: values[index].mean(axis=axis)


def _column_mean(table: NDArray[np.float64]) -> Any:
    """Statistic for a table with gaps: the mean of each seed over its own problems."""
    import numpy as np

    known = ~np.isnan(table)
    values = np.where(known, table, 0.0)

    def statistic(index: NDArray[np.int64], axis: int) -> Any:
        # ``index`` holds problems along ``axis``; seeds become one more, last axis.
        along = axis if axis >= 0 else axis + index.ndim
        n = known[index].sum(axis=along)
        means = values[index].sum(axis=along) / np.maximum(n, 1)
        return means.sum(axis=-1) / (n > 0).sum(axis=-1)  # a seed without a draw drops out

    return statistic


def _clip(value: float) -> float:
    return round(min(1.0, max(0.0, value)), _DIGITS) + 0.0
