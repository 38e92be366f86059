"""Cells of a grid as paired observations: each optimizer beside the prompts as written.

A cell is paired with the ``identity`` cell of the same condition and seed, problem by problem. A
cell without that partner, or without a score, is named with its reason.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lcbgrid.analysis.axes import AXES, SETTING_AXES, Key, key_of
from lcbgrid.analysis.job_folders import read_job, sealed, spending_of
from lcbgrid.analysis.paired import GROUP_AXES, SHARED_SETUP_AXES, Group, Search
from lcbgrid.config.optimize_spec import IDENTITY
from lcbgrid.optimize.cells import SeedResult
from lcbgrid.optimize.job import JOB, SELECTION

Score = Mapping[str, Any]


def grid_groups(expected: Iterable[Mapping[str, Any]], scores: Mapping[Key, Score]) -> list[Group]:
    """Return a group for every setting whose optimizer is not ``identity``.

    Args:
        expected: The axes of every cell of the grid; and, where known, ``simulated``, ``search``
            (folder of the cell's published search) and ``optimize`` (values of
            ``SHARED_SETUP_AXES``).
        scores: Score records by key of their cell.
    """
    cells = list(expected)
    in_grid = {key_of(cell) for cell in cells}
    by_setting: dict[Key, list[Mapping[str, Any]]] = defaultdict(list)
    for cell in cells:
        if cell["optimizer"] != IDENTITY:
            by_setting[key_of(cell, SETTING_AXES)].append(cell)
    return [_group(members, scores, in_grid) for members in by_setting.values()]


def _group(
    cells: Sequence[Mapping[str, Any]], scores: Mapping[Key, Score], in_grid: set[Key]
) -> Group:
    first = cells[0]
    pairs = [(cell, _found(cell, scores), _found(_baseline(cell), scores)) for cell in cells]
    broken = sorted({name for _, *both in pairs for score in both for name in _broken(score)})
    searches = [
        _search(cell, own, base, has_base=key_of(_baseline(cell)) in in_grid, broken=broken)
        for cell, own, base in pairs
    ]
    setup = first.get("optimize") or {}
    own_axes = {
        **{name: first.get(name) for name in GROUP_AXES},
        **{name: setup.get(name) for name in SHARED_SETUP_AXES},
        "task": first["dataset"],
        "method": first["optimizer"],
        "versions": None,
        "condition_id": None,
    }
    told = [score["simulated"] for _, *both in pairs for score in both if score]
    return Group(
        axes=own_axes,
        searches=searches,
        required=tuple(sorted(cell["seed"] for cell in cells)),
        simulated=any(told) or any(bool(cell.get("simulated")) for cell in cells),
        left_out=broken,
    )


def _baseline(cell: Mapping[str, Any]) -> dict[str, Any]:
    return {**{name: cell[name] for name in AXES}, "optimizer": IDENTITY}


def _found(cell: Mapping[str, Any], scores: Mapping[Key, Score]) -> Score | None:
    return scores.get(key_of(cell))


def _broken(score: Score | None) -> set[str]:
    """Return the problems without a score because their test data is broken."""
    if score is None:
        return set()
    names = {kind: {item["question_id"] for item in score["lost"][kind]} for kind in score["lost"]}
    lost = names.get("data_error", set()) - names.get("infra_error", set())
    return {name for name in lost if not score["problems"][name]["n"]}


def _search(
    cell: Mapping[str, Any],
    own: Score | None,
    base: Score | None,
    *,
    has_base: bool,
    broken: Sequence[str],
) -> Search:
    more = _searched(cell.get("search"))
    fallback = more.pop("fallback_reason", None)
    why = _missing(own, base, cell, has_base=has_base)
    if why or own is None or base is None:
        result = SeedResult(cell["seed"], {}, {}, fallback, invalid_reason=why)
        return Search(result, **more)
    return Search(
        SeedResult(cell["seed"], _shares(base, broken), _shares(own, broken), fallback),
        baseline_tokens=base["usage"]["tokens_per_attempt"],
        deployed_tokens=own["usage"]["tokens_per_attempt"],
        **more,
    )


def _missing(
    own: Score | None, base: Score | None, cell: Mapping[str, Any], *, has_base: bool
) -> str | None:
    if own is None:
        folder = cell.get("search")
        searched = folder is None or (Path(folder) / SELECTION).is_file()
        return "not_run" if searched else "not_optimized"
    if own["state"] != "finished":
        return str(own["state"])
    if not has_base:
        return "no_identity_cell"
    if base is None:
        return "identity_not_run"
    return None if base["state"] == "finished" else f"identity_{base['state']}"


def _shares(score: Score, broken: Sequence[str]) -> dict[str, float | None]:
    return {
        name: problem["pass_at_1"]
        for name, problem in score["problems"].items()
        if name not in broken
    }


def _searched(folder: Path | str | None) -> dict[str, Any]:
    """Return what a cell's published search says, as fields of ``Search``."""
    place = None if folder is None else Path(folder)
    if place is None or not (place / JOB).is_file():
        return {"fallback_known": False}
    found = spending_of(read_job(place))
    if not (place / SELECTION).is_file():
        return {**found, "fallback_known": False}
    return {**found, "fallback_reason": sealed(place, SELECTION)["fallback_reason"]}
