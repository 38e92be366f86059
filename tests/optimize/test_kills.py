"""A killed job ends with the bytes of one that was not, and pays for no call twice.

The undisturbed job is photographed: its folder is copied after each line of a journal and after
each file that was put in place. Each copy is what a kill at that moment leaves; it is resumed.
"""

from __future__ import annotations

import asyncio
import dataclasses
import itertools
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lcbgrid.models.simulate.landscape import Landscape
from lcbgrid.optimize import journal as journals
from lcbgrid.optimize.interface import METHODS
from lcbgrid.optimize.job import Options, run_job
from lcbgrid.optimize.landscape_cell import LandscapeWorld, landscape_cell
from lcbgrid.optimize.reflection import Reply, Request
from lcbgrid.optimize.trials import StudyTrials, open_study

sys.path.insert(0, str(Path(__file__).parent))
from optimize_helpers import sealed_bytes

SPLITS = {"train": 9, "validation": 8, "test": 5}
LANDSCAPE = Landscape.generate(5, ("coder", "debugger"), splits=SPLITS)
BUDGET = 30
TORN = b'{"key":["torn'
every_method = pytest.mark.parametrize("method", METHODS)
every_profile = pytest.mark.parametrize("profile", ["improved", "reference"])


class World(LandscapeWorld):
    """Notes its reflection requests as well."""

    def __init__(self, **options: Any) -> None:
        super().__init__(LANDSCAPE, **options)
        self.asked: list[tuple[str, int]] = []

    async def reflect(self, request: Request) -> Reply:
        """Note the request and answer it."""
        self.asked.append((request.prompt, request.request_seed))
        return await super().reflect(request)

    @property
    def calls(self) -> Counter[Any]:
        """What was run and asked so far."""
        return Counter([*self.rollouts, *self.asked])


@dataclass(frozen=True)
class Photograph:
    """A folder as a kill leaves it, and what had been paid for."""

    folder: Path
    calls: Counter[Any]
    journal: Path | None


def done(folder: Path, world: World, method: str, profile: Any, in_flight: int = 16) -> None:
    cell = landscape_cell(world)
    job = cell.job(method, 0, BUDGET, profile=profile)
    asyncio.run(run_job(folder, job, cell, options=Options(max_in_flight=in_flight)))


def trials_of(folder: Path) -> list[tuple[Any, ...]]:
    """Return what a study holds, without the times that Optuna notes."""
    path = folder / "optimization/study.log"
    name = path.read_text().split('"study_name":"')[1].split('"')[0]
    return [
        (trial.number, trial.state, trial.value, trial.params, trial.user_attrs)
        for trial in open_study(path, name).trials
    ]


def photographed(
    folder: Path, world: World, method: str, profile: Any, patch: pytest.MonkeyPatch
) -> list[Photograph]:
    """Run a job undisturbed and return its photographs."""
    found: list[Photograph] = []
    real = {"add": journals.CallJournal.add, "replace": os.replace, "_add": StudyTrials._add}

    def shoot(journal: Path | None = None) -> None:
        copy = folder.with_name(f"{folder.name}-{len(found)}")
        shutil.copytree(folder, copy)
        inside = None if journal is None else copy / journal.relative_to(folder)
        found.append(Photograph(copy, world.calls, inside))

    def add(self: Any, *given: Any) -> Any:
        kept = real["add"](self, *given)
        shoot(self._path)
        return kept

    def replace(*given: Any) -> None:
        real["replace"](*given)
        shoot()

    def add_trial(self: Any, *given: Any) -> None:
        real["_add"](self, *given)
        shoot(folder / "optimization/study.log")

    patch.setattr(journals.CallJournal, "add", add)
    patch.setattr(os, "replace", replace)
    patch.setattr(StudyTrials, "_add", add_trial)
    done(folder, world, method, profile, in_flight=1)
    for owner, name in ((journals.CallJournal, "add"), (os, "replace"), (StudyTrials, "_add")):
        patch.setattr(owner, name, real[name])
    return found


def resumed(
    photographs: Sequence[Photograph], whole: Path, method: str, profile: Any, calls: Counter[Any]
) -> None:
    """Resume each; every second journal is torn at its end besides."""
    expected, trials = sealed_bytes(whole), trials_of(whole)
    for number, one in enumerate(photographs):
        if number % 2 and one.journal is not None:
            one.journal.write_bytes(one.journal.read_bytes() + TORN)
        world = World()
        done(one.folder, world, method, profile)
        assert sealed_bytes(one.folder) == expected, one
        assert trials_of(one.folder) == trials, one
        assert one.calls + world.calls == calls, one


@every_method
@every_profile
def test_a_kill_after_each_line_of_each_journal(
    method: str, profile: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the search, the validation and the test alike."""
    monkeypatch.setattr(os, "fsync", lambda _: None)  # only a failing machine would tell
    world, whole = World(), tmp_path / "whole"
    found = photographed(whole, world, method, profile, monkeypatch)
    lines = [one for one in found if one.journal is not None and "study" not in one.journal.name]
    assert len(lines) == sum(world.calls.values())
    resumed(lines, whole, method, profile, world.calls)


@pytest.mark.slow
@every_method
@every_profile
def test_a_kill_after_each_file_and_each_trial(
    method: str, profile: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the sealed files too."""
    monkeypatch.setattr(os, "fsync", lambda _: None)
    world, whole = World(), tmp_path / "whole"
    found = photographed(whole, world, method, profile, monkeypatch)
    others = [one for one in found if one.journal is None or "study" in one.journal.name]
    assert len(others) > 12
    resumed(others, whole, method, profile, world.calls)


def test_a_kill_between_the_sealed_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The quick one of the tests above: one method, each file."""
    monkeypatch.setattr(os, "fsync", lambda _: None)
    world, whole = World(), tmp_path / "whole"
    found = photographed(whole, world, "identity", "improved", monkeypatch)
    others = [one for one in found if one.journal is None]
    assert {path.name for one in others for path in one.folder.iterdir()} >= {
        "job.json",
        "optimization.json",
        "selection.json",
        "test.json",
        "result.json",
    }
    resumed(others, whole, "identity", "improved", world.calls)


@pytest.mark.parametrize("method", ["gepa", "mipro"])
def test_a_process_that_is_killed_for_real(method: str, tmp_path: Path) -> None:
    """``SIGKILL``, several times over, with rollouts in flight: only those are made again."""
    in_flight = 4
    whole = World()
    done(tmp_path / "whole", whole, method, "improved")
    folder, paid = tmp_path / "job", tmp_path / "paid"
    paid.touch()
    lives = 0
    for enough in itertools.count(15, 25):
        child = subprocess.Popen(
            [sys.executable, __file__, str(folder), str(paid), method, str(in_flight)],
            cwd=Path(__file__).parents[2],
        )
        lives += 1
        for _ in _until(lambda: _lines(paid) >= enough or child.poll() is not None):  # noqa: B023
            pass
        child.send_signal(signal.SIGKILL)
        if child.wait() != -signal.SIGKILL:
            break
    assert child.returncode == 0
    assert lives > 2
    assert sealed_bytes(folder) == sealed_bytes(tmp_path / "whole")
    assert trials_of(folder) == trials_of(tmp_path / "whole")
    again = _lines(paid) - sum(whole.calls.values())
    assert 0 <= again <= (lives - 1) * 16  # reflection calls run up to 16 side by side


def _lines(path: Path) -> int:
    return path.read_bytes().count(b"\n")


def _until(met: Any) -> Iterator[None]:
    deadline = time.monotonic() + 120
    while not met():
        assert time.monotonic() < deadline
        time.sleep(0.005)
        yield


def _live(folder: str, paid: str, method: str, in_flight: str) -> None:
    """Run the job in this process, and write a line for every call when it begins."""
    descriptor = os.open(paid, os.O_WRONLY | os.O_APPEND)
    world = World(latency_s=0.02, reflection_latency_s=0.02)
    cell = landscape_cell(world)

    async def execute(*given: Any) -> Any:
        os.write(descriptor, b"rollout\n")
        return await world.execute(*given)

    async def reflect(request: Request) -> Reply:
        os.write(descriptor, b"reflection\n")
        return await world.reflect(request)

    cell = dataclasses.replace(cell, search=execute, evaluate=execute, reflect=reflect)
    job = cell.job(method, 0, BUDGET, profile="improved")
    options = Options(max_in_flight=int(in_flight))
    asyncio.run(run_job(folder, job, cell, options=options))


if __name__ == "__main__":
    _live(*sys.argv[1:])
