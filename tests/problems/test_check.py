"""The check of files, and of the id lists of LiveCodeBench."""

from __future__ import annotations

import json
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lcbgrid.config.problem_spec import DatasetSpec
from lcbgrid.core.errors import DataError, UserError
from lcbgrid.problems.check import check_files
from lcbgrid.problems.splits import (
    ERRATA_KINDS,
    SPLIT_NAMES,
    IdRow,
    choose_lcb_splits,
    read_errata,
    read_splits,
)
from lcbgrid.problems.verify_ids import read_eval_ids, verify_ids

MakeRow = Callable[..., dict[str, Any]]
WriteRows = Callable[..., Path]


def test_sound_files(make_row: MakeRow, write_rows: WriteRows) -> None:
    first = write_rows([make_row("a"), make_row("b", private_test_cases="[]")], "1.jsonl")
    second = write_rows([make_row("2730", fn_name="twice"), make_row("a")], "2.jsonl")
    lines: list[str] = []
    assert check_files([first, str(second)], lines.append) == 0
    assert lines == [
        "1.jsonl: 2 rows, 2 usable (functional 0, stdin 2, public tests only 1), "
        "0 skipped, 0 broken, 4 tests",
        "  platform: atcoder 2",
        "  difficulty: easy 2, medium 0, hard 0",
        "2.jsonl: 2 rows, 2 usable (functional 1, stdin 1, public tests only 0), "
        "0 skipped, 0 broken, 6 tests",
        "  platform: atcoder 1, leetcode 1",
        "  difficulty: easy 2, medium 0, hard 0",
        "checked 2 files: 4 rows, 4 usable (functional 1, stdin 3, public tests only 1), "
        "0 skipped, 0 broken, 10 tests; 1 ids appear in more than one file",
    ]


def test_one_line_per_row_that_cannot_be_used(make_row: MakeRow, write_rows: WriteRows) -> None:
    rows = [
        make_row("a"),
        make_row("none", public_test_cases="[]", private_test_cases="[]"),
        make_row("cut", private_test_cases="eJwLSS0u"),
        make_row("a"),
    ]
    path = write_rows(rows)
    with open(path, "a") as handle:
        handle.write('{"question_id": "to')
    lines: list[str] = []
    assert check_files([path], lines.append) == 1
    assert lines[:4] == [
        "rows.jsonl:2: question none: skipped: it has no tests, neither public nor private",
        "rows.jsonl:3: question cut: broken: private_test_cases cannot be read: "
        "the compressed data is cut off",
        "rows.jsonl:4: question a: broken: the question id appears twice in this file",
        lines[3],
    ]
    assert lines[3].startswith("rows.jsonl:5: question (unknown id): broken: line 5 is not JSON")
    assert "5 rows, 1 usable" in lines[-1]
    assert "1 skipped, 3 broken" in lines[-1]


def test_skipped_rows_alone_are_no_failure(make_row: MakeRow, write_rows: WriteRows) -> None:
    path = write_rows([make_row("a", public_test_cases="[]", private_test_cases="[]")])
    assert check_files([path], lambda _: None) == 0


def test_a_damaged_file_does_not_hide_the_others(
    make_row: MakeRow, write_rows: WriteRows, tmp_path: Path
) -> None:
    damaged = tmp_path / "damaged.json"
    damaged.write_text("[{")
    lines: list[str] = []
    assert check_files([damaged, write_rows([make_row("a")])], lines.append) == 1
    assert "damaged.json: not a JSON list" in lines[0]
    assert "1 usable" in lines[-1]


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such file"):
        check_files([tmp_path / "none.jsonl"], lambda _: None)


def test_all_real_files_are_usable(shared_data: Path) -> None:
    lines: list[str] = []
    assert check_files(sorted(shared_data.glob("lcb_*.jsonl")), lines.append) == 0
    assert ", 0 broken" in lines[-1]


@pytest.fixture
def lcb_dir(repository: Path) -> Path:
    return repository / "benchmarks" / "lcb"


def test_the_committed_lists(lcb_dir: Path) -> None:
    eval_ids = read_eval_ids(lcb_dir / "lcb_eval_ids.json")
    splits = read_splits(lcb_dir / "lcb_splits.json")
    assert (len(splits.train), len(splits.validation), len(splits.test)) == (150, 50, 50)
    assert splits.test == eval_ids
    assert len({*splits.train, *splits.validation, *splits.test}) == 250
    errata = read_errata(lcb_dir / "lcb_errata.json")
    assert set(errata.values()) == set(ERRATA_KINDS)
    assert not errata.keys() & {*splits.train, *splits.validation}


def test_the_committed_lists_against_the_data(shared_data: Path) -> None:
    for source, n_checks in (("question_meta.csv", 8), ("id_order.json", 7)):
        lines: list[str] = []
        assert verify_ids(shared_data / source, lines.append) == 0, lines
        assert lines[-1].startswith(f"{n_checks} of {n_checks} checks hold against")


def test_the_lists_can_be_made_again(lcb_dir: Path, shared_data: Path, tmp_path: Path) -> None:
    main = runpy.run_path(str(lcb_dir / "build_splits.py"))["main"]
    meta = str(shared_data / "question_meta.csv")
    assert main(["--meta", meta, "--out", str(tmp_path)]) == 0
    for name in ("lcb_eval_ids.json", "lcb_splits.json"):
        assert (tmp_path / name).read_bytes() == (lcb_dir / name).read_bytes()
    assert main(["--meta", meta, "--check"]) == 0


def id_rows(count: int) -> list[IdRow]:
    platforms, difficulties = ("atcoder", "leetcode"), ("easy", "medium", "hard")
    return [IdRow(f"q{n:04}", platforms[n % 2], difficulties[n % 3]) for n in range(count)]


def test_the_rule_covers_groups_and_files_evenly() -> None:
    rows = id_rows(1055)
    faulty = set(choose_lcb_splits(rows, ()).train[::10])
    splits = choose_lcb_splits(rows, faulty)
    place = {row.question_id: n for n, row in enumerate(rows)}
    assert splits.test == tuple(row.question_id for row in rows[:50])
    for name in SPLIT_NAMES:
        places = [place[question_id] for question_id in splits.ids(name)]
        assert places == sorted(places), "release order"
    for name in ("train", "validation"):
        chosen = [rows[place[question_id]] for question_id in splits.ids(name)]
        assert len({(row.platform, row.difficulty) for row in chosen}) == 6
        assert len([row for row in chosen if place[row.question_id] < 552]) * 2 == pytest.approx(
            len(chosen), abs=8
        )
    assert not faulty & {*splits.train, *splits.validation}


def test_too_few_rows() -> None:
    with pytest.raises(DataError, match=r"too few rows to split \(got 249\)"):
        choose_lcb_splits(id_rows(249), ())


@pytest.fixture
def lists(tmp_path: Path) -> Path:
    splits = choose_lcb_splits(id_rows(300), {"q0299"})
    folder = tmp_path / "lcb"
    folder.mkdir()
    (folder / "lcb_eval_ids.json").write_text(json.dumps(splits.test))
    (folder / "lcb_splits.json").write_text(json.dumps(splits.to_record()))
    errata = {kind: [] for kind in ERRATA_KINDS} | {"bad_tests": ["q0299"]}
    (folder / "lcb_errata.json").write_text(json.dumps(errata))
    return folder


def write_list(path: Path, rows: list[IdRow]) -> Path:
    lines = [f"{row.question_id},{row.platform},{row.difficulty}" for row in rows]
    path.write_text("\n".join(["question_id,platform,difficulty", *lines]))
    return path


def verify(lists: Path, rows: list[IdRow]) -> tuple[int, list[str]]:
    lines: list[str] = []
    source = write_list(lists / "order.csv", rows)
    return verify_ids(source, lines.append, lcb_dir=lists), lines


def test_lists_that_fit(lists: Path) -> None:
    status, lines = verify(lists, id_rows(300))
    assert status == 0
    assert all(line.startswith("ok: ") for line in lines[:-1])
    assert lines[-1] == "8 of 8 checks hold against 300 ids"


def test_another_order(lists: Path) -> None:
    rows = id_rows(300)
    rows[3], rows[4] = rows[4], rows[3]
    status, lines = verify(lists, rows)
    assert status == 1
    assert lines[0].startswith("DIFFERENT: evaluation ids are the first 50 rows, in order (row 4")


def test_missing_ids(lists: Path) -> None:
    status, lines = verify(lists, id_rows(280))
    assert status == 1
    assert any(
        "every train id is in the data" in line and "missing: q02" in line for line in lines
    )


def test_another_rule(lists: Path) -> None:
    record = json.loads((lists / "lcb_splits.json").read_text())
    record["train"][0], record["validation"][0] = record["validation"][0], record["train"][0]
    (lists / "lcb_splits.json").write_text(json.dumps(record))
    status, lines = verify(lists, id_rows(300))
    assert status == 1
    assert "DIFFERENT: the stated rule gives these splits" in lines


def test_verification_against_rows(lists: Path, make_row: MakeRow, write_rows: WriteRows) -> None:
    rows = [
        make_row(row.question_id, platform=row.platform, difficulty=row.difficulty)
        for row in id_rows(300)
    ]
    spec = DatasetSpec(name="mine", source="local", files=(str(write_rows(rows)),))
    assert verify_ids(spec, lambda _: None, lcb_dir=lists) == 0


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("lcb_eval_ids.json", "{}", "not a list of question ids"),
        ("lcb_eval_ids.json", "[1]", "not a list of question ids"),
        ("lcb_eval_ids.json", "[", "not JSON"),
        ("lcb_splits.json", '{"train": []}', "'validation' must be a list"),
        (
            "lcb_splits.json",
            '{"train": ["a"], "validation": ["a"], "test": []}',
            "question a is listed in train and in validation",
        ),
        ("lcb_errata.json", "[]", "not a JSON object"),
    ],
)
def test_malformed_lists(lists: Path, name: str, content: str, reason: str) -> None:
    (lists / name).write_text(content)
    with pytest.raises(DataError, match=reason):
        verify(lists, id_rows(300))


def test_malformed_sources_of_ids(lists: Path, tmp_path: Path) -> None:
    table = tmp_path / "ids.csv"
    table.write_text("question_id,platform\na,b\n")
    text = tmp_path / "ids.txt"
    text.write_text("a\n")
    with pytest.raises(DataError, match="column 'difficulty' is missing"):
        verify_ids(table, lcb_dir=lists)
    with pytest.raises(UserError, match="no such file"):
        verify_ids(tmp_path / "none.csv", lcb_dir=lists)
    with pytest.raises(UserError, match=r"is a \.csv or \.json file"):
        verify_ids(text, lcb_dir=lists)
