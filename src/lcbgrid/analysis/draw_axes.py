"""The drawings of pass@1 along one axis of the grid: team size, communication format.

A panel is a stack on one horizontal axis: the scores, below them (for formats) the share of
reports that parse, and below that a strip that says which places have no score, and why.
"""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from lcbgrid.analysis import style
from lcbgrid.analysis.figures import NOT_IN_GRID
from lcbgrid.analysis.frames import records_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Row = dict[str, Any]
Panel = tuple[str, str | None]
_MOST_WRAPPED: Final = 3
_SLOT_IN: Final = 0.78
_LEAST_PANEL_IN: Final = 2.2
_LEGEND_IN: Final = 1.7
_SCORES_IN: Final = 1.9
_SHARES_IN: Final = 0.55
_STRIP_LINE_IN: Final = 0.17
_TITLE_IN: Final = 0.85
_LETTERS_AN_INCH: Final = 11
_HATCH: Final = "//////"
_DOTS: Final = (0, (1, 2))


class _Layout(NamedTuple):
    """What all panels share: places from left to right, topologies, their looks and rooms."""

    panels: list[Panel]
    places: list[str]
    references: list[str]
    topologies: list[str]
    without: list[str]
    has_shares: bool
    joined: bool
    highest: float
    colours: Mapping[str, Any]
    markers: Mapping[str, str]
    shifts: Mapping[str, float]

    @property
    def heights(self) -> list[float]:
        """Return the heights of a panel's parts, in inches, from the top."""
        heights = [_SCORES_IN]
        if self.has_shares:
            heights.append(_SHARES_IN)
        if self.without:
            heights.append(_STRIP_LINE_IN * len(self.without))
        return heights

    @property
    def width(self) -> float:
        """Return the width of a panel, in inches."""
        return max(_LEAST_PANEL_IN, _SLOT_IN * len(self.places))

    @property
    def n_columns(self) -> int:
        """Return the columns of panels: those of the data, or wrapped if it has a single one."""
        columns = len({column for _, column in self.panels})
        return columns if columns > 1 else min(_MOST_WRAPPED, len(self.panels))

    def x(self, row: Row) -> float:
        """Return the horizontal place of a row, beside the others of the same place."""
        return self.places.index(row["x"]) + self.shifts[row["topology"]]


def draw_team_size(data: pd.DataFrame) -> Figure:
    """Draw the frame of ``figures_axes.team_size_figure``: one line a topology.

    Sizes stand side by side whatever their distance. A line breaks at a size without a score.
    """
    return _draw(records_of(data), "agents in the team", joined=True)


def draw_communication(data: pd.DataFrame) -> Figure:
    """Draw the frame of ``figures_axes.communication_figure``: one mark a topology and format.

    Below the scores stands the share of reports that parse, if any team has it.
    """
    return _draw(records_of(data), "format of the agents' reports", joined=False)


def _draw(rows: Sequence[Row], x_label: str, *, joined: bool) -> Figure:
    layout = _layout(rows, joined=joined)
    heights, n_columns = layout.heights, layout.n_columns
    n_lines = -(-len(layout.panels) // n_columns)
    strip_names_in = 0.9 if layout.without else 0.5
    figure = style.new_figure(
        strip_names_in + layout.width * n_columns + _LEGEND_IN,
        n_lines * (sum(heights) + _TITLE_IN) + 0.2,
    )
    grid = figure.subplots(
        n_lines * len(heights),
        n_columns,
        squeeze=False,
        sharex=True,
        height_ratios=heights * n_lines,
    )
    for number in range(n_lines * n_columns):
        line, column = divmod(number, n_columns)
        stack = list(grid[line * len(heights) : (line + 1) * len(heights), column])
        if number >= len(layout.panels):
            for axes in stack:
                axes.set_visible(False)
            continue
        panel = layout.panels[number]
        own = [row for row in rows if (row["panel_row"], row["panel_column"]) == panel]
        _draw_stack(stack, own, layout, is_first=column == 0)
        stack[0].set_title(_title(panel, layout.width), parse_math=False)
        if number + n_columns >= len(layout.panels):
            stack[-1].set_xlabel(x_label)
    _legend(figure, layout, rows)
    return figure


def _layout(rows: Sequence[Row], *, joined: bool) -> _Layout:
    references = _names(row["topology"] for row in rows if row["is_reference"])
    topologies = _names(row["topology"] for row in rows if not row["is_reference"])
    every = [*references, *topologies]
    tops = [row["pass_at_1_high"] for row in rows if row["pass_at_1_high"] is not None]
    without = {row["topology"] for row in rows if row["pass_at_1"] is None}
    return _Layout(
        panels=list(dict.fromkeys((row["panel_row"], row["panel_column"]) for row in rows)),
        places=_names(row["x"] for row in rows),
        references=references,
        topologies=topologies,
        without=[name for name in every if name in without],
        has_shares=any(row.get("communication_parse_rate") is not None for row in rows),
        joined=joined,
        highest=style.next_tenth(max(tops, default=1.0)),
        colours=style.colours(every),
        markers=style.markers(every),
        shifts=_shifts(references) | _shifts(topologies),
    )


def _names(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(values))


def _shifts(names: Sequence[str]) -> dict[str, float]:
    """Return how far each name stands from the middle of its place, in places."""
    step = min(0.2, 0.7 / max(1, len(names)))
    return {name: (index - (len(names) - 1) / 2) * step for index, name in enumerate(names)}


def _title(panel: Panel, width_in: float) -> str:
    lines = [textwrap.fill(part, int(width_in * _LETTERS_AN_INCH)) for part in panel if part]
    return "\n".join(lines)


def _draw_stack(
    stack: Sequence[Axes], rows: Sequence[Row], layout: _Layout, *, is_first: bool
) -> None:
    for axes in stack:
        for place in range(0, len(layout.places), 2):
            axes.axvspan(place - 0.5, place + 0.5, color=style.BAND, zorder=0, linewidth=0)
        axes.grid(axis="x", visible=False)
        axes.tick_params(labelbottom=axes is stack[-1], labelleft=is_first, length=0)
        for side in ("top", "right", "left"):
            axes.spines[side].set_visible(False)
    _draw_scores(stack[0], rows, layout)
    if layout.has_shares:
        _draw_shares(stack[1], rows, layout)
    if layout.without:
        _draw_strip(stack[-1], rows, layout)
    if is_first:
        stack[0].set_ylabel("pass@1")
        if layout.has_shares:
            stack[1].set_ylabel("share\nparsed")
    stack[-1].set_xticks(range(len(layout.places)), _place_labels(layout.places))
    stack[-1].set_xlim(-0.5, len(layout.places) - 0.5)


def _place_labels(places: Sequence[str]) -> list[str]:
    """Return the names of places, broken at their words, all with the same number of lines."""
    labels = [place.replace("_", "_\n").replace(" ", "\n") for place in places]
    most = max((label.count("\n") for label in labels), default=0)
    return [label + "\n " * (most - label.count("\n")) for label in labels]


def _draw_scores(axes: Axes, rows: Sequence[Row], layout: _Layout) -> None:
    for row in rows:
        if row["pass_at_1"] is None:
            continue
        colour = layout.colours[row["topology"]]
        if row["is_reference"] and layout.topologies:
            axes.axhline(row["pass_at_1"], color=colour, linestyle=_DOTS, linewidth=1.1, zorder=1)
        axes.vlines(
            layout.x(row),
            row["pass_at_1_low"],
            row["pass_at_1_high"],
            colors=[colour],
            linewidth=1.1,
            alpha=0.7,
            zorder=2,
        )
        _draw_mark(axes, row, row["pass_at_1"], layout)
    if layout.joined:
        for topology in layout.topologies:
            _join(axes, [row for row in rows if row["topology"] == topology], layout)
    axes.set_ylim(0, layout.highest)


def _draw_mark(axes: Axes, row: Row, y: float, layout: _Layout, size: float = 5.5) -> None:
    colour = layout.colours[row["topology"]]
    axes.plot(
        layout.x(row),
        y,
        marker=layout.markers[row["topology"]],
        markersize=size,
        markerfacecolor="white" if row["simulated"] else colour,
        markeredgecolor=colour,
        markeredgewidth=1.2,
        linestyle="none",
        clip_on=False,
        zorder=4,
    )


def _join(axes: Axes, rows: Sequence[Row], layout: _Layout) -> None:
    """Join neighbours that both have a score; never across a gap."""
    ordered = sorted(rows, key=layout.x)
    for left, right in itertools.pairwise(ordered):
        if left["pass_at_1"] is not None and right["pass_at_1"] is not None:
            axes.plot(
                [layout.x(left), layout.x(right)],
                [left["pass_at_1"], right["pass_at_1"]],
                color=layout.colours[left["topology"]],
                linewidth=1.2,
                zorder=3,
            )


def _draw_shares(axes: Axes, rows: Sequence[Row], layout: _Layout) -> None:
    """Draw the share of reports that parse; a dash where a scored team has none."""
    for row in rows:
        if row["pass_at_1"] is None or row["is_reference"]:
            continue
        share = row["communication_parse_rate"]
        if share is not None:
            axes.vlines(
                layout.x(row), 0, share, colors=[layout.colours[row["topology"]]], linewidth=1.6
            )
            _draw_mark(axes, row, share, layout, size=3.5)
        else:
            axes.text(layout.x(row), 0.08, "\N{EN DASH}", color=style.GREY, ha="center")
    axes.set_ylim(0, 1)
    axes.set_yticks([0, 1], ["0", "1"])


def _draw_strip(axes: Axes, rows: Sequence[Row], layout: _Layout) -> None:
    """Say in one line a topology at which places it has no score, and why."""
    for row in rows:
        if row["pass_at_1"] is not None:
            continue
        x, y = layout.places.index(row["x"]), layout.without.index(row["topology"])
        is_asked = row["state"] != NOT_IN_GRID
        if is_asked:
            axes.barh(
                y,
                0.9,
                left=x - 0.45,
                height=0.8,
                facecolor="white",
                edgecolor=style.LIGHT_GREY,
                hatch=_HATCH,
                linewidth=0.6,
                zorder=2,
            )
        axes.text(
            x,
            y,
            row["state"],
            color="#303030" if is_asked else "#8a8a8a",
            fontsize=6.0,
            ha="center",
            va="center_baseline",
            zorder=5,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6} if is_asked else None,
        )
    axes.set_ylim(len(layout.without) - 0.5, -0.5)
    axes.set_yticks(range(len(layout.without)), layout.without, fontsize=6.5)
    axes.grid(visible=False)


def _legend(figure: Figure, layout: _Layout, rows: Sequence[Row]) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    scored = [row for row in rows if row["pass_at_1"] is not None]
    handles: list[Any] = []
    line: Any
    for topology in (*layout.references, *layout.topologies):
        own = [row for row in scored if row["topology"] == topology]
        is_hollow = bool(own) and all(row["simulated"] for row in own)
        line = "-" if layout.joined else "none"
        if topology in layout.references:
            line = _DOTS if layout.topologies else "none"
        handles.append(
            Line2D(
                [],
                [],
                color=layout.colours[topology],
                marker=layout.markers[topology],
                markersize=5.5,
                markerfacecolor="white" if is_hollow else layout.colours[topology],
                linestyle=line,
                linewidth=1.2,
                label=topology,
            )
        )
    if any(row["simulated"] for row in scored):
        handles.append(
            Line2D(
                [],
                [],
                color=style.GREY,
                marker="o",
                markerfacecolor="white",
                markersize=5.5,
                linestyle="none",
                label="hollow: simulated",
            )
        )
    if any(row["pass_at_1"] is None and row["state"] != NOT_IN_GRID for row in rows):
        handles.append(
            Patch(
                facecolor="white",
                edgecolor=style.LIGHT_GREY,
                hatch=_HATCH,
                label="no score\n(not a zero)",
            )
        )
    figure.legend(handles=handles, loc="outside right upper", handlelength=2.2)
