"""What the figures show, as tidy frames; ``draw`` turns them into pictures.

Data first, drawing second: the frames here are tested to the last number and are written beside
the pictures, so a reader can draw them again with any tool.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from lcbgrid.analysis.axes import SETTING_AXES, key_of, order_of, value_order
from lcbgrid.analysis.columns import Column, frame
from lcbgrid.analysis.frames import Frames, records_of
from lcbgrid.analysis.provenance import provenance_lines

if TYPE_CHECKING:
    import pandas as pd

NOT_IN_GRID: Final = "not in the grid"
_INTERVALS: Final = {
    "wilson": "Wilson's score interval",
    "bootstrap": "percentile bootstrap over problems",
}
_POINT = [
    Column("panel", "text", "Panel of the figure; empty with a single one."),
    Column("team", "text", "Topology with team size and format where they matter."),
    Column("model", "text", "Model."),
    Column("pass_at_1", "number", "Mean over seeds."),
    Column("pass_at_1_low", "number", "Lower bound."),
    Column("pass_at_1_high", "number", "Upper bound."),
    Column("interval", "text", "Method of the interval."),
    Column("confidence", "number", "Level of the interval."),
]
PASS_COLUMNS: Final = [
    *_POINT,
    Column("state", "text", "finished, not run, unfinished, undefined, not in the grid."),
    Column("covers", "text", "Seeds covered: 2 of 3."),
    Column("simulated", "flag", "True if no real model answered."),
    Column("team_mean", "number", "Mean over the models of this team."),
    Column("team_covers", "text", "Models covered by that mean: 2 of 3."),
]
COST_COLUMNS: Final = [
    *_POINT,
    Column("tokens_per_attempt", "number", "Mean tokens of one attempt at one problem."),
    Column("on_front", "flag", "True if nothing cheaper in its panel is at least as good."),
    Column("simulated", "flag", "True if no real model answered."),
]


class Figure(NamedTuple):
    """A figure's file name, its data, and the text of its caption."""

    name: str
    data: pd.DataFrame
    caption: str


class Names:
    """Short names of settings: an axis is named only where the grid varies it."""

    def __init__(self, settings: Iterable[Mapping[str, Any]]) -> None:
        rows = list(settings)
        self._varied = {axis for axis in SETTING_AXES if len({row[axis] for row in rows}) > 1}

    def team(self, row: Mapping[str, Any]) -> str:
        """Return the topology, with team size and format where they say something."""
        parts = [str(row["topology"])]
        if row["team_size"] is not None and row["team_size"] > 1:
            parts.append(f"{row['team_size']} agents")
        if "communication" in self._varied and row["communication"] is not None:
            parts.append(str(row["communication"]))
        return ", ".join(parts)

    def panel(self, row: Mapping[str, Any]) -> str | None:
        """Return what separates panels: data set, scenario and optimizer."""
        parts = [
            str(row[axis]) for axis in ("dataset", "scenario", "optimizer") if axis in self._varied
        ]
        return ", ".join(parts) or None


def pass_figure(frames: Frames) -> Figure:
    """Return the data of the figure topology x model -> pass@1.

    Every pair of a team and a model has a row in every panel. A cell without a score keeps its
    row with its state; it is never a zero.
    """
    settings = records_of(frames.settings)
    names = Names(settings)
    by_place: dict[Any, Mapping[str, Any]] = {}
    for setting in settings:
        place = (names.panel(setting), names.team(setting), setting["model"])
        by_place[place] = setting
    means = {
        key_of(row, _MARGIN_AXES): row
        for row in records_of(frames.margins)
        if row["over"] == "model"
    }
    rows = [
        _pass_row((panel, team, model), by_place.get((panel, team, model)), means, example)
        for (panel, team), example in _pairs(settings, names).items()
        for model in _ordered(settings, "model")
    ]
    return Figure("pass_at_1", frame(rows, PASS_COLUMNS), _pass_caption(rows, settings))


def cost_figure(frames: Frames) -> Figure:
    """Return the data of the figure tokens of an attempt -> pass@1; scored settings only."""
    settings = records_of(frames.settings)
    names = Names(settings)
    rows = [
        {**row, "panel": names.panel(row), "team": names.team(row)}
        for row in settings
        if row["pass_at_1"] is not None and row["tokens_per_attempt"] is not None
    ]
    front = {
        index
        for panel in {row["panel"] for row in rows}
        for index in _front(rows, [i for i, row in enumerate(rows) if row["panel"] == panel])
    }
    rows = [{**row, "on_front": index in front} for index, row in enumerate(rows)]
    return Figure("tokens_pass_at_1", frame(rows, COST_COLUMNS), _cost_caption(rows, settings))


_MARGIN_AXES = tuple(axis for axis in SETTING_AXES if axis != "model")


def _pairs(
    settings: Sequence[Mapping[str, Any]], names: Names
) -> dict[tuple[str | None, str], Mapping[str, Any]]:
    """Return panel and team of every row of the figure, in reading order."""
    axes = tuple(
        axis
        for axis in ("dataset", "scenario", "optimizer", "topology", "team_size", "communication")
    )
    ordered = sorted(settings, key=lambda row: order_of(row, axes))
    panels = list(dict.fromkeys(names.panel(row) for row in ordered))
    in_order = sorted(settings, key=lambda row: order_of(row, axes[3:]))
    teams = {names.team(row): row for row in reversed(in_order)}
    found = {(names.panel(row), names.team(row)): row for row in ordered}
    return {
        (panel, team): found.get((panel, team), teams[team])
        for panel in panels
        for team in sorted(teams, key=lambda team: order_of(teams[team], axes[3:]))
    }


def _ordered(settings: Iterable[Mapping[str, Any]], axis: str) -> list[Any]:
    return sorted({row[axis] for row in settings}, key=lambda value: value_order(axis, value))


def _pass_row(
    place: tuple[str | None, str, str],
    setting: Mapping[str, Any] | None,
    means: Mapping[Any, Mapping[str, Any]],
    example: Mapping[str, Any],
) -> dict[str, Any]:
    panel, team, model = place
    row: dict[str, Any] = dict(setting) if setting else {"state": NOT_IN_GRID}
    margin = means.get(key_of(example, _MARGIN_AXES), {})
    return row | {
        "panel": panel,
        "team": team,
        "model": model,
        "team_mean": margin.get("pass_at_1"),
        "team_covers": margin.get("covers"),
    }


def _front(rows: Sequence[Mapping[str, Any]], indices: Sequence[int]) -> set[int]:
    """Return the rows that no other row beats: none is cheaper and at least as good.

    Simulated rows are left out as soon as there is a real one.
    """
    real = [index for index in indices if not rows[index]["simulated"]]
    front = set()
    best = -1.0
    for index in sorted(
        real or indices, key=lambda i: (rows[i]["tokens_per_attempt"], -rows[i]["pass_at_1"])
    ):
        if rows[index]["pass_at_1"] > best:
            best = rows[index]["pass_at_1"]
            front.add(index)
    return front


def _pass_caption(rows: Sequence[Mapping[str, Any]], settings: Sequence[Mapping[str, Any]]) -> str:
    missing = [
        f"{', '.join(str(part) for part in (row['panel'], row['team'], row['model']) if part)}: "
        f"{row.get('reason') or row['state']}"
        for row in rows
        if row["state"] not in ("finished", NOT_IN_GRID)
    ]
    lines = [
        "pass@1 of each team (rows) and model (colours), mean over seeds. "
        + interval_sentence(rows)
    ]
    if len({row["model"] for row in rows}) > 1:
        lines.append(
            "The number at the right of a row is the plain mean over its models and says how "
            "many of them it covers."
        )
    lines += partly_lines(settings)
    if missing:
        lines.append("Hatched, without a score: " + "; ".join(missing) + ".")
    return "\n".join([*lines, *closing_lines(settings)]) + "\n"


def _cost_caption(rows: Sequence[Mapping[str, Any]], settings: Sequence[Mapping[str, Any]]) -> str:
    lines = [
        "pass@1 against the tokens, sent and received, of one attempt at one problem (whole "
        "team, all calls). " + interval_sentence(rows)
    ]
    on_front = [row["panel"] for row in rows if row["on_front"]]
    if len(on_front) > len(set(on_front)):
        lines.append(
            "The grey line joins the settings of a panel that nothing cheaper equals or beats."
        )
    if len(rows) < len(settings):
        lines.append(
            f"Left out, without a score: {len(settings) - len(rows)} of {len(settings)} settings."
        )
    return "\n".join([*lines, *closing_lines(settings)]) + "\n"


def partly_lines(settings: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the sentence that says which means lack some of their seeds, if any do."""
    partly = sorted(
        {
            row["covers"]
            for row in settings
            if row["n_covered"] < row["n_cells"] and row["n_covered"]
        }
    )
    return [f"Some means cover only part of their seeds ({', '.join(partly)})."] if partly else []


def interval_sentence(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return the sentence that says what the bars are, or that nothing has a score yet."""
    methods = sorted({(row["confidence"], row["interval"]) for row in rows if row.get("interval")})
    named = " or ".join(
        f"{100 * level:g} %, {_INTERVALS.get(method, method)}" for level, method in methods
    )
    return f"Bars are confidence intervals ({named})." if named else "There is no score yet."


def closing_lines(settings: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return how captions end: what the numbers depend on, and what is simulated."""
    lines = provenance_lines(settings)
    if any(row["simulated"] for row in settings):
        lines.append(
            "Hollow points are simulated, no real model answered; means over models contain them."
        )
    return lines
