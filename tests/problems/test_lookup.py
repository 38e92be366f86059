"""Suites by question id from files."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from lcbgrid.core.errors import DataError, UserError
from lcbgrid.problems.lookup import suites_of

MakeRow = Callable[..., dict[str, Any]]
WriteRows = Callable[..., Path]


def test_suites_by_id_from_several_files(make_row: MakeRow, write_rows: WriteRows) -> None:
    first = write_rows([make_row("a"), make_row("2730", fn_name="twice")], "1.jsonl")
    second = write_rows([make_row("a", private_test_cases="[]"), make_row(7)], "2.jsonl")
    suites = suites_of([first, str(second)])
    assert list(suites) == ["a", "2730", "7"]
    assert len(suites) == 3
    assert [len(suites[question_id].tests) for question_id in ("7", "a", "2730")] == [3, 3, 3]
    assert suites["2730"].fn_name == "twice"
    assert "nowhere" not in suites
    assert suites.get("nowhere") is None


def test_many_threads_read_their_own_rows(make_row: MakeRow, write_rows: WriteRows) -> None:
    ids = [f"q{number}" for number in range(20)]
    rows = [make_row(name, question_content=name * 9000) for name in ids]
    suites = suites_of([write_rows(rows)])
    with ThreadPoolExecutor(8) as threads:
        found = threads.map(lambda name: suites[name].question_id, ids * 20)
        assert list(found) == ids * 20


def test_only_the_rows_asked_for_must_be_sound(make_row: MakeRow, write_rows: WriteRows) -> None:
    rows = [
        make_row("a"),
        make_row("odd", metadata="[]"),
        make_row("none", public_test_cases="[]", private_test_cases="[]"),
    ]
    suites = suites_of([write_rows(rows)])
    assert suites["a"].tests
    with pytest.raises(DataError, match=r"rows\.jsonl:2: question odd: broken row: metadata"):
        suites["odd"]
    with pytest.raises(DataError, match=r"rows\.jsonl:3: question none: it has no tests"):
        suites["none"]


def test_unreadable_files(make_row: MakeRow, write_rows: WriteRows, tmp_path: Path) -> None:
    path = write_rows([make_row("a")])
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(DataError, match=r"rows\.jsonl: line 1 is not JSON"):
        suites_of([path])
    with pytest.raises(UserError, match="no such file"):
        suites_of([tmp_path / "none.jsonl"])
