"""How busy teams keep their endpoint, and what a model call costs the client.

    python benchmarks/perf/teams.py

runs a cell of 50 problems of each topology (size 4) against the simulated server in a process of
its own, with 200 ms latency and 64 calls in flight at most. Printed for each: the share of the 64
slots in use on average while work remains (from the first call until the last answer has been
begun), and the client's own CPU time a call. With one sample a problem a team that does one thing
at a time has 50 calls to make at once, so 0.78 is its ceiling; with four samples a problem there
is always work for 64.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

import yaml

sys.path.insert(0, str(Path(__file__).parent))
from direct_run import IN_FLIGHT, simulated_server, write_grid

from lcbgrid.config.effective import load
from lcbgrid.models import http_pool
from lcbgrid.problems.prepare import prepare
from lcbgrid.stages import run as run_stage
from lcbgrid.stages.paths import Layout

TOPOLOGIES = ("direct", "single", "independent", "sequential", "centralized", "decentralized")


class Watch:
    """Keeps when calls began and ended, and when the last answer was begun."""

    def __init__(self) -> None:
        self.changes: list[tuple[float, int]] = []
        self.last_begun_s = 0.0
        start, finish = http_pool._Connection.start, http_pool._Connection._finish
        answer = run_stage._Runner._answer
        watch = self

        def started(connection: object, exchange: object) -> None:
            watch.changes.append((time.perf_counter(), 1))
            start(connection, exchange)  # type: ignore[arg-type]

        def finished(connection: object, error: object) -> None:
            if connection._exchange is not None:  # type: ignore[attr-defined]
                watch.changes.append((time.perf_counter(), -1))
            finish(connection, error)  # type: ignore[arg-type]

        async def begun(runner: object, *arguments: object) -> object:
            watch.last_begun_s = time.perf_counter()
            return await answer(runner, *arguments)  # type: ignore[arg-type]

        http_pool._Connection.start = started  # type: ignore[method-assign,assignment]
        http_pool._Connection._finish = finished  # type: ignore[method-assign,assignment]
        run_stage._Runner._answer = begun  # type: ignore[method-assign,assignment]

    def share(self) -> float:
        """Return the average share of slots in use while work remained."""
        busy, in_flight, last_s = 0.0, 0, self.changes[0][0]
        until_s = max(self.last_begun_s, self.changes[0][0] + 1e-9)
        for when_s, change in [*self.changes, (until_s, 0)]:
            if when_s > until_s:
                break
            busy += in_flight * (when_s - last_s)
            in_flight, last_s = in_flight + change, when_s
        busy += in_flight * (until_s - last_s)
        return busy / (until_s - self.changes[0][0]) / IN_FLIGHT

    def peak(self) -> int:
        """Return the most calls in flight."""
        in_flight = most = 0
        for _, change in self.changes:
            in_flight += change
            most = max(most, in_flight)
        return most


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--problems", type=int, default=50)
    parser.add_argument("--samples", type=int, default=4)
    parser.add_argument("--topologies", nargs="*", default=TOPOLOGIES)
    options = parser.parse_args()
    watch = Watch()
    run_once("single", 4, 1)  # pays for the imports and the first sandbox
    for topology in options.topologies:
        watch.changes.clear()
        cpu_s, wall_s, n_calls = run_once(topology, options.problems, options.samples)
        share, cpu_ms = watch.share(), cpu_s * 1000 / n_calls
        print(
            f"{topology}: {n_calls} calls in {wall_s:.1f} s, at most {watch.peak()} in flight; "
            f"slots in use {share:.2f}; {cpu_ms:.1f} ms CPU a call"
        )
        print(f"RATIO teams_{topology}_slots {share:.3f}")
        print(f"RATIO teams_{topology}_cpu_ms_a_call {cpu_ms:.2f}")


def run_once(topology: str, n_problems: int, n_samples: int) -> tuple[float, float, int]:
    """Run one cell; return CPU time, wall time (both s) and the number of calls."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with simulated_server(folder) as url:
            write_grid(folder, url, n_problems, n_samples)
            path = folder / "config.yaml"
            config = yaml.safe_load(path.read_text())
            config["grid"] |= {"topologies": [topology], "team_sizes": [4]}
            path.write_text(yaml.safe_dump(config))
            effective = load(path)
            layout = Layout(folder / "results")
            prepare(effective.config.dataset, layout.problems(effective.config.dataset.name))
            cpu_s, start_s = time.process_time(), time.perf_counter()
            run_stage.run_cell(effective, effective.cells[0], layout)
            wall_s, cpu_s = time.perf_counter() - start_s, time.process_time() - cpu_s
            lines = (layout.run(effective.cells[0]) / "transcript.jsonl").read_text().splitlines()
            n_calls = sum('"kind":"call"' in line for line in lines)
    return cpu_s, wall_s, n_calls


if __name__ == "__main__":
    main()
