"""Does a search keep an endpoint busy? Wall time of jobs against their critical path.

    python benchmarks/perf/optimize_rollouts.py --methods gepa,mamut_gepa,mipro

Each method searches with a budget of 600 rollouts on a simulated landscape whose rollouts take
200 ms and whose reflection calls take 400 ms, with 32 rollouts in flight, in a folder with all
journals, as a real job does.

*Ideal* is the time of the job's critical path on an endpoint that is never waited for in vain:
what the method asked for in one batch runs together, 32 at a time; a batch, a window of a batch
that may end early, and a reflection call wait for all that came before them, because they are made
from it. It is computed from what the job recorded, not from when things ran. The baseline is one
rollout at a time, as the peers run them. Ratios: wall time over ideal (at most 1.5), and baseline
over wall time.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import math
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from lcbgrid.core.jsonl import read_jsonl
from lcbgrid.models.simulate.landscape import Landscape
from lcbgrid.optimize.job import Options, run_job
from lcbgrid.optimize.landscape_cell import LandscapeWorld, landscape_cell

ROLES = ("planner", "coder", "debugger", "reviewer")


def main() -> None:
    """Print a row for each method and profile."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--methods", default="gepa,mamut_gepa,mipro")
    parser.add_argument("--profiles", default="improved,reference")
    parser.add_argument("--budget", type=int, default=600)
    parser.add_argument("--rollout-s", type=float, default=0.2)
    parser.add_argument("--reflection-s", type=float, default=0.4)
    parser.add_argument("--in-flight", type=int, default=32)
    parser.add_argument("--window", type=int, default=Options().window)
    parser.add_argument("--landscape-seed", type=int, default=400)
    options = parser.parse_args()
    print(f"{options.budget} rollouts of {options.rollout_s:g} s, {options.in_flight} in flight,")
    print(f"reflection calls of {options.reflection_s:g} s, window {options.window}")
    for name, profile in itertools.product(
        options.methods.split(","), options.profiles.split(",")
    ):
        measure(name, profile, options)


def measure(name: str, profile: str, options: argparse.Namespace) -> None:
    """Run one job and print its ratios."""
    world = LandscapeWorld(
        Landscape.generate(options.landscape_seed, ROLES),
        latency_s=options.rollout_s,
        reflection_latency_s=options.reflection_s,
    )
    cell = landscape_cell(world)
    job = cell.job(name, 0, options.budget, profile=profile)
    with tempfile.TemporaryDirectory() as folder:
        settings = Options(max_in_flight=options.in_flight, window=options.window)
        started = time.perf_counter()
        asyncio.run(run_job(folder, job, cell, phase="optimize", options=settings))
        wall_s = time.perf_counter() - started
        place = Path(folder) / "optimization"
        rollouts = list(read_jsonl(place / "records.jsonl"))
        reflections = list(read_jsonl(place / "reflection_calls.jsonl"))
    paid = [item for item in rollouts if item["attempts"]]
    thinking_s = options.reflection_s * len(reflections)
    ideal_s = thinking_s + options.rollout_s * rounds(paid, options.in_flight)
    alone_s = thinking_s + options.rollout_s * len(paid)
    print(
        f"{name:11} {profile:10} {len(paid):4} rollouts, {len(reflections):3} reflection calls: "
        f"{wall_s:6.1f} s, ideal {ideal_s:6.1f} s, one at a time {alone_s:6.1f} s"
    )
    print(f"RATIO {name}_{profile}_wall_over_ideal {wall_s / ideal_s:.3f}")
    print(f"RATIO {name}_{profile}_alone_over_wall {alone_s / wall_s:.2f}", flush=True)


def rounds(paid: Sequence[dict[str, object]], in_flight: int) -> int:
    """Return how many rounds of rollouts wait for each other."""
    keys = ("phase", "iteration", "slot", "exec_digest", "charged_after")
    batches = itertools.groupby(paid, key=lambda item: [item[key] for key in keys])
    return sum(math.ceil(len(list(batch)) / in_flight) for _, batch in batches)


if __name__ == "__main__":
    main()
