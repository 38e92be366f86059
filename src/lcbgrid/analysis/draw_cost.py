"""The drawing of tokens against pass@1, with labels that do not cover each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from lcbgrid.analysis import style
from lcbgrid.analysis.frames import records_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.transforms import Bbox

Row = dict[str, Any]
_MOST_COLUMNS: Final = 3
_LABEL_ALL_UP_TO: Final = 12
_LOG_FROM_RATIO: Final = 8.0
_PLACES: Final = (
    (6, 4, "left", "bottom"),
    (-6, 4, "right", "bottom"),
    (6, -4, "left", "top"),
    (-6, -4, "right", "top"),
    (8, 13, "left", "bottom"),
    (-8, 13, "right", "bottom"),
    (8, -13, "left", "top"),
    (-8, -13, "right", "top"),
)


def draw_cost(data: pd.DataFrame) -> Figure:
    """Draw the frame of ``figures.cost_figure``: colour is the model, marker the team.

    A panel with up to 12 points labels all of them, one with more only those that nothing
    cheaper beats.
    """
    rows = records_of(data)
    panels = list(dict.fromkeys(row["panel"] for row in rows)) or [None]
    n_columns = min(_MOST_COLUMNS, len(panels))
    n_lines = -(-len(panels) // n_columns)
    size_in = (6.8, 4.0) if len(panels) == 1 else (1.8 + 3.2 * n_columns, 3.2 * n_lines)
    figure = style.new_figure(*size_in)
    grid = figure.subplots(n_lines, n_columns, squeeze=False, sharex=True, sharey=True)
    drawn: list[tuple[Axes, list[Row]]] = []
    for number, axes in enumerate(grid.flat):
        if number >= len(panels):
            axes.set_visible(False)
            continue
        own = [row for row in rows if row["panel"] == panels[number]]
        _draw_panel(axes, own, rows)
        axes.set_title(panels[number] or "")
        drawn.append((axes, own))
        if number % n_columns == 0:
            axes.set_ylabel("pass@1")
        if number + n_columns >= len(panels):
            axes.set_xlabel(_x_label(rows))
            axes.tick_params(labelbottom=True)
    if rows:
        _scale(drawn[0][0], rows)
        _legend(figure, rows)
    figure.draw_without_rendering()  # fixes the layout, so that text boxes are known
    for axes, own in drawn:
        _labels(axes, own)
    return figure


def _is_log(rows: Sequence[Row]) -> bool:
    """Tokens are drawn on a logarithmic axis where they differ by far."""
    xs = [row["tokens_per_attempt"] for row in rows]
    return bool(xs) and min(xs) > 0 and max(xs) / min(xs) >= _LOG_FROM_RATIO


def _x_label(rows: Sequence[Row]) -> str:
    return "tokens of one attempt at one problem" + (" (log scale)" if _is_log(rows) else "")


def _draw_panel(axes: Axes, rows: Sequence[Row], everything: Sequence[Row]) -> None:
    colours, markers = _channels(everything)
    front = sorted(
        (row["tokens_per_attempt"], row["pass_at_1"]) for row in rows if row["on_front"]
    )
    if len(front) > 1:
        xs, ys = zip(*front, strict=True)
        axes.step(xs, ys, where="post", color=style.LIGHT_GREY, linewidth=1.2, zorder=1)
    for row in rows:
        _draw_point(axes, row, colours[row["model"]], markers[row["team"]])
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    if not rows:
        axes.text(0.5, 0.5, "no setting has a score", transform=axes.transAxes, ha="center")


def _channels(rows: Sequence[Row]) -> tuple[dict[str, Any], dict[str, str]]:
    models = sorted({row["model"] for row in rows})
    teams = list(dict.fromkeys(row["team"] for row in rows))
    return dict(style.colours(models)), style.markers(teams)


def _draw_point(axes: Axes, row: Row, colour: Any, marker: str) -> None:
    x, y = row["tokens_per_attempt"], row["pass_at_1"]
    axes.vlines(
        x,
        row["pass_at_1_low"],
        row["pass_at_1_high"],
        colors=[colour],
        linewidth=1.0,
        alpha=0.55,
        zorder=2,
    )
    axes.plot(
        x,
        y,
        marker=marker,
        markersize=6.5,
        markerfacecolor="white" if row["simulated"] else colour,
        markeredgecolor=colour,
        markeredgewidth=1.3,
        linestyle="none",
        clip_on=False,
        zorder=4,
    )


def _scale(axes: Axes, rows: Sequence[Row]) -> None:
    """Set the axes that all panels share."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

    xs = [row["tokens_per_attempt"] for row in rows]
    axes.set_ylim(0, style.next_tenth(max(row["pass_at_1_high"] for row in rows)))
    if _is_log(rows):
        axes.set_xscale("log")
        subs = (1.0, 2.0, 5.0) if max(xs) / min(xs) < 300 else (1.0,)
        axes.xaxis.set_major_locator(LogLocator(base=10, subs=subs))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.set_xlim(min(xs) / 1.6, max(xs) * 1.6)
    else:
        axes.set_xlim(0, max(xs) * 1.25 or 1)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))


def _legend(figure: Figure, rows: Sequence[Row]) -> None:
    from matplotlib.lines import Line2D

    colours, markers = _channels(rows)
    simulated = {row["model"] for row in rows if row["simulated"]}

    def line(label: str, **look: Any) -> Line2D:
        return Line2D([], [], label=label, **look)

    handles = [line("model", linestyle="none")]
    for model, colour in colours.items():
        name = f"{model}\n(simulated, hollow)" if model in simulated else model
        handles.append(line(name, color=colour, linewidth=3))
    handles.append(line("team", linestyle="none"))
    for team, marker in markers.items():
        handles.append(line(team, color=style.GREY, marker=marker, linestyle="none", markersize=6))
    legend = figure.legend(handles=handles, loc="outside right upper", handlelength=1.4)
    for index in (0, len(colours) + 1):
        legend.get_texts()[index].set_fontweight("bold")


def _labels(axes: Axes, rows: Sequence[Row]) -> None:
    """Put each label at the first free place around its point; leave it out if there is none."""
    from matplotlib.transforms import Bbox

    per_point = axes.figure.dpi / 72
    taken: list[Bbox] = []
    for row in rows:
        x, y = axes.transData.transform((row["tokens_per_attempt"], row["pass_at_1"]))
        _, low = axes.transData.transform((row["tokens_per_attempt"], row["pass_at_1_low"]))
        _, high = axes.transData.transform((row["tokens_per_attempt"], row["pass_at_1_high"]))
        half = 4 * per_point
        taken.append(Bbox.from_extents(x - half, y - half, x + half, y + half))
        taken.append(Bbox.from_extents(x - 1, low, x + 1, high))
    few = len(rows) <= _LABEL_ALL_UP_TO
    for row in rows:
        if not (few or row["on_front"]):
            continue
        for place in _PLACES:
            box = _try_label(axes, row, place, taken)
            if box is not None:
                taken.append(box)
                break


def _try_label(
    axes: Axes, row: Row, place: tuple[int, int, str, str], taken: Sequence[Bbox]
) -> Bbox | None:
    right, up, horizontal, vertical = place
    text = axes.annotate(
        row["team"],
        (row["tokens_per_attempt"], row["pass_at_1"]),
        xytext=(right, up),
        textcoords="offset points",
        fontsize=7,
        color="#303030",
        ha=horizontal,
        va=vertical,
        zorder=5,
    )
    text.set_in_layout(False)
    box = text.get_window_extent()
    frame = axes.get_window_extent()
    inside = (
        frame.x0 <= box.x0 and box.x1 <= frame.x1 and frame.y0 <= box.y0 and box.y1 <= frame.y1
    )
    if inside and not any(box.overlaps(other) for other in taken):
        return box
    text.remove()
    return None
