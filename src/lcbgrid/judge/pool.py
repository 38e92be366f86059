"""Sandboxes for many callers: a few workers, each with its long-lived servers."""

from __future__ import annotations

import contextlib
import os
import queue
import threading
from collections.abc import Callable, Iterator

from lcbgrid.config.judge_spec import Tier
from lcbgrid.judge.sandbox import Sandbox
from lcbgrid.judge.tiers import launch


def usable_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0))


class Worker:
    """At most one sandbox of each kind, started when first needed."""

    def __init__(self, tier: Tier) -> None:
        self._tier = tier
        self._sandboxes: dict[bool, Sandbox] = {}

    def sandbox(self, *, numpy: bool) -> Sandbox:
        """Return a usable sandbox, a new one if the last was lost or soiled."""
        current = self._sandboxes.get(numpy)
        if current is not None and current.usable:
            return current
        self.drop(numpy=numpy)
        self._sandboxes[numpy] = launch(self._tier, numpy=numpy)
        return self._sandboxes[numpy]

    def drop(self, *, numpy: bool) -> None:
        """Close the sandbox of that kind, if there is one."""
        current = self._sandboxes.pop(numpy, None)
        if current is not None:
            current.close()

    def close(self) -> None:
        """Close all sandboxes."""
        for numpy in list(self._sandboxes):
            self.drop(numpy=numpy)


class Pool:
    """Lends workers to callers; callers beyond the number of workers wait."""

    def __init__(self, size: int, make_worker: Callable[[], Worker]) -> None:
        self.size = size
        self._workers = [make_worker() for _ in range(size)]
        # Last in, first out: with few callers the same warm sandboxes are used again.
        self._free: queue.LifoQueue[Worker | None] = queue.LifoQueue()
        for worker in reversed(self._workers):
            self._free.put(worker)

    @contextlib.contextmanager
    def worker(self) -> Iterator[Worker]:
        """Borrow a worker for one program."""
        worker = self._free.get()
        if worker is None:
            self._free.put(None)
            message = "the judge is closed"
            raise RuntimeError(message)
        try:
            yield worker
        finally:
            self._free.put(worker)

    def close(self) -> None:
        """Wait for borrowed workers and close all; safe to call twice."""
        if not self._workers:
            return
        for _ in self._workers:
            self._free.get()
        for worker in self._workers:
            worker.close()
        self._workers = []
        self._free.put(None)


class Quiet:
    """Lets tests run side by side, or one of them alone.

    A test that ran out of time while the machine was busy is run once more while no other test
    of this judge runs.
    """

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._running = 0
        self._alone = False

    @contextlib.contextmanager
    def beside_others(self) -> Iterator[None]:
        """Run in company; waits while somebody runs alone."""
        with self._condition:
            self._condition.wait_for(lambda: not self._alone)
            self._running += 1
        try:
            yield
        finally:
            with self._condition:
                self._running -= 1
                self._condition.notify_all()

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Run when nobody else does."""
        with self._condition:
            self._condition.wait_for(lambda: not self._alone)
            self._alone = True
            self._condition.wait_for(lambda: self._running == 0)
        try:
            yield
        finally:
            with self._condition:
                self._alone = False
                self._condition.notify_all()
