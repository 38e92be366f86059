"""From the frames of a grid to figure files: PDF, PNG, SVG, data and caption of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from lcbgrid.analysis.draw_axes import draw_communication, draw_team_size
from lcbgrid.analysis.draw_cost import draw_cost
from lcbgrid.analysis.draw_curves import draw_curves
from lcbgrid.analysis.draw_forest import draw_forest
from lcbgrid.analysis.draw_gains import draw_gains
from lcbgrid.analysis.draw_pass import draw_pass
from lcbgrid.analysis.figures import Figure, cost_figure, pass_figure
from lcbgrid.analysis.figures_axes import communication_figure, team_size_figure
from lcbgrid.analysis.figures_gains import (
    curve_figure,
    forest_figure,
    gain_closing,
    gain_figure,
)
from lcbgrid.analysis.frames import Frames, read_frames, write_csv
from lcbgrid.analysis.gains import HasGains
from lcbgrid.analysis.style import FORMATS, house_style, save_figure
from lcbgrid.core.files import write_text

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure as Drawing

_Prepare = Callable[[Frames], Figure]
_Draw = Callable[["pd.DataFrame"], "Drawing"]
_FIGURES: Final[dict[str, tuple[_Prepare, _Draw]]] = {
    "pass_at_1": (pass_figure, draw_pass),
    "tokens_pass_at_1": (cost_figure, draw_cost),
    "team_size_pass_at_1": (team_size_figure, draw_team_size),
    "communication_pass_at_1": (communication_figure, draw_communication),
}
_GAIN_FIGURES: Final[dict[str, tuple[Callable[[HasGains, Sequence[str]], Figure], _Draw]]] = {
    "optimizer_gains": (gain_figure, draw_gains),
    "optimizer_forest": (forest_figure, draw_forest),
    "optimizer_curves": (curve_figure, draw_curves),
}
_KINDS: Final = (*FORMATS, "csv", "md")


def figure_paths(figures_dir: Path | str) -> list[Path]:
    """Return every file that ``make_figures`` writes, sorted."""
    return _paths(figures_dir, (*_FIGURES, *_GAIN_FIGURES))


def make_figures(aggregate_dir: Path | str, figures_dir: Path | str) -> list[Path]:
    """Draw every figure from the frames in ``aggregate_dir``.

    Needs neither models nor network nor a display; the same frames give the same bytes.

    Returns:
        The files written, sorted: for each figure PDF, PNG, SVG, its data (``.csv``) and its
        caption (``.md``).
    """
    frames = read_frames(aggregate_dir)
    for prepare, draw in _FIGURES.values():
        _make(prepare(frames), draw, Path(figures_dir))
    make_gain_figures(frames, figures_dir, gain_closing(frames))
    return figure_paths(figures_dir)


def make_gain_figures(
    frames: HasGains, figures_dir: Path | str, closing: Sequence[str] = ()
) -> list[Path]:
    """Draw the figures about prompt optimizers; return the files written, sorted.

    Args:
        frames: Frames about optimizers.
        figures_dir: Where to.
        closing: How captions end: what the numbers depend on.
    """
    for prepare, draw in _GAIN_FIGURES.values():
        _make(prepare(frames, closing), draw, Path(figures_dir))
    return _paths(figures_dir, _GAIN_FIGURES)


def _make(figure: Figure, draw: _Draw, folder: Path) -> None:
    with house_style():
        save_figure(draw(figure.data), folder / figure.name)
    write_csv(figure.data, folder / f"{figure.name}.csv")
    write_text(folder / f"{figure.name}.md", figure.caption)


def _paths(figures_dir: Path | str, names: Iterable[str]) -> list[Path]:
    return sorted(Path(figures_dir) / f"{name}.{kind}" for name in names for kind in _KINDS)
