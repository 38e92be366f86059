"""The reference page names every column and every field of a score."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lcbgrid.analysis import columns, columns_gains, passk, provenance, timing
from lcbgrid.analysis.score import score_cell
from lcbgrid.analysis.timing import time_cell

REFERENCE = Path(__file__).resolve().parents[2] / "docs" / "reference"
PAGE = REFERENCE / "metrics.md"
MakeCell = Callable[..., Path]


@pytest.fixture(scope="module")
def named() -> set[str]:
    return set(re.findall(r"`([a-z0-9_]+)`", PAGE.read_text(encoding="utf-8")))


@pytest.mark.parametrize("frame", ["CELL", "SETTING", "MARGIN", "PROBLEM", "GROUP"])
def test_every_column_is_documented(named: set[str], frame: str) -> None:
    names = {column.name for column in getattr(columns, f"{frame}_COLUMNS")}
    assert names <= named


@pytest.mark.parametrize("frame", ["GAIN", "SEED", "TEST", "CURVE"])
def test_every_column_about_optimizers_is_documented(frame: str) -> None:
    text = (REFERENCE / "optimizer-statistics.md").read_text(encoding="utf-8")
    names = {column.name for column in getattr(columns_gains, f"{frame}_COLUMNS")}
    assert names <= set(re.findall(r"`([a-z0-9_]+)`", text))


def test_every_field_of_score_and_times_is_documented(
    named: set[str], make_cell: MakeCell
) -> None:
    folder = make_cell(["+"])
    assert score_cell(folder).keys() <= named
    assert time_cell(folder).keys() <= named


@pytest.mark.parametrize("module", [passk, provenance, timing])
def test_examples_in_docstrings(module: object) -> None:
    found = doctest.testmod(module)  # type: ignore[arg-type]
    assert found.attempted
    assert not found.failed


@pytest.mark.slow
def test_the_example_about_optimizers_prints_its_table(tmp_path: Path) -> None:
    """The commands of the page run as they stand; what no method decides stands below them."""
    text = (REFERENCE / "optimizer-statistics.md").read_text(encoding="utf-8")
    commands = text.split("```sh\n")[1].split("```\n")[0]
    shown = text.split("```text\n")[1].split("```\n")[0].splitlines()
    (tmp_path / "config").symlink_to(REFERENCE.parents[1] / "config")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-e", "-c", commands],
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    printed = done.stdout.splitlines()
    header = next(line for line in printed if line.startswith("optimizer"))
    row = next(line for line in printed if line.startswith("mipro"))
    assert header.split() == shown[0].split()
    n_steady = 9  # up to base; the rest is the success of the method
    assert row.split()[:n_steady] == shown[2].split()[:n_steady]
    assert (tmp_path / "runs/summary.json").is_file()
