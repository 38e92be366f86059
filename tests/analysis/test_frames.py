"""Frames: one row a cell, missing ones too; means that say what they cover."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from lcbgrid.analysis.frames import Frames, aggregate, read_frames, records_of, write_frames
from lcbgrid.analysis.score import write_score
from lcbgrid.config.main_spec import AnalysisSpec
from lcbgrid.core.errors import DataError

MakeGrid = Callable[..., Frames]
NAMES = (
    "cells",
    "settings",
    "margins",
    "groups",
    "problems",
    "gains",
    "gain_seeds",
    "gain_tests",
    "curves",
)

# 3 x 3 with one missing and one true zero (report R59); marks are four problems.
GRID: list[tuple[dict[str, Any], list[str] | None]] = [
    ({"topology": topology, "model": model}, marks)
    for topology, model, marks in [
        ("direct", "a", ["+", "+", "-", "-"]),
        ("direct", "b", ["-", "-", "-", "-"]),
        ("direct", "c", ["+", "+", "+", "+"]),
        ("single", "a", ["+", "-", "-", "-"]),
        ("single", "b", None),
        ("single", "c", ["+", "+", "+", "-"]),
        ("centralized", "a", ["+", "+", "+", "-"]),
        ("centralized", "b", ["+", "+", "-", "-"]),
        ("centralized", "c", ["+", "-", "-", "-"]),
    ]
]


def test_a_missing_cell_keeps_its_row_and_a_true_zero_is_a_number(make_grid: MakeGrid) -> None:
    cells = {(r["topology"], r["model"]): r for r in records_of(make_grid(GRID).cells)}
    assert len(cells) == 9
    missing, zero = cells["single", "b"], cells["direct", "b"]
    assert (missing["pass_at_1"], missing["state"], missing["reason"]) == (
        None,
        "not run",
        "not run",
    )
    assert (zero["pass_at_1"], zero["state"], zero["reason"]) == (0.0, "finished", None)


def test_means_say_how_many_cells_they_cover(make_grid: MakeGrid) -> None:
    margins = records_of(make_grid(GRID).margins)
    teams = {r["topology"]: r for r in margins if r["over"] == "model"}
    assert list(teams) == ["direct", "single", "centralized"]
    assert teams["single"]["covers"] == "2 of 3"
    assert teams["single"]["pass_at_1"] == pytest.approx((0.25 + 0.75) / 2)
    assert teams["direct"]["covers"] == "3 of 3"
    assert teams["direct"]["pass_at_1"] == pytest.approx((0.5 + 0 + 1) / 3)
    models = {r["model"]: r for r in margins if r["over"] == "topology"}
    assert models["b"]["covers"] == "2 of 3"
    assert models["b"]["pass_at_1"] == pytest.approx(0.25)


def test_seeds_are_averaged_and_counted(make_grid: MakeGrid) -> None:
    grid = [
        ({"seed": 0}, ["+", "-", "n", "t"]),
        ({"seed": 1}, ["+", "+", "n", "i"]),
        ({"seed": 2}, None),
    ]
    [row] = records_of(make_grid(grid).settings)
    assert (row["covers"], row["seeds"], row["n_cells"], row["n_covered"]) == (
        "2 of 3",
        "0 1",
        3,
        2,
    )
    assert row["pass_at_1"] == pytest.approx((1 / 4 + 2 / 3) / 2)
    assert row["seed_sd"] == pytest.approx(abs(1 / 4 - 2 / 3) / 2**0.5)
    assert row["interval"] == "bootstrap"
    assert row["pass_at_1_low"] < row["pass_at_1"] < row["pass_at_1_high"]
    assert (row["n_infra_errors"], row["total_tokens"], row["state"]) == (1, 960, "finished")


def test_unfinished_and_undefined_cells_say_so_and_have_no_score(make_grid: MakeGrid) -> None:
    grid = [({"model": "u"}, ["i", "i"]), ({"model": "v"}, ["+", "+"])]
    cells = {r["model"]: r for r in records_of(make_grid(grid).cells)}
    assert cells["u"]["reason"] == "undefined: no problem has a graded answer"
    manifest = {"dataset_manifest": {"n_problems": 3}}
    [row] = records_of(make_grid([({}, ["+", "+"])], changes=manifest).cells)
    assert row["reason"] == "unfinished: 1 of 3 answers are missing"
    for name in ("pass_at_1", "easy_pass_at_1", "extracted_pass_at_1", "tests_passed_share"):
        assert row[name] is None, name


def test_pass_at_k_columns_follow_pass_at_1(
    make_grid: MakeGrid, make_cell: Any, tmp_path: Path
) -> None:
    spec = AnalysisSpec(pass_at=(1, 2, 5))
    target = tmp_path / "score.json"
    score = write_score(make_cell(["+-", "--"]), target, spec)
    frames = aggregate([target], [score["cell"]], spec)
    [row] = records_of(frames.settings)
    assert (row["pass_at_2"], row["pass_at_5"]) == (0.5, None)
    assert row["undefined"].startswith("pass@5 needs 5 graded answers a problem, there are 2")
    names = list(frames.cells.columns)
    assert names.index("pass_at_2") + 1 == names.index("pass_at_5")


def test_strings_stay_strings(make_grid: MakeGrid, tmp_path: Path) -> None:
    grid = [({"model": "007"}, ["+"]), ({"model": "1e5"}, ["-"]), ({"model": "nan"}, ["-"])]
    write_frames(make_grid(grid), tmp_path)
    assert [r["model"] for r in records_of(read_frames(tmp_path).cells)] == ["007", "1e5", "nan"]


def test_written_frames_come_back_as_they_were(make_grid: MakeGrid, tmp_path: Path) -> None:
    frames = make_grid(GRID)
    paths = write_frames(frames, tmp_path)
    assert [path.name for path in paths] == sorted(
        f"{n}.{e}" for n in NAMES for e in ("csv", "parquet")
    )
    back = read_frames(tmp_path)
    for name in NAMES:
        pd.testing.assert_frame_equal(getattr(frames, name), getattr(back, name))


def test_the_order_of_scores_does_not_change_a_byte(make_grid: MakeGrid, tmp_path: Path) -> None:
    for name, backwards in (("a", False), ("b", True)):
        write_frames(make_grid(GRID, backwards=backwards), tmp_path / name)
    for path in sorted((tmp_path / "a").iterdir()):
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes(), path.name


def test_groups_are_in_reading_order(make_grid: MakeGrid) -> None:
    groups = records_of(make_grid(GRID[:1]).groups)
    found = [r["value"] for r in groups if r["group"] == "difficulty"]
    assert found == ["easy", "medium", "hard"]


def test_a_grid_without_any_score_has_frames(make_grid: MakeGrid, tmp_path: Path) -> None:
    frames = make_grid([({"model": "a"}, None), ({"model": "b"}, None)])
    write_frames(frames, tmp_path)
    assert len(frames.cells) == 2
    assert len(frames.problems) == 0
    assert [r["covers"] for r in records_of(frames.settings)] == ["0 of 1", "0 of 1"]


def test_two_scores_of_one_cell_are_refused(make_cell: Any, tmp_path: Path) -> None:
    folder = make_cell(["+"])
    score = write_score(folder, tmp_path / "a.json")
    write_score(folder, tmp_path / "b.json")
    with pytest.raises(
        DataError, match=r"b.json: a second score of cell embedded/code_generation"
    ):
        aggregate([tmp_path / "a.json", tmp_path / "b.json"], [score["cell"]])


def test_a_score_outside_the_grid_is_refused(make_cell: Any, tmp_path: Path) -> None:
    score = write_score(make_cell(["+"]), tmp_path / "a.json")
    with pytest.raises(DataError, match=r"a cell that the grid does not have: .*model-a"):
        aggregate([tmp_path / "a.json"], [{**score["cell"], "model": "other"}])


def test_a_score_of_another_version_is_refused(make_cell: Any, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"schema_version": 99}')
    with pytest.raises(DataError, match="is not a score of version 1"):
        aggregate([tmp_path / "a.json"], [])


def test_missing_frames_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"cells.parquet: .*aggregate the scores again"):
        read_frames(tmp_path)
