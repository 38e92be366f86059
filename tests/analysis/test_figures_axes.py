"""Figures over one axis: their data to the last number, and what the pictures mark."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from lcbgrid.analysis.frames import Frames, aggregate, records_of
from lcbgrid.analysis.score import score_cell, write_score
from lcbgrid.core.errors import DataError
from lcbgrid.core.files import write_jsonl
from lcbgrid.core.jsonl import read_jsonl

MakeCell = Callable[..., Path]
MakeGrid = Callable[..., Frames]


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
