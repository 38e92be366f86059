"""The data of the figures that follow one axis of the grid: team size, communication format.

Every topology has a row at every place of the axis in every panel; a place without a score keeps
its row with its state. Teams of one agent have neither a size nor a format to vary, so they are
marks of reference in every panel of their model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from lcbgrid.analysis.axes import (
    SETTING_AXES,
    WHOLE_NUMBER_AXES,
    key_of,
    order_of,
    value_order,
)
from lcbgrid.analysis.columns import Column, frame
from lcbgrid.analysis.figures import (
    NOT_IN_GRID,
    Figure,
    Names,
    closing_lines,
    interval_sentence,
    partly_lines,
)
from lcbgrid.analysis.frames import Frames, records_of

ONE_AGENT: Final = "one agent"
SIZE_COLUMNS: Final = [
    Column("panel_row", "text", "Model, with data set, scenario and optimizer where they vary."),
    Column("panel_column", "text", "The other axis of teams where it varies."),
    Column("x", "text", "Place on the horizontal axis."),
    *(
        Column(name, "whole" if name in WHOLE_NUMBER_AXES else "text", "Axis of the grid.")
        for name in SETTING_AXES
    ),
    Column("is_reference", "flag", "True for a topology of one agent."),
    Column("pass_at_1", "number", "Mean over seeds."),
    Column("pass_at_1_low", "number", "Lower bound."),
    Column("pass_at_1_high", "number", "Upper bound."),
    Column("interval", "text", "Method of the interval."),
    Column("confidence", "number", "Level of the interval."),
    Column("state", "text", "finished, not run, unfinished, undefined, not in the grid."),
    Column("reason", "text", "Why there is no score."),
    Column("covers", "text", "Seeds covered: 2 of 3."),
    Column("simulated", "flag", "True if no real model answered."),
]
COMMUNICATION_COLUMNS: Final = [
    *SIZE_COLUMNS,
    Column("communication_parse_rate", "number", "Mean share of reports that parse as written."),
]
_ROW_AXES: Final = ("dataset", "scenario", "optimizer", "model")

Row = dict[str, Any]


def team_size_figure(frames: Frames) -> Figure:
    """Return the data of the figure team size -> pass@1, one line a topology."""
    settings = records_of(frames.settings)
    grid = _grid(settings, "team_size", "communication")
    rows = list(_rows(grid))
    sizes = [str(size) for size in grid.places]
    if not sizes:
        note = ["The grid has no team of more than one agent, so there is no size to compare."]
    elif len(sizes) == 1:
        note = [f"The grid has one team size ({sizes[0]}), so there is no size to compare."]
    else:
        note = []
    first = (
        "pass@1 against the number of agents in a team: one line a topology, one panel a model"
        f"{_each(grid, 'communication format')}; mean over seeds. " + interval_sentence(rows)
    )
    caption = _caption([first, *note], grid, rows)
    return Figure("team_size_pass_at_1", frame(rows, SIZE_COLUMNS), caption)


def communication_figure(frames: Frames) -> Figure:
    """Return the data of the figure communication format -> pass@1 and share that parses."""
    settings = records_of(frames.settings)
    grid = _grid(settings, "communication", "team_size")
    rows = list(_rows(grid))
    formats = [str(name) for name in grid.places]
    if not formats:
        note = ["The grid has no team of more than one agent, so no agent reports to another."]
    elif len(formats) == 1:
        note = [f"The grid has one format ({formats[0]}), so there is no format to compare."]
    else:
        note = []
    first = (
        "pass@1 against the format in which agents report to each other: one mark a topology, one "
        f"panel a model{_each(grid, 'team size')}; mean over seeds. " + interval_sentence(rows)
    )
    caption = _caption([first, *note, *_parse_lines(rows)], grid, rows)
    return Figure("communication_pass_at_1", frame(rows, COMMUNICATION_COLUMNS), caption)


class _Grid(NamedTuple):
    """Settings with the places of one axis (x), and the values of another one (columns)."""

    settings: Sequence[Mapping[str, Any]]
    x_axis: str
    column_axis: str
    references: list[str]
    topologies: list[str]
    places: list[Any]
    columns: list[Any]


def _grid(settings: Sequence[Mapping[str, Any]], x_axis: str, column_axis: str) -> _Grid:
    larger = {row["topology"] for row in settings if (row["team_size"] or 1) > 1}
    teams = [row for row in settings if row["topology"] in larger]
    alone = [row for row in settings if row["topology"] not in larger]

    def found(rows: Sequence[Mapping[str, Any]], axis: str) -> list[Any]:
        values = {row[axis] for row in rows}
        return sorted(values, key=lambda value: value_order(axis, value))

    return _Grid(
        settings,
        x_axis,
        column_axis,
        references=found(alone, "topology"),
        topologies=found(teams, "topology"),
        places=found(teams, x_axis),
        columns=found(teams, column_axis),
    )


def _rows(grid: _Grid) -> Iterator[Row]:
    """Give every row of the figure: panel by panel, references first, then line by line."""
    names = Names(grid.settings)
    of_teams = {key_of(row, SETTING_AXES): row for row in grid.settings}
    alone: dict[Any, list[Mapping[str, Any]]] = {}
    for setting in sorted(grid.settings, key=lambda row: order_of(row, SETTING_AXES)):
        place = (key_of(setting, _ROW_AXES), setting["topology"])
        alone.setdefault(place, []).append(setting)
    found = sorted(grid.settings, key=lambda row: order_of(row, _ROW_AXES))
    for row_key, example in {key_of(row, _ROW_AXES): row for row in found}.items():
        axes = dict(zip(_ROW_AXES, row_key, strict=True))
        title = ", ".join(part for part in (str(example["model"]), names.panel(example)) if part)
        for column in grid.columns or [None]:
            panel = {"panel_row": title, "panel_column": _column_title(grid, column)}
            for topology in grid.references:
                own = {"x": _reference_place(grid), "is_reference": True, **panel}
                nothing = {**axes, "topology": topology, "team_size": 1, "state": NOT_IN_GRID}
                for setting in alone.get((row_key, topology), [nothing]):
                    yield {**setting, **own}
            for topology in grid.topologies:
                for place in grid.places:
                    key = {**axes, "topology": topology}
                    key |= {grid.x_axis: place, grid.column_axis: column}
                    nothing = {**key, "state": NOT_IN_GRID}
                    team = of_teams.get(key_of(key, SETTING_AXES), nothing)
                    yield {**team, "x": str(place), "is_reference": False, **panel}


def _reference_place(grid: _Grid) -> str:
    return "1" if grid.x_axis == "team_size" else ONE_AGENT


def _column_title(grid: _Grid, column: Any) -> str | None:
    if len(grid.columns) < 2:
        return None
    return f"{column} agents" if grid.column_axis == "team_size" else str(column)


def _each(grid: _Grid, name: str) -> str:
    return f" and {name}" if len(grid.columns) > 1 else ""


def _parse_lines(rows: Sequence[Row]) -> list[str]:
    teams = [row for row in rows if not row["is_reference"] and row["state"] == "finished"]
    known = [row for row in teams if row["communication_parse_rate"] is not None]
    if not known:
        return ["No team has a measured share of reports that parse."] if teams else []
    line = (
        "Below: the mean share of a team's reports that parse as their agents wrote them; free "
        "text always does."
    )
    if len(known) < len(teams):
        line += " A dash stands for a team without that measurement, not for 0."
    return [line]


def _caption(lines: list[str], grid: _Grid, rows: Sequence[Row]) -> str:
    if grid.references and grid.topologies:
        lines.append(
            f"Teams of one agent ({', '.join(grid.references)}) are references: a mark at "
            f"'{_reference_place(grid)}' and a dotted line, the same in every panel of a model."
        )
    lines += partly_lines(grid.settings)
    missing = [row for row in rows if row["state"] not in ("finished", NOT_IN_GRID)]
    if missing:
        named = dict.fromkeys(
            f"{_label(row)}: {row.get('reason') or row['state']}" for row in missing
        )
        lines.append(f"Hatched, without a score: {'; '.join(named)}.")
    gaps = any(row["state"] != "finished" for row in rows if not row["is_reference"])
    if gaps and grid.x_axis == "team_size" and len(grid.places) > 1:
        lines.append("No line is drawn across a size without a score.")
    return "\n".join([*lines, *closing_lines(grid.settings)]) + "\n"


def _label(row: Row) -> str:
    parts = [row["panel_row"], row["topology"]]
    if not row["is_reference"]:
        parts += [f"{row['team_size']} agents", row["communication"]]
    return ", ".join(str(part) for part in parts)
