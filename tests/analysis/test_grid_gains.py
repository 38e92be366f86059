"""Optimizer cells and identity cells of a grid meet in one paired table."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from lcbgrid.analysis.frames import Frames, aggregate, read_frames, records_of, write_frames
from lcbgrid.analysis.score import write_score
from lcbgrid.analysis.tables_gains import gain_lines, optimizer_table
from lcbgrid.optimize.errors import ArtifactError
from lcbgrid.optimize.job import ENVELOPE

from .conftest import AXES, build_cell
from .job_files import write_job

MakeGrid = Callable[..., Frames]
Marks = Sequence[str] | None
SETUP = {"budget": 30, "profile": "improved", "without": None, "reflection_model": "w"}


def grid(root: Path, cells: list[tuple[dict[str, Any], Marks]], **searches: Path) -> Frames:
    """Score and aggregate cells; ``searches`` are folders of searches, by optimizer and seed."""
    scores, expected = [], []
    for number, (own, marks) in enumerate(cells):
        axes = {**AXES, "topology": "sequential", "team_size": 4, **own}
        cell = dict(axes)
        if axes["optimizer"] != "identity":
            cell |= {"optimize": SETUP}
            folder = searches.get(f"{axes['optimizer']}{axes['seed']}")
            cell |= {"search": str(folder or root / "no-search")} if searches else {}
        expected.append(cell)
        scores.append(root / "scores" / f"{number}.json")
        if marks is not None:
            write_score(build_cell(root, marks, name=str(number), **axes), scores[-1])
    return aggregate(scores, expected)


def pair(base: Marks, own: Marks, **axes: Any) -> list[tuple[dict[str, Any], Marks]]:
    return [({"optimizer": "identity", **axes}, base), ({"optimizer": "gepa", **axes}, own)]


def only(frames: Frames) -> dict[str, Any]:
    [row] = records_of(frames.gains)
    return row


def test_one_seed_of_one_answer_by_hand(tmp_path: Path) -> None:
    frames = grid(tmp_path, pair(list("+---"), list("+++-")))
    row = only(frames)
    assert (row["method"], row["task"], row["topology"]) == ("gepa", "embedded", "sequential")
    assert (row["state"], row["n_seeds"], row["n_required"]) == ("complete", 1, 1)
    assert (row["base"], row["deployed"], row["delta_pp"]) == (0.25, 0.75, 50)
    assert (row["wins"], row["losses"], row["ties"]) == (2, 0, 2)
    assert (row["p"], row["min_p_holm"]) == (0.5, 0.5)
    assert row["std_pp"] is None
    assert row["budget"] == 30
    assert row["undefined"] == (
        "std_pp: one seed; fallbacks: the decisions of the searches are not there; "
        "gain_per_1000_search_tokens: the tokens of the searches are not there; "
        "gain_per_1000_answer_tokens: an answer costs no more than before"
    )
    [line] = gain_lines(frames)
    assert line.startswith("gepa on sequential, 4 agents: +50.0 pp [0.0, +100.0] over 4 problems")
    assert line.endswith("(1 seed), p = 0.500")


def test_several_answers_a_problem_are_shares_without_mcnemar(tmp_path: Path) -> None:
    row = only(grid(tmp_path, pair(["+-", "--"], ["++", "+-"])))
    assert row["delta_pp"] == 50
    assert row["min_p_holm"] is None
    assert "min_p_holm: scores are not all 0 or 1" in row["undefined"]
    assert row["p"] == 0.5


def test_searches_bring_decision_tokens_and_curve(tmp_path: Path) -> None:
    folder = write_job(tmp_path / "s", "", "", phase="selected", fallback="validation_tie")
    frames = grid(tmp_path, pair(list("+-"), list("+-")), gepa0=folder)
    row = only(frames)
    assert (row["fallbacks"], row["fallback_reasons"]) == (1, "validation_tie (1)")
    assert (row["search_task_tokens"], row["search_reflection_tokens"]) == (900, 100)
    assert row["gain_per_1000_search_tokens"] == 0
    assert [point["rollouts"] for point in records_of(frames.curves)] == [0, 10, 20, 30]
    (folder / ENVELOPE).write_text("{")
    with pytest.raises(ArtifactError, match=ENVELOPE):
        grid(tmp_path, pair(list("+-"), list("+-")), gepa0=folder)


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        (pair(list("+-"), None), "not run"),
        (pair(None, list("+-")), "identity not run"),
        (pair(list("+-"), list("+-"))[1:], "no identity cell"),
        (pair(list("+-"), list("ii")), "undefined"),
        (pair(list("di+"), list("+++")), "unusable record (q001)"),
        (
            [*pair(list("+-"), list("++"), seed=0), *pair(list("+-"), None, seed=1)],
            "seed 1: not run",
        ),
        (
            [*pair(list("+-"), None, seed=0), *pair(list("+-"), None, seed=1)],
            "not run",
        ),
    ],
)
def test_a_cell_without_its_pair_is_named(
    tmp_path: Path, cells: list[tuple[dict[str, Any], Marks]], reason: str
) -> None:
    frames = grid(tmp_path, cells)
    row = only(frames)
    assert (row["state"], row["reason"], row["delta_pp"]) == ("incomplete", reason, None)
    assert gain_lines(frames) == [f"gepa on sequential, 4 agents: no gain: {reason}"]
    assert any(reason in note for note in optimizer_table(frames).notes)


def test_a_cell_that_has_no_search_yet_says_so(tmp_path: Path) -> None:
    frames = grid(tmp_path, pair(list("+-"), None), gepa7=tmp_path)
    assert only(frames)["reason"] == "not optimized"


def test_problems_with_broken_tests_are_left_out_of_both(tmp_path: Path) -> None:
    row = only(grid(tmp_path, pair(list("d+-"), list("d++"))))
    assert (row["n_problems"], row["left_out"], row["delta_pp"]) == (2, "q000", 50)


def test_conditions_are_never_mixed(tmp_path: Path) -> None:
    cells = [
        *pair(list("--"), list("++"), model="a"),
        *pair(list("++"), list("++"), model="b"),
        *pair(list("++"), list("--"), topology="centralized", model="a"),
    ]
    rows = records_of(grid(tmp_path, cells).gains)
    assert [(r["model"], r["topology"], r["delta_pp"]) for r in rows] == [
        ("a", "sequential", 100),
        ("a", "centralized", -100),
        ("b", "sequential", 0),
    ]


def test_the_order_of_cells_changes_no_byte(tmp_path: Path) -> None:
    cells = [
        cell
        for topology in ("single", "sequential")
        for seed in (0, 1)
        for optimizer in ("identity", "gepa", "mipro")
        for cell in [({"topology": topology, "seed": seed, "optimizer": optimizer}, list("+-+"))]
    ]
    for name in ("one", "two"):
        write_frames(grid(tmp_path / name, cells), tmp_path / name / "aggregate")
        random.Random(3).shuffle(cells)
    first, second = (sorted((tmp_path / name / "aggregate").iterdir()) for name in ("one", "two"))
    assert len(first) == 18
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


def test_a_grid_without_optimizers_has_empty_frames(make_grid: MakeGrid, tmp_path: Path) -> None:
    write_frames(make_grid([({}, ["+", "-"])]), tmp_path)
    frames = read_frames(tmp_path)
    assert (len(frames.gains), len(frames.gain_seeds), len(frames.gain_tests)) == (0, 0, 0)
    assert len(frames.curves) == 0
    assert gain_lines(frames) == []
    assert "nothing to show" in optimizer_table(frames).notes[-1]
