"""Figures over one axis: their data to the last number, and what the pictures mark."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from lcbgrid.analysis.draw import figure_paths, make_figures
from lcbgrid.analysis.draw_axes import draw_communication, draw_team_size
from lcbgrid.analysis.figures import NOT_IN_GRID
from lcbgrid.analysis.figures_axes import ONE_AGENT, communication_figure, team_size_figure
from lcbgrid.analysis.frames import Frames, aggregate, records_of, write_frames
from lcbgrid.analysis.score import score_cell, write_score
from lcbgrid.analysis.style import house_style
from lcbgrid.core.errors import DataError
from lcbgrid.core.files import write_jsonl
from lcbgrid.core.jsonl import read_jsonl

MakeCell = Callable[..., Path]
MakeGrid = Callable[..., Frames]
Cells = list[tuple[dict[str, Any], list[str] | None]]


def _team(topology: str, size: int, marks: list[str] | None, **axes: str) -> Any:
    return {"topology": topology, "team_size": size, **axes}, marks


SIZES: Cells = [
    _team("single", 1, ["+", "-", "-", "-"]),
    _team("direct", 1, None),
    _team("sequential", 2, ["-"] * 4),
    _team("sequential", 4, ["+", "-", "-", "-"]),
    _team("sequential", 10, ["+", "+", "-", "-"]),
    _team("centralized", 2, ["+", "+", "+", "-"]),
    _team("centralized", 4, None),
    _team("centralized", 10, ["+"] * 4),
    _team("decentralized", 10, ["+", "-", "+", "-"]),
]
FORMATS: Cells = [
    _team("single", 1, ["+", "-"]),
    _team("sequential", 2, ["+", "+"], communication="structured_soft"),
    _team("sequential", 2, ["-", "-"], communication="freeform"),
    _team("sequential", 4, ["+", "-"], communication="freeform"),
    _team("sequential", 4, None, communication="semi_structured"),
]


def _with_rates(folder: Path, rates: Sequence[Any]) -> Path:
    """Give the answers of a cell their parse rates; ``...`` stands for no measurement at all."""
    path = folder / "predictions.jsonl"
    records = list(read_jsonl(path))
    for record, rate in zip(records, rates, strict=True):
        record["communication"] = None if rate is ... else {"communication_parse_rate": rate}
    write_jsonl(path, records)
    return folder


def test_parse_rate_is_the_mean_over_answers_that_have_one(make_cell: MakeCell) -> None:
    folder = _with_rates(make_cell(["+", "-", "n", "i", "+"]), [1.0, 0.5, None, 0.0, ...])
    assert score_cell(folder)["communication_parse_rate"] == 0.75


def test_parse_rate_of_a_team_of_one_is_missing_and_not_zero(make_cell: MakeCell) -> None:
    assert score_cell(make_cell(["+"]))["communication_parse_rate"] is None
    folder = _with_rates(make_cell(["+", "-"]), [None, ...])
    assert score_cell(folder)["communication_parse_rate"] is None


@pytest.mark.parametrize("rate", [1.5, -0.1, "1", True])
def test_a_parse_rate_that_is_no_share_is_refused(make_cell: MakeCell, rate: object) -> None:
    with pytest.raises(DataError, match=r"'communication_parse_rate' of question 'q000'"):
        score_cell(_with_rates(make_cell(["+"]), [rate]))


def test_parse_rate_of_a_setting_needs_all_its_seeds(make_cell: MakeCell, tmp_path: Path) -> None:
    cells = [
        ("a", 0, [1.0, 0.5]),
        ("a", 1, [0.25, 0.25]),
        ("b", 0, [1.0, 1.0]),
        ("b", 1, [None, ...]),
    ]
    scores, expected = [], []
    for model, seed, rates in cells:
        name = f"{model}{seed}"
        folder = _with_rates(make_cell(["+", "-"], name=name, model=model, seed=seed), rates)
        write_score(folder, tmp_path / f"{name}.json")
        scores.append(tmp_path / f"{name}.json")
        expected.append(score_cell(folder)["cell"])
    frames = aggregate(scores, expected)
    found = [row["communication_parse_rate"] for row in records_of(frames.cells)]
    assert found == [0.75, 0.25, 1.0, None]
    found = [row["communication_parse_rate"] for row in records_of(frames.settings)]
    assert found == [0.5, None]


def _columns(frame: Any, *names: str) -> list[tuple[Any, ...]]:
    return [tuple(row[name] for name in names) for row in records_of(frame)]


def _points(axes: Any) -> list[float]:
    return [float(line.get_ydata()[0]) for line in axes.lines if len(line.get_xdata()) == 1]


def _joins(axes: Any) -> list[tuple[float, float]]:
    """Return the heights of what lines join; the dotted lines of references are as wide as 1."""
    pairs = [line.get_ydata() for line in axes.lines if len(line.get_xdata()) == 2]
    return [(float(y[0]), float(y[1])) for y in pairs]


def _hatched_bars(axes: Any) -> list[Rectangle]:
    return [patch for patch in axes.patches if isinstance(patch, Rectangle) and patch.get_hatch()]


def _texts(drawing: Any) -> list[str]:
    return [text.get_text() for text in drawing.findobj(Text) if text.get_text().strip()]


def test_size_data_has_a_row_for_every_topology_and_size(make_grid: MakeGrid) -> None:
    data = team_size_figure(make_grid(SIZES)).data
    assert _columns(data, "topology", "x", "is_reference", "pass_at_1", "state") == [
        ("direct", "1", True, None, "not run"),
        ("single", "1", True, 0.25, "finished"),
        ("sequential", "2", False, 0.0, "finished"),
        ("sequential", "4", False, 0.25, "finished"),
        ("sequential", "10", False, 0.5, "finished"),
        ("centralized", "2", False, 0.75, "finished"),
        ("centralized", "4", False, None, "not run"),
        ("centralized", "10", False, 1.0, "finished"),
        ("decentralized", "2", False, None, NOT_IN_GRID),
        ("decentralized", "4", False, None, NOT_IN_GRID),
        ("decentralized", "10", False, 0.5, "finished"),
    ]
    assert set(_columns(data, "panel_row", "panel_column")) == {("model-a", None)}
    [low, high] = next(
        (row["pass_at_1_low"], row["pass_at_1_high"])
        for row in records_of(data)
        if row["topology"] == "sequential" and row["x"] == "10"
    )
    assert (low, high) == pytest.approx((0.1500389892, 0.8499610108))  # Wilson, 2 of 4


def test_a_gap_is_hatched_and_no_line_crosses_it(make_grid: MakeGrid) -> None:
    with house_style():
        drawing = draw_team_size(team_size_figure(make_grid(SIZES)).data)
    scores, strip = drawing.axes
    assert _points(scores) == [0.25, 0.0, 0.25, 0.5, 0.75, 1.0, 0.5]
    assert sorted(_joins(scores)) == [(0.0, 0.25), (0.25, 0.25), (0.25, 0.5)]
    assert _points(strip) == []
    assert len(_hatched_bars(strip)) == 2  # direct at 1, centralized at 4
    shown = _texts(drawing)
    assert shown.count("not run") == 2
    assert shown.count(NOT_IN_GRID) == 2
    names = [label.get_text() for label in strip.get_yticklabels()]
    assert names == ["direct", "centralized", "decentralized"]


def test_panels_follow_model_and_the_other_axis_of_teams(make_grid: MakeGrid) -> None:
    cells = [({**axes, "model": model}, marks) for model in "ab" for axes, marks in FORMATS]
    frames = make_grid(cells)
    sizes, formats = team_size_figure(frames).data, communication_figure(frames).data
    assert list(dict.fromkeys(_columns(sizes, "panel_row", "panel_column"))) == [
        (model, name)
        for model in "ab"
        for name in ("freeform", "semi_structured", "structured_soft")
    ]
    assert list(dict.fromkeys(_columns(formats, "panel_row", "panel_column"))) == [
        (model, name) for model in "ab" for name in ("2 agents", "4 agents")
    ]
    alone = [row for row in records_of(sizes) if row["is_reference"]]
    assert [row["pass_at_1"] for row in alone] == [0.5] * 6  # in every panel of its model
    with house_style():
        titles = [axes.get_title(loc="left") for axes in draw_communication(formats).axes]
    assert [title for title in titles if title] == [
        "a\n2 agents",
        "a\n4 agents",
        "b\n2 agents",
        "b\n4 agents",
    ]


def test_communication_data_is_in_order_of_formats(make_grid: MakeGrid) -> None:
    frames = make_grid(FORMATS)
    rates = {("freeform", 2): 1.0, ("structured_soft", 2): 0.375}
    frames.settings["communication_parse_rate"] = [
        rates.get((row["communication"], row["team_size"]), float("nan"))
        for row in records_of(frames.settings)
    ]
    figure = communication_figure(frames)
    names = ("panel_column", "x", "pass_at_1", "communication_parse_rate", "state")
    assert _columns(figure.data, *names) == [
        ("2 agents", ONE_AGENT, 0.5, None, "finished"),
        ("2 agents", "freeform", 0.0, 1.0, "finished"),
        ("2 agents", "semi_structured", None, None, NOT_IN_GRID),
        ("2 agents", "structured_soft", 1.0, 0.375, "finished"),
        ("4 agents", ONE_AGENT, 0.5, None, "finished"),
        ("4 agents", "freeform", 0.5, None, "finished"),
        ("4 agents", "semi_structured", None, None, "not run"),
        ("4 agents", "structured_soft", None, None, NOT_IN_GRID),
    ]
    with house_style():
        drawing = draw_communication(figure.data)
    scores, other_scores, shares, other_shares, *_ = drawing.axes
    assert (_points(scores), _points(other_scores)) == ([0.5, 0.0, 1.0], [0.5, 0.5])
    assert (_points(shares), _points(other_shares)) == ([1.0, 0.375], [])
    assert _texts(drawing).count("\N{EN DASH}") == 1
    assert "A dash stands for a team without that measurement, not for 0." in figure.caption


def test_simulated_marks_are_hollow_and_said(make_grid: MakeGrid) -> None:
    frames = make_grid(SIZES, changes={"simulated": True})
    for figure, draw in (
        (team_size_figure(frames), draw_team_size),
        (communication_figure(frames), draw_communication),
    ):
        with house_style():
            drawing = draw(figure.data)
        faces = {
            line.get_markerfacecolor()
            for axes in drawing.axes
            for line in axes.lines
            if len(line.get_xdata()) == 1
        }
        assert faces == {"white"}
        assert "hollow: simulated" in _texts(drawing)
        assert "Hollow points are simulated" in figure.caption


def test_captions_say_what_is_missing_and_end_with_what_numbers_depend_on(
    make_grid: MakeGrid,
) -> None:
    lines = team_size_figure(make_grid(SIZES)).caption.splitlines()
    assert lines[0].endswith("95 %, Wilson's score interval).")
    assert lines[1] == (
        "Teams of one agent (direct, single) are references: a mark at '1' and a dotted line, "
        "the same in every panel of a model."
    )
    assert lines[2] == (
        "Hatched, without a score: model-a, direct: not run; model-a, centralized, 4 agents, "
        "freeform: not run."
    )
    assert lines[3] == "No line is drawn across a size without a score."
    assert lines[4].startswith("Rule set real; sandbox tier bwrap; data set embedded")
    assert len(lines) == 5


@pytest.mark.parametrize(
    ("cells", "size_note", "format_note"),
    [
        (
            [_team("direct", 1, ["+"]), _team("single", 1, ["-"])],
            "The grid has no team of more than one agent, so there is no size to compare.",
            "The grid has no team of more than one agent, so no agent reports to another.",
        ),
        (
            [_team("direct", 1, ["+"]), _team("sequential", 4, ["-"])],
            "The grid has one team size (4), so there is no size to compare.",
            "The grid has one format (freeform), so there is no format to compare.",
        ),
        (
            [_team("sequential", 4, None)],
            "There is no score yet.",
            "There is no score yet.",
        ),
    ],
)
def test_an_axis_that_does_not_vary_is_drawn_and_said(
    make_grid: MakeGrid, tmp_path: Path, cells: Cells, size_note: str, format_note: str
) -> None:
    write_frames(make_grid(cells), tmp_path / "aggregate")
    make_figures(tmp_path / "aggregate", tmp_path / "figures")
    for name, note in (("team_size", size_note), ("communication", format_note)):
        caption = (tmp_path / "figures" / f"{name}_pass_at_1.md").read_text(encoding="utf-8")
        assert note in caption
        assert (tmp_path / "figures" / f"{name}_pass_at_1.png").stat().st_size > 1000


def test_names_are_drawn_as_they_are(make_grid: MakeGrid) -> None:
    cells = [_team("sequential", 2, ["+"], model="a_$x$%")]
    with house_style():
        drawing = draw_team_size(team_size_figure(make_grid(cells)).data)
    [title] = [text for text in drawing.findobj(Text) if text.get_text() == "a_$x$%"]
    assert title.get_parse_math() is False


def test_the_workflow_names_every_figure() -> None:
    rules = Path(__file__).resolve().parents[2] / "rules" / "figures.smk"
    named = rules.read_text(encoding="utf-8").split("TABLES")[0]
    assert all(f'"{path.stem}"' in named for path in figure_paths("figures"))
