"""The heat map of gains: teams by optimizers, with intervals, and missing cells marked."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from lcbgrid.analysis import style
from lcbgrid.analysis.figures import NOT_IN_GRID
from lcbgrid.analysis.figures_gains import NOTHING, SIGNIFICANT
from lcbgrid.analysis.frames import records_of
from lcbgrid.analysis.table import signed

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

Row = dict[str, Any]
HATCH: Final = "//////"
_CELL_IN: Final = (1.15, 0.5)
_MOST_COLUMNS: Final = 3
_MOST_BAR_IN: Final = 2.6
_BAR_WIDE_IN: Final = 0.14
_LETTERS_A_CELL: Final = 20
_LEAST_LIMIT_PP: Final = 5.0
_DARK_FROM: Final = 0.62  # of the limit: white letters from there


def draw_gains(data: pd.DataFrame) -> Figure:
    """Draw the frame of ``figures_gains.gain_figure``.

    The number says what the colour says. A cell that is not complete is hatched and says why; one
    that was not asked for is a grey note.
    """
    rows = records_of(data)
    if not rows:
        return nothing_to_show()
    panels = list(dict.fromkeys(row["panel"] for row in rows))
    methods = list(dict.fromkeys(row["method"] for row in rows))
    teams = {p: list(dict.fromkeys(r["team"] for r in rows if r["panel"] == p)) for p in panels}
    width_in = 0.3 + _CELL_IN[0] * len(methods)
    n_columns = max(1, min(_MOST_COLUMNS, len(panels), int(10 / width_in)))
    n_lines = -(-len(panels) // n_columns)
    most = max(map(len, teams.values()))
    figure = style.new_figure(
        1.0 + (width_in + 1.4) * n_columns, n_lines * (most * _CELL_IN[1] + 0.75) + 0.2
    )
    grid = figure.subplots(n_lines, n_columns, squeeze=False)
    limit = _limit(rows)
    for number, axes in enumerate(grid.flat):
        if number >= len(panels):
            axes.set_visible(False)
            continue
        panel = panels[number]
        own = [row for row in rows if row["panel"] == panel]
        _draw_panel(axes, own, teams[panel], methods, limit)
        axes.set_title(panel or "", parse_math=False)
    _colour_bar(figure, [axes for axes in grid.flat if axes.get_visible()], limit)
    return figure


def method_handle(
    method: str, methods: Sequence[str], *, hollow: bool, linewidth: float
) -> Line2D:
    """Return a legend's handle: the method's colour and marker, hollow if it is simulated."""
    from matplotlib.lines import Line2D

    colour = style.colours(methods)[method]
    return Line2D(
        [],
        [],
        color=colour,
        marker=style.markers(methods)[method],
        markersize=5.5,
        markerfacecolor="white" if hollow else colour,
        linewidth=linewidth,
        label=f"{method} (simulated)" if hollow else method,
    )


def nothing_to_show() -> Figure:
    """Return a picture that says that there is nothing to show."""
    figure = style.new_figure(5.2, 0.9)
    figure.text(0.5, 0.5, textwrap.fill(NOTHING, 60), ha="center", va="center", color=style.GREY)
    return figure


def _limit(rows: Sequence[Row]) -> float:
    """Return the end of the scale of colours, the same on both sides of 0: a multiple of 5."""
    largest = max((abs(row["delta_pp"]) for row in rows if row["delta_pp"] is not None), default=0)
    return float(max(_LEAST_LIMIT_PP, -(-largest // 5) * 5))


def _draw_panel(
    axes: Axes, rows: Sequence[Row], teams: Sequence[str], methods: Sequence[str], limit: float
) -> None:
    from matplotlib.patches import Rectangle

    for row in rows:
        x, y = methods.index(row["method"]), teams.index(row["team"])
        value, asked = row["delta_pp"], row["state"] != NOT_IN_GRID
        axes.add_patch(
            Rectangle(
                (x - 0.48, y - 0.46),
                0.96,
                0.92,
                facecolor="white" if value is None else _colour(value, limit),
                edgecolor=style.LIGHT_GREY if asked else "none",
                hatch=HATCH if asked and value is None else None,
                linewidth=0.6,
            )
        )
        _write(axes, x, y, row, limit)
    axes.set_xlim(-0.5, len(methods) - 0.5)
    axes.set_ylim(len(teams) - 0.5, -0.5)
    axes.set_xticks(range(len(methods)), methods, parse_math=False)
    axes.set_yticks(range(len(teams)), teams, parse_math=False)
    axes.tick_params(length=0, bottom=False, labelbottom=False, labeltop=True)
    axes.grid(visible=False)
    for side in axes.spines.values():
        side.set_visible(False)


def _write(axes: Axes, x: float, y: float, row: Row, limit: float) -> None:
    if row["delta_pp"] is None:
        asked = row["state"] != NOT_IN_GRID
        said = textwrap.shorten(row["reason"] or row["state"], 2 * _LETTERS_A_CELL)
        axes.text(
            x,
            y,
            textwrap.fill(said, _LETTERS_A_CELL),
            color="#303030" if asked else "#8a8a8a",
            fontsize=6.0,
            ha="center",
            va="center",
            parse_math=False,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8} if asked else None,
        )
        return
    star = "*" if row["p_holm"] is not None and row["p_holm"] < SIGNIFICANT else ""
    colour = "white" if abs(row["delta_pp"]) > _DARK_FROM * limit else "#202020"
    axes.text(
        x, y - 0.13, f"{signed(row['delta_pp'])}{star}", color=colour, ha="center", va="center"
    )
    below = f"[{signed(row['ci95_low_pp'])}, {signed(row['ci95_high_pp'])}]"
    if row["simulated"]:
        below += "\nsimulated"
    axes.text(x, y + 0.2, below, color=colour, fontsize=6.0, ha="center", va="center")


def _colour(value: float, limit: float) -> Any:
    """Return a colour between dark red and dark blue, which also colour-blind readers tell."""
    import matplotlib

    return matplotlib.colormaps["RdBu"](0.5 + value / limit / 2)


def _colour_bar(figure: Figure, axes: Sequence[Axes], limit: float) -> None:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    scale = ScalarMappable(Normalize(-limit, limit), "RdBu")
    height_in = figure.get_figheight()
    length_in = min(0.9 * height_in, _MOST_BAR_IN)
    bar = figure.colorbar(
        scale,
        ax=list(axes),
        ticks=[-limit, 0, limit],
        shrink=length_in / height_in,
        aspect=length_in / _BAR_WIDE_IN,
        anchor=(0.0, 1.0),
        pad=0.02,
    )
    bar.set_label("gain, percentage points")
    bar.ax.yaxis.set_major_formatter(lambda value, _: signed(value, 0))
    bar.outline.set_visible(False)
