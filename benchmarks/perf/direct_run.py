"""How close a whole `direct` run comes to what its endpoint allows.

    python benchmarks/perf/direct_run.py

runs the run stage (problems, team, client, extraction, transcript, published files) on 400
problems against the simulated server in a process of its own, with 200 ms latency and 64 calls in
flight. The baseline is the ideal N x latency / 64. Since 400 calls are six full rounds of 64 and
16 more, no client can do better than seven rounds, 1.12 times the ideal. With 10 samples a problem
the rounding is small. "Answering" is from the first request to the last answer; the whole stage
also reads the problems and publishes its files.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

from lcbgrid.config.effective import load
from lcbgrid.problems.embedded import embedded_problems
from lcbgrid.problems.prepare import prepare
from lcbgrid.stages.paths import Layout
from lcbgrid.stages.run import run_cell

LATENCY_S, IN_FLIGHT = 0.2, 64
BIN = Path(sys.executable).parent


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--problems", type=int, default=400)
    parser.add_argument("--samples", type=int, nargs="*", default=[1, 10])
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    run_once(8, 1)  # imports are paid once, and not by the endpoint
    for samples in options.samples:
        repeat = options.repeat if samples == 1 else 1
        runs = [run_once(options.problems, samples) for _ in range(repeat)]
        for part, ratios in zip(
            ("answering", "whole_stage"), zip(*runs, strict=True), strict=True
        ):
            shown = ", ".join(f"{ratio:.3f}" for ratio in ratios)
            print(f"{options.problems} problems x {samples}, {part}: wall / ideal {shown}")
            name = f"direct_run_{options.problems}x{samples}_{part}"
            print(f"RATIO {name} {statistics.median(ratios):.3f}")


def run_once(n_problems: int, n_samples: int) -> tuple[float, float]:
    """Run one cell in a folder of its own; return wall time / ideal of answering and of all."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with simulated_server(folder) as url:
            write_grid(folder, url, n_problems, n_samples)
            effective = load(folder / "config.yaml")
            layout = Layout(folder / "results")
            dataset = effective.config.dataset
            prepare(dataset, layout.problems(dataset.name))
            start = time.perf_counter()
            summary = run_cell(effective, effective.cells[0], layout)
            wall_s = time.perf_counter() - start
    ideal_s = n_problems * n_samples * LATENCY_S / IN_FLIGHT
    return summary.answering_s / ideal_s, wall_s / ideal_s


class simulated_server:
    """The simulated server in a process of its own."""

    def __init__(self, folder: Path) -> None:
        spec = {"provider": "simulated", "model_id": "m"}
        spec["simulate"] = {"latency_ms": LATENCY_S * 1000}  # type: ignore[assignment]
        self._models = folder / "served.yaml"
        self._models.write_text(yaml.safe_dump({"models": {"m": spec}}))

    def __enter__(self) -> str:
        command = [BIN / "lcbgrid", "simulate", "--model", "m", "--models-file", self._models]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        return self._process.stdout.readline().split()[-1]

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait()


def write_grid(folder: Path, url: str, n_problems: int, n_samples: int) -> None:
    """Write the configuration, and copies of the embedded problems under new ids."""
    rows = [json.loads(line) for line in embedded_problems().read_text().splitlines()]
    with open(folder / "rows.jsonl", "w") as out:
        for number in range(n_problems):
            row = rows[number % len(rows)] | {"question_id": f"q{number:04d}"}
            out.write(json.dumps(row) + "\n")
    model = {"provider": "openai", "model_id": "m", "base_url": url, "max_concurrency": IN_FLIGHT}
    config = {
        "dataset": {"name": "many", "source": "local", "files": [str(folder / "rows.jsonl")]},
        "grid": {"topologies": ["direct"], "models": ["m"]},
        "run": {"n_samples": n_samples},
    }
    (folder / "config.yaml").write_text(yaml.safe_dump(config))
    (folder / "models.yaml").write_text(yaml.safe_dump({"models": {"m": model}}))
    for name in ("teams.yaml", "prompts"):
        (folder / name).symlink_to(Path(__file__).resolve().parents[2] / "config" / name)


if __name__ == "__main__":
    main()
