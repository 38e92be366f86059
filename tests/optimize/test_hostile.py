"""Jobs under a hostile world: full disks, odd records, damaged files, several at once."""

from __future__ import annotations

import asyncio
import dataclasses
import errno
import itertools
import json
import os
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

import pytest

from lcbgrid.core.errors import BusyError, ConfigError, LcbGridError
from lcbgrid.core.jsonl import Journal, read_jsonl
from lcbgrid.optimize import cell as cells
from lcbgrid.optimize.cell import Cell
from lcbgrid.optimize.errors import ArtifactError, ContractError
from lcbgrid.optimize.interface import Job, Outcome, Row, register
from lcbgrid.optimize.job import Options, run_job
from lcbgrid.optimize.landscape_cell import landscape_cell
from lcbgrid.optimize.records import RunRecord
from lcbgrid.teams.bundle import PromptBundle

from .optimize_helpers import sealed_bytes, small_world

BUDGET = 14
Changed = Any


async def job(folder: Path, cell: Cell, method: str = "random_rewrites", **more: Any) -> Any:
    return await run_job(folder, cell.job(method, 0, BUDGET), cell, options=Options(**more))


def done(folder: Path, cell: Cell | None = None, method: str = "random_rewrites") -> Any:
    return asyncio.run(job(folder, cell or landscape_cell(small_world()), method))


def altered(change: Any, *, some: bool = False) -> Cell:
    """Return a cell whose records were changed, all of them or those of two rows."""
    cell = landscape_cell(small_world())

    async def execute(row: Row, bundle: PromptBundle, request_seed: int) -> RunRecord:
        record: Any = await cell.search(row, bundle, request_seed)
        if not some or row["id"] in (cell.train[0]["id"], cell.validation[0]["id"]):
            record = change(record)
        return record  # type: ignore[no-any-return]

    return dataclasses.replace(cell, search=execute, evaluate=execute)


def test_what_a_full_disk_cut_short_is_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the next line would continue the torn one and damage the journal for good."""
    journal, write, calls = Journal(tmp_path / "j"), os.write, itertools.count()
    journal.append({"a": 1})

    def filling(descriptor: int, data: bytes) -> int:
        if next(calls):
            raise OSError(errno.ENOSPC, "full")
        return write(descriptor, data[:5])

    monkeypatch.setattr(os, "write", filling)
    with pytest.raises(OSError, match="full"):
        journal.append({"b": "x" * 100})
    monkeypatch.setattr(os, "write", write)
    journal.append({"c": 3})
    journal.close()
    assert list(read_jsonl(tmp_path / "j")) == [{"a": 1}, {"c": 3}]


@pytest.mark.parametrize("in_flight", [1, 16])
@pytest.mark.parametrize("call", ["write", "replace"])
def test_a_disk_that_is_full_at_any_write_loses_nothing(
    call: str, in_flight: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The job ends with the error and goes on when there is room; what was paid for is kept."""
    monkeypatch.setattr(os, "fsync", lambda _: None)
    whole_world = small_world()
    done(tmp_path / "whole", landscape_cell(whole_world))
    whole, real = sealed_bytes(tmp_path / "whole"), getattr(os, call)
    for number in itertools.count():
        folder, world, count = tmp_path / str(number), small_world(), itertools.count()

        def full(*given: Any, number: int = number, count: Any = count) -> Any:
            at = next(count)
            if at >= number:  # the first line is torn before it fails, as a disk does
                if call == "write" and at == number and len(given[1]) > 40:
                    return real(given[0], given[1][:20])
                raise OSError(errno.ENOSPC, "No space left on device")
            return real(*given)

        monkeypatch.setattr(os, call, full)
        try:
            asyncio.run(job(folder, landscape_cell(world), max_in_flight=in_flight))
        except OSError:
            monkeypatch.setattr(os, call, real)
            asyncio.run(job(folder, landscape_cell(world), max_in_flight=in_flight))
        else:
            break
        finally:
            monkeypatch.setattr(os, call, real)
        assert sealed_bytes(folder) == whole
        lost = len(world.rollouts) - len(whole_world.rollouts)
        assert 0 <= lost <= (in_flight if call == "write" else 0)
    assert number > 10


@pytest.mark.parametrize(
    "change",
    [
        {"messages": ({"source": "coder", "content": "x" * 10_000_000},)},
        {"messages": ({"source": "co\ud800der", "content": "\ud800\x00\u2028\n"},)},
        {"final_output": "\udfff"},
        {"metadata": {"scorer_metadata": None}},
        {"metadata": {"scorer_metadata": {"feedback": {"no": "text"}}}},
        {"metadata": {"scorer_metadata": "no object"}},
        {"messages": ({"source": "coder", "content": None}, {"source": "", "tool_calls": []})},
    ],
)
@pytest.mark.parametrize("method", ["gepa", "mipro"])
def test_odd_records_are_carried(change: Changed, method: str, tmp_path: Path) -> None:
    cell = altered(lambda record: dataclasses.replace(record, **change), some=True)
    assert done(tmp_path, cell, method)["status"] == "completed"
    assert done(tmp_path, cell, method)["status"] == "completed"


@pytest.mark.parametrize(
    "change",
    [
        lambda record: None,
        lambda record: record.to_json(),
        lambda record: dataclasses.replace(record, score=float("nan")),
        lambda record: dataclasses.replace(record, score=1.5),
        lambda record: dataclasses.replace(record, score="1"),
        lambda record: dataclasses.replace(record, example_id="another"),
        lambda record: dataclasses.replace(record, request_seed=0),
        lambda record: dataclasses.replace(record, metadata={"x": float("inf")}),
        lambda record: dataclasses.replace(record, metadata={"x": {1: 2}}),
        lambda record: dataclasses.replace(record, messages=("text",)),
        lambda record: dataclasses.replace(record, messages=None),
        lambda record: dataclasses.replace(record, final_output=None),
    ],
)
def test_records_that_are_none_break_the_contract_and_leave_no_line(
    change: Changed, tmp_path: Path
) -> None:
    with pytest.raises(ContractError):
        done(tmp_path, altered(change))
    assert json.loads((tmp_path / "failure.json").read_text())["failure_kind"] == (
        "contract_failure"
    )
    assert len(list(read_jsonl(tmp_path / "optimization/rollouts.jsonl"))) == 1
    assert done(tmp_path)["status"] == "completed"


def test_every_damaged_file_is_noticed_and_none_is_mended_in_silence(tmp_path: Path) -> None:
    """A flipped byte in any file that a later phase reads ends the job with a clear error."""
    cell = landscape_cell(small_world())
    done(tmp_path, cell)
    whole = sealed_bytes(tmp_path)
    read = ["job.json", "optimization.json", "selection.json", "result.json"]
    for name in read:
        data = bytearray(whole[name])
        data[len(data) // 2] ^= 1
        (tmp_path / name).write_bytes(data)
        with pytest.raises(LcbGridError):
            done(tmp_path, cell)
        (tmp_path / name).write_bytes(b"")
        with pytest.raises(ArtifactError):
            done(tmp_path, cell)
        (tmp_path / name).write_bytes(whole[name])
    done(tmp_path, cell)
    (tmp_path / "result.json").unlink()
    for path in (tmp_path / "evaluations").glob("*.json"):
        path.write_bytes(whole[f"evaluations/{path.name}"].replace(b'"score":1.0', b'"score":0.0'))
    with pytest.raises(ArtifactError, match="not what was sealed"):
        done(tmp_path, cell)


def test_artifacts_of_another_job_are_refused(tmp_path: Path) -> None:
    """A sealed file that is sound in itself, but was made by another job."""
    one, two = landscape_cell(small_world()), landscape_cell(small_world(4))
    done(tmp_path / "a", one)
    done(tmp_path / "b", two)
    for name in ("optimization.json", "selection.json"):
        kept = (tmp_path / "a" / name).read_bytes()
        (tmp_path / "a" / name).write_bytes((tmp_path / "b" / name).read_bytes())
        (tmp_path / "a/result.json").unlink(missing_ok=True)
        with pytest.raises(ArtifactError, match="another job"):
            done(tmp_path / "a", one)
        (tmp_path / "a" / name).write_bytes(kept)
    done(tmp_path / "a", one)
    (tmp_path / "a/result.json").write_bytes((tmp_path / "b/result.json").read_bytes())
    with pytest.raises(ArtifactError, match="another job"):
        done(tmp_path / "a", one)


def test_jobs_of_one_process_share_an_evaluation_without_waiting_for_themselves(
    tmp_path: Path,
) -> None:
    worlds = [small_world(latency_s=0.005) for _ in range(3)]

    async def together() -> list[Any]:
        return await asyncio.gather(
            *(
                job(
                    tmp_path / str(number),
                    landscape_cell(world),
                    "identity",
                    evaluations=tmp_path / "shared",
                )
                for number, world in enumerate(worlds)
            )
        )

    results = asyncio.run(asyncio.wait_for(together(), 60))
    assert len({result["test"]["baseline_evaluation"] for result in results}) == 1
    landscape = worlds[0].landscape
    rows = len(landscape.splits["validation"]) + len(landscape.splits["test"])
    assert sum(len(world.rollouts) for world in worlds) == rows


def test_one_folder_is_not_run_twice_at_once(tmp_path: Path) -> None:
    async def twice() -> list[Any]:
        cell = landscape_cell(small_world(latency_s=0.002))
        return list(
            await asyncio.gather(job(tmp_path, cell), job(tmp_path, cell), return_exceptions=True)
        )

    first, second = asyncio.run(twice())
    assert first["status"] == "completed"
    assert isinstance(second, BusyError)


def test_a_missing_library_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(cells, "version", missing)
    with pytest.raises(ConfigError, match="pip install gepa"):
        done(tmp_path, method="gepa")


@register("two_batches")
class TwoBatches:
    """Runs two batches side by side; breaks, or loses a row, while the other is under way."""

    async def optimize(self, job: Job, runner: Any, reflection: Any, *given: Any) -> Outcome:
        _, train, validation = given
        work = [
            runner.run_batch(train, runner.seed_bundle, phase="a", iteration=0),
            runner.run_batch(validation[:2], runner.seed_bundle, phase="b", iteration=0),
            reflection.complete("Improve it.", phase="a", iteration=0),
        ]
        if job.optimizer_seed == 1:
            work.append(self._broken())
        await asyncio.gather(*work)
        raise AssertionError("a row is lost")

    async def _broken(self) -> None:
        await asyncio.sleep(0.005)
        raise KeyError("bug")


def test_what_runs_beside_a_lost_row_is_waited_for(tmp_path: Path) -> None:
    """The ledger is closed and no rollout goes on behind the search."""
    notes = []
    for latency_s in (0.0, 0.01):
        world = small_world(
            latency_s=latency_s,
            reflection_latency_s=latency_s * 5,
            fault=lambda row, _: row == "train-0000",
        )
        cell = landscape_cell(world)
        folder = tmp_path / str(latency_s)
        envelope = asyncio.run(
            run_job(folder, cell.job("two_batches", 0, BUDGET), cell, phase="optimize")
        )
        assert envelope["status"] == "infrastructure_invalid"
        assert envelope["budget"]["charged"] == 11
        assert envelope["usage"]["reflection"]["model_calls"] == 1
        assert "validation-0000" not in world.rollouts
        notes.append(sealed_bytes(folder))
    assert notes[0] == notes[1]


def test_a_bug_while_rollouts_are_under_way_leaves_them_open(tmp_path: Path) -> None:
    cell = landscape_cell(small_world(latency_s=0.05))
    with pytest.raises(KeyError):
        asyncio.run(run_job(tmp_path, cell.job("two_batches", 1, BUDGET), cell))
    note = json.loads((tmp_path / "failure.json").read_text())
    assert note["failure_kind"] == "ambiguous_external"
    assert note["budget"]["reserved"] == 12
    assert not (tmp_path / "optimization.json").exists()


def interrupted(folder: Path) -> None:
    """Leave a search that has ended without its envelope, as a kill would."""
    done(folder)
    for name in ("optimization.json", "selection.json", "test.json", "result.json"):
        (folder / name).unlink()


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"garbage\n" + data,
        lambda data: data.replace(b'"score":1.0', b'"score":0.0', 1),
        lambda data: data.replace(b'"identity":"', b'"identity":"x', 1),
        lambda data: data.split(b"\n", 1)[1],
        lambda data: data + data.split(b"\n")[1] + b"\n",
        lambda data: data[: len(data) // 2] + b"\x00\xff" + data[len(data) // 2 :],
        lambda data: data.replace(b"\n", b"\n[]\n", 1),
    ],
)
def test_a_damaged_journal_is_refused_and_left_as_it_is(damage: Changed, tmp_path: Path) -> None:
    interrupted(tmp_path)
    path = tmp_path / "optimization/rollouts.jsonl"
    damaged = damage(path.read_bytes())
    path.write_bytes(damaged)
    with pytest.raises(LcbGridError):
        done(tmp_path)
    assert path.read_bytes() == damaged
    note = json.loads((tmp_path / "failure.json").read_text())
    assert note["failure_kind"] == "contract_failure"
    assert str(tmp_path) not in note["error"]
    assert not (tmp_path / "optimization.json").exists()


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data.replace(b"\n", b"\ngarbage\n", 1),
        lambda data: data.replace(b'"op_code"', b'"op_core"', 2),
        lambda data: data.replace(b'"fingerprint":"', b'"fingerprint":"0', 1),
        lambda data: data[: len(data) // 2] + b"\xff\n" + data[len(data) // 2 :],
        lambda data: b'{"op_code": 99}\n' + data,
    ],
)
def test_a_damaged_study_is_refused_and_made_again_without_a_call(
    damage: Changed, tmp_path: Path
) -> None:
    interrupted(tmp_path)
    path = tmp_path / "optimization/study.log"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(LcbGridError):
        done(tmp_path)
    path.unlink()
    world = small_world()
    done(tmp_path, landscape_cell(world))
    assert not any(row.startswith("train") for row in world.rollouts)
