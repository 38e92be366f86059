"""How close the model client comes to the ideal time: N calls, 200 ms latency, 64 in flight.

The simulated server runs as a process of its own, as a real endpoint would. The ideal is
``N x latency / in flight``; with N = 400 the last of the seven rounds is not full, so no client
can do better than 1.12. Prints one ``RATIO name value`` line a size::

    python benchmarks/perf/model_calls.py
    python benchmarks/perf/model_calls.py --sizes 400 --repeat 5
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gc
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from lcbgrid.config.model_spec import ModelSpec
from lcbgrid.models import CallId, ChatRequest, ModelClient, Transcript

SERVE = """
import sys
from lcbgrid.config.model_spec import SimulateSpec
from lcbgrid.models.simulate import run_server
run_server(SimulateSpec(latency_ms=float(sys.argv[1])), model_ids=("simulated",))
"""
SYSTEM = "You solve programming problems. Read standard input, print the answer. " * 8
USER = "There are n piles of stones. Print the number of moves that are needed at least. " * 25


@contextlib.contextmanager
def server(latency_ms: float) -> Iterator[str]:
    """Run the simulated server in a process of its own; yield its address."""
    command = [sys.executable, "-c", SERVE, str(latency_ms)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


async def measure(base_url: str, size: int, in_flight: int, folder: Path) -> tuple[float, float]:
    """Return wall time and CPU time of ``size`` calls, in seconds."""
    spec = ModelSpec(
        provider="openai", model_id="simulated", base_url=base_url, max_concurrency=in_flight
    )
    with Transcript(folder / f"{time.monotonic_ns()}.jsonl") as transcript:
        async with ModelClient("simulated", spec, transcript) as client:
            requests = [
                ChatRequest(
                    messages=(
                        {"role": "system", "content": SYSTEM},
                        {"role": "user", "content": f"Task {number}. {USER}"},
                    ),
                    sampling=client.sampling,
                    seed=number,
                    call=CallId(f"q{number}", 0, "solver", 0),
                )
                for number in range(size)
            ]
            wall_s, cpu_s = time.perf_counter(), time.process_time()
            replies = await asyncio.gather(*map(client.chat, requests))
            wall_s, cpu_s = time.perf_counter() - wall_s, time.process_time() - cpu_s
    assert all(reply.status == "ok" and reply.retries == 0 for reply in replies)
    return wall_s, cpu_s


def main() -> None:
    """Measure each size and print its ratio."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[400, 4000], help="calls a run")
    parser.add_argument("--latency-ms", type=float, default=200.0, help="of the server")
    parser.add_argument("--in-flight", type=int, default=64, help="calls in flight")
    parser.add_argument("--repeat", type=int, default=3, help="runs a size; the best counts")
    options = parser.parse_args()
    gc.collect()
    gc.freeze()  # one full collection of all imported modules takes longer than ten calls
    with tempfile.TemporaryDirectory() as folder, server(options.latency_ms) as base_url:
        for size in options.sizes:
            ideal_s = size * options.latency_ms / 1000.0 / options.in_flight
            runs = [
                asyncio.run(measure(base_url, size, options.in_flight, Path(folder)))
                for _ in range(options.repeat)
            ]
            wall_s, cpu_s = min(runs)
            all_ratios = ", ".join(f"{run[0] / ideal_s:.3f}" for run in runs)
            print(
                f"{size} calls: {wall_s:.3f} s, ideal {ideal_s:.3f} s, "
                f"CPU {1000 * cpu_s / size:.2f} ms a call; ratios of all runs: {all_ratios}",
                file=sys.stderr,
            )
            print(f"RATIO model_calls_{size} {wall_s / ideal_s:.4f}")


if __name__ == "__main__":
    main()
