"""Gains of prompt optimizers: one row a method and condition, with intervals and tests.

Optimizers specification, section 7, and our additions: a permutation test clustered by problem,
gain per 1,000 tokens. What is not defined is empty and has its reason in ``undefined``.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from lcbgrid.analysis import columns_gains as cols
from lcbgrid.analysis.columns import frame
from lcbgrid.analysis.gain_tests import contrast_rows
from lcbgrid.analysis.paired import GROUP_AXES, Group, Search, label, reason_text
from lcbgrid.config.optimize_spec import IDENTITY
from lcbgrid.core.errors import ConfigError, nearest
from lcbgrid.optimize.cells import CellSummary, incomplete_reasons, summarise
from lcbgrid.optimize.errors import ContractError
from lcbgrid.optimize.permutation import RESAMPLES, sign_test
from lcbgrid.optimize.stats import (
    MINIMUM_REPLICATES,
    REPLICATES,
    bootstrap_interval,
    gain_per_1000_tokens,
    holm_by_family,
    mcnemar_of,
)

if TYPE_CHECKING:
    import pandas as pd

FAMILIES: Final = ("task_model", "method", "all")
_SIGNIFICANT: Final = 12  # digits: the last bits of sums are not the same on every machine
Key = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Rules:
    """How gains are tested.

    Attributes:
        replicates: Of the bootstrap, at least 100.
        family: What Holm's correction is made in: task_model, method or all.
        seed: Of bootstrap and permutations.
        resamples: Of permutations that are not counted exactly.
    """

    replicates: int = REPLICATES
    family: str = "task_model"
    seed: int = 0
    resamples: int = RESAMPLES

    def __post_init__(self) -> None:
        if self.family not in FAMILIES:
            raise ConfigError(
                "no such family",
                where="family",
                value=self.family,
                remedy=nearest(self.family, FAMILIES),
            )
        if self.replicates < MINIMUM_REPLICATES:
            raise ConfigError(
                f"a bootstrap needs at least {MINIMUM_REPLICATES} replicates",
                where="bootstrap",
                value=self.replicates,
            )

    def family_of(self, axes: Mapping[str, Any]) -> str:
        """Return the family that the p-values of a group belong to."""
        if self.family == "all":
            return "all"
        if self.family == "method":
            return str(axes["method"])
        return f"{axes['task']}, {axes['model']}"


class HasGains(Protocol):
    """Whatever holds the frames about optimizers."""

    @property
    def gains(self) -> pd.DataFrame:
        """One row a method and condition."""

    @property
    def gain_seeds(self) -> pd.DataFrame:
        """One row a search."""

    @property
    def gain_tests(self) -> pd.DataFrame:
        """Interactions, and methods against methods."""

    @property
    def curves(self) -> pd.DataFrame:
        """Learning curves."""


@dataclass(frozen=True)
class GainFrames:
    """The frames about optimizers; the columns are in ``columns_gains``."""

    gains: pd.DataFrame
    gain_seeds: pd.DataFrame
    gain_tests: pd.DataFrame
    curves: pd.DataFrame


class Judged(NamedTuple):
    """A group, why it is incomplete, and its means if it is complete."""

    group: Group
    reasons: list[str]
    summary: CellSummary | None

    @property
    def searches(self) -> list[Search]:
        """The searches in the order of their seeds."""
        return sorted(self.group.searches, key=lambda search: (search.seed, search.job_id or ""))

    @property
    def differences(self) -> list[tuple[float, ...]]:
        """Deployed minus baseline, by seed and problem."""
        return [search.result.differences for search in self.searches]

    @property
    def tested(self) -> bool:
        """Whether there is a gain to test: identity searches nothing."""
        return self.summary is not None and self.group.axes["method"] != IDENTITY


def gain_frames(groups: Iterable[Group], rules: Rules | None = None) -> GainFrames:
    """Return the frames about optimizers.

    Raises:
        ContractError: Two groups are of one method, condition and setup.
    """
    rules = rules or Rules()
    judged = [judge(group) for group in sorted(groups, key=lambda group: group.order)]
    twice = [key for key, n in Counter(item.group.key for item in judged).items() if n > 1]
    if twice:
        raise ContractError("two groups are of one condition", value=str(twice[0]))
    p_values = _p_mcnemar(judged)
    family = {name: rules.family_of(_axes_of(name)) for name in p_values}
    adjusted = holm_by_family(p_values, family)
    by_group = _p_permutation(judged, rules)
    families = {label(item.group.axes): rules.family_of(item.group.axes) for item in judged}
    by_group_adjusted = holm_by_family(by_group, families)
    rows = [
        _gain_row(item, rules, adjusted)
        | {
            "p": by_group.get(label(item.group.axes)),
            "p_holm": by_group_adjusted.get(label(item.group.axes)),
        }
        for item in judged
    ]
    seeds = [row for item in judged for row in _seed_rows(item, p_values, adjusted)]
    return GainFrames(
        gains=frame(map(tidy, rows), cols.GAIN_COLUMNS),
        gain_seeds=frame(map(tidy, seeds), cols.SEED_COLUMNS),
        gain_tests=frame(map(tidy, contrast_rows(judged, rules)), cols.TEST_COLUMNS),
        curves=frame(map(tidy, _curve_rows(judged)), cols.CURVE_COLUMNS),
    )


def judge(group: Group) -> Judged:
    """Say whether a group is complete, and take its means if so."""
    results = [search.result for search in group.searches]
    reasons = incomplete_reasons(results, group.required)
    return Judged(group, reasons, None if reasons else summarise(results))


def tidy(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with its numbers cut to the digits that every machine agrees on."""
    return {
        name: float(f"{value:.{_SIGNIFICANT}g}") + 0.0 if isinstance(value, float) else value
        for name, value in row.items()
    }


_Label = tuple[str, ...]


def _label(group: Group, seed: int) -> _Label:
    return (*("" if value is None else str(value) for value in group.key), str(seed))


def _axes_of(name: _Label) -> dict[str, str]:
    return dict(zip(GROUP_AXES, name[:-1], strict=True))


def _p_mcnemar(judged: Iterable[Judged]) -> dict[_Label, float]:
    """Return the p-value of every seed of every complete cell whose scores are 0 and 1."""
    found = {}
    for item in judged:
        for search in item.searches if item.tested else ():
            p_value = mcnemar_of(*_pairs(search))
            if p_value is not None:
                found[_label(item.group, search.seed)] = p_value
    return found


def _p_permutation(judged: Iterable[Judged], rules: Rules) -> dict[str, float]:
    return {
        label(item.group.axes): sign_test(
            item.differences, resamples=rules.resamples, seed=rules.seed
        )
        for item in judged
        if item.tested
    }


def _pairs(search: Search) -> tuple[list[float], list[float]]:
    """Return both scores of each problem of a valid search, in the order of the problems."""
    rows = sorted(search.result.baseline)
    before = [search.result.baseline[row] for row in rows]
    after = [search.result.deployed[row] for row in rows]
    return [s for s in before if s is not None], [s for s in after if s is not None]


def counts(differences: Iterable[Sequence[float]]) -> dict[str, int]:
    """Return how many pairs were won, lost and tied."""
    signs = Counter((d > 0) - (d < 0) for column in differences for d in column)
    return {"wins": signs[1], "losses": signs[-1], "ties": signs[0]}


def _gain_row(item: Judged, rules: Rules, adjusted: Mapping[_Label, float]) -> dict[str, Any]:
    group, summary = item.group, item.summary
    usable = [s for s in item.searches if not s.result.invalid_reason]
    row: dict[str, Any] = {
        **group.axes,
        "state": "incomplete" if summary is None else "complete",
        "reasons": "; ".join(item.reasons) or None,
        "reason": reason_text(item.reasons, len(group.required)) or None,
        "seeds": " ".join(str(search.seed) for search in usable) or None,
        "n_seeds": len(usable),
        "n_required": len(group.required),
        "left_out": " ".join(sorted(group.left_out)) or None,
        "simulated": group.simulated,
        **_spending(item),
    }
    if summary is None:
        return row
    low, high = bootstrap_interval(item.differences, replicates=rules.replicates, seed=rules.seed)
    own = [adjusted.get(_label(group, search.seed)) for search in item.searches]
    known = [p_value for p_value in own if p_value is not None]
    row |= {
        "n_problems": summary.seeds[0].n,
        "base": summary.baseline,
        "deployed": summary.deployed,
        "delta_pp": summary.delta_pp,
        "std_pp": summary.std_pp,
        "ci95_low_pp": low,
        "ci95_high_pp": high,
        **counts(item.differences),
        **_fallbacks(item),
        "min_p_holm": min(known) if known and len(known) == len(own) else None,
        "family": rules.family_of(group.axes) if item.tested else None,
        **_per_tokens(row, summary.delta_pp),
    }
    return row | {"undefined": _undefined(row, item)}


def _fallbacks(item: Judged) -> dict[str, Any]:
    if not all(search.fallback_known for search in item.searches):
        return {"fallbacks": None, "fallback_reasons": None}
    found = [search.result.fallback_reason for search in item.searches]
    times = Counter(reason for reason in found if reason)
    told = "; ".join(f"{reason} ({n})" for reason, n in sorted(times.items()))
    return {"fallbacks": times.total(), "fallback_reasons": told or None}


def _spending(item: Judged) -> dict[str, Any]:
    """Return what the searches cost in the mean; nothing if one of them does not say."""
    of = item.searches
    return {
        "rollouts": _mean([s.charged for s in of]),
        "search_tokens": _mean([s.search_tokens for s in of]),
        "search_task_tokens": _mean([s.task_tokens for s in of]),
        "search_reflection_tokens": _mean([s.reflection_tokens for s in of]),
        "answer_tokens_base": _mean([s.baseline_tokens for s in of]),
        "answer_tokens_deployed": _mean([s.deployed_tokens for s in of]),
    }


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.fmean(known) if known and len(known) == len(values) else None


def _more_tokens(row: Mapping[str, Any]) -> float | None:
    before, after = row["answer_tokens_base"], row["answer_tokens_deployed"]
    return None if before is None or after is None else max(0.0, after - before)


def _per_tokens(row: Mapping[str, Any], delta_pp: float) -> dict[str, Any]:
    return {
        "gain_per_1000_search_tokens": gain_per_1000_tokens(delta_pp, row["search_tokens"]),
        "gain_per_1000_answer_tokens": gain_per_1000_tokens(delta_pp, _more_tokens(row)),
    }


def _undefined(row: Mapping[str, Any], item: Judged) -> str | None:
    """Name every value of a complete row that is empty, and say why."""
    why = []
    if row["std_pp"] is None:
        why.append("std_pp: one seed")
    if not item.tested:
        why.append("min_p_holm, p: identity searches nothing")
    elif row["min_p_holm"] is None:
        why.append("min_p_holm: scores are not all 0 or 1")
    if row["fallbacks"] is None:
        why.append("fallbacks: the decisions of the searches are not there")
    if row["search_tokens"] is None:
        why.append("gain_per_1000_search_tokens: the tokens of the searches are not there")
    elif not row["search_tokens"]:
        why.append("gain_per_1000_search_tokens: the searches spent no token")
    more = _more_tokens(row)
    if more is None:
        why.append("gain_per_1000_answer_tokens: the tokens of answers are not there")
    elif not more:
        why.append("gain_per_1000_answer_tokens: an answer costs no more than before")
    return "; ".join(why) or None


def _seed_rows(
    item: Judged, p_values: Mapping[_Label, float], adjusted: Mapping[_Label, float]
) -> list[dict[str, Any]]:
    found = []
    for search in item.searches:
        result = search.result
        row: dict[str, Any] = {
            **item.group.axes,
            "seed": search.seed,
            "job_id": search.job_id,
            "fallback_reason": result.fallback_reason,
            "stop_reason": search.stop_reason,
            "rollouts": search.charged,
            "search_task_tokens": search.task_tokens,
            "search_reflection_tokens": search.reflection_tokens,
            "answer_tokens_base": search.baseline_tokens,
            "answer_tokens_deployed": search.deployed_tokens,
            "simulated": item.group.simulated,
        }
        own = incomplete_reasons([result], (result.seed,))
        if own:
            row |= {"state": "invalid", "reason": reason_text(own, 1)}
        else:
            [seed] = summarise([result]).seeds
            row |= {"state": "valid", "n_problems": seed.n, "base": seed.baseline}
            row |= {"deployed": seed.deployed, "delta_pp": seed.delta_pp}
            row |= counts([result.differences])
        if item.tested:
            name = _label(item.group, search.seed)
            row |= {"p_mcnemar": p_values.get(name), "p_holm": adjusted.get(name)}
        found.append(row)
    return found


def _curve_rows(judged: Iterable[Judged]) -> list[dict[str, Any]]:
    return [
        {
            **item.group.axes,
            "seed": search.seed,
            "rollouts": point.rollouts,
            "score": point.score,
            "carried_forward": point.carried_forward,
            "bundle": point.bundle,
            "simulated": item.group.simulated,
        }
        for item in judged
        if item.group.axes["method"] != IDENTITY
        for search in item.searches
        for point in search.curve
    ]
