"""The forest plot of gains: one line a team and optimizer, its interval, and 0."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from lcbgrid.analysis import style
from lcbgrid.analysis.draw_gains import HATCH, method_handle, nothing_to_show
from lcbgrid.analysis.figures import NOT_IN_GRID
from lcbgrid.analysis.frames import records_of
from lcbgrid.analysis.table import p_text, signed

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Row = dict[str, Any]
_SLOT_IN: Final = 0.2
_GAP_SLOTS: Final = 0.7
_LEAST_PP: Final = 5.0


def draw_forest(data: pd.DataFrame) -> Figure:
    """Draw the frame of ``figures_gains.forest_figure``.

    Colour and marker name the optimizer. The numbers stand at the right. A cell that is not
    complete is a hatched bar that says why.
    """
    rows = [row for row in records_of(data) if row["state"] != NOT_IN_GRID]
    if not rows:
        return nothing_to_show()
    panels = list(dict.fromkeys(row["panel"] for row in rows))
    by_panel = [[row for row in rows if row["panel"] == panel] for panel in panels]
    heights = [_SLOT_IN * _slots(own) for own in by_panel]
    figure = style.new_figure(7.6, sum(heights) + 0.45 * len(panels) + 0.9)
    grid = figure.subplots(len(panels), 1, squeeze=False, sharex=True, height_ratios=heights)
    methods = sorted({row["method"] for row in rows})
    low, high = _ends(rows)
    for axes, panel, own in zip(grid.flat, panels, by_panel, strict=True):
        _draw_panel(axes, own, methods, (low, high))
        axes.set_title(panel or "", parse_math=False)
    grid.flat[-1].set_xlabel("gain over the prompts as written, percentage points")
    grid.flat[-1].set_xlim(low, high)
    grid.flat[-1].xaxis.set_major_formatter(lambda value, _: signed(value, 0))
    _legend(figure, rows, methods)
    return figure


def _slots(rows: Sequence[Row]) -> float:
    return len(rows) + _GAP_SLOTS * len({row["team"] for row in rows})


def _ends(rows: Sequence[Row]) -> tuple[float, float]:
    """Return the ends of the axis: all intervals and 0, with some room."""
    lows = [row["ci95_low_pp"] for row in rows if row["delta_pp"] is not None]
    highs = [row["ci95_high_pp"] for row in rows if row["delta_pp"] is not None]
    low, high = min([-_LEAST_PP, *lows]), max([_LEAST_PP, *highs])
    room = 0.06 * (high - low)
    return low - room, high + room


def _draw_panel(
    axes: Axes, rows: Sequence[Row], methods: Sequence[str], ends: tuple[float, float]
) -> None:
    colours, markers = style.colours(methods), style.markers(methods)
    y, ticks = 0.0, []
    for number, team in enumerate(dict.fromkeys(row["team"] for row in rows)):
        own = [row for row in rows if row["team"] == team]
        ticks.append((y + (len(own) - 1) / 2, team))
        if number % 2 == 0:
            edge = (1 + _GAP_SLOTS) / 2
            axes.axhspan(
                y - edge, y + len(own) - 1 + edge, color=style.BAND, zorder=0, linewidth=0
            )
        for row in own:
            _draw_row(axes, y, row, (colours[row["method"]], markers[row["method"]]), ends)
            y += 1
        y += _GAP_SLOTS
    axes.axvline(0, color="#404040", linewidth=1.0, zorder=1)
    axes.set_yticks([place for place, _ in ticks], [team for _, team in ticks], parse_math=False)
    top = -(1 + _GAP_SLOTS) / 2
    axes.set_ylim(top + _slots(rows), top)
    axes.grid(axis="y", visible=False)
    axes.tick_params(axis="y", length=0)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)


def _draw_row(
    axes: Axes, y: float, row: Row, look: tuple[Any, str], ends: tuple[float, float]
) -> None:
    colour, marker = look
    if row["delta_pp"] is None:
        _draw_missing(axes, y, row, ends)
        return
    axes.hlines(y, row["ci95_low_pp"], row["ci95_high_pp"], colors=[colour], linewidth=1.4)
    axes.plot(
        row["delta_pp"],
        y,
        marker=marker,
        markersize=5.5,
        markerfacecolor="white" if row["simulated"] else colour,
        markeredgecolor=colour,
        markeredgewidth=1.2,
        zorder=4,
    )
    interval = f"[{signed(row['ci95_low_pp'])}, {signed(row['ci95_high_pp'])}]"
    shown = f"{signed(row['delta_pp'])} {interval}  p Holm {p_text(row['p_holm'])}"
    axes.annotate(
        shown,
        (1.0, y),
        xycoords=("axes fraction", "data"),
        xytext=(8, 0),
        textcoords="offset points",
        color=style.GREY,
        fontsize=7,
        va="center",
    )


def _draw_missing(axes: Axes, y: float, row: Row, ends: tuple[float, float]) -> None:
    low, high = ends
    axes.barh(
        y,
        high - low,
        left=low,
        height=0.78,
        facecolor="white",
        edgecolor=style.LIGHT_GREY,
        hatch=HATCH,
        linewidth=0.6,
        zorder=2,
    )
    axes.text(
        (low + high) / 2,
        y,
        f"{row['method']}: {row['reason']}",
        color="#303030",
        fontsize=7,
        ha="center",
        va="center",
        zorder=5,
        clip_on=True,
        parse_math=False,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.2},
    )


def _legend(figure: Figure, rows: Sequence[Row], methods: Sequence[str]) -> None:
    from matplotlib.patches import Patch

    known = [row for row in rows if row["delta_pp"] is not None]
    handles: list[Any] = []
    for method in methods:
        own = [row for row in known if row["method"] == method]
        hollow = bool(own) and all(row["simulated"] for row in own)
        handles.append(method_handle(method, methods, hollow=hollow, linewidth=1.4))
    if len(known) < len(rows):
        handles.append(
            Patch(
                facecolor="white",
                edgecolor=style.LIGHT_GREY,
                hatch=HATCH,
                label="no gain (not a zero)",
            )
        )
    figure.legend(handles=handles, loc="outside upper center", ncols=min(len(handles), 4))
