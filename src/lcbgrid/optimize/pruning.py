"""When to stop the evaluation of a candidate, row by row, without spoiling the comparison.

Optimizers specification, section 9, items 5 and 6. *Curtailment* stops when a strict win is out
of reach and makes no statistical error at all. The *paired e-process* stops when the rows on which
two bundles disagree speak clearly; it may look after every row and still errs at most with the
stated probability.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Literal

from lcbgrid.core.errors import ConfigError
from lcbgrid.optimize.errors import ContractError
from lcbgrid.optimize.rows import Row, row_id
from lcbgrid.optimize.stats import binomial_sum

Verdict = Literal["continue", "worse", "better"]


def curtailed(current_sum: float, rows_left: int, best_sum: float) -> bool:
    """Return whether a candidate can no longer be strictly better than the best (item 5).

    Args:
        current_sum: Sum of its scores so far, each in [0, 1].
        rows_left: Rows of the same evaluation that are not yet scored.
        best_sum: Sum of the best on all rows of the evaluation.
    """
    return current_sum + rows_left <= best_sum


def rows_until_curtailed(scores: Iterable[float], n_rows: int, best_sum: float) -> int | None:
    """Return after how many rows an evaluation is curtailed; ``None`` if it runs to its end.

    Args:
        scores: The candidate's scores in the order in which they come.
        n_rows: Rows of the whole evaluation.
        best_sum: Sum of the best on all of them.
    """
    if curtailed(0.0, n_rows, best_sum):
        return 0
    seen: list[float] = []
    for score in scores:
        seen.append(score)
        if curtailed(math.fsum(seen), n_rows - len(seen), best_sum):
            return len(seen) if len(seen) < n_rows else None
    return None


def e_value(losses: int, wins: int) -> Fraction:
    """Return the evidence that a candidate loses more than half of its discordant rows (item 6).

    The likelihood ratio of a uniform prior on (1/2, 1] against 1/2,
    2^(n+1) B(w+1, l+1) (1 - I_1/2(w+1, l+1)) for w losses, l wins and n = w + l. With whole
    numbers it is the exact fraction sum_{k<=w} C(n+1, k) / ((n+1) C(n, w)).

    Args:
        losses: Rows that the incumbent solves and the candidate does not.
        wins: Rows the other way round.
    """
    if min(losses, wins) < 0:
        raise ContractError("a count is a natural number", value=min(losses, wins))
    n = losses + wins
    return Fraction(binomial_sum(n + 1, losses), (n + 1) * math.comb(n, losses))


class PairedEProcess:
    """Decides between a candidate and an incumbent on paired rows, at any time.

    The candidate is called ``worse`` when the evidence for that reaches 1 / alpha, ``better`` when
    the mirrored evidence does. Each of the two calls is wrong with probability at most alpha,
    however often it is asked. A verdict once given stays.

    Args:
        alpha: Bound of the error, between 0 and 1.

    Raises:
        ConfigError: alpha is not between 0 and 1.
    """

    def __init__(self, alpha: float = 0.05) -> None:
        if not 0 < alpha < 1:
            raise ConfigError("an error bound is between 0 and 1", where="alpha", value=alpha)
        self.alpha = alpha
        self.wins = 0
        self.losses = 0
        self.n_rows = 0
        self._bar = 1 / Fraction(str(alpha))
        self._verdict: Verdict = "continue"

    def update(self, candidate_score: float, incumbent_score: float) -> Verdict:
        """Count one row that both have run, and return the verdict so far."""
        self.n_rows += 1
        self.wins += candidate_score > incumbent_score
        self.losses += candidate_score < incumbent_score
        if self._verdict == "continue" and candidate_score != incumbent_score:
            if e_value(self.losses, self.wins) >= self._bar:
                self._verdict = "worse"
            elif e_value(self.wins, self.losses) >= self._bar:
                self._verdict = "better"
        return self._verdict

    @property
    def verdict(self) -> Verdict:
        """What the rows so far say."""
        return self._verdict


def hard_first(rows: Sequence[Row], best: Mapping[str, float]) -> list[Row]:
    """Return rows with those first on which the best did worst, else in their order.

    Only there can another bundle win, so a contest without a win ends before the other rows run.
    """
    return sorted(rows, key=lambda row: best[row_id(row)])


def is_worse(scores: Sequence[float], best: Sequence[float]) -> bool:
    """Return whether the anytime-valid test calls scores worse than the best's on its rows."""
    test = PairedEProcess()
    return any(
        test.update(mine, theirs) == "worse" for mine, theirs in zip(scores, best, strict=False)
    )
