"""Problems with known faults, and scores with and without them.

``benchmarks/lcb/lcb_errata.json`` lists problems with several right answers, interactive ones,
and those with wrong tests. Where a checker is named for a problem, it decides. Where none is, a
failed comparison says nothing about the program: the problem is left out of the score and listed,
whatever the outcome, because leaving out only the failures would raise the score.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Final, NamedTuple

from lcbgrid.core.errors import DataError
from lcbgrid.core.hashing import sha256_json
from lcbgrid.judge.checkers import CHECKERS_FILE, CheckerEntry, read_checkers
from lcbgrid.problems.resources import resource_dir
from lcbgrid.problems.splits import read_errata

ERRATA_FILE = "lcb_errata.json"
NEEDS_CHECKER: Final = "needs_checker"
_REASONS: Final = {"several_answers": NEEDS_CHECKER}


class Share(NamedTuple):
    """Mean over problems of the share of right programs; ``None`` if there is no problem."""

    pass_at_1: float | None
    n_problems: int

    def __str__(self) -> str:
        shown = "undefined" if self.pass_at_1 is None else f"{100 * self.pass_at_1:.2f} %"
        return f"{shown} of {self.n_problems} problems"


@dataclass(frozen=True, slots=True)
class ErrataScores:
    """The same verdicts, counted in three ways.

    Attributes:
        everything: All problems, also those whose failures say nothing.
        decided: The headline: all problems but those that nobody can decide.
        without_errata: No problem of the errata list, whether it has a checker or not.
        left_out: The problems missing from ``decided``, and why.
    """

    everything: Share
    decided: Share
    without_errata: Share
    left_out: Mapping[str, str]

    def lines(self) -> list[str]:
        """Return the scores as lines for a person."""
        found = [f"pass@1, errata without a checker left out: {self.decided}"]
        found += [f"pass@1, every problem: {self.everything}"]
        found += [f"pass@1, no problem of the errata list: {self.without_errata}"]
        if self.left_out:
            listed = ", ".join(f"{key} ({why})" for key, why in sorted(self.left_out.items()))
            found.append(f"left out: {listed}")
        return found


@dataclass(frozen=True, slots=True)
class Errata:
    """What is known about faulty problems.

    Attributes:
        kinds: Question id -> ``several_answers``, ``interactive`` or ``bad_tests``.
        checkers: Question id -> its checker.
    """

    kinds: Mapping[str, str] = field(default_factory=dict)
    checkers: Mapping[str, CheckerEntry] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """Digest of what decides verdicts, and what is said beside them."""
        checkers = {key: [entry.checker, entry.tolerance] for key, entry in self.checkers.items()}
        return sha256_json([dict(self.kinds), checkers])

    def undecided(self, question_id: str) -> str | None:
        """Say why nobody can decide a problem by its stored answers, or ``None`` if one can."""
        kind = self.kinds.get(question_id)
        if kind is None or question_id in self.checkers:
            return None
        return _REASONS.get(kind, kind)

    def scores(self, counts: Mapping[str, tuple[int, int]]) -> ErrataScores:
        """Score with and without the problems of the list.

        Args:
            counts: Question id -> graded programs, and right ones among them.

        Raises:
            DataError: Counts that cannot be.
        """
        shares = {key: _share(key, *count) for key, count in counts.items() if count[0]}
        left_out = {key: why for key in shares if (why := self.undecided(key)) is not None}
        return ErrataScores(
            everything=_mean(shares.values()),
            decided=_mean(share for key, share in shares.items() if key not in left_out),
            without_errata=_mean(share for key, share in shares.items() if key not in self.kinds),
            left_out=left_out,
        )


def load_errata(folder: Path | None = None, *, with_checkers: bool = True) -> Errata:
    """Read the errata list and the checkers.

    Args:
        folder: Where the two files are; default: those that belong to the package.
        with_checkers: Whether checkers are in force.

    Raises:
        DataError: The list is malformed.
        ConfigError: The checkers are malformed.
    """
    folder = folder or resource_dir("lcb")
    checkers = read_checkers(folder / CHECKERS_FILE) if with_checkers else {}
    return Errata(read_errata(folder / ERRATA_FILE), checkers)


def _share(question_id: str, n: int, right: int) -> Fraction:
    if not 0 <= right <= n:
        raise DataError("more right programs than programs", where=question_id, value=(n, right))
    return Fraction(right, n)


def _mean(shares: Iterable[Fraction]) -> Share:
    found = list(shares)
    return Share(float(sum(found) / len(found)) if found else None, len(found))
