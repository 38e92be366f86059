"""Aggregation against numbers that others published (skipped where they do not lie)."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from lcbgrid.analysis.passk import Count, mean_pass_at_k
from lcbgrid.analysis.score import score_cell
from lcbgrid.config.main_spec import AnalysisSpec
from lcbgrid.core.files import write_jsonl
from lcbgrid.core.jsonl import read_jsonl

MakeCell = Callable[..., Path]
_REPO = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("LCBGRID_SHARED", _REPO.parent / "shared" / "data"))

pytestmark = pytest.mark.skipif(
    not (DATA / "performances").is_dir(),
    reason="the published results are not there; set LCBGRID_SHARED to their folder",
)


def _counts(name: str, model: str) -> dict[str, Count]:
    with (DATA / "performances" / name).open(newline="", encoding="utf-8") as handle:
        rows = [row for row in csv.DictReader(handle) if row["model"] == model]
    return {row["question_id"]: Count(int(row["n"]), int(row["n_correct"])) for row in rows}


def _meta() -> dict[str, dict[str, str]]:
    with (DATA / "question_meta.csv").open(newline="", encoding="utf-8") as handle:
        return {row["question_id"]: row for row in csv.DictReader(handle)}


@pytest.mark.parametrize(
    ("model", "right", "n"),
    [
        ("O1-Mini-2024-09-12", 602, 880),
        ("Qwen2.5-Coder-7B-Instruct greedy", 297, 1055),
        ("Qwen2.5-7B-Instruct", 252, 1055),
        ("Qwen2.5-7B-Instruct selfrepair", 293, 1055),
    ],
)
def test_pass_at_1_of_whole_releases(model: str, right: int, n: int) -> None:
    counts = _counts("codegen_runs.csv", model)
    assert len(counts) == n
    assert mean_pass_at_k(counts, 1).value == right / n
    assert mean_pass_at_k(counts, 5).value is None


@pytest.mark.parametrize(
    ("model", "start", "end", "right", "n"),
    [
        ("O1-Mini-2024-09-12", "2024-08-01", "2025-02-01", 145, 279),
        ("O1-Mini-2024-09-12", "2023-05-01", "2024-09-01", 490, 667),
    ],
)
def test_windows_with_both_ends(model: str, start: str, end: str, right: int, n: int) -> None:
    meta = _meta()
    counts = {
        question_id: count
        for question_id, count in _counts("codegen_runs.csv", model).items()
        if f"{start}T00:00:00" <= meta[question_id]["contest_date"] <= f"{end}T00:00:00"
    }
    assert len(counts) == n
    assert mean_pass_at_k(counts, 1).value == right / n


def test_pass_at_k_of_ten_samples_of_every_model() -> None:
    published = json.loads((DATA / "performances" / "published_metrics.json").read_text())
    runs = [run for run in published if "pass@10" in run]
    assert len(runs) >= 8
    for run in runs:
        counts = _counts("v6_n10_results.csv", run["run"].rpartition("/")[2])
        for k in (1, 5, 10):
            value = mean_pass_at_k(counts, k).value
            assert value == pytest.approx(run[f"pass@{k}"], abs=1e-12), run["run"]
        assert mean_pass_at_k(counts, 11).value is None


def test_a_whole_cell_of_published_answers(make_cell: MakeCell) -> None:
    counts = _counts("codegen_runs.csv", "Qwen2.5-Coder-7B-Instruct greedy")
    meta = _meta()
    ids = list(counts)
    folder = make_cell(["+" if counts[question_id].c else "-" for question_id in ids])
    for name in ("predictions.jsonl", "verdicts.jsonl"):
        records = list(read_jsonl(folder / name))
        for record, question_id in zip(records, ids, strict=True):
            fields = ("difficulty", "platform", "mode") if name == "predictions.jsonl" else ()
            record.update({key: meta[question_id][key] for key in fields}, question_id=question_id)
        write_jsonl(folder / name, records)
    score = score_cell(folder, AnalysisSpec(pass_at=(1, 5)))
    assert score["pass_at_k"]["1"]["value"] == 297 / 1055
    assert score["pass_at_k"]["5"]["value"] is None
    found = {
        value: (group["c"], group["n"])
        for name in ("difficulty", "platform")
        for value, group in score["by_group"][name].items()
    }
    assert found == {
        "easy": (206, 322),
        "medium": (82, 383),
        "hard": (9, 350),
        "atcoder": (146, 602),
        "codeforces": (2, 9),
        "leetcode": (149, 444),
    }
    interval = score["pass_at_1_interval"]
    assert interval["shown"]["method"] == "wilson"
    assert interval["wilson"]["low"] == pytest.approx(interval["bootstrap"]["low"], abs=0.005)
