"""Small grids with optimizers, on a server that answers right only to new prompts."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "cli"))
from grids import REPOSITORY, Grid
from job_server import QUICK, Body, RecordingApp, is_wish

from lcbgrid.models.simulate.answer import Answer
from lcbgrid.models.simulate.validate import text_of

ZEBRA = "Answer like a zebra."
CELL = "embedded/code_generation/direct/r1-freeform/{}/sim/seed0"
METHODS = ("mipro", "mamut_gepa")
CONFIG: dict[str, Any] = {
    "dataset": {"split": "test", "filters": {"limit": 3}},
    "grid": {
        "topologies": ["direct"],
        "models": ["sim"],
        "optimizers": ["identity", *METHODS],
        "seeds": [0],
    },
    "optimize": {"budget": 24, "n_train": 6, "n_validation": 6},
}


def texts(body: Body) -> str:
    """Everything that a request says."""
    calls = [call for message in body["messages"] for call in message.get("tool_calls") or ()]
    said = [text_of(message) for message in body["messages"]]
    return "\n".join([*said, *(call["function"]["arguments"] for call in calls)])


def zebras_are_right(body: Body, number: int) -> Answer | None:
    """New prompts name a zebra; who has not read of one is always wrong."""
    if is_wish(body):
        return Answer(f"```\nSolve the problem in Python. {ZEBRA}\n```")
    return None if ZEBRA in texts(body) else Answer("```python\nprint('no')\n```")


@dataclass
class Played:
    """A finished grid and the server that it asked."""

    grid: Grid
    app: RecordingApp

    def path(self, *parts: str) -> Path:
        return self.grid.folder.joinpath("results", *parts)

    def copy(self, folder: Path) -> Played:
        shutil.copytree(self.grid.folder, folder, copy_function=shutil.copy2, symlinks=True)
        grid = object.__new__(Grid)
        grid.folder = folder
        self.app.bodies.clear()
        return Played(grid, self.app)

    def configure(self, **changes: Any) -> None:
        merged = {key: {**CONFIG.get(key, {}), **value} for key, value in changes.items()}
        self.grid.write("config/config.yaml", {**CONFIG, **merged})


def make(folder: Path, url: str = "http://127.0.0.1:9/v1", **changes: dict[str, Any]) -> Grid:
    """A grid whose model is at an address; keywords change parts of the configuration."""
    merged = {key: {**CONFIG[key], **value} for key, value in changes.items()}
    grid = Grid(folder, config={**CONFIG, **merged})
    model = {"provider": "openai", "model_id": "m", "base_url": url, "retry": QUICK}
    grid.write("config/models.yaml", {"models": {"sim": model}})
    for name in ("teams.yaml", "prompts"):
        (folder / "config" / name).symlink_to(REPOSITORY / "config" / name)
    return grid
