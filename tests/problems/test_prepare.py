"""Preparation and the store: what is written, what is refused, and that it is reproducible."""

from __future__ import annotations

import gzip
import json
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lcbgrid.config.problem_spec import DatasetSpec, FilterSpec
from lcbgrid.core.errors import (
    BusyError,
    ConfigError,
    DataError,
    InfrastructureError,
    UserError,
)
from lcbgrid.core.locks import held
from lcbgrid.problems.manifest import Manifest
from lcbgrid.problems.prepare import prepare
from lcbgrid.problems.rows import NO_TESTS, Skipped
from lcbgrid.problems.store import PreparedProblems, suite_file_name

MakeRow = Callable[..., dict[str, Any]]
WriteRows = Callable[..., Path]


def local(*paths: Path, **more: Any) -> DatasetSpec:
    return DatasetSpec(name="mine", source="local", files=tuple(map(str, paths)), **more)


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


@pytest.fixture
def rows(make_row: MakeRow) -> list[dict[str, Any]]:
    return [
        make_row("abc_b", difficulty="hard"),
        make_row("2730", fn_name="twice", contest_date="2025-01-01T19:30:00"),
        make_row("empty", public_test_cases="[]", private_test_cases="[]"),
        make_row("abc_a", private_test_cases="[]"),
    ]


def test_what_is_written(
    rows: list[dict[str, Any]], write_rows: WriteRows, tmp_path: Path
) -> None:
    manifest = prepare(local(write_rows(rows)), tmp_path / "out")
    assert sorted(contents(tmp_path / "out")) == [
        "manifest.json",
        "problems.jsonl",
        "splits.json",
        "tests/2730.json.gz",
        "tests/abc_a.json.gz",
        "tests/abc_b.json.gz",
    ]
    assert (manifest.n_rows, manifest.n_problems, manifest.n_tests) == (4, 3, 7)
    assert (manifest.first_id, manifest.last_id) == ("2730", "abc_b")
    assert manifest.by_mode == {"functional": 1, "stdin": 2}
    assert manifest.by_difficulty == {"easy": 2, "hard": 1}
    assert manifest.by_platform == {"atcoder": 2, "leetcode": 1}
    assert manifest.n_public_only == 1
    assert manifest.skipped == [Skipped("empty", NO_TESTS)]
    assert manifest.summary().startswith("mine: 3 problems of 4 rows, 2730 to abc_b, 7 tests")
    assert Manifest.read(tmp_path / "out" / "manifest.json") == manifest


def test_the_store_gives_back_what_was_prepared(
    rows: list[dict[str, Any]], write_rows: WriteRows, tmp_path: Path
) -> None:
    prepare(local(write_rows(rows)), tmp_path / "out")
    store = PreparedProblems(tmp_path / "out")
    assert [problem.question_id for problem in store.problems()] == ["2730", "abc_a", "abc_b"]
    suite = store.suite("2730")
    assert suite.fn_name == store.problem("2730").fn_name == "twice"
    assert [test.input for test in suite.tests] == ["1", "2", "3"]
    assert suite.n_public == 1
    with pytest.raises(UserError, match=r"no question '2731' .*did you mean '2730'"):
        store.suite("2731")
    with pytest.raises(UserError, match="no question 'x'"):
        store.problem("x")


def test_no_path_of_this_machine_is_written(
    rows: list[dict[str, Any]], write_rows: WriteRows, tmp_path: Path
) -> None:
    prepare(local(write_rows(rows)), tmp_path / "out")
    for name, data in contents(tmp_path / "out").items():
        plain = gzip.decompress(data) if name.endswith(".gz") else data
        assert str(tmp_path).encode() not in plain


def test_same_rows_same_bytes(
    rows: list[dict[str, Any]], write_rows: WriteRows, tmp_path: Path
) -> None:
    spec = local(write_rows(rows))
    prepare(spec, tmp_path / "first")
    prepare(spec, tmp_path / "second")
    assert contents(tmp_path / "first") == contents(tmp_path / "second")
    prepare(spec, tmp_path / "first")
    assert contents(tmp_path / "first") == contents(tmp_path / "second")


def test_the_order_of_rows_is_irrelevant(
    rows: list[dict[str, Any]], write_rows: WriteRows, tmp_path: Path
) -> None:
    filters = FilterSpec(offset=1, limit=2)
    prepare(local(write_rows(rows), filters=filters), tmp_path / "first")
    prepare(local(write_rows(rows[::-1]), filters=filters), tmp_path / "second")
    first, second = contents(tmp_path / "first"), contents(tmp_path / "second")
    assert json.loads(first.pop("manifest.json"))["n_problems"] == 2
    assert json.loads(second.pop("manifest.json"))["n_problems"] == 2
    assert first == second
    assert "tests/2730.json.gz" not in first, "tests of problems outside the limit are not kept"


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(
        st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20),
        min_size=1,
        max_size=4,
        unique=True,
    )
)
def test_any_id_is_a_safe_file_name(
    make_row: MakeRow, tmp_path_factory: pytest.TempPathFactory, ids: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("ids")
    (folder / "rows.jsonl").write_text("".join(json.dumps(make_row(item)) + "\n" for item in ids))
    prepare(local(folder / "rows.jsonl"), folder / "out")
    store = PreparedProblems(folder / "out")
    assert {store.suite(item).question_id for item in ids} == set(ids)
    assert len(list((folder / "out" / "tests").iterdir())) == len(ids)


@pytest.mark.parametrize("question_id", ["../../x", "/etc/passwd", ".", "", "a b", "é", "x" * 300])
def test_odd_ids_stay_inside_the_folder(question_id: str) -> None:
    name = suite_file_name(question_id)
    assert "/" not in name
    assert not name.startswith(("..", "/"))
    assert len(name) < 120
    assert name.isascii()


def test_broken_rows_are_all_named_and_nothing_is_changed(
    rows: list[dict[str, Any]], make_row: MakeRow, write_rows: WriteRows, tmp_path: Path
) -> None:
    prepare(local(write_rows(rows)), tmp_path / "out")
    before = contents(tmp_path / "out")
    cut = make_row("cut")
    cut["private_test_cases"] = cut["private_test_cases"][:-10]
    path = write_rows([*rows, cut, make_row("odd", metadata="[]")])
    with pytest.raises(DataError) as caught:
        prepare(local(path), tmp_path / "out")
    line = str(caught.value)
    assert line.startswith("data set mine: 2 broken rows: rows.jsonl:5 question cut: private_test")
    assert "rows.jsonl:6 question odd: metadata cannot be read" in line
    assert "allow_broken: true" in line
    assert contents(tmp_path / "out") == before
    assert not (tmp_path / ".out.staging").exists()


def test_broken_rows_can_be_listed_instead(
    rows: list[dict[str, Any]], make_row: MakeRow, write_rows: WriteRows, tmp_path: Path
) -> None:
    path = write_rows([*rows, make_row("odd", metadata="[]")])
    with open(path, "a") as handle:
        handle.write('{"question_id": "to')
    manifest = prepare(local(path, allow_broken=True), tmp_path / "out")
    assert manifest.n_problems == 3
    assert [item.where for item in manifest.broken] == ["rows.jsonl:6", "rows.jsonl:5"]
    assert Manifest.read(tmp_path / "out" / "manifest.json").broken == manifest.broken


def test_a_broken_row_outside_the_filters_does_no_harm(
    rows: list[dict[str, Any]], make_row: MakeRow, write_rows: WriteRows, tmp_path: Path
) -> None:
    path = write_rows([*rows, make_row("odd", private_test_cases="x", difficulty="medium")])
    filters = FilterSpec(difficulty=("easy",))
    assert prepare(local(path, filters=filters), tmp_path / "out").n_problems == 2


def test_an_id_that_appears_twice(
    make_row: MakeRow, write_rows: WriteRows, tmp_path: Path
) -> None:
    path = write_rows([make_row("a"), make_row("a")])
    with pytest.raises(
        DataError, match=r"rows\.jsonl:2 question a: .* twice, first at rows\.jsonl:1"
    ):
        prepare(local(path), tmp_path / "out")


def test_the_cap_on_decoded_tests(
    make_row: MakeRow, encode_tests: Callable[..., str], write_rows: WriteRows, tmp_path: Path
) -> None:
    big = encode_tests([{"input": "0" * (2 << 20), "output": "", "testtype": "stdin"}])
    path = write_rows([make_row("big", private_test_cases=big)])
    assert prepare(local(path), tmp_path / "out").n_problems == 1
    with pytest.raises(DataError, match="inflates to more than 1048576 bytes; raise max_tests_mb"):
        prepare(local(path, max_tests_mb=1), tmp_path / "out")


def test_the_expected_count(
    rows: list[dict[str, Any]], write_rows: WriteRows, tmp_path: Path
) -> None:
    """User report R23: a changed count fails a saved run."""
    path = write_rows(rows)
    assert prepare(local(path, expect_count=3), tmp_path / "out").n_problems == 3
    with pytest.raises(DataError, match=r"expect_count says 4 problems \(got 3, 2730 to abc_b\)"):
        prepare(local(path, expect_count=4), tmp_path / "out")


def test_the_window_of_user_report_r23(
    make_row: MakeRow, write_rows: WriteRows, tmp_path: Path
) -> None:
    dates = [
        "2024-07-31T23:30:00+00:00",
        "2024-08-01T00:00:00",
        "2025-01-31T23:59:59",
        "2025-02-01T00:00:00",
    ]
    path = write_rows([make_row(f"q{n}", contest_date=date) for n, date in enumerate(dates)])
    window = FilterSpec(start_date="2024-08-01", end_date="2025-02-01")
    manifest = prepare(local(path, filters=window), tmp_path / "out")
    assert (manifest.n_problems, manifest.first_id, manifest.last_id) == (2, "q1", "q2")
    assert "[2024-08-01, 2025-02-01) UTC" in manifest.summary()


def test_unknown_ids_and_empty_choices(
    rows: list[dict[str, Any]], write_rows: WriteRows, tmp_path: Path
) -> None:
    path = write_rows(rows)
    with pytest.raises(UserError, match="'abc_a'"):
        prepare(local(path, filters=FilterSpec(ids=("abc_aa",))), tmp_path / "out")
    with pytest.raises(UserError, match="no usable problem of 4"):
        prepare(local(path, filters=FilterSpec(ids=("empty",))), tmp_path / "out")


def test_splits(rows: list[dict[str, Any]], write_rows: WriteRows, tmp_path: Path) -> None:
    """A subset of a split is accepted; what is missing is listed (user report S5)."""
    splits = tmp_path / "splits.json"
    lists = {"rule": "by hand", "train": ["abc_b", "gone"], "validation": ["2730"], "test": []}
    splits.write_text(json.dumps(lists))
    path = write_rows(rows)
    spec = local(path, splits_file=str(splits), split="train")
    manifest = prepare(spec, tmp_path / "out")
    assert (manifest.n_problems, manifest.missing_from_split) == (1, ["gone"])
    assert PreparedProblems(tmp_path / "out").splits.train == ("abc_b",)
    prepare(local(path, splits_file=str(splits)), tmp_path / "out")
    assert PreparedProblems(tmp_path / "out").splits.validation == ("2730",)
    with pytest.raises(ConfigError, match="there is no split 'test'"):
        prepare(local(path, splits_file=str(splits), split="test"), tmp_path / "out")
    with pytest.raises(ConfigError, match="splits_file"):
        prepare(local(path, split="train"), tmp_path / "out")


def test_a_hub_release_without_a_network(
    make_row: MakeRow,
    stand_in: Callable[..., Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """User report R24: two files stand in for the hub, then sockets are blocked."""

    def blocked(*_: object, **__: object) -> NoReturn:
        message = "no sockets"
        raise OSError(message)

    folder = stand_in([make_row("b")], [make_row("a", fn_name="twice")])
    spec = DatasetSpec(name="lcb", source="hub", release="release_v2")
    monkeypatch.setattr(socket, "socket", blocked)
    manifest = prepare(spec, tmp_path / "out")
    assert (manifest.release, manifest.n_problems) == ("release_v2", 2)
    assert manifest.hub_dataset == "livecodebench/code_generation_lite"
    assert len(PreparedProblems(tmp_path / "out").suite("a").tests) == 3

    data = bytearray((folder / "test2.jsonl").read_bytes())
    data[20] ^= 1
    (folder / "test2.jsonl").write_bytes(data)
    with pytest.raises(DataError, match=r"test2\.jsonl: SHA-256 is not the expected"):
        prepare(spec, tmp_path / "again")
    with pytest.raises(InfrastructureError, match="not prepared; run `lcbgrid problems prepare`"):
        PreparedProblems(tmp_path / "again")
    assert InfrastructureError.exit_status == 3


def test_the_embedded_set_is_the_default(repository: Path, tmp_path: Path) -> None:
    if not (repository / "benchmarks" / "embedded" / "splits.json").is_file():
        pytest.skip("the embedded set is not in this checkout")
    manifest = prepare(DatasetSpec(), tmp_path / "out")
    assert manifest.skipped == manifest.broken == []
    splits = PreparedProblems(tmp_path / "out").splits
    assert splits.train
    assert splits.validation
    assert splits.test
    assert prepare(DatasetSpec(split="test"), tmp_path / "test").n_problems == len(splits.test)


def test_another_folder_of_the_embedded_set(
    make_row: MakeRow, write_rows: WriteRows, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_rows([make_row("a")], "problems.jsonl")
    lists = {"rule": "", "train": [], "validation": [], "test": ["a"]}
    (tmp_path / "splits.json").write_text(json.dumps(lists))
    monkeypatch.setenv("LCBGRID_EMBEDDED_DIR", str(tmp_path))
    assert prepare(DatasetSpec(), tmp_path / "out").first_id == "a"
    monkeypatch.setenv("LCBGRID_EMBEDDED_DIR", str(tmp_path / "none"))
    with pytest.raises(InfrastructureError, match="LCBGRID_EMBEDDED_DIR"):
        prepare(DatasetSpec(), tmp_path / "out")


@pytest.mark.parametrize("damage", ["missing", "cut", "swapped", "empty_list", "not_gzip"])
def test_a_damaged_test_file_is_a_data_error_never_a_pass(
    rows: list[dict[str, Any]], write_rows: WriteRows, tmp_path: Path, damage: str
) -> None:
    prepare(local(write_rows(rows)), tmp_path / "out")
    path = tmp_path / "out" / "tests" / "abc_a.json.gz"
    record = json.loads(gzip.decompress(path.read_bytes()))
    if damage == "missing":
        path.unlink()
    elif damage == "cut":
        path.write_bytes(path.read_bytes()[:-9])
    elif damage == "swapped":
        path.write_bytes((tmp_path / "out" / "tests" / "abc_b.json.gz").read_bytes())
    elif damage == "empty_list":
        path.write_bytes(gzip.compress(json.dumps({**record, "tests": []}).encode()))
    else:
        path.write_bytes(b"{}")
    with pytest.raises(DataError, match="question abc_a: its test file"):
        PreparedProblems(tmp_path / "out").suite("abc_a")


def test_files_that_do_not_belong_together(
    rows: list[dict[str, Any]], write_rows: WriteRows, tmp_path: Path
) -> None:
    prepare(local(write_rows(rows)), tmp_path / "out")
    with open(tmp_path / "out" / "problems.jsonl", "a") as handle:
        handle.write("{}\n")
    with pytest.raises(DataError, match=r"problems\.jsonl: .* prepare the data set again"):
        PreparedProblems(tmp_path / "out").problems()
    (tmp_path / "out" / "manifest.json").write_text('{"schema_version": 99}')
    with pytest.raises(DataError, match="schema version 1 is needed"):
        PreparedProblems(tmp_path / "out")


def test_an_interrupted_publication_counts_as_not_prepared(
    rows: list[dict[str, Any]],
    write_rows: WriteRows,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spec = local(write_rows(rows))
    prepare(spec, tmp_path / "out")
    whole = contents(tmp_path / "out")
    replace = Path.replace

    def dies_late(self: Path, target: Path) -> Path:
        if self.name == "splits.json" and ".out.staging" in str(self):
            raise KeyboardInterrupt
        return replace(self, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", dies_late)
        with pytest.raises(KeyboardInterrupt):
            prepare(spec, tmp_path / "out")
    with pytest.raises(InfrastructureError, match="not prepared"):
        PreparedProblems(tmp_path / "out")
    prepare(spec, tmp_path / "out")
    assert contents(tmp_path / "out") == whole


def test_two_at_once(rows: list[dict[str, Any]], write_rows: WriteRows, tmp_path: Path) -> None:
    spec = local(write_rows(rows))
    lock = held(tmp_path / ".out.lock", what="it")
    with lock, pytest.raises(BusyError, match="data set 'mine' is in use"):
        prepare(spec, tmp_path / "out")


def test_every_real_row_is_prepared_or_listed(shared_data: Path, tmp_path: Path) -> None:
    files = [shared_data / name for name in ("lcb_full_small.jsonl", "lcb_partial.jsonl")]
    manifest = prepare(local(*files), tmp_path / "out")
    assert manifest.n_problems + len(manifest.skipped) == manifest.n_rows
    assert manifest.broken == []
    store = PreparedProblems(tmp_path / "out")
    n_tests = sum(len(store.suite(problem.question_id).tests) for problem in store.problems())
    assert n_tests == manifest.n_tests
