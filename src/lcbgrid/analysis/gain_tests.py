"""Tests over several cells: topology x optimizer, and one optimizer against another.

Both are permutation tests with the problem as the unit: what all seeds and conditions found on one
problem is flipped together. Optimizers specification, section 7, our additions.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from lcbgrid.analysis.paired import (
    CONDITION_AXES,
    SHARED_SETUP_AXES,
    Search,
    same_axes,
)
from lcbgrid.core.files import dump_json
from lcbgrid.optimize.permutation import interaction, sign_test
from lcbgrid.optimize.stats import bootstrap_interval, holm_by_family

if TYPE_CHECKING:
    from lcbgrid.analysis.gains import Judged, Rules

# Conditions have another digest for each topology, and methods have versions of their own.
_STRATUM: Final = ("task", "scenario", "model", *SHARED_SETUP_AXES)
_CONDITION: Final = (*CONDITION_AXES, *SHARED_SETUP_AXES, "condition_id")
Row = dict[str, Any]


def contrast_rows(judged: Sequence[Judged], rules: Rules) -> list[Row]:
    """Return the rows of the frame of tests."""
    tested = [item for item in judged if item.group.axes["method"] != "identity"]
    return [*_interactions(tested, rules), *_against(tested, rules)]


def _interactions(judged: Sequence[Judged], rules: Rules) -> Iterator[Row]:
    for stratum, members in _by(judged, _STRATUM).items():
        own = dict(zip(_STRATUM, stratum, strict=True))
        for team_size, communication in _variants(members):
            cells = [item for item in members if _is_of(item, team_size, communication)]
            about = {**own, "team_size": team_size, "communication": communication}
            about["simulated"] = any(item.group.simulated for item in cells)
            yield {"test": "interaction", **about, **_interaction(cells, rules)}


def _variants(members: Iterable[Judged]) -> list[tuple[Any, Any]]:
    """Return the sizes and formats of teams; teams of one belong to each of them."""
    axes = [item.group.axes for item in members]
    teams = {(a["team_size"], a["communication"]) for a in axes if (a["team_size"] or 1) > 1}
    alone = {(a["team_size"], a["communication"]) for a in axes}
    return sorted(teams or alone, key=str)


def _is_of(item: Judged, team_size: Any, communication: Any) -> bool:
    axes = item.group.axes
    if (axes["team_size"] or 1) == 1:
        return True
    return (axes["team_size"], axes["communication"]) == (team_size, communication)


def _interaction(cells: Sequence[Judged], rules: Rules) -> Row:
    complete = [item for item in cells if item.summary is not None]
    names = [_place(item) for item in complete]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        return {"reason": f"there are several conditions of {' with '.join(twice[0])}"}
    table = dict(zip(names, complete, strict=True))
    topologies = list(dict.fromkeys(_place(item)[0] for item in cells))
    methods = list(dict.fromkeys(_place(item)[1] for item in cells))
    kept, dropped = whole_table(table, topologies, methods)
    row: Row = {
        "topologies": ", ".join(kept[0]) or None,
        "methods": ", ".join(kept[1]) or None,
        "left_out": ", ".join(dropped) or None,
    }
    for what, found in zip(("topology", "optimizer"), kept, strict=True):
        if len(found) < 2:
            return {**row, "reason": f"an interaction needs more than one {what} in all cells"}
    inside = {place: table[place] for place in itertools.product(*kept)}
    problems = _common(inside.values())
    if not problems:
        return {**row, "reason": "the cells have no problem in common"}
    gains = {
        place: [_gains_on(search, problems) for search in item.searches]
        for place, item in inside.items()
    }
    tested = interaction(gains, resamples=rules.resamples, seed=rules.seed)
    effects = {f"{t}, {m}": float(f"{v:.10g}") + 0.0 for (t, m), v in tested.effects_pp.items()}
    return {
        **row,
        "n_conditions": len(inside),
        "n_problems": len(problems),
        "n_seeds": min(len(item.searches) for item in inside.values()),
        "statistic": tested.statistic,
        "effects_pp": dump_json(effects),
        "p": tested.p_value,
    }


def whole_table(
    present: Iterable[tuple[str, str]], topologies: Sequence[str], methods: Sequence[str]
) -> tuple[tuple[list[str], list[str]], list[str]]:
    """Return topologies and methods that have each other, and the names that were left out.

    As long as a pair is missing, the name with the largest share of missing pairs goes; a method
    before a topology, and the later one in order, where that does not decide.
    """
    there = set(present)
    dropped: list[str] = []
    kept = (list(topologies), list(methods))
    while True:
        gaps = [pair for pair in itertools.product(*kept) if pair not in there]
        if not gaps:
            return kept, dropped
        shares = [
            (sum(pair[axis] == name for pair in gaps) / len(kept[1 - axis]), axis, place)
            for axis in (0, 1)
            for place, name in enumerate(kept[axis])
        ]
        _, axis, place = max(shares)
        dropped.append(kept[axis].pop(place))


def _against(judged: Sequence[Judged], rules: Rules) -> list[Row]:
    """Compare methods in every condition, and over all conditions that they share."""
    complete = [item for item in judged if item.summary is not None]
    named = _method_names(complete)
    rows: list[Row] = []
    for key, members in _by(complete, _CONDITION).items():
        about = dict(zip(_CONDITION, key, strict=True))
        for one, other in itertools.combinations(members, 2):
            both = {"method_a": named(one), "method_b": named(other)}
            rows.append(_one_against({**about, **both}, [(one, other)], rules))
    for key, members in _by(complete, _STRATUM).items():
        about = dict(zip(_STRATUM, key, strict=True))
        by_method: dict[str, dict[Any, Judged]] = defaultdict(dict)
        for item in members:
            condition = same_axes(item.group.axes, _CONDITION)
            by_method[named(item)][condition] = item
        for (a, first), (b, second) in itertools.combinations(by_method.items(), 2):
            pairs = [(first[key], second[key]) for key in first if key in second]
            if len(pairs) > 1:
                both = {"method_a": a, "method_b": b}
                rows.append(_one_against({**about, **both}, pairs, rules))
    return _with_holm(rows, rules)


def _method_names(judged: Iterable[Judged]) -> Callable[[Judged], str]:
    """Return what names a method; with its versions if there are several of it."""
    versions: dict[str, set[Any]] = defaultdict(set)
    for item in judged:
        versions[item.group.axes["method"]].add(item.group.axes["versions"])

    def name(item: Judged) -> str:
        axes = item.group.axes
        alone = len(versions[axes["method"]]) == 1
        return str(axes["method"]) if alone else f"{axes['method']} ({axes['versions']})"

    return name


def _one_against(
    about: Mapping[str, Any], pairs: Sequence[tuple[Judged, Judged]], rules: Rules
) -> Row:
    both = [item for pair in pairs for item in pair]
    problems = _common(both)
    row: Row = {
        "test": "methods",
        **about,
        "topologies": ", ".join(dict.fromkeys(_place(one)[0] for one, _ in pairs)),
        "n_conditions": len(pairs),
        "n_problems": len(problems),
        "simulated": any(item.group.simulated for item in both),
    }
    if not problems:
        return {**row, "reason": "the methods have no problem in common"}
    first, second = [], []
    for one, other in pairs:
        by_seed = {search.seed: search for search in other.searches}
        for search in one.searches:
            if search.seed in by_seed:
                first.append(_deployed_on(search, problems))
                second.append(_deployed_on(by_seed[search.seed], problems))
    if not first:
        return {**row, "reason": "the methods have no seed in common"}
    differences = [
        [a - b for a, b in zip(*columns, strict=True)]
        for columns in zip(first, second, strict=True)
    ]
    low, high = bootstrap_interval(differences, replicates=rules.replicates, seed=rules.seed)
    signs = [(d > 0) - (d < 0) for column in differences for d in column]
    means = [sum(map(sum, columns)) / len(columns) / len(problems) for columns in (first, second)]
    return {
        **row,
        "n_seeds": len(first) // len(pairs),
        "deployed": means[0],
        "base": means[1],
        "delta_pp": 100 * sum(map(sum, differences)) / len(differences) / len(problems),
        "ci95_low_pp": low,
        "ci95_high_pp": high,
        "wins": signs.count(1),
        "losses": signs.count(-1),
        "ties": signs.count(0),
        "p": sign_test(differences, resamples=rules.resamples, seed=rules.seed),
    }


def _with_holm(rows: list[Row], rules: Rules) -> list[Row]:
    """Add Holm's p-values: single conditions and those over all are families of their own."""
    p_values, family = {}, {}
    for number, row in enumerate(rows):
        if row.get("p") is not None:
            name = f"{number:06d}"
            p_values[name] = row["p"]
            part = "one" if "topology" in row else "all"
            whole = "all" if rules.family == "all" else f"{row['task']}, {row['model']}"
            family[name] = f"{part}: {whole}"
    for name, adjusted in holm_by_family(p_values, family).items():
        rows[int(name)]["p_holm"] = adjusted
    return rows


def _by(judged: Iterable[Judged], names: Sequence[str]) -> dict[tuple[Any, ...], list[Judged]]:
    found: dict[tuple[Any, ...], list[Judged]] = defaultdict(list)
    for item in judged:
        found[same_axes(item.group.axes, names)].append(item)
    return found


def _place(item: Judged) -> tuple[str, str]:
    return str(item.group.axes["topology"]), str(item.group.axes["method"])


def _common(judged: Iterable[Judged]) -> list[str]:
    """Return the problems that all searches of all groups have."""
    ids = [set(search.result.baseline) for item in judged for search in item.searches]
    return sorted(set.intersection(*ids)) if ids else []


def _gains_on(search: Search, problems: Sequence[str]) -> list[float]:
    before, after = search.result.baseline, search.result.deployed
    return [(after[name] or 0.0) - (before[name] or 0.0) for name in problems]


def _deployed_on(search: Search, problems: Sequence[str]) -> list[float]:
    return [search.result.deployed[name] or 0.0 for name in problems]
