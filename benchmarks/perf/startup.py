"""How fast the command line and the planner start.

    python benchmarks/perf/startup.py

prints, in one run, `lcbgrid --help` against the start of the bare interpreter, and a dry run of a
grid of 1,000 cells against `snakemake --version`. Wall times are shown beside the ratios, which
are what to compare: they hold on a busy machine, too. The last line of each part is
machine-readable.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

REPOSITORY = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent


def main() -> None:
    """Run both parts."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--repeat", type=int, default=5, help="runs of each command")
    repeat = parser.parse_args().repeat
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        compare(
            "help", [BIN / "lcbgrid", "--help"], [sys.executable, "-c", "pass"], folder, repeat
        )
        write_grid(folder)
        plan = [BIN / "snakemake", "-s", REPOSITORY / "Snakefile", "-n", "-q", "all"]
        compare("dry_run_1000_cells", plan, [BIN / "snakemake", "--version"], folder, repeat)
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        print(f"largest process: {children.ru_maxrss / 1024:.0f} MB")


def compare(
    name: str, command: list[object], baseline: list[object], folder: Path, repeat: int
) -> None:
    """Time a command and its baseline in turn; print medians and their ratio."""
    times: dict[str, list[float]] = {"command": [], "baseline": []}
    for _ in range(repeat):
        for key, arguments in (("command", command), ("baseline", baseline)):
            start = time.perf_counter()
            subprocess.run(
                [os.fspath(part) for part in arguments],  # type: ignore[call-overload]
                cwd=folder,
                check=True,
                capture_output=True,
            )
            times[key].append(time.perf_counter() - start)
    wall = {key: statistics.median(values) for key, values in times.items()}
    spread = f"{min(times['command']):.2f} to {max(times['command']):.2f} s"
    print(f"{name}: {wall['command']:.2f} s ({spread}); baseline {wall['baseline']:.2f} s")
    print(f"RATIO {name} {wall['command'] / wall['baseline']:.2f}")


def write_grid(folder: Path) -> None:
    """Write a grid of 2 topologies x 50 models x 10 seeds."""
    names = [f"model-{number:02d}" for number in range(50)]
    config = {"grid": {"topologies": ["direct", "single"], "models": names, "seeds": [*range(10)]}}
    models = {name: {"provider": "simulated", "model_id": name} for name in names}
    (folder / "config").mkdir()
    (folder / "config/config.yaml").write_text(yaml.safe_dump(config))
    (folder / "config/models.yaml").write_text(yaml.safe_dump({"models": models}))


if __name__ == "__main__":
    main()
