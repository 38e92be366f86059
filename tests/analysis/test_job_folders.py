"""Folders of jobs: found wherever they lie, checked, and left out by name."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from lcbgrid.analysis.job_folders import is_simulated, read_jobs, why_left_out
from lcbgrid.core.errors import ConfigError
from lcbgrid.optimize.errors import ArtifactError
from lcbgrid.optimize.job import ENVELOPE, JOB, RESULT, SELECTION
from lcbgrid.optimize.published import foreign_cell, nonconformances
from lcbgrid.optimize.sealed import SealedFolder

from .job_files import condition, write_cell, write_job


def test_jobs_are_found_at_any_depth_and_once(tmp_path: Path) -> None:
    write_cell(tmp_path / "a/b/c", "+-", ("++",) * 3)
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / JOB).write_text('{"schema": "of another program"}')
    (tmp_path / "link").symlink_to(tmp_path / "a")
    jobs = read_jobs([tmp_path, tmp_path / "a", tmp_path / "link"])
    assert (jobs.found, jobs.finished, jobs.copies, len(jobs.groups)) == (3, 3, 0, 1)
    assert sorted(search.seed for search in jobs.groups[0].searches) == [0, 1, 2]


def test_a_copy_counts_once_and_a_finished_one_first(tmp_path: Path) -> None:
    write_cell(tmp_path / "a", "+-", ("++",) * 3)
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    (tmp_path / "b/c/0" / RESULT).unlink()
    jobs = read_jobs([tmp_path])
    assert (jobs.found, jobs.finished, jobs.copies) == (3, 3, 3)
    assert all(search.result.invalid_reason is None for search in jobs.groups[0].searches)


@pytest.mark.parametrize("name", [JOB, ENVELOPE, RESULT])
@pytest.mark.parametrize("how", ["cut", "changed", "unsealed"])
def test_a_damaged_file_is_named(tmp_path: Path, name: str, how: str) -> None:
    folder = write_job(tmp_path / "job", "+-", "++")
    path = folder / name
    text = path.read_text()
    damaged = {
        "cut": text[: len(text) // 2],
        "changed": text.replace('"sha256":"', '"sha256":"0'),
        "unsealed": text.replace('"sha256"', '"other"'),
    }
    path.write_text(damaged[how])
    with pytest.raises(ArtifactError) as caught:
        read_jobs([tmp_path])
    assert caught.value.where == path
    assert caught.value.exit_status == 2


def test_a_result_without_its_job_is_named(tmp_path: Path) -> None:
    folder = write_job(tmp_path / "job", "+-", "++")
    (folder / JOB).unlink()
    with pytest.raises(ArtifactError, match=r"result.json: job.json is not beside it"):
        read_jobs([tmp_path])


def test_files_of_two_jobs_in_one_folder_are_refused(tmp_path: Path) -> None:
    write_job(tmp_path / "a", "+-", "++")
    write_job(tmp_path / "b", "+-", "++", seed=1)
    for name in (ENVELOPE, RESULT):
        shutil.copy(tmp_path / "b" / name, tmp_path / "a" / name)
        with pytest.raises(ArtifactError, match="is of another job"):
            read_jobs([tmp_path / "a"])


def test_sealed_nonsense_is_named(tmp_path: Path) -> None:
    folder = write_job(tmp_path / "a", "+-", "++")
    store = SealedFolder(folder)
    job = store.read(JOB)
    store.write(JOB, {**job, "condition": condition("single")}, replace=True)
    with pytest.raises(ArtifactError, match="its condition is not the one it names"):
        read_jobs([tmp_path])
    store.write(JOB, job, replace=True)
    result = store.read(RESULT)
    short = {**result["test"], "deployed_scores": [1.0]}
    store.write(RESULT, {**result, "test": short}, replace=True)
    with pytest.raises(ArtifactError, match="deployed_scores do not belong to its problems"):
        read_jobs([tmp_path])
    store.write(RESULT, {k: v for k, v in result.items() if k != "test"}, replace=True)
    with pytest.raises(ArtifactError, match="a field is missing"):
        read_jobs([tmp_path])


def test_no_folder_and_no_job_are_mistakes(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no such folder"):
        read_jobs([tmp_path / "gone"])
    with pytest.raises(ConfigError, match=r"no optimizer job below it.*--out of python -m"):
        read_jobs([tmp_path])


def test_jobs_that_do_not_conform_are_left_out_and_counted(tmp_path: Path) -> None:
    write_cell(tmp_path, "+-", ("++",) * 3)
    write_job(tmp_path / "short", "+-", "++", identity={"budget": 40})
    write_job(tmp_path / "other", "+-", "++", names={"task": "embedded"})
    jobs = read_jobs([tmp_path])
    assert (jobs.found, len(jobs.left_out), len(jobs.groups)) == (5, 2, 1)
    assert why_left_out(jobs) == [
        "budget 40, not 600 (1)",
        "its data set is embedded, not lcb (1)",
    ]
    assert {row["method"] for row in jobs.left_out} == {"gepa"}
    every = read_jobs([tmp_path], include_nonconformant=True)
    assert (every.left_out, len(every.groups)) == ((), 3)


@pytest.mark.parametrize(
    ("more", "reasons"),
    [
        ({}, []),
        ({"identity": {"profile": "reference"}}, []),
        ({"identity": {"protocol": "other/v2"}}, ["protocol other/v2"]),
        (
            {"identity": {"switches": {"held_out_gate": False}}},
            ["held_out_gate off in profile improved"],
        ),
        (
            {"sizes": {"train": 10, "validation": 50, "test": 50}},
            ["splits cut to 10 train, 50 validation, 50 test"],
        ),
        ({"topology": "direct"}, ["topology direct"]),
        ({"names": {"team_size": 3}}, ["team size 3"]),
        ({"topology": "single", "method": "tavo"}, ["tavo runs on teams, not on single"]),
        (
            {"topology": "sequential_crewai", "names": {"team_size": 8}},
            ["crewai runs teams of four that write freely"],
        ),
    ],
)
def test_conformance(tmp_path: Path, more: dict[str, object], reasons: list[str]) -> None:
    folder = write_job(tmp_path / "a", "+-", "++", **more)  # type: ignore[arg-type]
    assert nonconformances(SealedFolder(folder).read(JOB)) == reasons


def test_cells_of_the_published_grid() -> None:
    cell = {"method": "gepa", "task": "lcb", "communication": "freeform"}
    for topology, size in (("single", 1), ("centralized", 10), ("decentralized_autogen", 4)):
        assert foreign_cell(**cell, topology=topology, team_size=size) is None  # type: ignore[arg-type]


def test_what_no_model_answered_is_simulated(tmp_path: Path) -> None:
    for number, (names, expected) in enumerate(
        [
            ({}, False),
            ({"model_id": "simulated"}, True),
            ({"model_id": "x", "simulated": True}, True),
            ({"model_id": "simulated", "simulated": False}, False),
        ]
    ):
        folder = write_job(tmp_path / str(number), "+", "+", names=names)
        assert is_simulated(SealedFolder(folder).read(JOB)) is expected


def test_a_job_without_a_selection_has_no_known_fallback(tmp_path: Path) -> None:
    folder = write_job(tmp_path / "0", "+-", "++", phase="searched")
    assert not (folder / SELECTION).exists()
    [search] = read_jobs([tmp_path]).groups[0].searches
    assert not search.fallback_known
    assert (search.search_tokens, search.charged) == (1000, 30)
