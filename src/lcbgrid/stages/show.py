"""Finds the runs that can be shown in a results folder; needs no configuration."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lcbgrid.core.errors import DataError, nearest
from lcbgrid.core.jsonl import read_jsonl
from lcbgrid.stages.paths import Layout

_SHOWN = 8


@dataclass(frozen=True, slots=True)
class Published:
    """A cell with published answers: its path and its folder."""

    path: str
    folder: Path


def published_cells(layout: Layout) -> list[Published]:
    """Return the cells with published answers, sorted by path.

    Raises:
        DataError: There is none.
    """
    found = sorted(layout.runs.glob("**/predictions.jsonl"))
    if not found:
        raise DataError(
            "there is no run to show",
            where=layout.runs,
            remedy="run a grid first, or name the folder of its results with --results",
        )
    return [Published(p.parent.relative_to(layout.runs).as_posix(), p.parent) for p in found]


def find_published(layout: Layout, wanted: str) -> Published:
    """Return the cell with this path, or the only one whose path begins with it.

    Args:
        layout: Where files are.
        wanted: The path, also with the folder of the runs before it, as a shell completes it.

    Raises:
        DataError: No cell, or several; names them or the nearest.
    """
    cells = {cell.path: cell for cell in published_cells(layout)}
    name = wanted.removeprefix(f"{layout.runs.as_posix()}/").rstrip("/")
    if name in cells:
        return cells[name]
    begin = [path for path in cells if path.startswith(name)] if name else list(cells)
    if len(begin) == 1:
        return cells[begin[0]]
    if begin:
        more = ", \N{HORIZONTAL ELLIPSIS}" if len(begin) > _SHOWN else ""
        raise DataError(
            f"{len(begin)} cells begin like this",
            where=layout.runs,
            value=wanted,
            remedy=f"say which: {', '.join(begin[:_SHOWN])}{more}",
        )
    raise DataError(
        "no such cell has been run",
        where=layout.runs,
        value=wanted,
        remedy=f"{nearest(name, cells)} (`lcbgrid show` lists them)",
    )


def titles(layout: Layout, cell: Published) -> dict[str, str]:
    """Return the titles of the cell's questions, if the prepared problems are there."""
    path = layout.problems(cell.path.split("/")[0]) / "problems.jsonl"
    if not path.is_file():
        return {}
    return {str(r.get("question_id")): str(r.get("title")) for r in read_jsonl(path)}
