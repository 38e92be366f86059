"""Figures about optimizers: their data to the last number, and what the pictures mark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from lcbgrid.analysis.draw import make_gain_figures
from lcbgrid.analysis.draw_curves import draw_curves
from lcbgrid.analysis.draw_forest import draw_forest
from lcbgrid.analysis.draw_gains import draw_gains
from lcbgrid.analysis.figures import NOT_IN_GRID
from lcbgrid.analysis.figures_gains import NOTHING, curve_figure, forest_figure, gain_figure
from lcbgrid.analysis.frames import records_of
from lcbgrid.analysis.gains import GainFrames, Rules, gain_frames
from lcbgrid.analysis.job_folders import read_jobs
from lcbgrid.analysis.style import house_style
from lcbgrid.analysis.tables_gains import optimizer_table

from .job_files import write_cell, write_job


def _frames(root: Path) -> GainFrames:
    jobs = read_jobs([root], include_nonconformant=True)
    return gain_frames(jobs.groups, Rules(replicates=200))


@pytest.fixture
def frames(tmp_path: Path) -> GainFrames:
    """gepa on two topologies, mipro on one of them, and half of it on a third."""
    write_cell(tmp_path, "------", ("++++++",) * 3, name="a", topology="single")
    write_cell(tmp_path, "++----", ("-+----",) * 3, name="b")
    write_cell(tmp_path, "------", ("------",) * 3, name="c", method="mipro")
    write_job(tmp_path / "d", "+-", "++", method="mipro", topology="centralized")
    return _frames(tmp_path)


def _columns(frame: Any, *names: str) -> list[tuple[Any, ...]]:
    return [tuple(row[name] for name in names) for row in records_of(frame)]


def _texts(drawing: Any) -> list[str]:
    found = [text.get_text().replace("\n", " ") for text in drawing.findobj(Text)]
    return [text for text in found if text.strip()]


def _hatched(axes: Any) -> list[Rectangle]:
    return [patch for patch in axes.patches if isinstance(patch, Rectangle) and patch.get_hatch()]


def _points(axes: Any) -> list[float]:
    return [float(line.get_xdata()[0]) for line in axes.lines if len(line.get_xdata()) == 1]


def test_every_method_has_a_place_beside_every_team(frames: GainFrames) -> None:
    data = gain_figure(frames).data
    assert _columns(data, "team", "method", "delta_pp", "state") == [
        ("single", "gepa", 100, "complete"),
        ("single", "mipro", None, NOT_IN_GRID),
        ("sequential, 4 agents", "gepa", pytest.approx(-100 / 6), "complete"),
        ("sequential, 4 agents", "mipro", 0, "complete"),
        ("centralized, 4 agents", "gepa", None, NOT_IN_GRID),
        ("centralized, 4 agents", "mipro", None, "incomplete"),
    ]
    assert forest_figure(frames).data.equals(data)


def test_the_heat_map_says_what_its_colours_say_and_marks_gaps(frames: GainFrames) -> None:
    with house_style():
        drawing = draw_gains(gain_figure(frames).data)
    axes = drawing.axes[0]
    shown = _texts(drawing)
    assert "+100.0" in shown
    assert "[+100.0, +100.0]" in shown
    assert "\N{MINUS SIGN}16.7" in shown
    assert "0.0" in shown
    assert shown.count(NOT_IN_GRID) == 2
    assert "seed 1 is missing; seed 2 is missing" in shown
    [hatched] = _hatched(axes)
    assert (round(hatched.get_x()), round(hatched.get_y())) == (1, 2)
    colours = [patch.get_facecolor()[:3] for patch in axes.patches]
    red, _, blue = colours[2]
    assert red > blue  # a loss
    red, _, blue = colours[0]
    assert blue > red  # a gain


def test_a_star_is_a_small_p_value_after_holm(tmp_path: Path) -> None:
    write_cell(tmp_path, "------", ("++++++",) * 3)
    frames = _frames(tmp_path)
    figure = gain_figure(frames)
    assert _columns(figure.data, "p_holm") == [(2 / 2**6,)]
    with house_style():
        assert "+100.0*" in _texts(draw_gains(figure.data))
    assert "*: p < 0.05 by a permutation test" in figure.caption


def test_the_forest_has_a_point_a_gain_and_a_bar_a_gap(frames: GainFrames) -> None:
    figure = forest_figure(frames)
    with house_style():
        drawing = draw_forest(figure.data)
    [axes] = drawing.axes
    assert _points(axes) == [100, pytest.approx(-100 / 6), 0]
    assert len(_hatched(axes)) == 1
    shown = _texts(drawing)
    assert "mipro: seed 1 is missing; seed 2 is missing" in shown
    assert any(text.startswith("+100.0 [+100.0, +100.0]  p Holm 0.094") for text in shown)
    assert "no gain (not a zero)" in shown
    assert figure.caption.splitlines()[-1] == (
        "Hatched, without a gain: centralized, 4 agents, mipro: seed 1 is missing; seed 2 is "
        "missing."
    )


def test_curves_are_of_each_seed_and_their_mean(tmp_path: Path) -> None:
    write_cell(tmp_path, "+-", ("++",) * 3)
    figure = curve_figure(_frames(tmp_path))
    means = [row for row in records_of(figure.data) if row["seed"] is None]
    assert [(row["rollouts"], row["score"], row["carried_forward"]) for row in means] == [
        (0, 0.25, False),
        (10, 0.25, False),
        (20, 0.6, False),
        (30, 0.6, True),
    ]
    assert len(figure.data) == 4 * 4
    with house_style():
        drawing = draw_curves(figure.data)
    [axes] = drawing.axes
    assert _points(axes) == [20]  # where the search ended
    dotted = [line for line in axes.lines if line.get_linestyle() not in ("-", "None")]
    assert len(dotted) == 4
    assert {tuple(line.get_xdata()) for line in dotted} == {(20, 30)}
    assert "flatters itself" in figure.caption


def test_simulated_marks_are_hollow_and_said(tmp_path: Path) -> None:
    write_cell(tmp_path, "+-", ("++",) * 3, names={"model_id": "simulated"})
    frames = _frames(tmp_path)
    for make, draw in ((forest_figure, draw_forest), (curve_figure, draw_curves)):
        with house_style():
            drawing = draw(make(frames).data)
        faces = {
            line.get_markerfacecolor()
            for line in drawing.axes[0].lines
            if len(line.get_xdata()) == 1
        }
        assert faces == {"white"}
        assert "gepa (simulated)" in _texts(drawing)
        assert "no real model answered" in make(frames).caption
    with house_style():
        assert any("simulated" in text for text in _texts(draw_gains(gain_figure(frames).data)))


def test_panels_follow_model_and_setup(tmp_path: Path) -> None:
    write_cell(tmp_path, "+-", ("++",) * 3, name="a", names={"model": "a_$x$"})
    write_cell(tmp_path, "+-", ("++",) * 3, name="b", identity={"budget": 300})
    write_cell(tmp_path, "+-", ("++",) * 3, name="c", names={"first_tests": 3})
    frames = _frames(tmp_path)
    panels = [name for (name,) in _columns(gain_figure(frames).data, "panel")]
    assert panels[0] == "a_$x$, 600 rollouts"
    assert panels[1] == "m, 300 rollouts"
    assert all(name.startswith("m, 600 rollouts") for name in panels[2:])
    for make, draw in (
        (gain_figure, draw_gains),
        (forest_figure, draw_forest),
        (curve_figure, draw_curves),
    ):
        with house_style():
            drawing = draw(make(frames).data)
        named = [text for text in drawing.findobj(Text) if "a_$x$" in text.get_text()]
        assert named
        assert not any(text.get_parse_math() for text in named)


def test_two_conditions_of_one_name_are_told_apart(tmp_path: Path) -> None:
    write_cell(tmp_path, "+-", ("++",) * 3, name="a")
    write_cell(tmp_path, "+-", ("+-",) * 3, name="b", names={"first_tests": 3})
    data = gain_figure(_frames(tmp_path)).data
    assert sorted(value for (value,) in _columns(data, "delta_pp")) == [0, 50]
    panels = {name for (name,) in _columns(data, "panel")}
    assert len(panels) == 2
    assert all(name.startswith("condition ") for name in panels)


def test_two_versions_of_one_method_are_told_apart(tmp_path: Path) -> None:
    for number in ("1", "2"):
        write_cell(
            tmp_path, "+-", ("++",) * 3, name=number, identity={"versions": {"gepa": number}}
        )
    frames = _frames(tmp_path)
    assert _columns(gain_figure(frames).data, "panel") == [("gepa 1",), ("gepa 2",)]
    assert "versions" in optimizer_table(frames).headers
    assert "condition" not in optimizer_table(frames).headers


def test_drawing_twice_gives_the_same_bytes(frames: GainFrames, tmp_path: Path) -> None:
    paths = make_gain_figures(frames, tmp_path / "one")
    make_gain_figures(frames, tmp_path / "two")
    assert len(paths) == 15
    for path in paths:
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()


def test_nothing_to_show_is_said(tmp_path: Path) -> None:
    make_gain_figures(gain_frames([]), tmp_path)
    for name in ("gains", "forest", "curves"):
        assert (tmp_path / f"optimizer_{name}.md").read_text() == f"{NOTHING}\n"
        assert (tmp_path / f"optimizer_{name}.png").stat().st_size > 1000
