"""Measured times, by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from lcbgrid.analysis.tables import make_timing_table
from lcbgrid.analysis.timing import quantile, time_cell, write_timing
from lcbgrid.core.errors import DataError
from lcbgrid.core.files import write_jsonl

JUDGED = [
    {"question_id": "a", "tests": [{"wall_s": 0.25}, {"wall_s": 0.125}]},
    {"question_id": "b", "tests": [{"wall_s": 0.375}]},
    {"question_id": "c"},
]
MakeCell = Callable[..., Path]


def _timed(folder: Path) -> Path:
    calls = [
        {"key": str(i), "latency_s": latency, "retries": i % 2, "waited_s": 0.5 * (i % 2)}
        for i, latency in enumerate((1.0, 2.0, 4.0, 8.0))
    ]
    write_jsonl(folder / "timing.jsonl", calls)
    write_jsonl(folder / "judge_timing.jsonl", JUDGED)
    return folder


def test_times_by_hand(make_cell: MakeCell) -> None:
    times = time_cell(_timed(make_cell(["+"])))
    assert times["n_calls_timed"] == 4
    assert times["latency_p50_s"] == 3.0
    assert times["latency_p90_s"] == pytest.approx(4 + 0.7 * 4)
    assert times["latency_mean_s"] == 3.75
    assert times["latency_total_s"] == 15.0
    assert (times["retries"], times["waited_total_s"], times["judge_total_s"]) == (2, 1.0, 0.75)


def test_a_cell_without_measurements_has_no_times(make_cell: MakeCell) -> None:
    times = time_cell(make_cell(["+"]))
    assert (times["n_calls_timed"], times["latency_p50_s"], times["judge_total_s"]) == (0, None, 0)


def test_a_torn_last_line_is_left_out(
    make_cell: MakeCell, caplog: pytest.LogCaptureFixture
) -> None:
    folder = _timed(make_cell(["+"]))
    with (folder / "timing.jsonl").open("a") as handle:
        handle.write('{"latency_s": 9')
    assert time_cell(folder)["n_calls_timed"] == 4
    assert "torn" in caplog.text


def test_a_negative_time_is_an_error(make_cell: MakeCell) -> None:
    folder = make_cell(["+"])
    write_jsonl(folder / "timing.jsonl", [{"latency_s": -1.0}])
    with pytest.raises(DataError, match=r"'latency_s' must be a number from 0 \(got -1.0\)"):
        time_cell(folder)


def test_quantiles_of_little() -> None:
    assert quantile([], 0.5) is None
    assert quantile([3.0], 0.9) == 3.0


def test_timing_table(make_cell: MakeCell, tmp_path: Path) -> None:
    target = tmp_path / "times" / "a.json"
    write_timing(_timed(make_cell(["+"])), target)
    paths = make_timing_table([target], tmp_path / "tables")
    assert [path.name for path in paths] == ["timing.csv", "timing.md"]
    text = paths[1].read_text()
    assert (
        "| direct | identity | model-a | 4 | 3.00 | 6.80 | 3.75 | 15.0 | 2 | 1.0 | 2 | 0.8 |"
        in text
    )
    assert "not reproducible" in text
