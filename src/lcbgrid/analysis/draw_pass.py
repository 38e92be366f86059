"""The drawing of topology x model -> pass@1: one row a team, one point a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from lcbgrid.analysis import style
from lcbgrid.analysis.figures import NOT_IN_GRID
from lcbgrid.analysis.frames import records_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Row = dict[str, Any]
_SLOT_IN: Final = 0.2
_ROW_GAP_SLOTS: Final = 0.7
_MOST_COLUMNS: Final = 3
_PANEL_WIDTH_IN: Final = 3.6
_NUMBERS_UP_TO: Final = 24


class _Layout(NamedTuple):
    panels: list[str | None]
    teams: list[str]
    models: list[str]

    @property
    def row_slots(self) -> float:
        return len(self.models) + _ROW_GAP_SLOTS

    def height(self, team: str, model: str | None = None) -> float:
        """Return the vertical place of a team, or of one of its models."""
        top = self.teams.index(team) * self.row_slots
        if model is None:
            return top + (len(self.models) - 1) / 2
        return top + self.models.index(model)


def draw_pass(data: pd.DataFrame) -> Figure:
    """Draw the frame of ``figures.pass_figure``.

    A true 0.0 is a point on the axis with its interval; a cell without a score is a hatched bar
    over the whole width that says why; a pair that the grid does not ask for is a grey note.
    """
    rows = records_of(data)
    layout = _Layout(
        list(dict.fromkeys(row["panel"] for row in rows)),
        list(dict.fromkeys(row["team"] for row in rows)),
        list(dict.fromkeys(row["model"] for row in rows)),
    )
    n_columns = min(_MOST_COLUMNS, max(1, len(layout.panels)))
    n_lines = -(-max(1, len(layout.panels)) // n_columns)
    height_in = max(0.6, len(layout.teams) * layout.row_slots * _SLOT_IN)
    figure = style.new_figure(2.6 + _PANEL_WIDTH_IN * n_columns, n_lines * (height_in + 0.6) + 0.7)
    grid = figure.subplots(n_lines, n_columns, squeeze=False, sharex=True, sharey=True)
    highest = _highest(rows)
    for number, axes in enumerate(grid.flat):
        if number >= max(1, len(layout.panels)):
            axes.set_visible(False)
            continue
        panel = layout.panels[number] if layout.panels else None
        own = [row for row in rows if row["panel"] == panel]
        _draw_panel(axes, own, layout, highest)
        axes.set_title(panel or "")
        if number + n_columns >= len(layout.panels):
            axes.set_xlabel("pass@1")
            axes.tick_params(labelbottom=True)
    _legend(figure, layout, rows)
    return figure


def _highest(rows: Sequence[Row]) -> float:
    """Return the end of the axis: the next tenth above the highest interval, at most 1."""
    tops = [row["pass_at_1_high"] for row in rows if row["pass_at_1_high"] is not None]
    return style.next_tenth(max(tops, default=1.0))


def _draw_panel(axes: Axes, rows: Sequence[Row], layout: _Layout, highest: float) -> None:
    colours, markers = style.colours(layout.models), style.markers(layout.models)
    edge = layout.row_slots / 2
    for number, team in enumerate(layout.teams):
        if number % 2 == 0:
            middle = layout.height(team)
            axes.axhspan(middle - edge, middle + edge, color=style.BAND, zorder=0, linewidth=0)
    for row in rows:
        y = layout.height(row["team"], row["model"])
        if row["pass_at_1"] is None:
            _draw_missing(axes, y, row, highest)
            continue
        colour = colours[row["model"]]
        axes.hlines(y, row["pass_at_1_low"], row["pass_at_1_high"], colors=[colour], linewidth=1.4)
        axes.plot(
            row["pass_at_1"],
            y,
            marker=markers[row["model"]],
            markersize=5.5,
            markerfacecolor="white" if row["simulated"] else colour,
            markeredgecolor=colour,
            markeredgewidth=1.2,
            clip_on=False,
            zorder=4,
        )
    if len(rows) <= _NUMBERS_UP_TO:
        _numbers(axes, rows, layout)
    _means(axes, rows, layout)
    axes.set_yticks([layout.height(team) for team in layout.teams], layout.teams)
    top = -(1 + _ROW_GAP_SLOTS) / 2
    axes.set_ylim(top + layout.row_slots * len(layout.teams), top)
    axes.set_xlim(0, highest)
    axes.grid(axis="y", visible=False)
    axes.tick_params(axis="y", length=0)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_visible(True)


def _draw_missing(axes: Axes, y: float, row: Row, highest: float) -> None:
    if row["state"] == NOT_IN_GRID:
        axes.text(
            highest / 2, y, NOT_IN_GRID, color="#9a9a9a", fontsize=6.5, ha="center", va="center"
        )
        return
    axes.barh(
        y,
        highest,
        height=0.78,
        facecolor="white",
        edgecolor=style.LIGHT_GREY,
        hatch="//////",
        linewidth=0.6,
        zorder=2,
    )
    axes.text(
        highest / 2,
        y,
        f"{row['model']}: {row['state']}",
        color="#303030",
        fontsize=7,
        ha="center",
        va="center",
        zorder=5,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.2},
    )


def _numbers(axes: Axes, rows: Sequence[Row], layout: _Layout) -> None:
    """Write each value behind its interval, while there are few enough to read."""
    for row in rows:
        if row["pass_at_1"] is not None:
            axes.annotate(
                f"{row['pass_at_1']:.3f}",
                (row["pass_at_1_high"], layout.height(row["team"], row["model"])),
                xytext=(4, 0),
                textcoords="offset points",
                color=style.GREY,
                fontsize=7,
                va="center",
                zorder=5,
            )


def _means(axes: Axes, rows: Sequence[Row], layout: _Layout) -> None:
    """Write the mean over models and how many it covers at the right of each row."""
    if len(layout.models) < 2:
        return
    for team in layout.teams:
        row = next((row for row in rows if row["team"] == team and row["team_covers"]), None)
        if row is None:
            continue
        mean = "no mean" if row["team_mean"] is None else f"mean {row['team_mean']:.3f}"
        axes.annotate(
            f"{mean}\n{row['team_covers']}",
            (1.0, layout.height(team)),
            xycoords=("axes fraction", "data"),
            xytext=(8, 0),
            textcoords="offset points",
            color=style.GREY,
            fontsize=7,
            va="center",
            linespacing=1.25,
        )


def _legend(figure: Figure, layout: _Layout, rows: Sequence[Row]) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    colours, markers = style.colours(layout.models), style.markers(layout.models)
    simulated = {row["model"] for row in rows if row["simulated"]}
    handles: list[Any] = [
        Line2D(
            [],
            [],
            color=colours[model],
            marker=markers[model],
            markersize=5.5,
            markerfacecolor="white" if model in simulated else colours[model],
            linewidth=1.4,
            label=f"{model} (simulated)" if model in simulated else model,
        )
        for model in layout.models
    ]
    if any(row["pass_at_1"] is None and row["state"] != NOT_IN_GRID for row in rows):
        handles.append(
            Patch(
                facecolor="white",
                edgecolor=style.LIGHT_GREY,
                hatch="//////",
                label="no score (not a zero)",
            )
        )
    columns = min(len(handles), 3) or 1
    figure.legend(handles=handles, loc="outside upper center", ncols=columns)
