"""The score of a cell, by numbers made by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lcbgrid.analysis.score import score_cell, write_score
from lcbgrid.config.main_spec import AnalysisSpec
from lcbgrid.core.errors import DataError
from lcbgrid.core.files import dump_json, write_json, write_jsonl
from lcbgrid.core.jsonl import read_jsonl

MakeCell = Callable[..., Path]
MIXED = ["++-", "nnn", "rrr", "tdi"]


def test_counts_and_pass_at_1(make_cell: MakeCell) -> None:
    score = score_cell(make_cell(MIXED))
    assert score["state"] == "finished"
    assert score["pass_at_k"]["1"]["value"] == pytest.approx((2 / 3 + 0 + 1 + 0) / 4)
    assert (score["n_predictions"], score["n_graded"], score["n_right"]) == (12, 10, 5)
    found = {name: (p["n"], p["c"]) for name, p in score["problems"].items()}
    assert found == {"q000": (3, 2), "q001": (3, 0), "q002": (3, 3), "q003": (1, 0)}
    assert list(score["problems"]) == sorted(score["problems"])


def test_lost_answers_are_beside_the_score_and_not_in_it(make_cell: MakeCell) -> None:
    score = score_cell(make_cell(["+", "i", "I", "d", "-"]))
    assert score["pass_at_k"]["1"]["value"] == 0.5
    assert (score["n_problems"], score["n_problems_scored"]) == (5, 2)
    assert score["lost"] == {
        "infra_error": [
            {"question_id": "q001", "sample_index": 0},
            {"question_id": "q002", "sample_index": 0},
        ],
        "data_error": [{"question_id": "q003", "sample_index": 0}],
    }


def test_a_lost_answer_stays_lost_whatever_the_judge_says(make_cell: MakeCell) -> None:
    folder = make_cell(["+", "I"])
    verdicts = list(read_jsonl(folder / "verdicts.jsonl"))
    verdicts[1]["status"] = "no_code"
    write_jsonl(folder / "verdicts.jsonl", verdicts)
    assert score_cell(folder)["pass_at_k"]["1"]["value"] == 1.0


def test_nothing_graded_is_undefined_and_not_zero(make_cell: MakeCell) -> None:
    score = score_cell(make_cell(["i", "d"]))
    assert score["state"] == "undefined"
    assert score["pass_at_k"]["1"] == {"value": None, "reason": "no problem has a graded answer"}
    assert score["pass_at_1_interval"] is None


def test_subsets(make_cell: MakeCell) -> None:
    score = score_cell(make_cell(MIXED))
    assert score["extracted"] == {"n": 7, "c": 5, "pass_at_1": 5 / 7}
    difficulty = score["by_group"]["difficulty"]
    assert list(difficulty) == ["easy", "medium", "hard"]
    assert difficulty["easy"] == {"n_problems": 2, "n": 4, "c": 2, "pass_at_1": 1 / 3}
    assert score["by_group"]["platform"]["atcoder"]["pass_at_1"] == pytest.approx(5 / 6)
    assert score["by_group"]["mode"]["functional"]["pass_at_1"] == 0.0


def test_pass_at_k_asked_and_supported_or_undefined_with_its_reason(make_cell: MakeCell) -> None:
    spec = AnalysisSpec(pass_at=(1, 2, 3, 5))
    score = score_cell(make_cell(["+--", "++-"]), spec)
    found = score["pass_at_k"]
    assert found["2"]["value"] == pytest.approx(((1 - 1 / 3) + 1) / 2)
    assert found["3"]["value"] == 1.0
    assert found["5"]["value"] is None
    assert "pass@5 needs 5 graded answers a problem, there are 3" in found["5"]["reason"]
    lossy = score_cell(make_cell(["+--", "+-i"]), spec)["pass_at_k"]
    assert lossy["2"]["value"] is not None
    assert lossy["3"]["reason"].endswith("there are 2 for 'q001'")


def test_share_of_tests_passed(make_cell: MakeCell) -> None:
    score = score_cell(make_cell(MIXED))
    by_hand = ((1 + 1 + 0.25) / 3 + 0 + 1 + 0.25) / 4
    assert score["tests_passed_share"]["value"] == pytest.approx(by_hand)
    stopped = make_cell(MIXED)
    write_json(stopped / "judge.json", {"stop_at_first_failure": True})
    assert score_cell(stopped)["tests_passed_share"] == {
        "value": None,
        "reason": "the judge stopped at the first failure",
    }


@pytest.mark.parametrize(
    ("marks", "share", "warning"),
    [(["t", "-"], 0.5, True), (["-"] * 49 + ["t"], 0.02, False), (["t", "i"], 1.0, True)],
)
def test_truncated_replies_are_counted_and_warned_about(
    make_cell: MakeCell, marks: list[str], share: float, warning: bool
) -> None:
    truncated = score_cell(make_cell(marks))["truncated"]
    assert truncated["share"] == share
    assert truncated["warning"] is warning


def test_statuses_repeats_and_usage(make_cell: MakeCell) -> None:
    score = score_cell(make_cell(MIXED))
    assert score["statuses"]["predictions"] == {
        "infra_error": 1,
        "no_code": 3,
        "ok": 7,
        "truncated": 1,
    }
    assert sum(score["statuses"]["verdicts"].values()) == 12
    assert score["repeats"] == {"n_problems_with_repeats": 2, "n_problems_all_identical": 1}
    assert score["usage"]["total_tokens"] == 12 * 120
    assert score["usage"]["tokens_per_attempt"] == 120.0
    assert score["usage"]["cost_usd"] is None


def test_cost_needs_prices(make_cell: MakeCell) -> None:
    prices = {"price_input_usd_per_mtok": 2.0, "price_output_usd_per_mtok": 10.0}
    usage = score_cell(make_cell(["+", "-"]), prices=prices)["usage"]
    assert usage["cost_usd"] == pytest.approx((200 * 2 + 40 * 10) / 1e6)


def test_missing_answers_leave_the_cell_unfinished(make_cell: MakeCell) -> None:
    score = score_cell(make_cell(["+", "-"], n_problems=4))
    assert score["state"] == "unfinished"
    assert score["reason"] == "2 of 4 answers are missing"
    assert score["pass_at_k"]["1"]["value"] is None
    assert score["problems"]["q000"]["c"] == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_samples": 1}, r"question 'q000' has a sample 1, but the cell asks for 1"),
        ({"n_problems": 1}, r"answers to 2 problems, but the data set has 1"),
        ({"changes": {"run": {}}}, r"cell.json: 'run.n_samples' must be a whole number"),
        ({"changes": {"seed": "0"}}, r"axis 'seed' must be int \(got 0\)"),
    ],
)
def test_answers_that_the_cell_does_not_ask_for(
    make_cell: MakeCell, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        score_cell(make_cell(["++", "+-"], **options))


def _edit(path: Path, change: Callable[[list[dict[str, Any]]], object]) -> None:
    records = list(read_jsonl(path))
    change(records)
    write_jsonl(path, records)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("verdicts", lambda r: r.pop(), r"without a verdict: question 'q001', sample 0"),
        ("predictions", lambda r: r.pop(), r"without a prediction: question 'q001', sample 0"),
        ("predictions", lambda r: r.append(r[0]), r"predictions.jsonl: stands twice: .*'q000'"),
        ("verdicts", lambda r: r.append(r[0]), r"verdicts.jsonl: stands twice: .*'q000'"),
        (
            "verdicts",
            lambda r: r[0].update(rules="official"),
            r"different 'rules'.*official, real",
        ),
        ("verdicts", lambda r: r[0].update(status="pased"), r"got pased\); did you mean 'passed'"),
        ("predictions", lambda r: r[0].update(platform=None), r"'platform' of question 'q000'"),
        ("predictions", lambda r: r[0].update(question_id=7), r"needs a text 'question_id'"),
        ("verdicts", lambda r: r[0].update(n_total=-1), r"'n_total' must be a whole number"),
    ],
)
def test_files_that_do_not_belong_together(
    make_cell: MakeCell,
    name: str,
    change: Callable[[list[dict[str, Any]]], object],
    message: str,
) -> None:
    folder = make_cell(["+", "-"])
    _edit(folder / f"{name}.jsonl", change)
    with pytest.raises(DataError, match=message):
        score_cell(folder)


@pytest.mark.parametrize("name", ["cell.json", "predictions.jsonl", "verdicts.jsonl"])
def test_a_missing_file_is_named(make_cell: MakeCell, name: str) -> None:
    folder = make_cell(["+"])
    (folder / name).unlink()
    with pytest.raises(DataError, match=name):
        score_cell(folder)


def test_the_order_of_records_does_not_matter(make_cell: MakeCell, tmp_path: Path) -> None:
    first = write_score(make_cell(MIXED, name="a"), tmp_path / "a.json")
    write_score(make_cell(MIXED, name="b", reverse=True), tmp_path / "b.json")
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    assert json.loads((tmp_path / "a.json").read_text()) == json.loads(dump_json(first))


def test_no_path_of_this_machine_in_the_score(make_cell: MakeCell) -> None:
    folder = make_cell(MIXED)
    assert str(folder.parent.parent) not in dump_json(score_cell(folder))
