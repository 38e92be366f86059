"""Figures: the data exactly, the drawing by its bytes and by what it marks (report R59)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib
import pytest
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from lcbgrid.analysis.draw import figure_paths, make_figures
from lcbgrid.analysis.draw_cost import draw_cost
from lcbgrid.analysis.draw_pass import draw_pass
from lcbgrid.analysis.figures import NOT_IN_GRID, cost_figure, pass_figure
from lcbgrid.analysis.frames import Frames, records_of, write_frames
from lcbgrid.analysis.style import house_style

MakeGrid = Callable[..., Frames]
GRID: list[tuple[dict[str, Any], list[str] | None]] = [
    ({"topology": "direct", "model": "a"}, ["-"] * 4),
    ({"topology": "direct", "model": "b_1%"}, ["+", "+", "+", "-"]),
    ({"topology": "single", "model": "a"}, None),
    ({"topology": "single", "model": "b_1%"}, ["+"] * 4),
    ({"topology": "sequential", "team_size": 4, "model": "a"}, ["+", "-", "-", "-"]),
]


def _points(axes: Any) -> list[tuple[float, float]]:
    """Return the points drawn one by one; a line of intervals has more than one place."""
    lines = [(line.get_xdata(), line.get_ydata()) for line in axes.lines]
    return [(float(x[0]), float(y[0])) for x, y in lines if len(x) == 1]


def _texts(drawing: Any) -> list[str]:
    return [text.get_text() for text in drawing.findobj(Text)]


def test_pass_data_has_a_row_for_every_team_and_model(make_grid: MakeGrid) -> None:
    rows = records_of(pass_figure(make_grid(GRID)).data)
    found = [(r["team"], r["model"], r["pass_at_1"], r["state"]) for r in rows]
    assert found == [
        ("direct", "a", 0.0, "finished"),
        ("direct", "b_1%", 0.75, "finished"),
        ("single", "a", None, "not run"),
        ("single", "b_1%", 1.0, "finished"),
        ("sequential, 4 agents", "a", 0.25, "finished"),
        ("sequential, 4 agents", "b_1%", None, NOT_IN_GRID),
    ]
    assert [r["team_covers"] for r in rows[::2]] == ["2 of 2", "1 of 2", "1 of 1"]


def test_a_missing_cell_is_hatched_and_labelled_and_a_zero_is_a_point(make_grid: MakeGrid) -> None:
    data = pass_figure(make_grid(GRID)).data
    with house_style():
        drawing = draw_pass(data)
    [axes] = drawing.axes
    hatched = [
        patch for patch in axes.patches if isinstance(patch, Rectangle) and patch.get_hatch()
    ]
    assert len(hatched) == 1
    assert "a: not run" in _texts(drawing)
    assert NOT_IN_GRID in _texts(drawing)
    points = _points(axes)
    assert [x for x, _ in points] == [0.0, 0.75, 1.0, 0.25]
    hatch_y = hatched[0].get_y() + hatched[0].get_height() / 2
    assert hatch_y not in [y for _, y in points]
    assert any("1 of 2" in text for text in _texts(drawing))


def test_simulated_points_are_hollow_and_said(make_grid: MakeGrid) -> None:
    frames = make_grid([({}, ["+", "-"])], changes={"simulated": True})
    for figure, draw in ((pass_figure(frames), draw_pass), (cost_figure(frames), draw_cost)):
        with house_style():
            drawing = draw(figure.data)
        assert [line.get_markerfacecolor() for line in drawing.axes[0].lines] == ["white"]
        assert any("simulated" in text for text in _texts(drawing))
        assert "Hollow points are simulated" in figure.caption


def test_captions_state_what_the_numbers_depend_on(make_grid: MakeGrid) -> None:
    frames = make_grid(GRID)
    for caption in (pass_figure(frames).caption, cost_figure(frames).caption):
        assert (
            "Rule set real; sandbox tier bwrap; data set embedded, release embedded-1, split "
            "test, contest window [2025-01-01, 2026-01-01), 4 problems (q000 to q003); 1 answer "
            "a problem; at most 512 tokens a reply." in caption
        )
        assert "95 %, Wilson's score interval" in caption
    assert "Hatched, without a score: single, a: not run." in pass_figure(frames).caption
    assert "Left out, without a score: 1 of 5 settings." in cost_figure(frames).caption


def test_cost_front_is_what_nothing_cheaper_beats(make_grid: MakeGrid) -> None:
    frames = make_grid(GRID)
    frames.settings["tokens_per_attempt"] = [100.0, 200.0, float("nan"), 150.0, 50.0]
    rows = records_of(cost_figure(frames).data)
    assert {(r["team"], r["model"]) for r in rows if r["on_front"]} == {
        ("sequential, 4 agents", "a"),
        ("single", "b_1%"),
    }


def test_simulated_settings_are_not_on_the_front_of_real_ones(make_grid: MakeGrid) -> None:
    frames = make_grid([({"model": "real"}, ["+", "-"]), ({"model": "sham"}, ["+", "+"])])
    frames.settings["simulated"] = [False, True]
    rows = records_of(cost_figure(frames).data)
    assert [(r["model"], r["on_front"]) for r in rows] == [("real", True), ("sham", False)]


def test_drawing_twice_gives_the_same_bytes(
    make_grid: MakeGrid, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    write_frames(make_grid(GRID), tmp_path / "aggregate")
    first = make_figures(tmp_path / "aggregate", tmp_path / "one")
    with matplotlib.rc_context({"font.size": 20, "savefig.transparent": True}):
        make_figures(tmp_path / "aggregate", tmp_path / "two")
    assert first == figure_paths(tmp_path / "one")
    assert len(first) == 35
    for path in first:
        data = path.read_bytes()
        assert data == (tmp_path / "two" / path.name).read_bytes(), path.name
        assert b"CreationDate" not in data
        assert str(tmp_path).encode() not in data
    assert b"/Type3" not in (tmp_path / "one" / "pass_at_1.pdf").read_bytes()


def test_an_empty_grid_can_be_drawn(make_grid: MakeGrid, tmp_path: Path) -> None:
    write_frames(make_grid([({}, None)]), tmp_path / "aggregate")
    make_figures(tmp_path / "aggregate", tmp_path / "figures")
    caption = (tmp_path / "figures" / "tokens_pass_at_1.md").read_text()
    assert "There is no score yet." in caption


def test_many_points_and_panels_can_be_drawn(make_grid: MakeGrid) -> None:
    grid = [
        ({"topology": t, "model": f"m{m}", "optimizer": o}, ["+"] * m + ["-"] * (4 - m))
        for t in ("direct", "single", "centralized")
        for m in range(5)
        for o in ("identity", "one", "two", "three")
    ]
    frames = make_grid(grid)
    with house_style():
        drawing = draw_pass(pass_figure(frames).data)
        other = draw_cost(cost_figure(frames).data)
    for shown in (drawing, other):
        titles = [axes.get_title(loc="left") for axes in shown.axes if axes.get_visible()]
        assert titles == ["identity", "one", "three", "two"]
