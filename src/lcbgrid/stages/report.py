"""The last stages: scores, tidy frames, figures, tables, the report, and the list of it all."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from lcbgrid.config.effective import Effective
from lcbgrid.config.grid import Cell
from lcbgrid.core.errors import DataError
from lcbgrid.core.hashing import sha256_file
from lcbgrid.stages.paths import Layout

logger = logging.getLogger(__name__)

_RUN_PRODUCTS = (
    "cell.json",
    "judge.json",
    "predictions.jsonl",
    "transcript.jsonl",
    "verdicts.jsonl",
)
_RUN_MEASURED = ("timing.jsonl", "judge_timing.jsonl")
_SEARCH_PRODUCTS = ("bundle.json", "job.json", "optimization.json", "selection.json")
# Searches of one condition share evaluations; the clock decides whose transcript has the calls.
_SEARCH_MEASURED = ("timing.jsonl", "times.jsonl", "transcript.jsonl")


def score_one(effective: Effective, cell: Cell, layout: Layout) -> str:
    """Score one cell and return a line that says how it did."""
    from lcbgrid.analysis.score import write_score
    from lcbgrid.analysis.timing import write_timing

    folder = layout.run(cell)
    write_timing(folder, layout.score_timing(cell))
    score = write_score(
        folder, layout.score(cell), effective.config.analysis, effective.prices(cell.model)
    )
    value = score["pass_at_k"]["1"]["value"]
    shown = f"{value:.3f}" if value is not None else f"undefined: {score['reason']}"
    return f"{cell.path}: pass@1 {shown} over {score['n_problems_scored']} problems"


def score_all(effective: Effective, layout: Layout) -> None:
    """Score every cell that has been run and judged; say which are missing."""
    for cell in effective.cells:
        if (layout.run(cell) / "verdicts.jsonl").is_file():
            logger.info("%s", score_one(effective, cell, layout))
        else:
            logger.warning("%s: not run; it will show as missing", cell.path)


def aggregate_all(effective: Effective, layout: Layout) -> str:
    """Score all cells and bring the scores into tidy frames."""
    from lcbgrid.analysis.frames import aggregate, write_frames

    cells = effective.cells
    score_all(effective, layout)
    scores = [layout.score(cell) for cell in cells]
    frames = aggregate(scores, _expected(effective, layout), effective.config.analysis)
    written = write_frames(frames, layout.results / "aggregate")
    found = sum(path.is_file() for path in scores)
    return f"{found} of {len(cells)} cells in {len(written)} files"


def draw_all(effective: Effective, layout: Layout, figures: Path) -> str:
    """Draw the figures and write the tables and the report from the frames."""
    from lcbgrid.analysis.draw import make_figures
    from lcbgrid.analysis.report import write_report
    from lcbgrid.analysis.tables import make_tables, make_timing_table

    cells = effective.cells
    frames = layout.results / "aggregate"
    tables = layout.results / "tables"
    written = make_figures(frames, figures) + make_tables(frames, tables)
    timings = [path for cell in cells if (path := layout.score_timing(cell)).is_file()]
    written += make_timing_table(timings, tables)
    page = layout.results / "report" / "index.html"
    write_report(frames, figures, [layout.score(cell) for cell in cells], page)
    return f"{len(written)} figures and tables, and {page}"


def redraw_all(effective: Effective, layout: Layout, figures: Path) -> str:
    """Score, aggregate and draw what has been run and judged; cells without it show as missing.

    Reads cached runs only: no model, no network, no sandbox.

    Raises:
        DataError: Nothing of this grid has been run.
    """
    if not any((layout.run(cell) / "verdicts.jsonl").is_file() for cell in effective.cells):
        raise DataError(
            "there is no judged run of this grid",
            where=layout.results / "runs",
            remedy="run the grid, or give the configuration of the cached runs with --config",
        )
    aggregate_all(effective, layout)
    return draw_all(effective, layout, figures)


def finish_all(effective: Effective, layout: Layout, figures: Path) -> str:
    """Write ``results/all`` and return the main table for the terminal."""
    from lcbgrid.analysis.draw import figure_paths
    from lcbgrid.analysis.frames import read_frames
    from lcbgrid.analysis.manifest import write_manifest
    from lcbgrid.analysis.render import render_text
    from lcbgrid.analysis.tables import main_table, table_paths, timing_paths
    from lcbgrid.analysis.tables_gains import gain_lines

    results = layout.results
    runs = [layout.run(cell) for cell in effective.cells]
    searches = [layout.optimized(cell) for cell in effective.cells if cell.optimizes]
    problems = layout.problems(effective.config.dataset.name)
    products = [
        layout.effective_config,
        *(problems / name for name in ("manifest.json", "problems.jsonl", "splits.json")),
        *(folder / name for folder in searches for name in _SEARCH_PRODUCTS),
        *(folder / name for folder in runs for name in _RUN_PRODUCTS),
        *(layout.score(cell) for cell in effective.cells),
        *sorted((results / "aggregate").glob("*.*")),
        *table_paths(results / "tables"),
        results / "report" / "index.html",
        *figure_paths(figures),
    ]
    measured = [
        *(folder / name for folder in searches for name in _SEARCH_MEASURED),
        *(folder / name for folder in runs for name in _RUN_MEASURED),
        *(layout.score_timing(cell) for cell in effective.cells),
        *timing_paths(results / "tables"),
    ]
    write_manifest(
        results / "all",
        root=Path(),
        products=products,
        measured=measured,
        config_sha256=sha256_file(layout.effective_config),
    )
    frames = read_frames(results / "aggregate")
    gains = "".join(f"{line}\n" for line in gain_lines(frames))
    table = render_text(main_table(frames)) + (f"\n{gains}" if gains else "")
    page = results / "report" / "index.html"
    return f"{table}\nfigures: {figures}/   report: {page}   list: {results / 'all'}"


def _expected(effective: Effective, layout: Layout) -> list[dict[str, Any]]:
    return [_expected_cell(effective, cell, layout) for cell in effective.cells]


def _expected_cell(effective: Effective, cell: Cell, layout: Layout) -> dict[str, Any]:
    expected = {**cell.axes(), "simulated": effective.models[cell.model].is_simulated}
    if not cell.optimizes:
        return expected
    settings = effective.config.optimize
    setup = {
        "budget": settings.budget,
        "profile": settings.profile,
        "without": ", ".join(f"no {name}" for name in sorted(settings.without)) or None,
        "reflection_model": effective.reflection_model(cell),
        "window": settings.window,
    }
    return {**expected, "search": str(layout.optimized(cell)), "optimize": setup}
