"""Does a search keep an endpoint busy? Wall time of jobs against their critical path.

    python benchmarks/perf/optimize_rollouts.py --methods gepa,mamut_gepa,mipro

Each method searches with a budget of 600 rollouts on a simulated landscape whose rollouts take
200 ms and whose reflection calls take 400 ms, with 32 rollouts in flight, in a folder with all
journals, as a real job does.

*Ideal* is the time of the job's critical path. It is computed from what the method asked for and
from what the world ran, by a tracer between the method and the runner:

- A call begins, on the ideal clock, when the last of those calls ends that had ended before the
  method made it: it may rest on them. Calls that the method makes side by side begin together.
- A reflection call takes its 400 ms.
- A batch of rows takes a round of 200 ms for every 32 rollouts that the world ran for it; rows
  that were known cost nothing.
- A batch with a rule that may end it early is cut into parts as small as the rule allows: a part
  ends at the first row at which the rule could end the batch if only failures or only successes
  came, but has ``--window`` rows at least; each part waits for the one before it. A larger window
  shortens the path and runs more rows in vain, so both are printed.

There are no retries and no overheads on this clock. The baseline is one rollout at a time, as the
peers run them, with the reflection calls one after the other as well. Ratios: wall time over ideal
(at most 1.5), and baseline over wall time.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import math
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import Any

from lcbgrid.models.simulate.landscape import Landscape
from lcbgrid.optimize.interface import Batch, Job, Outcome, Row, method, register
from lcbgrid.optimize.job import Options, run_job
from lcbgrid.optimize.landscape_cell import LandscapeWorld, landscape_cell
from lcbgrid.optimize.rows import row_id

ROLES = ("planner", "coder", "debugger", "reviewer")
Stop = Callable[[Sequence[float]], bool]


class Clock:
    """The ideal clock: a call waits for those that had ended when it was made."""

    def __init__(self) -> None:
        self.ended_s = 0.0
        self.spent_s = 0.0

    def begin(self) -> float:
        """Return when a call begins that is made now."""
        return self.ended_s

    def end(self, began_s: float, took_s: float, alone_s: float) -> None:
        """Note the end of a call, and how long it takes if nothing runs side by side."""
        self.ended_s = max(self.ended_s, began_s + took_s)
        self.spent_s += alone_s


class TracedRunner:
    """Stands between a method and its runner."""

    def __init__(
        self, runner: Any, clock: Clock, world: LandscapeWorld, options: argparse.Namespace
    ) -> None:
        self._runner, self._clock, self._world, self._options = runner, clock, world, options

    def __getattr__(self, name: str) -> Any:
        return getattr(self._runner, name)

    async def run_batch(self, rows: Sequence[Row], *given: Any, **more: Any) -> Batch:
        """Run a batch and note what it takes."""
        began, before = self._clock.begin(), len(self._world.rollouts)
        batch: Batch = await self._runner.run_batch(rows, *given, **more)
        ran = set(self._world.rollouts[before:])
        rounds = 0
        for start, end in parts(batch.scores, len(rows), more.get("stop"), self._options.window):
            paid = sum(row_id(row) in ran for row in rows[start:end])
            rounds += math.ceil(paid / self._options.in_flight)
        seconds = self._options.rollout_s
        self._clock.end(began, rounds * seconds, len(self._world.rollouts[before:]) * seconds)
        return batch


class TracedReflection:
    """Stands between a method and its reflection model."""

    def __init__(self, reflection: Any, clock: Clock, seconds: float) -> None:
        self._reflection, self._clock, self._seconds = reflection, clock, seconds
        self.calls = 0

    async def complete(self, *given: Any, **more: Any) -> str:
        """Ask, and note what it takes."""
        began = self._clock.begin()
        said: str = await self._reflection.complete(*given, **more)
        self.calls += 1
        self._clock.end(began, self._seconds, self._seconds)
        return said


def parts(
    scores: Sequence[float], requested: int, stop: Stop | None, window: int
) -> list[tuple[int, int]]:
    """Return where the parts of a batch begin and end; all but those that were never begun."""
    if stop is None:
        return [(0, requested)]
    found = []
    start = 0
    while start < len(scores):
        end = min(start + window, requested)
        while end < requested and not any(
            stop([*scores[:start], *[score] * (end - start)]) for score in (0.0, 1.0)
        ):
            end += 1
        found.append((start, end))
        start = end
    return found


def traced(name: str, world: LandscapeWorld, options: argparse.Namespace) -> tuple[Clock, Any]:
    """Put a tracer into a method; return its clock and what puts the method back."""
    real, clock = method(name), Clock()

    class Traced:
        libraries = getattr(real, "libraries", ())

        async def optimize(
            self, job: Job, runner: Any, reflection: Any, trials: Any, *rows: Any
        ) -> Outcome:
            return await real.optimize(
                job,
                TracedRunner(runner, clock, world, options),
                TracedReflection(reflection, clock, options.reflection_s),
                trials,
                *rows,
            )

    register(name)(Traced)
    return clock, lambda: register(name)(lambda: real)


def measure(name: str, profile: Any, options: argparse.Namespace) -> None:
    """Run one job and print its ratios."""
    world = LandscapeWorld(
        Landscape.generate(options.landscape_seed, ROLES),
        latency_s=options.rollout_s,
        reflection_latency_s=options.reflection_s,
    )
    cell = landscape_cell(world)
    clock, put_back = traced(name, world, options)
    job = cell.job(name, 0, options.budget, profile=profile)
    with tempfile.TemporaryDirectory() as folder:
        settings = Options(max_in_flight=options.in_flight, window=options.window)
        started = time.perf_counter()
        envelope = asyncio.run(run_job(folder, job, cell, phase="optimize", options=settings))
        wall_s = time.perf_counter() - started
    put_back()
    calls = envelope["usage"]["reflection"]["model_calls"]
    print(
        f"{name:11} {profile:10} {len(world.rollouts):4} rollouts, {calls:3} reflection calls: "
        f"{wall_s:6.1f} s, ideal {clock.ended_s:6.1f} s, one at a time {clock.spent_s:6.1f} s"
    )
    print(f"RATIO {name}_{profile}_wall_over_ideal {wall_s / clock.ended_s:.3f}")
    print(f"RATIO {name}_{profile}_alone_over_wall {clock.spent_s / wall_s:.2f}", flush=True)


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


if __name__ == "__main__":
    main()
