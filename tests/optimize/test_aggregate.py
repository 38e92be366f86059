"""``python -m optimizers.protocol.aggregate`` on jobs that were really run."""

from __future__ import annotations

import asyncio
import json
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lcbgrid.cli.optimize_aggregate import main
from lcbgrid.optimize.job import ENVELOPE, RESULT, run_job
from lcbgrid.optimize.landscape_cell import landscape_cell

from .optimize_helpers import small_world

RUNS = [
    (topology, method, seed)
    for topology in ("single", "sequential")
    for method in ("identity", "random_rewrites")
    for seed in (0, 1, 2)
]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Finished jobs of two topologies."""
    root = tmp_path_factory.mktemp("jobs") / "runs"
    for topology, method, seed in RUNS:
        cell = landscape_cell(small_world(), topology)
        job = cell.job(method, seed, 30)
        asyncio.run(run_job(root / topology / method / str(seed), job, cell))
    return root


def last_line(text: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text.splitlines()[-1])
    return found


def test_the_documented_command_sums_up(runs: Path, tmp_path: Path) -> None:
    out = tmp_path / "summary.json"
    arguments = ["-m", "optimizers.protocol.aggregate", f"{runs}/", "--out", str(out)]
    done = subprocess.run(
        [sys.executable, "-W", "error", *arguments, "--include-nonconformant"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert last_line(done.stdout) == {
        "cells": 4,
        "complete": 4,
        "figures": None,
        "jobs": 12,
        "left_out": 0,
        "out": out.as_posix(),
    }
    assert "random_rewrites  landscape (simulated)  sequential" in done.stdout
    assert "interaction" in done.stdout
    summary = json.loads(out.read_text())
    assert summary["schema"] == "lcbgrid-optimizer-summary/v1"
    assert summary["rules"]["bootstrap"] == 10_000
    assert str(runs) not in out.read_text()


def test_a_cell_holds_what_its_jobs_found(runs: Path, tmp_path: Path) -> None:
    out = tmp_path / "summary.json"
    assert main([str(runs), "--out", str(out), "--include-nonconformant", "--quiet"]) == 0
    [cell] = [
        cell
        for cell in json.loads(out.read_text())["cells"]
        if (cell["topology"], cell["method"]) == ("sequential", "random_rewrites")
    ]
    deltas, tokens = [], []
    for seed in (0, 1, 2):
        folder = runs / "sequential/random_rewrites" / str(seed)
        deltas.append(json.loads((folder / RESULT).read_text())["delta_pp"])
        usage = json.loads((folder / ENVELOPE).read_text())["usage"]
        tokens.append(usage["task"]["total_tokens"] + usage["reflection"]["total_tokens"])
    assert [seed["delta_pp"] for seed in cell["per_seed"]] == pytest.approx(deltas)
    assert cell["delta_pp"] == pytest.approx(sum(deltas) / 3)
    assert cell["search_tokens"] == pytest.approx(sum(tokens) / 3)
    assert cell["gain_per_1000_search_tokens"] == pytest.approx(1000 * sum(deltas) / sum(tokens))
    assert (cell["budget"], cell["profile"], cell["simulated"]) == (30, "improved", True)
    assert cell["reasons"] == []


def test_the_order_of_folders_changes_no_byte(runs: Path, tmp_path: Path) -> None:
    folders = sorted(path.parent for path in runs.rglob(RESULT))
    roots = []
    for name in ("one", "two"):
        root = tmp_path / name / "runs"
        random.Random(name).shuffle(folders)
        for number, folder in enumerate(folders):
            shutil.copytree(folder, root / f"{number % 3}" / f"{number}")
        roots.append(root)
    arguments = ["--include-nonconformant", "--bootstrap", "200", "--quiet"]
    for root in roots:
        out = ["--out", str(root.parent / "s.json"), "--figures", str(root.parent / "figures")]
        split = [str(root / "2"), str(root / "0"), str(root / "1")]
        assert main([*split, *arguments, *out]) == 0
    first, second = (
        {path.name: path.read_bytes() for path in root.parent.rglob("*.*") if _is_product(path)}
        for root in roots
    )
    assert len(first) == 16
    assert first == second


def _is_product(path: Path) -> bool:
    return path.is_file() and (path.parent.name == "figures" or path.name == "s.json")


def test_what_does_not_conform_is_counted_and_named(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "s.json"
    assert main([str(runs), "--out", str(out)]) == 0
    told = capsys.readouterr()
    assert last_line(told.out)["left_out"] == 12
    assert "12 of 12 jobs left out: budget 30, not 600 (12)" in told.err
    assert "add --include-nonconformant" in told.err
    left_out = json.loads(out.read_text())["jobs"]["left_out"]
    assert len(left_out) == 12
    assert left_out[0]["reasons"][0] == "budget 30, not 600"


def test_mistakes_are_one_line_and_status_2(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for arguments, said in (
        ([], "required"),
        ([str(tmp_path / "gone")], "there is no such folder"),
        ([str(tmp_path)], "there is no optimizer job below it"),
        ([str(runs), "--family", "tasks"], "no such family"),
        ([str(runs), "--bootstrap", "99"], "at least 100 replicates"),
        ([str(runs), "--bootstrap", "many"], "invalid int value"),
        ([str(runs), "--boots", "100"], "unrecognized arguments"),
    ):
        assert main(arguments) == 2, arguments
        told = capsys.readouterr()
        assert said in told.err
        assert len(told.err.splitlines()) == 1
        assert told.out == ""


def test_a_damaged_file_is_named_and_nothing_is_written(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(runs, tmp_path / "runs")
    path = tmp_path / "runs/single/identity/1" / RESULT
    path.write_text(path.read_text().replace('"delta_pp":', '"delta_pp":1'))
    out = tmp_path / "s.json"
    assert main([str(tmp_path / "runs"), "--out", str(out), "--include-nonconformant"]) == 2
    assert str(path) in capsys.readouterr().err
    assert not out.exists()
