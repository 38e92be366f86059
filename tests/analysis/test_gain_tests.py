"""Topology x optimizer, and optimizers against each other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lcbgrid.analysis.frames import records_of
from lcbgrid.analysis.gain_tests import whole_table
from lcbgrid.analysis.gains import Rules, gain_frames
from lcbgrid.analysis.job_folders import read_jobs

from .job_files import write_cell, write_job

QUICK = Rules(replicates=200)


def rows_of(root: Path, test: str) -> list[dict[str, Any]]:
    frames = gain_frames(read_jobs([root]).groups, QUICK)
    return [row for row in records_of(frames.gain_tests) if row["test"] == test]


def cells(root: Path, marks: dict[tuple[str, str], str], base: str = "------") -> None:
    for number, ((topology, method), deployed) in enumerate(marks.items()):
        write_cell(root, base, (deployed,) * 3, name=str(number), topology=topology, method=method)


def test_an_interaction_by_hand(tmp_path: Path) -> None:
    """Only gepa on single gains, on every problem: 2**6 patterns, two as extreme."""
    cells(
        tmp_path,
        {
            ("single", "gepa"): "++++++",
            ("single", "mipro"): "------",
            ("sequential", "gepa"): "------",
            ("sequential", "mipro"): "------",
        },
    )
    [row] = rows_of(tmp_path, "interaction")
    assert (row["topologies"], row["methods"]) == ("single, sequential", "gepa, mipro")
    assert (row["n_problems"], row["n_seeds"], row["n_conditions"]) == (6, 3, 4)
    assert (row["team_size"], row["communication"]) == (4, "freeform")
    assert row["p"] == 2 / 2**6
    assert json.loads(row["effects_pp"]) == {
        "single, gepa": 25,
        "single, mipro": -25,
        "sequential, gepa": -25,
        "sequential, mipro": 25,
    }
    assert row["statistic"] == 4 * 25**2
    assert row["reason"] is None


def test_main_effects_are_no_interaction(tmp_path: Path) -> None:
    cells(
        tmp_path,
        {
            ("single", "gepa"): "+++---",
            ("single", "mipro"): "------",
            ("sequential", "gepa"): "+++---",
            ("sequential", "mipro"): "------",
        },
    )
    [row] = rows_of(tmp_path, "interaction")
    assert (row["p"], row["statistic"]) == (1, 0)


@pytest.mark.parametrize(
    ("present", "reason"),
    [
        (["single gepa"], "an interaction needs more than one topology in all cells"),
        (
            ["single gepa", "sequential gepa"],
            "an interaction needs more than one optimizer in all cells",
        ),
        (
            ["single gepa", "single mipro"],
            "an interaction needs more than one topology in all cells",
        ),
    ],
)
def test_one_topology_or_one_optimizer_is_undefined(
    tmp_path: Path, present: list[str], reason: str
) -> None:
    cells(tmp_path, {tuple(name.split()): "+-----" for name in present})  # type: ignore[misc]
    [row] = rows_of(tmp_path, "interaction")
    assert (row["p"], row["reason"]) == (None, reason)


def test_an_incomplete_cell_takes_its_method_out_of_the_interaction(tmp_path: Path) -> None:
    both = ("single", "sequential")
    cells(tmp_path, {(t, m): "+-----" for t in both for m in ("gepa", "mipro")})
    write_job(tmp_path / "x", "------", "+-----", method="tavo2", topology="single")
    [row] = rows_of(tmp_path, "interaction")
    assert (row["methods"], row["left_out"]) == ("gepa, mipro", "tavo2")
    assert row["p"] is not None


def test_the_largest_share_of_gaps_goes_first() -> None:
    pairs = {("single", "a"), *((t, m) for t in ("x", "y", "z") for m in ("a", "b", "c"))}
    assert whole_table(pairs, ["single", "x", "y", "z"], ["a", "b", "c"]) == (
        (["x", "y", "z"], ["a", "b", "c"]),
        ["single"],
    )
    assert whole_table({("x", "a")}, ["x", "y"], ["a", "b"]) == ((["x"], ["a"]), ["b", "y"])
    assert whole_table(set(), ["x"], ["a"])[0] in (([], ["a"]), (["x"], []))


def test_two_conditions_of_one_name_are_not_mixed(tmp_path: Path) -> None:
    cells(tmp_path, {("single", "gepa"): "+-----"})
    write_cell(
        tmp_path,
        "------",
        ("+-----",) * 3,
        name="x",
        topology="single",
        names={"first_tests": 3},
    )
    [row] = rows_of(tmp_path, "interaction")
    assert row["reason"] == "there are several conditions of single with gepa"


def test_one_method_against_another_by_hand(tmp_path: Path) -> None:
    write_cell(tmp_path, "------", ("+++---", "++++--", "+++---"), name="a")
    write_cell(tmp_path, "------", ("+-----", "+----+", "------"), name="b", method="mipro")
    [row] = rows_of(tmp_path, "methods")
    assert (row["method_a"], row["method_b"], row["topology"]) == ("gepa", "mipro", "sequential")
    assert (row["wins"], row["losses"], row["ties"]) == (8, 1, 9)
    assert row["deployed"] == pytest.approx(10 / 18)
    assert row["base"] == pytest.approx(3 / 18)
    assert row["delta_pp"] == pytest.approx(100 * 7 / 18)
    # by problem: +1 +3 +3 +1 0 -1, sum 7; of 2**5 sign patterns 8 have a sum of 7 or more
    sums = (1, 3, 3, 1, 1)
    flips = [[1 if n >> k & 1 else -1 for k in range(5)] for n in range(32)]
    totals = [abs(sum(f * s for f, s in zip(flip, sums, strict=True))) for flip in flips]
    assert row["p"] == row["p_holm"] == sum(total >= 7 for total in totals) / 32


def test_methods_are_compared_over_all_conditions_that_they_share(tmp_path: Path) -> None:
    cells(
        tmp_path,
        {
            (topology, method): marks
            for topology in ("single", "sequential")
            for method, marks in (("gepa", "++++++"), ("mipro", "-----+"))
        },
    )
    one, other, both = rows_of(tmp_path, "methods")
    assert [one["topology"], other["topology"], both["topology"]] == [
        "single",
        "sequential",
        None,
    ]
    assert (both["n_conditions"], both["n_seeds"], both["topologies"]) == (
        2,
        3,
        "single, sequential",
    )
    assert both["p"] == both["p_holm"] == 2 / 2**5  # a problem is one unit in all conditions
    assert one["p_holm"] == 2 * one["p"]  # of two single conditions
    assert both["delta_pp"] == pytest.approx(500 / 6)


def test_identity_and_incomplete_cells_are_not_compared(tmp_path: Path) -> None:
    write_cell(tmp_path, "+-", ("++",) * 3, name="a")
    write_cell(tmp_path, "+-", ("+-",) * 3, name="b", method="identity")
    write_job(tmp_path / "x", "+-", "++", method="mipro")
    assert rows_of(tmp_path, "methods") == []


def test_two_versions_of_a_method_are_two_methods(tmp_path: Path) -> None:
    for topology in ("single", "sequential"):
        for number in ("1", "2"):
            write_cell(
                tmp_path,
                "------",
                ("+++---" if number == "2" else "------",) * 3,
                name=topology + number,
                topology=topology,
                identity={"versions": {"gepa": f"0.{number}", "method": "1"}},
            )
    rows = rows_of(tmp_path, "methods")
    assert [(row["method_a"], row["method_b"], row["n_conditions"]) for row in rows] == [
        ("gepa (gepa 0.1, method 1)", "gepa (gepa 0.2, method 1)", n) for n in (1, 1, 2)
    ]
    assert [row["delta_pp"] for row in rows] == [-50, -50, -50]
    [undefined] = rows_of(tmp_path, "interaction")
    assert undefined["reason"] == "there are several conditions of sequential with gepa"


def test_methods_with_libraries_of_their_own_are_compared(tmp_path: Path) -> None:
    for topology in ("single", "sequential"):
        for method, library in (("gepa", "gepa"), ("mipro", "optuna")):
            write_cell(
                tmp_path,
                "------",
                ("+-----",) * 3,
                name=topology + method,
                topology=topology,
                method=method,
                identity={"versions": {library: "5"}},
            )
    [row] = rows_of(tmp_path, "interaction")
    assert (row["methods"], row["p"]) == ("gepa, mipro", 1)
    assert len(rows_of(tmp_path, "methods")) == 3
