"""Colours, markers and settings of all figures, and how they are saved as the same bytes.

Colours are seaborn's colour-blind safe palette (after Okabe and Ito 2008); a second channel, the
marker, always says the same, so that figures also work in grey. The bundled font is used, and
nothing of the user's own matplotlib settings.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from lcbgrid.core.files import atomic_path

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS: Final = ("pdf", "png", "svg")
MARKERS: Final = ("o", "s", "D", "^", "v", "P", "X", "<", ">", "p", "h")
GREY: Final = "#5f5f5f"
LIGHT_GREY: Final = "#c9c9c9"
BAND: Final = "#f4f4f4"
_ORDER: Final = (0, 3, 2, 1, 4, 9, 5, 7)  # neighbours far apart; the pale ones left out
_SETTINGS: Final[dict[str, Any]] = {
    "font.family": "DejaVu Sans",
    "font.size": 8.0,
    "axes.labelsize": 9.0,
    "axes.titlesize": 9.0,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.edgecolor": GREY,
    "axes.linewidth": 0.8,
    "grid.color": "#e3e3e3",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 8.0,
    "hatch.linewidth": 0.6,
    "hatch.color": "#b5b5b5",
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
    "svg.fonttype": "path",
    "svg.hashsalt": "lcbgrid",
    "path.simplify": False,
}
_METADATA: Final[dict[str, dict[str, Any]]] = {
    "pdf": {"CreationDate": None, "ModDate": None},
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None, "Format": None, "Type": None},
}


@contextlib.contextmanager
def house_style() -> Iterator[None]:
    """Use the settings of all figures while the block runs, whatever the user's own are."""
    import matplotlib
    import seaborn

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(seaborn.axes_style("whitegrid"))
        matplotlib.rcParams.update(cast(Any, _SETTINGS))
        yield


def new_figure(width_in: float, height_in: float) -> Figure:
    """Return a figure on the Agg canvas, so that no display and no window system is needed."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width_in, height_in), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def save_figure(figure: Figure, stem: Path | str) -> list[Path]:
    """Save as ``<stem>.pdf``, ``.png`` and ``.svg``: no dates, no random ids, same bytes."""
    stem = Path(stem)
    written = []
    for kind in FORMATS:
        target = stem.with_name(f"{stem.name}.{kind}")
        with atomic_path(target) as path:
            figure.savefig(path, format=kind, dpi=200, metadata=_METADATA[kind])
        written.append(target)
    return written


def colours(names: Iterable[str]) -> dict[str, tuple[float, float, float]]:
    """Return a colour for each name, the same on every call."""
    import seaborn

    palette = seaborn.color_palette("colorblind")
    return {name: tuple(palette[_ORDER[index % len(_ORDER)]]) for index, name in enumerate(names)}


def next_tenth(share: float) -> float:
    """Return the end of an axis of shares: the next tenth above ``share``, at most 1."""
    return min(1.0, int(share * 10 + 1) / 10)


def markers(names: Iterable[str]) -> dict[str, str]:
    """Return a marker for each name; with colours, 88 pairs before one comes twice."""
    return {name: MARKERS[index % len(MARKERS)] for index, name in enumerate(names)}
