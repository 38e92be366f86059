"""The learning curves of searches: rollouts charged -> what a method believes it has."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from lcbgrid.analysis import style
from lcbgrid.analysis.draw_gains import method_handle, nothing_to_show
from lcbgrid.analysis.frames import records_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Row = dict[str, Any]
_MOST_COLUMNS: Final = 3
_MOST_WIDER: Final = 3
_DOTS: Final = (0, (1, 1.4))


def draw_curves(data: pd.DataFrame) -> Figure:
    """Draw the frame of ``figures_gains.curve_figure``: one panel a team, one colour a method.

    A curve is a step: the incumbent stays what it is until a better one is committed.
    """
    rows = records_of(data)
    if not rows:
        return nothing_to_show()
    panels = list(dict.fromkeys((row["panel"], row["team"]) for row in rows))
    n_columns = min(_MOST_COLUMNS, len(panels))
    n_lines = -(-len(panels) // n_columns)
    figure = style.new_figure(0.9 + 2.7 * n_columns, 0.6 + 2.3 * n_lines)
    grid = figure.subplots(n_lines, n_columns, squeeze=False, sharex=True, sharey=True)
    methods = sorted({row["method"] for row in rows})
    for number, axes in enumerate(grid.flat):
        if number >= len(panels):
            axes.set_visible(False)
            continue
        panel, team = panels[number]
        _draw_panel(axes, [r for r in rows if (r["panel"], r["team"]) == panels[number]], methods)
        axes.set_title("\n".join(part for part in (panel, team) if part), parse_math=False)
        if number % n_columns == 0:
            axes.set_ylabel("believed score")
        if number + n_columns >= len(panels):
            axes.set_xlabel("rollouts charged")
            axes.tick_params(labelbottom=True)
    grid.flat[0].set_xlim(left=0)
    grid.flat[0].set_ylim(0, style.next_tenth(max(row["score"] for row in rows)))
    _legend(figure, rows, methods)
    return figure


def _draw_panel(axes: Axes, rows: Sequence[Row], methods: Sequence[str]) -> None:
    colours, markers = style.colours(methods), style.markers(methods)
    for number, method in enumerate(methods):
        more = max(0, min(_MOST_WIDER, len(methods) - 1) - number)  # seen below the next ones
        own = [row for row in rows if row["method"] == method]
        seeds = list(dict.fromkeys(row["seed"] for row in own))
        for seed in seeds:
            line = sorted((r for r in own if r["seed"] == seed), key=lambda r: r["rollouts"])
            is_mean = seed is None
            if not is_mean and len(seeds) == 2:  # one seed and its mean are the same line
                continue
            for part, after in _parts(line):
                axes.step(
                    [row["rollouts"] for row in part],
                    [row["score"] for row in part],
                    where="post",
                    color=colours[method],
                    linestyle=_DOTS if after else "-",
                    linewidth=1.8 + 1.6 * more if is_mean else 0.6,
                    alpha=1.0 if is_mean else 0.55,
                    clip_on=not is_mean,
                    zorder=4 if is_mean else 2,
                )
            if is_mean and line:
                _mark_end(axes, line, (colours[method], markers[method]), 5.5 + 3 * more)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _parts(line: Sequence[Row]) -> Iterator[tuple[list[Row], bool]]:
    """Yield what was searched and what was carried forward, without a gap between them."""
    last: list[Row] = []
    for after, group in itertools.groupby(line, key=lambda row: bool(row["carried_forward"])):
        part = list(group)
        yield [*last, *part], after
        last = part[-1:]


def _mark_end(axes: Axes, line: Sequence[Row], look: tuple[Any, str], size: float) -> None:
    """Mark where the search ended, so that methods differ without colour as well."""
    colour, marker = look
    searched = [row for row in line if not row["carried_forward"]] or line[:1]
    axes.plot(
        searched[-1]["rollouts"],
        searched[-1]["score"],
        marker=marker,
        markersize=size,
        markerfacecolor="white" if searched[-1]["simulated"] else colour,
        markeredgecolor=colour,
        markeredgewidth=1.2,
        clip_on=False,
        zorder=4,
    )


def _legend(figure: Figure, rows: Sequence[Row], methods: Sequence[str]) -> None:
    handles = []
    for method in methods:
        hollow = all(row["simulated"] for row in rows if row["method"] == method)
        handles.append(method_handle(method, methods, hollow=hollow, linewidth=1.8))
    figure.legend(handles=handles, loc="outside upper center", ncols=min(len(handles), 4))
