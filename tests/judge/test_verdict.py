from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcbgrid.judge.verdict import JUDGE_VERSION, TestOutcome, Verdict


def verdict(*statuses: str, status: str | None = None, n_total: int | None = None) -> Verdict:
    outcomes = tuple(
        TestOutcome(i, s, None if s == "passed" else "why", None, 0.5 + i, 0.25, 3.0)  # type: ignore[arg-type]
        for i, s in enumerate(statuses)
    )
    failing = [o.index for o in outcomes if not o.passed]
    decided = status or (outcomes[failing[0]].status if failing else "passed")
    return Verdict(
        question_id="q",
        status=decided,  # type: ignore[arg-type]
        outcomes=outcomes,
        n_passed=len(outcomes) - len(failing),
        n_total=len(outcomes) if n_total is None else n_total,
        first_failing=failing[0] if failing else None,
        message=None,
        rules="real",
        tier="bwrap",
        limits={"time_s": 6.0},
    )


@pytest.mark.parametrize(
    ("made", "rate"),
    [
        (verdict("passed", "wrong_answer"), 0.5),
        (verdict("passed", "passed"), 1.0),
        (verdict("wrong_answer", n_total=5), None),
        (verdict(status="compile_error", n_total=5), 0.0),
        (verdict(status="no_code", n_total=5), 0.0),
        (verdict(status="data_error", n_total=0), None),
        (verdict(status="infra_error", n_total=5), None),
    ],
)
def test_the_pass_rate_is_known_only_if_all_tests_ran(made: Verdict, rate: float | None) -> None:
    assert made.pass_rate == rate


@given(st.lists(st.sampled_from(["passed", "wrong_answer", "time_limit"]), min_size=1, max_size=9))
def test_a_record_comes_back_as_it_was(statuses: list[str]) -> None:
    record = verdict(*statuses).to_record()
    assert Verdict.from_record(json.loads(json.dumps(record))).to_record() == record


def test_a_record_holds_no_measurement() -> None:
    record = verdict("passed", "wrong_answer").to_record()
    assert record["judge_version"] == JUDGE_VERSION
    text = json.dumps(record)
    assert "wall" not in text
    assert "cpu" not in text
    assert "memory" not in text
    timing = verdict("passed", "wrong_answer").timing_record()
    assert timing["near_limit"] is False
    assert [test["wall_s"] for test in timing["tests"]] == [0.5, 1.5]


@pytest.mark.parametrize(("limit_s", "near"), [(0.3, True), (0.32, False), (None, False)])
def test_a_test_that_took_most_of_its_time_is_flagged(limit_s: float | None, near: bool) -> None:
    made = replace(verdict("passed"), limits={"time_s": limit_s})
    assert made.near_limit is near


@pytest.mark.parametrize(
    ("status", "is_score"),
    [("data_error", False), ("infra_error", False), ("compile_error", True), ("no_code", True)],
)
def test_errors_of_ours_are_no_scores(status: str, is_score: bool) -> None:
    assert verdict(status=status, n_total=1).is_score is is_score
