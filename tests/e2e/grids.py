"""Runs whole grids in a folder of their own, as a user would: through the snakemake command."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import yaml

REPOSITORY = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
MODELS = {
    "sim": {
        "provider": "simulated",
        "model_id": "sim",
        "max_concurrency": 16,
        "retry": {"max_attempts": 12, "first_wait_s": 0.01, "max_wait_s": 0.1, "timeout_s": 0.5},
    }
}


class Grid:
    """A folder with a grid in it."""

    def __init__(
        self,
        folder: Path,
        *,
        config: dict[str, Any],
        simulate: dict[str, Any] | None = None,
        model: dict[str, Any] | None = None,
    ) -> None:
        self.folder = folder
        (folder / "config").mkdir(parents=True)
        models = {"sim": MODELS["sim"] | (model or {})}
        if simulate:
            models["sim"]["simulate"] = simulate
        base: dict[str, Any] = {"grid": {"topologies": ["direct", "single"], "models": ["sim"]}}
        self.write("config/config.yaml", base | config)
        self.write("config/models.yaml", {"models": models})

    def write(self, name: str, data: object) -> None:
        """Write a YAML file."""
        (self.folder / name).write_text(yaml.safe_dump(data))

    def start(self, *arguments: str, **environment: str) -> subprocess.Popen[str]:
        """Start snakemake in a process group of its own."""
        return subprocess.Popen(
            [BIN / "snakemake", "-s", REPOSITORY / "Snakefile", "-j", "4", *arguments],
            cwd=self.folder,
            env=os.environ | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, *arguments: str, expect: int = 0, **environment: str) -> str:
        """Run snakemake to its end and return what it printed."""
        process = self.start(*arguments, **environment)
        output, _ = process.communicate(timeout=500)
        assert process.returncode == expect, output
        return output

    def kill_after(self, seconds: float, *, only_snakemake: bool) -> bool:
        """Start, then SIGKILL snakemake, or all of its group; True if it was still at work."""
        process = self.start()
        try:
            process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            if only_snakemake:
                process.kill()
            else:
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return True
        process.communicate()
        return False

    def lcbgrid(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run the lcbgrid command in the folder."""
        return subprocess.run(
            [BIN / "lcbgrid", *arguments],
            cwd=self.folder,
            env=os.environ | environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    def products(self) -> str:
        """Return the text of results/all."""
        return (self.folder / "results" / "all").read_text()

    def mtimes(self) -> dict[str, int]:
        """Return path -> time stamp of everything below results/runs."""
        root = self.folder / "results" / "runs"
        return {str(p.relative_to(root)): p.stat().st_mtime_ns for p in root.rglob("*.json*")}


def wait_until_free(folder: Path, timeout_s: float = 120) -> None:
    """Wait until no process works in the folder any more (stages of a killed snakemake)."""
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        if not any(_cwd(entry) == folder for entry in Path("/proc").glob("[0-9]*")):
            return
        time.sleep(0.1)
    message = f"something still works in {folder}"
    raise TimeoutError(message)


def _cwd(entry: Path) -> Path | None:
    try:
        return Path(os.readlink(entry / "cwd"))
    except OSError:
        return None
