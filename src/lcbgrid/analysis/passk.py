"""Unbiased pass@k.

The estimator is that of Chen et al. 2021, "Evaluating Large Language Models Trained on Code"
(arXiv:2107.03374), section 2.1: of n answers to a problem c are right; pass@k is the probability
that at least one of k answers drawn without replacement is right,

    1 - C(n - c, k) / C(n, k).

It is computed with whole numbers, so no rounding happens before the last step. With fewer than k
answers the quantity cannot be estimated; it stays undefined and says why.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import comb
from typing import NamedTuple

from lcbgrid.core.errors import ConfigError, DataError


class Estimate(NamedTuple):
    """A number, or the reason why there is none."""

    value: float | None
    reason: str | None = None


class Count(NamedTuple):
    """Graded answers to one problem, and how many of them passed every test."""

    n: int
    c: int


def pass_at_k(n: int, c: int, k: int) -> Estimate:
    """Return pass@k of one problem.

    Args:
        n: Graded answers.
        c: Right answers among them.
        k: Answers drawn.

    Returns:
        The estimate; without a value if ``n < k``.

    Raises:
        DataError: The counts are impossible (negative, or more right answers than answers).
        ConfigError: ``k`` is below 1.

    Examples:
        >>> pass_at_k(n=10, c=3, k=5).value
        0.9166666666666666
        >>> pass_at_k(n=1, c=1, k=5).reason
        'pass@5 needs 5 graded answers a problem, there is 1'
    """
    exact = _exact(n, c, k)
    if exact is None:
        return Estimate(None, _too_few(n, k))
    return Estimate(float(exact))


def mean_pass_at_k(counts: Mapping[str, Count], k: int) -> Estimate:
    """Return the mean of pass@k over problems, if it is defined for every one of them.

    A mean over only those problems that happen to have enough answers would describe another set
    of problems, so it is not formed.

    Args:
        counts: Question id -> counts. Problems without a graded answer must not be among them.
        k: Answers drawn.
    """
    if not counts:
        return Estimate(None, "no problem has a graded answer")
    total = Fraction(0)
    short: list[str] = []
    for question_id in sorted(counts):
        n, c = counts[question_id]
        exact = _exact(n, c, k, where=question_id)
        if exact is None:
            short.append(question_id)
        else:
            total += exact
    if short:
        fewest = min(counts[question_id].n for question_id in short)
        return Estimate(
            None,
            f"{_too_few(fewest, k)} for {short[0]!r}"
            + (f" and too few for {len(short) - 1} more" if len(short) > 1 else ""),
        )
    return Estimate(float(total / len(counts)))


def _exact(n: int, c: int, k: int, where: str | None = None) -> Fraction | None:
    _check_k(k)
    if not 0 <= c <= n:
        raise DataError(
            "the number of right answers must lie between 0 and the number of answers",
            where=where,
            value=f"n={n}, c={c}",
            remedy="score the cell again",
        )
    if n < k:
        return None
    return 1 - Fraction(comb(n - c, k), comb(n, k))


def _check_k(k: int) -> None:
    if k < 1:
        raise ConfigError("k of pass@k must be 1 or more", where="analysis.pass_at", value=k)


def _too_few(n: int, k: int) -> str:
    return f"pass@{k} needs {k} graded answers a problem, there {'is' if n == 1 else 'are'} {n}"
