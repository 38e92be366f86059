"""A working folder with a simulated model, and the runner's command line in it."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from job_server import RecordingApp, served, write_model

from lcbgrid.cli.runner import Runner, main

Play = Callable[..., int]


@pytest.fixture(autouse=True)
def _log_as_before() -> Iterator[None]:
    """Runners set up the log on the stderr of their test."""
    logger = logging.getLogger("lcbgrid")
    before = logger.handlers[:], logger.level, logger.propagate
    yield
    logger.handlers[:], level, logger.propagate = before
    logger.setLevel(level)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the working folder."""
    monkeypatch.chdir(tmp_path)
    write_models(tmp_path)
    return tmp_path


def write_models(folder: Path, **sim: Any) -> None:
    """Write a models file with the model ``sim``; keywords are its settings."""
    sim = {"provider": "simulated", "model_id": "sim", "simulate": {"skill": 3.0}} | sim
    (folder / "config").mkdir(exist_ok=True)
    (folder / "config" / "models.yaml").write_text(json.dumps({"models": {"sim": sim}}))


@pytest.fixture
def play(folder: Path) -> Play:
    """Return the command line of a runner, in the working folder, with the model ``sim``."""

    def run(
        *arguments: str, topology: str = "single", model: str = "sim", **environment: str
    ) -> int:
        names = ("size", "communication")
        fixed: dict[str, Any] = {k: environment.pop(k) for k in names if k in environment}
        options = [*arguments, "--model", model] if model else list(arguments)
        return main(Runner(topology, **fixed), options, environment)

    return run


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache folder; problems are prepared once."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def small_jobs(folder: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let optimizer jobs work in the folder, on a small model at an address."""
    monkeypatch.setenv("LCBGRID_CACHE", str(cache))
    for name in ("TASK_ENDPOINTS", "REFLECTION_MODEL_BASE_URL", "REFLECTION_MODEL_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    write_model(folder)


@pytest.fixture
def app() -> Iterator[RecordingApp]:
    """Return a simulated server."""
    with served() as running:
        yield running
