"""Gains by hand: means, intervals, tests, tokens, and why a cell is incomplete."""

from __future__ import annotations

import doctest
import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lcbgrid.analysis import paired, table
from lcbgrid.analysis.frames import records_of
from lcbgrid.analysis.gains import GainFrames, Rules, gain_frames
from lcbgrid.analysis.job_folders import read_jobs
from lcbgrid.core.errors import ConfigError
from lcbgrid.optimize.errors import ContractError

from .job_files import write_cell, write_job

QUICK = Rules(replicates=200)


def frames_of(root: Path, rules: Rules = QUICK) -> GainFrames:
    return gain_frames(read_jobs([root]).groups, rules)


def only(root: Path, rules: Rules = QUICK) -> dict[str, Any]:
    [row] = records_of(frames_of(root, rules).gains)
    return row


def test_a_complete_cell_by_hand(tmp_path: Path) -> None:
    write_job(tmp_path / "0", "+---", "++--", seed=0)
    write_job(tmp_path / "1", "+---", "++--", seed=1)
    write_job(tmp_path / "2", "+---", "+---", seed=2, fallback="validation_tie")
    row = only(tmp_path)
    assert (row["state"], row["reasons"], row["seeds"], row["n_problems"]) == (
        "complete",
        None,
        "0 1 2",
        4,
    )
    assert row["base"] == 0.25
    assert row["deployed"] == pytest.approx(5 / 12)
    assert row["delta_pp"] == pytest.approx(50 / 3)
    assert row["std_pp"] == pytest.approx(14.4338, abs=1e-4)  # of 25, 25 and 0
    assert (row["wins"], row["losses"], row["ties"]) == (2, 0, 10)
    assert (row["fallbacks"], row["fallback_reasons"]) == (1, "validation_tie (1)")
    assert (row["min_p_holm"], row["p"], row["p_holm"]) == (1, 1, 1)
    assert (row["search_tokens"], row["rollouts"]) == (1000, 30)
    assert row["gain_per_1000_search_tokens"] == pytest.approx(50 / 3)
    assert row["gain_per_1000_answer_tokens"] == pytest.approx(50 / 3 * 1000 / 5)
    assert row["undefined"] is None
    assert not row["simulated"]


def test_p_values_are_exact_and_corrected_in_their_family(tmp_path: Path) -> None:
    write_cell(tmp_path, "------", ("++++++",) * 3, name="a")
    write_cell(tmp_path, "------", ("------",) * 3, name="b", method="mipro")
    sure, none = records_of(frames_of(tmp_path).gains)
    assert (sure["method"], sure["delta_pp"]) == ("gepa", 100)
    assert (sure["ci95_low_pp"], sure["ci95_high_pp"]) == (100, 100)
    assert sure["p"] == 2 / 2**6  # six problems, all seeds of one flipped at once
    assert sure["p_holm"] == 2 * 2 / 2**6  # of two cells
    assert sure["min_p_holm"] == 6 * 2 / 2**6  # of six seeds
    assert (none["p"], none["p_holm"], none["min_p_holm"]) == (1, 1, 1)
    seeds = records_of(frames_of(tmp_path).gain_seeds)
    assert [row["p_mcnemar"] for row in seeds] == [2 / 2**6] * 3 + [1] * 3
    assert [row["p_holm"] for row in seeds] == [6 * 2 / 2**6] * 3 + [1] * 3


@pytest.mark.parametrize(
    ("family", "name", "factor"),
    [("task_model", "lcb, m", 2), ("method", "gepa", 1), ("all", "all", 3)],
)
def test_families(tmp_path: Path, family: str, name: str, factor: int) -> None:
    write_cell(tmp_path, "------", ("++++++",) * 3, name="a")
    write_cell(tmp_path, "------", ("------",) * 3, name="b", method="mipro")
    write_cell(tmp_path, "------", ("------",) * 3, name="c", method="mipro", names={"model": "n"})
    rows = records_of(frames_of(tmp_path, Rules(replicates=100, family=family)).gains)
    assert (rows[0]["family"], rows[0]["p_holm"]) == (name, factor * 2 / 2**6)


def test_rules_refuse_what_cannot_be() -> None:
    with pytest.raises(ConfigError, match="did you mean 'method'"):
        Rules(family="methods")
    with pytest.raises(ConfigError, match="at least 100"):
        Rules(replicates=99)


def test_the_interval_is_that_of_section_7(tmp_path: Path) -> None:
    """The plain rule, line by line, on the same draws."""
    marks = ("+-+-++", "++--+-", "+++++-")
    write_cell(tmp_path, "+-----", marks)
    base = [1, 0, 0, 0, 0, 0]
    differences = [
        [(mark == "+") - b for mark, b in zip(column, base, strict=True)] for column in marks
    ]
    source, gains = random.Random(0), []
    for _ in range(200):
        seeds = source.choices(differences, k=3)
        drawn = [source.choices(column, k=6) for column in seeds]
        gains.append(sum(sum(column) / 6 for column in drawn) / 3 * 100)
    gains.sort()
    row = only(tmp_path)
    assert row["ci95_low_pp"] == pytest.approx(gains[math.floor(0.025 * 200)])
    assert row["ci95_high_pp"] == pytest.approx(gains[math.ceil(0.975 * 200) - 1])


def test_scores_between_0_and_1_have_no_mcnemar(tmp_path: Path) -> None:
    write_cell(tmp_path, "hh--", ("++h-", "hhh-", "+++-"))
    row = only(tmp_path)
    assert row["min_p_holm"] is None
    assert row["undefined"] == "min_p_holm: scores are not all 0 or 1"
    assert 0 < row["p"] <= 1
    assert row["delta_pp"] == pytest.approx(100 * (1.5 + 0.5 + 2.0) / 12)


def test_what_costs_nothing_has_no_gain_a_token(tmp_path: Path) -> None:
    write_cell(tmp_path, "+-", ("++", "++", "++"), tokens=(0, 0))
    row = only(tmp_path)
    assert row["gain_per_1000_search_tokens"] is None
    assert row["undefined"] == "gain_per_1000_search_tokens: the searches spent no token"


def test_identity_has_means_and_no_test(tmp_path: Path) -> None:
    write_cell(tmp_path, "+-", ("+-", "+-", "+-"), method="identity")
    frames = frames_of(tmp_path)
    [row] = records_of(frames.gains)
    assert (row["delta_pp"], row["p"], row["family"]) == (0, None, None)
    assert "min_p_holm, p: identity searches nothing" in row["undefined"]
    assert not len(frames.curves)
    assert not len(frames.gain_tests)


@pytest.mark.parametrize(
    ("spoil", "codes", "words"),
    [
        (lambda at: None, "missing_seed:2", "seed 2 is missing"),
        (
            lambda at: write_job(at, "", "", seed=2, phase="searching"),
            "invalid_seed:2:unfinished:searching",
            "seed 2: unfinished (searching)",
        ),
        (
            lambda at: write_job(
                at, "", "", seed=2, phase="searched", envelope={"failure_kind": "infra_invalid"}
            ),
            "invalid_seed:2:unfinished:searched:infra_invalid",
            "seed 2: unfinished (searched, infra invalid)",
        ),
        (
            lambda at: write_job(at, "", "", seed=2, phase="selected"),
            "invalid_seed:2:unfinished:selected",
            "seed 2: unfinished (selected)",
        ),
        (
            lambda at: write_job(at, "+-", "++", seed=2, phase="tested"),
            "invalid_seed:2:unfinished:tested",
            "seed 2: unfinished (tested)",
        ),
        (
            lambda at: write_job(at, "+?", "++", seed=2),
            "invalid_seed:2:unusable_record:q01",
            "seed 2: unusable record (q01)",
        ),
        (
            lambda at: write_job(at, "", "", seed=2),
            "invalid_seed:2:no_rows; example_ids_differ",
            "seed 2: no rows; its seeds were on different problems",
        ),
        (
            lambda at: write_job(at, "+-", "++", seed=2, first=1),
            "example_ids_differ",
            "its seeds were on different problems",
        ),
        (
            lambda at: [write_job(at / m, "+-", m, seed=2) for m in ("++", "--")],
            "duplicate_seed:2",
            "seed 2 is there twice",
        ),
        (
            lambda at: [
                write_job(at, "+-", "++", seed=2),
                write_job(at.parent / "7", "+-", "++", seed=7),
            ],
            "unexpected_seed:7",
            "seed 7 was not asked for",
        ),
    ],
)
def test_an_incomplete_cell_says_why_and_has_no_mean(
    tmp_path: Path, spoil: Callable[[Path], object], codes: str, words: str
) -> None:
    write_job(tmp_path / "0", "+-", "++", seed=0)
    write_job(tmp_path / "1", "+-", "++", seed=1)
    spoil(tmp_path / "2")
    frames = frames_of(tmp_path)
    [row] = records_of(frames.gains)
    assert (row["state"], row["reasons"], row["reason"]) == ("incomplete", codes, words)
    empty = ("delta_pp", "ci95_low_pp", "p", "p_holm", "min_p_holm", "base", "fallbacks")
    assert {row[name] for name in empty} == {None}
    assert all(row["p_mcnemar"] is None for row in records_of(frames.gain_seeds))


def test_other_setups_are_other_cells(tmp_path: Path) -> None:
    write_cell(tmp_path, "+-", ("++",) * 3, name="a")
    for name, changed in (("budget", 300), ("profile", "reference"), ("reflection_model", "w")):
        write_cell(tmp_path, "+-", ("+-",) * 3, name=name, identity={name: changed})
    jobs = read_jobs([tmp_path], include_nonconformant=True)
    rows = records_of(gain_frames(jobs.groups, QUICK).gains)
    assert [row["state"] for row in rows] == ["complete"] * 4
    assert sorted(row["delta_pp"] for row in rows) == [0, 0, 0, 50]


def test_one_group_twice_is_refused(tmp_path: Path) -> None:
    write_cell(tmp_path, "+-", ("++",) * 3)
    [group] = read_jobs([tmp_path]).groups
    with pytest.raises(ContractError, match="two groups"):
        gain_frames([group, group])


def test_curves_hold_what_was_believed_of_the_incumbent(tmp_path: Path) -> None:
    write_cell(tmp_path, "+-", ("++",) * 3)
    rows = [row for row in records_of(frames_of(tmp_path).curves) if row["seed"] == 1]
    assert [(r["rollouts"], r["score"], r["carried_forward"]) for r in rows] == [
        (0, 0.25, False),
        (10, 0.25, False),
        (20, 0.6, False),
        (30, 0.6, True),
    ]


@pytest.mark.parametrize("module", [paired, table])
def test_examples_in_docstrings(module: object) -> None:
    found = doctest.testmod(module)  # type: ignore[arg-type]
    assert found.attempted
    assert not found.failed
