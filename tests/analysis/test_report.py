"""The page and the manifest: self-contained, escaped, the same bytes in every process."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest

from lcbgrid.analysis.draw import make_figures
from lcbgrid.analysis.frames import Frames, write_frames
from lcbgrid.analysis.manifest import check_manifest, write_manifest
from lcbgrid.analysis.report import inline_svg, write_report
from lcbgrid.analysis.tables import make_tables
from lcbgrid.core.errors import DataError

MakeGrid = Callable[..., Frames]
NASTY = '<img src=x onerror="alert(1)">'
GRID = [
    ({"model": NASTY}, ["+", "-", "i", "d"]),
    ({"model": "b"}, ["+", "+", "t", "-"]),
    ({"model": "c"}, None),
]
PIPELINE = """
import sys
from pathlib import Path
from lcbgrid.analysis.draw import make_figures
from lcbgrid.analysis.frames import aggregate, write_frames
from lcbgrid.analysis.manifest import write_manifest
from lcbgrid.analysis.report import write_report
from lcbgrid.analysis.score import write_score
from lcbgrid.analysis.tables import make_tables
runs, root = Path(sys.argv[1]), Path(sys.argv[2])
cells, scores = [], []
for folder in runs.iterdir():
    scores.append(root / "scores" / f"{folder.name}.json")
    cells.append(write_score(folder, scores[-1])["cell"])
paths = write_frames(aggregate(scores, cells), root / "aggregate")
paths += make_figures(root / "aggregate", root / "figures")
paths += make_tables(root / "aggregate", root / "tables")
paths.append(write_report(root / "aggregate", root / "figures", scores, root / "index.html"))
write_manifest(root / "all", root=root, products=paths, config_sha256="0" * 64)
"""


class _Page(HTMLParser):
    """Collects ids and addresses, and checks that tags are balanced."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.addresses: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "br"):
            self.open.append(tag)
        self._note(attrs)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._note(attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def _note(self, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.ids.append(value)
            if name in ("href", "src", "xlink:href") and value:
                self.addresses.append(value)


@pytest.fixture(scope="module")
def page(make_grid_in: MakeGrid, tmp_path_factory: pytest.TempPathFactory) -> str:
    root = tmp_path_factory.mktemp("page")
    write_frames(make_grid_in(root, GRID), root / "aggregate")
    make_figures(root / "aggregate", root / "figures")
    scores = sorted((root / "scores").iterdir())
    target = write_report(root / "aggregate", root / "figures", scores, root / "index.html")
    return target.read_text(encoding="utf-8")


def test_page_is_self_contained_well_formed_and_escaped(page: str) -> None:
    parser = _Page()
    parser.feed(page)
    assert parser.open == []
    assert len(parser.ids) == len(set(parser.ids))
    assert parser.addresses
    assert all(address.startswith("#") for address in parser.addresses)
    assert {address[1:] for address in parser.addresses} <= set(parser.ids)
    assert "<script" not in page
    assert "@import" not in page
    assert "<img" not in page
    assert "&lt;img src=x onerror=" in page


def test_page_lists_what_is_not_in_the_scores(page: str) -> None:
    assert "question q002, sample 0: infra error" in page
    assert "question q003, sample 0: data error" in page
    assert re.search(r"/c/0: not run", page)
    assert "Not every one of the 3 cells has a score: 2 finished, 1 not run." in page
    assert page.count("<svg") == 4
    assert "Rule set real" in page


def test_svg_ids_do_not_clash() -> None:
    svg = '<?xml?><svg><g id="a"/><use xlink:href="#a"/><path clip-path="url(#a)"/></svg>'
    assert inline_svg(svg, "one", "x & y") == (
        '<svg role="img" aria-label="x &amp; y"><g id="one-a"/><use xlink:href="#one-a"/>'
        '<path clip-path="url(#one-a)"/></svg>'
    )


def test_report_without_figures_names_the_missing_one(make_grid: MakeGrid, tmp_path: Path) -> None:
    write_frames(make_grid(GRID), tmp_path / "aggregate")
    with pytest.raises(
        DataError, match=r"pass_at_1.svg: cannot read the figure.*make the figures"
    ):
        write_report(tmp_path / "aggregate", tmp_path, [], tmp_path / "index.html")


def test_manifest_lists_products_sorted_and_relative(tmp_path: Path) -> None:
    for name in ("b.txt", "a.txt", "timing.csv"):
        (tmp_path / name).write_text(name)
    manifest = write_manifest(
        tmp_path / "all",
        root=tmp_path,
        products=[tmp_path / "b.txt", tmp_path / "a.txt"],
        measured=[tmp_path / "timing.csv"],
        config_sha256="c" * 64,
    )
    assert json.loads((tmp_path / "all").read_text()) == manifest
    assert [product["path"] for product in manifest["products"]] == ["a.txt", "b.txt"]
    assert manifest["measured"] == ["timing.csv"]
    assert check_manifest(tmp_path / "all", tmp_path) == []
    (tmp_path / "a.txt").write_text("other")
    (tmp_path / "b.txt").unlink()
    (tmp_path / "timing.csv").write_text("other times")
    assert check_manifest(tmp_path / "all", tmp_path) == [
        "a.txt: other bytes than when the grid was finished",
        "b.txt: missing",
    ]


def test_manifest_refuses_missing_and_outside_products(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("x")
    (tmp_path / "in").mkdir()
    for path, message in ((tmp_path / "y", "is missing"), (tmp_path / "x", "lies outside")):
        with pytest.raises(DataError, match=message):
            write_manifest(
                tmp_path / "all", root=tmp_path / "in", products=[path], config_sha256=""
            )


def test_hash_seed_display_and_backend_do_not_change_a_byte(
    make_grid: MakeGrid, tmp_path: Path
) -> None:
    make_grid(GRID)
    jobs = []
    for seed, backend in (("1", "TkAgg"), ("2", "agg")):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "MPLBACKEND": backend}
        environment.pop("DISPLAY", None)
        arguments = ["-W", "error", "-c", PIPELINE, str(tmp_path / "runs"), str(tmp_path / seed)]
        jobs.append(subprocess.Popen([sys.executable, *arguments], env=environment))
    assert [job.wait(timeout=120) for job in jobs] == [0, 0]
    first, second = ((tmp_path / seed / "all").read_bytes() for seed in ("1", "2"))
    assert first == second
    assert str(tmp_path).encode() not in first


def test_csv_keeps_nasty_names_as_they_are(make_grid: MakeGrid, tmp_path: Path) -> None:
    write_frames(make_grid(GRID), tmp_path / "aggregate")
    paths = make_tables(tmp_path / "aggregate", tmp_path / "tables")
    assert NASTY in paths[0].read_text().replace('""', '"')


def test_page_shows_gains_where_the_grid_has_optimizers(
    make_grid: MakeGrid, tmp_path: Path, page: str
) -> None:
    grid = [
        ({"topology": t, "optimizer": o}, ["+", "-", mark, "-"])
        for t in ("single", "sequential")
        for o, mark in (("identity", "-"), ("gepa", "+"), ("mipro", "-"))
    ]
    write_frames(make_grid(grid), tmp_path / "aggregate")
    make_figures(tmp_path / "aggregate", tmp_path / "figures")
    made = write_report(tmp_path / "aggregate", tmp_path / "figures", [], tmp_path / "i.html")
    shown = made.read_text(encoding="utf-8")
    assert shown.count("<svg") == 7
    assert "Gain of each prompt optimizer over the prompts as written" in shown
    assert "+25.0 [0.0, +75.0]" in shown
    assert '<td class="text">gepa - mipro</td>' in shown
    assert "No prompt optimizer was compared with the prompts as written" in page


def test_the_table_of_gains_is_written_in_every_form(make_grid: MakeGrid, tmp_path: Path) -> None:
    grid = [({"optimizer": o}, ["+", mark]) for o, mark in (("identity", "-"), ("gepa", "+"))]
    write_frames(make_grid(grid), tmp_path / "aggregate")
    make_tables(tmp_path / "aggregate", tmp_path / "tables")
    table = (tmp_path / "tables/optimizers.md").read_text(encoding="utf-8")
    assert "| gepa | model-a | direct | 1 of 1 | 2 | 0.500 | 1.000 | +50.0 " in table
    assert "- Rule set real; sandbox tier bwrap" in table
    rows = (tmp_path / "tables/optimizers.csv").read_text(encoding="utf-8").splitlines()
    assert len(rows) == 2
    assert rows[0].startswith("method,task,scenario,model,topology")
    assert "\\toprule" in (tmp_path / "tables/optimizers.tex").read_text(encoding="utf-8")
