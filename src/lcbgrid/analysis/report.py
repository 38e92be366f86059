"""``results/report/index.html``: one page with everything, readable without a network."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from lcbgrid import __version__
from lcbgrid.analysis.axes import key_of, label_of
from lcbgrid.analysis.figures import Figure, cost_figure, pass_figure
from lcbgrid.analysis.figures_axes import communication_figure, team_size_figure
from lcbgrid.analysis.figures_gains import (
    NOTHING,
    curve_figure,
    forest_figure,
    gain_closing,
    gain_figure,
    shown_gains,
)
from lcbgrid.analysis.frames import Frames, read_frames, records_of
from lcbgrid.analysis.records import read_object
from lcbgrid.analysis.render import render_html
from lcbgrid.analysis.table import Table, TableColumn, model_text, number, share, text
from lcbgrid.analysis.tables import main_table, problem_table
from lcbgrid.analysis.tables_gains import optimizer_table, tests_table
from lcbgrid.core.errors import DataError
from lcbgrid.core.files import write_text

_STYLE: Final = """
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, sans-serif; color: #222; background: #fff;
  max-width: 75rem; margin: 2rem auto; padding: 0 1.5rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2.5rem; }
nav a { margin-right: 1rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9rem; }
caption { text-align: left; font-weight: 600; padding: .4rem 0; }
thead { border-top: 2px solid #222; border-bottom: 1px solid #222; }
tbody { border-bottom: 2px solid #222; }
th, td { padding: .2rem .7rem; text-align: left; white-space: nowrap; }
.number { text-align: right; }
tbody tr:nth-child(even) { background: #f6f6f6; }
.notes, figcaption { color: #555; font-size: .85rem; }
figure { margin: 1.5rem 0; } figure svg { max-width: 100%; height: auto; }
.warning { border-left: 4px solid #d55e00; padding: .4rem .9rem; background: #fdf3ec; }
code { font-size: .85rem; }
"""
_MOST_SETTINGS: Final = 40
_ID = re.compile(r'(\bid="|url\(#|xlink:href="#)')


def write_report(
    aggregate_dir: Path | str,
    figures_dir: Path | str,
    scores: Iterable[Path | str],
    target: Path | str,
) -> Path:
    """Write the report of a grid.

    Args:
        aggregate_dir: Folder that ``frames.write_frames`` filled.
        figures_dir: Folder that ``draw.make_figures`` filled.
        scores: Score files, for exclusions and versions; a path without a file is passed over.
        target: The page to write.

    Returns:
        The page's path. It holds no measured time, so the same results give the same bytes.
    """
    frames = read_frames(aggregate_dir)
    found = [_parts(path) for path in sorted(map(Path, scores)) if path.is_file()]
    main = main_table(frames)
    sections = [
        ("scores", "Scores", _notices(frames) + _scroll(main)),
        ("figures", "Figures", _figures(frames, Path(figures_dir))),
        ("optimizers", "Prompt optimizers", _optimizers(frames, Path(figures_dir))),
        ("means", "Means over the grid", _scroll(margin_table(frames))),
        ("groups", "By difficulty, platform and mode", _scroll(group_table(frames))),
        ("problems", "Problems", _problems(frames)),
        ("exclusions", "What is not in the scores", _exclusions(frames, found)),
        ("statuses", "How answers ended", _statuses(found) + _determinism(found)),
        ("versions", "Versions", _versions(found)),
    ]
    links = "".join(f'<a href="#{key}">{html.escape(title)}</a>' for key, title, _ in sections)
    body = "".join(
        f'<section id="{key}">\n<h2>{html.escape(title)}</h2>\n{content}</section>\n'
        for key, title, content in sections
    )
    page = (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>LCB-Grid report</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f"<h1>LCB-Grid report</h1>\n<nav>{links}</nav>\n{body}</body>\n</html>\n"
    )
    write_text(target, page)
    return Path(target)


def margin_table(frames: Frames) -> Table:
    """Return the means over models and over topologies, each with what it covers."""
    rows = records_of(frames.margins)
    axes = ("topology", "team_size", "communication", "optimizer")
    return Table(
        name="margins",
        title="Mean pass@1 over one axis of the grid",
        columns=(
            TableColumn("mean over", text("over"), is_number=False),
            *(TableColumn(axis.replace("_", " "), text(axis), is_number=False) for axis in axes),
            TableColumn("model", model_text, is_number=False),
            TableColumn("covers", text("covers")),
            TableColumn("pass@1", share("pass_at_1")),
        ),
        rows=tuple(rows),
        notes=("Means that cover different settings cannot be compared.",),
        data_columns=tuple(str(name) for name in frames.margins.columns),
    )


def group_table(frames: Frames) -> Table:
    """Return pass@1 of each cell per difficulty, platform and mode."""
    axes = ("topology", "team_size", "optimizer")
    return Table(
        name="groups",
        title="pass@1 of groups of problems, each cell",
        columns=(
            *(TableColumn(axis.replace("_", " "), text(axis), is_number=False) for axis in axes),
            TableColumn("model", model_text, is_number=False),
            TableColumn("seed", text("seed")),
            TableColumn("group", text("group"), is_number=False),
            TableColumn("value", text("value"), is_number=False),
            TableColumn("problems", number("n_problems")),
            TableColumn("answers", number("n")),
            TableColumn("right", number("c")),
            TableColumn("pass@1", share("pass_at_1")),
        ),
        rows=tuple(records_of(frames.groups)),
        notes=(),
        data_columns=tuple(str(name) for name in frames.groups.columns),
    )


def inline_svg(svg: str, prefix: str, label: str) -> str:
    """Return an SVG document as an element of a page, its ids made unique by ``prefix``."""
    start = svg.index("<svg")
    element = _ID.sub(lambda match: f"{match.group(1)}{prefix}-", svg[start:])
    described = f'<svg role="img" aria-label="{html.escape(label, quote=True)}"'
    return described + element.removeprefix("<svg")


def _parts(path: Path) -> dict[str, Any]:
    """Keep what the page needs; the scores of a large grid do not fit into memory twice."""
    score = read_object(path)
    return {key: score[key] for key in ("cell", "determinism", "lost", "statuses", "versions")}


def _problems(frames: Frames) -> str:
    if len(frames.settings) > _MOST_SETTINGS:
        return f"<p>{len(frames.settings)} settings: see the table problems.csv.</p>\n"
    return _scroll(problem_table(frames))


def _figures(frames: Frames, folder: Path) -> str:
    makers = (pass_figure, cost_figure, team_size_figure, communication_figure)
    return "".join(_figure(make(frames), folder) for make in makers)


def _optimizers(frames: Frames, folder: Path) -> str:
    """Return table and figures of gains; a sentence if the grid has no optimizer."""
    if not shown_gains(frames):
        return f"<p>{html.escape(NOTHING)}</p>\n"
    closing = gain_closing(frames)
    figures = [make(frames, closing) for make in (gain_figure, forest_figure, curve_figure)]
    tables = _scroll(optimizer_table(frames, closing))
    if len(frames.gain_tests):
        tables += _scroll(tests_table(frames))
    return tables + "".join(_figure(figure, folder) for figure in figures)


def _figure(figure: Figure, folder: Path) -> str:
    path = folder / f"{figure.name}.svg"
    try:
        svg = path.read_text(encoding="utf-8")
    except OSError as error:
        raise DataError(
            f"cannot read the figure: {error.strerror}", where=path, remedy="make the figures"
        ) from None
    first, *rest = figure.caption.splitlines()
    caption = "<br>\n".join(html.escape(line) for line in (first, *rest))
    return (
        f"<figure>\n{inline_svg(svg, figure.name, first)}"
        f"<figcaption>{caption}</figcaption>\n</figure>\n"
    )


def _notices(frames: Frames) -> str:
    cells = records_of(frames.cells)
    states = Counter(cell["state"] for cell in cells)
    lines = []
    if states["finished"] < len(cells):
        rest = ", ".join(f"{n} {state}" for state, n in sorted(states.items()))
        lines.append(f"Not every one of the {len(cells)} cells has a score: {rest}.")
    if any(cell["simulated"] for cell in cells):
        lines.append("Some answers are simulated: no real model gave them.")
    return "".join(f'<p class="warning">{html.escape(line)}</p>\n' for line in lines)


def _exclusions(frames: Frames, scores: Iterable[Mapping[str, Any]]) -> str:
    lines = [
        f"{label_of(cell)}: {cell['reason']}"
        for cell in records_of(frames.cells)
        if cell["state"] != "finished"
    ]
    for score in sorted(scores, key=lambda score: str(key_of(score["cell"]))):
        for kind, answers in sorted(score["lost"].items()):
            lines += [
                f"{label_of(score['cell'])}: question {answer['question_id']}, sample "
                f"{answer['sample_index']}: {kind.replace('_', ' ')}"
                for answer in answers
            ]
    return _list(lines, "Every answer of every cell is in the scores.")


def _statuses(scores: Iterable[Mapping[str, Any]]) -> str:
    totals: dict[str, Counter[str]] = {"predictions": Counter(), "verdicts": Counter()}
    for score in scores:
        for kind, total in totals.items():
            total.update(score["statuses"][kind])
    lines = [
        f"{kind}: " + (", ".join(f"{n} {name}" for name, n in sorted(total.items())) or "none")
        for kind, total in totals.items()
    ]
    return _list(lines, "")


def _determinism(scores: Iterable[Mapping[str, Any]]) -> str:
    """Name the cells whose endpoint answered one prompt in several ways at temperature 0."""
    lines = [
        f"{label_of(score['cell'])}: not deterministic: "
        f"{score['determinism']['n_not_deterministic']} of "
        f"{score['determinism']['n_prompts_repeated']} prompts"
        for score in sorted(scores, key=lambda score: str(key_of(score["cell"])))
        if score["determinism"]["n_not_deterministic"]
    ]
    return _list(lines, "No prompt got different replies at temperature 0.")


def _versions(scores: Iterable[Mapping[str, Any]]) -> str:
    versions: dict[str, set[str]] = {"lcbgrid (this report)": {__version__}}
    for score in scores:
        for name, version in score["versions"].items():
            versions.setdefault(name, set()).add(str(version))
    lines = [f"{name}: {', '.join(sorted(versions[name]))}" for name in sorted(versions)]
    return _list(lines, "")


def _list(lines: Iterable[str], otherwise: str) -> str:
    items = "".join(f"<li>{html.escape(line)}</li>\n" for line in lines)
    return f"<ul>\n{items}</ul>\n" if items else f"<p>{html.escape(otherwise)}</p>\n"


def _scroll(table: Table) -> str:
    return f'<div class="scroll">\n{render_html(table)}</div>\n'
