"""Rows of our own making in the schema of the hub data set."""

from __future__ import annotations

import base64
import json
import pickle
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from lcbgrid.core.hashing import sha256_file

Row = dict[str, Any]


def encode_tests(tests: object, protocol: int = 4) -> str:
    """Wrap a test list as the data set does: JSON, pickle, zlib, base64."""
    packed = zlib.compress(pickle.dumps(json.dumps(tests), protocol))
    return base64.b64encode(packed).decode()


def stdin_test(number: int) -> dict[str, str]:
    """Return a test of the problem "print twice the number"."""
    return {"input": f"{number}\n", "output": f"{2 * number}\n", "testtype": "stdin"}


def functional_test(number: int) -> dict[str, str]:
    """Return a test of the function "twice the number"."""
    return {"input": f"{number}", "output": f"{2 * number}", "testtype": "functional"}


def make_row(question_id: str = "q1", **changes: Any) -> Row:
    """Return a sound stdin row; with ``fn_name`` a functional one."""
    fn_name = changes.pop("fn_name", None)
    make_test = functional_test if fn_name else stdin_test
    row = {
        "question_title": f"Twice {question_id}",
        "question_content": "Print twice the number.\r\nIt is small.",
        "platform": "leetcode" if fn_name else "atcoder",
        "question_id": question_id,
        "contest_id": "c1",
        "contest_date": "2024-08-01T00:00:00",
        "starter_code": f"class Solution:\n    def {fn_name}(self, n):" if fn_name else "",
        "difficulty": "easy",
        "public_test_cases": json.dumps([make_test(1)]),
        "private_test_cases": encode_tests([make_test(2), make_test(3)]),
        "metadata": json.dumps({"func_name": fn_name} if fn_name else {}),
    }
    return {**row, **changes}


def write_jsonl(path: Path, rows: Iterable[Row]) -> Path:
    """Write one row a line."""
    with open(path, "w", encoding="utf-8", newline="\n") as handle:
        for row in rows:
            handle.write(json.dumps(row) + "\n")
    return path


@pytest.fixture(name="make_row")
def _make_row() -> Callable[..., Row]:
    return make_row


@pytest.fixture(name="encode_tests")
def _encode_tests() -> Callable[..., str]:
    return encode_tests


@pytest.fixture(name="write_rows")
def _write_rows(tmp_path: Path) -> Callable[..., Path]:
    """Return a writer of JSON lines files in the test's own folder."""

    def write(rows: Iterable[Row], name: str = "rows.jsonl") -> Path:
        return write_jsonl(tmp_path / name, rows)

    return write


@pytest.fixture(name="no_hub", autouse=True)
def _no_hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep the user's caches, folders and network out of the tests."""
    for name in ("LCBGRID_HUB_DIR", "LCBGRID_EMBEDDED_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


@pytest.fixture(name="stand_in")
def _stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Return a maker of folders that stand in for the hub, one row list a shard."""

    def make(*shards: list[Row]) -> Path:
        folder = tmp_path / "hub"
        folder.mkdir()
        listing = {}
        for number, rows in enumerate(shards, start=1):
            name = "test.jsonl" if number == 1 else f"test{number}.jsonl"
            path = write_jsonl(folder / name, rows)
            listing[name] = {"sha256": sha256_file(path), "rows": len(rows)}
        (folder / "shards.json").write_text(json.dumps(listing))
        monkeypatch.setenv("LCBGRID_HUB_DIR", str(folder))
        return folder

    return make
