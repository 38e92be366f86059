"""Sources: files of every kind, the hub's shards, and damage of every kind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lcbgrid.config.problem_spec import DatasetSpec
from lcbgrid.core.errors import ConfigError, DataError, InfrastructureError, UserError
from lcbgrid.core.hashing import sha256_file
from lcbgrid.problems.releases import SHARDS, release_shards
from lcbgrid.problems.rows import Broken
from lcbgrid.problems.sources import RawRow, iter_rows, streaming_dataset

MakeRow = Callable[..., dict[str, Any]]
WriteRows = Callable[..., Path]


def local(*paths: Path, **more: Any) -> DatasetSpec:
    return DatasetSpec(name="mine", source="local", files=tuple(map(str, paths)), **more)


def ids(spec: DatasetSpec) -> list[object]:
    return [raw.row["question_id"] for raw in iter_rows(spec)]


@pytest.mark.parametrize(
    ("release", "numbers"),
    [
        ("release_v1", [1]),
        ("release_v4", [1, 2, 3, 4]),
        ("release_v6", [1, 2, 3, 4, 5, 6]),
        ("release_latest", [1, 2, 3, 4, 5, 6]),
        ("v1", [1]),
        ("v6", [6]),
        ("v2_v4", [2, 3, 4]),
    ],
)
def test_releases(release: str, numbers: list[int]) -> None:
    assert [shard.number for shard in release_shards(release)] == numbers


def test_published_row_counts() -> None:
    counts = [sum(shard.rows for shard in release_shards(f"release_v{n}")) for n in range(1, 7)]
    assert counts == [400, 511, 612, 713, 880, 1055]


@pytest.mark.parametrize(
    "release", ["release_v0", "release_v7", "v7", "v4_v2", "latest", "", "v1_"]
)
def test_unknown_releases(release: str) -> None:
    with pytest.raises(ConfigError, match=r"unknown release .*release_latest"):
        release_shards(release)


def test_pinned_sums_are_the_published_ones(shared_data: Path) -> None:
    published = json.loads((shared_data / "id_order.json").read_text())
    for shard in SHARDS:
        assert shard.sha256 == published["shard_sha256"][f"v{shard.number}"]
        assert shard.rows == len(published["order"][f"v{shard.number}"])


def test_json_lines(make_row: MakeRow, write_rows: WriteRows) -> None:
    path = write_rows([make_row("a"), make_row("b", question_title="U+0085 \x85 U+2028 \u2028")])
    path.write_text(path.read_text().replace("\\u2028", "\u2028").replace("\\u0085", "\x85"))
    rows = list(iter_rows(local(path)))
    assert [(raw.file, raw.line) for raw in rows] == [("rows.jsonl", 1), ("rows.jsonl", 2)]
    assert rows[1].row["question_title"] == "U+0085 \x85 U+2028 \u2028"


def test_files_in_the_given_order(make_row: MakeRow, write_rows: WriteRows) -> None:
    first, second = write_rows([make_row("a")], "1.jsonl"), write_rows([make_row("b")], "2.jsonl")
    assert ids(local(second, first)) == ["b", "a"]


@pytest.mark.parametrize("lines", [False, True], ids=["list", "lines"])
def test_json(make_row: MakeRow, tmp_path: Path, lines: bool) -> None:
    rows = [make_row("a"), make_row("b")]
    path = tmp_path / "rows.json"
    path.write_text("\n".join(map(json.dumps, rows)) if lines else json.dumps(rows, indent=1))
    assert ids(local(path)) == ["a", "b"]


def test_parquet(make_row: MakeRow, tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "rows.parquet"
    rows = [make_row(f"q{number}") for number in range(30)]
    pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=10)
    read = list(iter_rows(local(path)))
    assert [raw.row for raw in read] == rows
    assert read[29].line == 30


def test_damaged_parquet(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    path.write_bytes(b"PAR1 but not really PAR1")
    with pytest.raises(DataError, match=r"rows\.parquet: cannot read parquet"):
        ids(local(path))


def test_a_flipped_byte_is_found_by_the_sum(make_row: MakeRow, write_rows: WriteRows) -> None:
    """User report R24."""
    path = write_rows([make_row("a")])
    spec = local(path, sha256=(sha256_file(path).upper(),))
    assert ids(spec) == ["a"]
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(DataError, match=r"rows\.jsonl: SHA-256 is not the expected"):
        ids(spec)


def test_a_truncated_file_names_the_line(make_row: MakeRow, write_rows: WriteRows) -> None:
    path = write_rows([make_row("a"), make_row("b")])
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(DataError, match=r"rows\.jsonl: line 2 is not JSON .* is cut off"):
        ids(local(path))


def test_lines_that_are_no_rows_can_be_collected(make_row: MakeRow, write_rows: WriteRows) -> None:
    path = write_rows([make_row("a"), make_row("b")])
    path.write_text("[1]\n" + path.read_text() + "\n\xff\n" + "[" * 100_000)
    broken: list[Broken] = []
    rows = list(iter_rows(local(path), on_unreadable=broken.append))
    assert [raw.row["question_id"] for raw in rows] == ["a", "b"]
    assert [item.where for item in broken] == ["rows.jsonl:1", "rows.jsonl:5", "rows.jsonl:6"]


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("rows.json", "[{", "not a JSON list"),
        ("rows.csv", "", "unknown kind of file"),
        ("rows.json", '{"a": 1', "line 1 is not JSON"),
    ],
)
def test_unreadable_files(tmp_path: Path, name: str, content: str, reason: str) -> None:
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(UserError, match=reason):
        ids(local(path))


def test_wrong_file_lists(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such file"):
        ids(local(tmp_path / "none.jsonl"))
    with pytest.raises(ConfigError, match="1 sums for 2 files"):
        ids(local(tmp_path / "a.jsonl", tmp_path / "b.jsonl", sha256=("0" * 64,)))


def test_hub_rows_from_a_stand_in(make_row: MakeRow, stand_in: Callable[..., Path]) -> None:
    stand_in([make_row("a"), make_row("b")], [make_row("c")])
    assert ids(DatasetSpec(name="lcb", source="hub", release="release_v2")) == ["a", "b", "c"]
    assert ids(DatasetSpec(name="lcb", source="hub", release="v2")) == ["c"]


def test_a_shard_with_another_row_count(make_row: MakeRow, stand_in: Callable[..., Path]) -> None:
    folder = stand_in([make_row("a"), make_row("b")])
    listing = json.loads((folder / "shards.json").read_text())
    listing["test.jsonl"]["rows"] = 3
    (folder / "shards.json").write_text(json.dumps(listing))
    with pytest.raises(DataError, match=r"test\.jsonl: 3 rows are expected here \(got 2\)"):
        ids(DatasetSpec(name="lcb", source="hub", release="v1"))


def test_a_stand_in_without_a_listing_is_held_to_the_published_sums(
    make_row: MakeRow, stand_in: Callable[..., Path]
) -> None:
    (stand_in([make_row("a")]) / "shards.json").unlink()
    with pytest.raises(DataError, match=r"test\.jsonl: SHA-256 is not the expected 2bd02b38"):
        ids(DatasetSpec(name="lcb", source="hub", release="v1"))


def test_a_stand_in_that_lacks_a_shard(make_row: MakeRow, stand_in: Callable[..., Path]) -> None:
    folder = stand_in([make_row("a")], [make_row("b")])
    (folder / "test2.jsonl").unlink()
    with pytest.raises(InfrastructureError, match=r"does not hold test2\.jsonl"):
        ids(DatasetSpec(name="lcb", source="hub", release="release_v2"))


@pytest.mark.parametrize(
    "settings",
    [{"HF_HUB_OFFLINE": "1"}, {"HF_HUB_OFFLINE": "0", "HF_ENDPOINT": "http://127.0.0.1:9"}],
    ids=["offline", "unreachable"],
)
def test_no_network_and_no_cache_fails_at_once_in_one_line(
    tmp_path: Path, settings: dict[str, str]
) -> None:
    program = (
        "import sys\n"
        "from lcbgrid.config.problem_spec import DatasetSpec\n"
        "from lcbgrid.core.errors import LcbGridError\n"
        "from lcbgrid.problems.sources import iter_rows\n"
        "try:\n"
        "    next(iter_rows(DatasetSpec(name='lcb', source='hub')))\n"
        "except LcbGridError as error:\n"
        "    print(error)\n"
        "    sys.exit(error.exit_status)\n"
    )
    environment = os.environ | settings | {"HF_HOME": str(tmp_path)}
    started_s = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3, done.stderr
    assert done.stdout.count("\n") == 1
    assert "test.jsonl" in done.stdout
    assert "source: local" in done.stdout
    assert time.monotonic() - started_s < 15


def test_streaming_with_datasets_keeps_dates_as_text(
    make_row: MakeRow, write_rows: WriteRows
) -> None:
    rows = [make_row("a"), make_row("b", contest_date="2024-08-17T19:30:00")]
    stream = streaming_dataset(local(write_rows(rows)))
    assert list(stream) == rows


_PEAK_PROGRAM = """
import re, sys
from lcbgrid.config.problem_spec import DatasetSpec
from lcbgrid.problems.rows import Loaded, read_row
from lcbgrid.problems.sources import iter_rows
spec = DatasetSpec(name="lcb", source="hub", release="v1")
assert all(isinstance(read_row(raw), Loaded) for raw in iter_rows(spec))
print(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1])
"""


@pytest.mark.slow
def test_memory_does_not_grow_with_the_shard(
    make_row: MakeRow, encode_tests: Callable[..., str], stand_in: Callable[..., Path]
) -> None:
    """A shard of 300 MB, rows of 2 MB; the peak is that of a shard of 10 rows."""
    digits = "".join(str(number * 7919 % 1_000_003) for number in range(500_000))
    tests = [{"input": digits, "output": "1", "testtype": "stdin"}]
    hidden = encode_tests(tests)

    def rows(count: int) -> list[dict[str, Any]]:
        return [make_row(f"q{number}", private_test_cases=hidden) for number in range(count)]

    big = 300_000_000 // len(hidden)
    folder = stand_in(rows(big), rows(10))
    assert (folder / "test.jsonl").stat().st_size > 290_000_000

    def peak_mb(release: str) -> float:
        program = _PEAK_PROGRAM.replace('"v1"', repr(release))
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True
        )
        return int(done.stdout) / 1024

    small_mb, big_mb = peak_mb("v2"), peak_mb("v1")
    assert big_mb < small_mb + 15, (small_mb, big_mb)
    assert big_mb < 150


def test_raw_row_says_where() -> None:
    assert RawRow({}, "test.jsonl", 3).where == "test.jsonl:3"
