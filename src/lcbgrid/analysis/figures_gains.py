"""What the figures about prompt optimizers show, as tidy frames; ``draw_gains`` draws them.

Every optimizer has a place beside every team of its panel. A place without a complete cell keeps
its row and says why; it is never a gain of 0.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from lcbgrid.analysis.axes import value_order
from lcbgrid.analysis.columns import Column, frame
from lcbgrid.analysis.figures import NOT_IN_GRID, Figure
from lcbgrid.analysis.frames import Frames, records_of
from lcbgrid.analysis.gains import HasGains
from lcbgrid.analysis.paired import CONDITION_AXES, SETUP_AXES, SHARED_SETUP_AXES
from lcbgrid.analysis.provenance import provenance_lines
from lcbgrid.config.optimize_spec import IDENTITY

NOTHING: Final = (
    "No prompt optimizer was compared with the prompts as written, so there is nothing to show."
)
SIGNIFICANT: Final = 0.05
_PLACE: Final = [
    Column("panel", "text", "Panel of the figure; empty with a single one."),
    Column("team", "text", "Topology with team size and format where they matter."),
    Column("method", "text", "Prompt optimizer."),
]
_SIMULATED: Final = Column("simulated", "flag", "True if no real model answered.")
GAIN_COLUMNS: Final = [
    *_PLACE,
    Column("delta_pp", "number", "Mean gain over seeds, percentage points."),
    Column("ci95_low_pp", "number", "Lower bound."),
    Column("ci95_high_pp", "number", "Upper bound."),
    Column("p_holm", "number", "Permutation test clustered by problem, after Holm."),
    Column("n_problems", "whole", "Problems."),
    Column("n_seeds", "whole", "Seeds."),
    Column("state", "text", "complete, incomplete, not in the grid."),
    Column("reason", "text", "Why there is no gain."),
    _SIMULATED,
]
CURVE_COLUMNS: Final = [
    *_PLACE,
    Column("seed", "whole", "Seed of the search; empty: mean over the seeds."),
    Column("rollouts", "whole", "Charged so far."),
    Column("score", "number", "What the method believed of its incumbent."),
    Column("carried_forward", "flag", "True if the search had ended before."),
    _SIMULATED,
]
Row = Mapping[str, Any]


class GainNames:
    """Short names of groups: an axis is named only where it varies."""

    def __init__(self, rows: Iterable[Row]) -> None:
        found = list(rows)
        axes = (*CONDITION_AXES, *SHARED_SETUP_AXES)
        self._varied = {axis for axis in axes if len({row[axis] for row in found}) > 1}
        self._alike: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
        for row in found:
            self._alike[self._panel(row), self.team(row), row["method"]].append(row)

    def team(self, row: Row) -> str:
        """Return the topology, with team size and format where they say something."""
        parts = [str(row["topology"] or "team")]
        if (row["team_size"] or 1) > 1:
            parts.append(f"{row['team_size']} agents")
        if "communication" in self._varied and row["communication"] is not None:
            parts.append(str(row["communication"]))
        return ", ".join(parts)

    def panel(self, row: Row) -> str | None:
        """Return what separates panels: problems, model, and how prompts were searched."""
        panel = self._panel(row)
        alike = self._alike[panel, self.team(row), row["method"]]
        parts = [panel] if panel else []
        if len({other["condition_id"] for other in alike}) > 1:
            parts.append(f"condition {str(row['condition_id'])[:8]}")
        if len({other["versions"] for other in alike}) > 1:
            parts.append(str(row["versions"]))
        return ", ".join(parts) or None

    def whole(self, row: Row) -> str:
        """Return a name in a sentence: team, and what separates panels."""
        return ", ".join(part for part in (self.team(row), self.panel(row)) if part)

    def _panel(self, row: Row) -> str | None:
        shown = {
            "budget": f"{row['budget']} rollouts",
            "without": str(row["without"]),
            "reflection_model": f"prompts by {row['reflection_model']}",
            "window": f"window {row['window']}",
        }
        names = ("task", "scenario", "model", *SHARED_SETUP_AXES)
        parts = [
            shown.get(axis, str(row[axis]))
            for axis in names
            if axis in self._varied and row[axis] is not None
        ]
        return ", ".join(parts) or None


def gain_figure(frames: HasGains, closing: Sequence[str] = ()) -> Figure:
    """Return the data of the heat map team x optimizer -> gain."""
    rows = _places(frames)
    lines = [
        "Gain of each optimizer (columns) for each team (rows) over the prompts as written, in "
        f"percentage points, mean over seeds. {_bounds(rows)}"
    ]
    if any(_is_significant(row) for row in rows):
        lines.append(
            "*: p < 0.05 by a permutation test clustered by problem, after Holm's correction."
        )
    lines += _missing_lines(rows)
    if any(row.get("simulated") for row in rows):
        lines.append("Simulated: no real model answered.")
    return Figure("optimizer_gains", frame(rows, GAIN_COLUMNS), _caption(rows, lines, closing))


def forest_figure(frames: HasGains, closing: Sequence[str] = ()) -> Figure:
    """Return the data of the forest plot: each gain with its interval against 0."""
    rows = _places(frames)
    lines = [
        "Gain of each optimizer (colours) for each team (rows) over the prompts as written, in "
        f"percentage points, mean over seeds. {_bounds(rows)}",
        "p: permutation test clustered by problem over all seeds, after Holm's correction.",
        *_missing_lines(rows),
    ]
    if any(row.get("simulated") for row in rows):
        lines.append("Hollow points are simulated, no real model answered.")
    return Figure("optimizer_forest", frame(rows, GAIN_COLUMNS), _caption(rows, lines, closing))


def curve_figure(frames: HasGains, closing: Sequence[str] = ()) -> Figure:
    """Return the data of the learning curves: rollouts -> what a method believes it has."""
    points = [row for row in records_of(frames.curves) if row["score"] is not None]
    names = GainNames(records_of(frames.gains))
    rows = [
        {**row, "panel": names.panel(row), "team": names.team(row), **seed}
        for row, seed in _with_means(points)
    ]
    lines = [
        "Score that a method believes its best prompts to have, against the rollouts charged: "
        "thick the mean over seeds, thin each seed, dotted after the search had ended.",
        "It is the method's own view, on the problems that it searched on, and flatters itself; "
        "what the prompts are worth stands in the figures of gains.",
    ]
    silent = sorted(
        {row["method"] for row in records_of(frames.curves)} - {row["method"] for row in points}
    )
    if silent:
        lines.append(f"Without a score on the way: {', '.join(silent)}.")
    if any(row["simulated"] for row in rows):
        lines.append("Hollow marks are simulated, no real model answered.")
    return Figure("optimizer_curves", frame(rows, CURVE_COLUMNS), _caption(rows, lines, closing))


def gain_closing(frames: Frames) -> list[str]:
    """Return how captions about a grid's optimizers end: what its scores depend on."""
    return provenance_lines(records_of(frames.settings))


def shown_gains(frames: HasGains) -> list[dict[str, Any]]:
    """Return the rows of the gains that people look at: ``identity`` has none."""
    return [row for row in records_of(frames.gains) if row["method"] != IDENTITY]


def _is_significant(row: Row) -> bool:
    return row.get("p_holm") is not None and row["p_holm"] < SIGNIFICANT


def _places(frames: HasGains) -> list[dict[str, Any]]:
    """Return a row for every panel, team and method, in reading order."""
    found = shown_gains(frames)
    names = GainNames(found)
    by_place = {(names.panel(row), names.team(row), row["method"]): row for row in found}
    order = ("topology", "team_size", "communication")
    in_order = sorted(found, key=lambda row: [value_order(axis, row[axis]) for axis in order])
    teams = list(dict.fromkeys(names.team(row) for row in in_order))
    methods = sorted({row["method"] for row in found})
    return [
        {
            **by_place.get((panel, team, method), {"state": NOT_IN_GRID}),
            "panel": panel,
            "team": team,
            "method": method,
        }
        for panel in dict.fromkeys(names.panel(row) for row in found)
        for team in teams
        if any((panel, team, method) in by_place for method in methods)
        for method in methods
    ]


def _with_means(points: Iterable[Row]) -> list[tuple[Row, dict[str, Any]]]:
    """Return every point with its seed, and for each method the means that all seeds share."""
    groups: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in points:
        axes = ("method", *CONDITION_AXES, *SETUP_AXES)
        groups[tuple(row[axis] for axis in axes)].append(row)
    found: list[tuple[Row, dict[str, Any]]] = []
    for members in groups.values():
        n_seeds = len({row["seed"] for row in members})
        found += [(row, {"seed": row["seed"]}) for row in members]
        by_rollouts: dict[int, list[Row]] = defaultdict(list)
        for row in members:
            by_rollouts[row["rollouts"]].append(row)
        for rollouts, own in sorted(by_rollouts.items()):
            if len(own) == n_seeds:
                mean = {
                    "seed": None,
                    "rollouts": rollouts,
                    "score": round(statistics.fmean(row["score"] for row in own), 10),
                    "carried_forward": all(row["carried_forward"] for row in own),
                }
                found.append((own[0], mean))
    return found


def _bounds(rows: Sequence[Row]) -> str:
    if not any(row.get("delta_pp") is not None for row in rows):
        return "There is no gain yet."
    seeds = sorted({row["n_seeds"] for row in rows if row.get("delta_pp") is not None})
    counted = " or ".join(map(str, seeds))
    return (
        "Intervals: 95 %, seed-stratified paired bootstrap over "
        f"{counted} seed{'' if seeds == [1] else 's'} and the problems of each."
    )


def _missing_lines(rows: Sequence[Row]) -> list[str]:
    missing = [
        f"{', '.join(part for part in (row['panel'], row['team'], row['method']) if part)}: "
        f"{row['reason']}"
        for row in rows
        if row["state"] == "incomplete"
    ]
    return [f"Hatched, without a gain: {'; '.join(missing)}."] if missing else []


def _caption(rows: Sequence[Row], lines: Sequence[str], closing: Sequence[str]) -> str:
    told = [*lines, *closing] if rows else [NOTHING]
    return "\n".join(told) + "\n"
