"""From the frames of a grid to figure files: PDF, PNG, SVG, data and caption of each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from lcbgrid.analysis.draw_axes import draw_communication, draw_team_size
from lcbgrid.analysis.draw_cost import draw_cost
from lcbgrid.analysis.draw_pass import draw_pass
from lcbgrid.analysis.figures import Figure, cost_figure, pass_figure
from lcbgrid.analysis.figures_axes import communication_figure, team_size_figure
from lcbgrid.analysis.frames import Frames, read_frames, write_csv
from lcbgrid.analysis.style import FORMATS, house_style, save_figure
from lcbgrid.core.files import write_text

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure as Drawing

_FIGURES: Final[
    dict[str, tuple[Callable[[Frames], Figure], Callable[[pd.DataFrame], Drawing]]]
] = {
    "pass_at_1": (pass_figure, draw_pass),
    "tokens_pass_at_1": (cost_figure, draw_cost),
    "team_size_pass_at_1": (team_size_figure, draw_team_size),
    "communication_pass_at_1": (communication_figure, draw_communication),
}


def figure_paths(figures_dir: Path | str) -> list[Path]:
    """Return every file that ``make_figures`` writes, sorted."""
    kinds = (*FORMATS, "csv", "md")
    return sorted(Path(figures_dir) / f"{name}.{kind}" for name in _FIGURES for kind in kinds)


def make_figures(aggregate_dir: Path | str, figures_dir: Path | str) -> list[Path]:
    """Draw every figure from the frames in ``aggregate_dir``.

    Needs neither models nor network nor a display; the same frames give the same bytes.

    Returns:
        The files written, sorted: for each figure PDF, PNG, SVG, its data (``.csv``) and its
        caption (``.md``).
    """
    frames = read_frames(aggregate_dir)
    folder = Path(figures_dir)
    for name, (prepare, draw) in _FIGURES.items():
        figure = prepare(frames)
        with house_style():
            save_figure(draw(figure.data), folder / name)
        write_csv(figure.data, folder / f"{name}.csv")
        write_text(folder / f"{name}.md", figure.caption)
    return figure_paths(folder)
