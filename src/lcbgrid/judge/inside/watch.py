"""Watch one running program: the clock, its CPU time, its memory.

Time is judged by what the program would have taken on an idle machine: CPU time of the whole
tree, and time on the clock less the time its threads were ready to run but found no free core
(the kernel counts that in ``schedstat``).
"""

from __future__ import annotations

import os
import select
import time
from collections.abc import Callable

from . import jobs

_POLL_S = 0.1
_WALL_GRACE_S = 0.1
HARD_WALL_FACTOR = 10
HARD_WALL_EXTRA_S = 5.0
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class Usage:
    """A snapshot of a process tree."""

    __slots__ = ("cpu_s", "delay_s", "processes", "resident_bytes", "wall_s")

    def __init__(self, wall_s: float = 0.0, cpu_s: float = 0.0, delay_s: float = 0.0) -> None:
        self.wall_s = wall_s
        self.cpu_s = cpu_s
        self.delay_s = delay_s
        self.processes = 0
        self.resident_bytes = 0


def measure(pids: list[int], wall_s: float) -> Usage:
    """Add up what the processes have used; those that are gone count nothing."""
    usage = Usage(wall_s)
    for pid in pids:
        try:
            with open(f"/proc/{pid}/stat", "rb") as stat:
                fields = stat.read().rpartition(b")")[2].split()
            with open(f"/proc/{pid}/statm", "rb") as statm:
                resident = int(statm.read().split()[1])
        except (OSError, IndexError, ValueError):
            continue
        usage.cpu_s += sum(int(field) for field in fields[11:15]) / _TICKS_PER_S
        usage.delay_s += waited_for_core_s(pid)
        usage.processes += 1
        usage.resident_bytes += resident * _PAGE_BYTES
    return usage


def waited_for_core_s(pid: int) -> float:
    """Return how long the threads of a process were ready to run but did not."""
    total_ns = 0
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/schedstat", "rb") as schedstat:
                total_ns += int(schedstat.read().split()[1])
    except (OSError, IndexError, ValueError):
        pass  # the thread ended, or this kernel does not count: then nothing is taken off
    return total_ns / 1e9


def over_time(now: Usage, since: Usage, time_s: float) -> str | None:
    """Say which clock ran out between two snapshots: ``cpu``, ``wall`` or none."""
    if now.cpu_s - since.cpu_s > time_s:
        return "cpu"
    wall_s = now.wall_s - since.wall_s
    if wall_s - (now.delay_s - since.delay_s) > time_s + _WALL_GRACE_S:
        return "wall"
    if wall_s > time_s * HARD_WALL_FACTOR + HARD_WALL_EXTRA_S:
        return "wall"
    return None


class Watch:
    """Waits for the end of a child or for the first limit that it crosses.

    Args:
        control: Descriptor of the judge's channel; anything on it means "stop".
        phase: Read end of the pipe on which the child says how far it came.
        list_pids: Returns the pids of the program's tree, given its first one.
        loaded_resident_bytes: Resident memory that each child starts with.
    """

    def __init__(
        self,
        control: int,
        phase: int,
        list_pids: Callable[[int], list[int]],
        loaded_resident_bytes: int,
    ) -> None:
        self._control = control
        self._phase = phase
        self._list_pids = list_pids
        self.loaded_resident_bytes = loaded_resident_bytes
        self.stages = b""
        self.loaded_at: Usage | None = None

    def wait(self, pid: int, started: float, job: jobs.Job) -> tuple[str | None, Usage]:
        """Return why the child has to be ended (``None``: it ended itself) and its last usage."""
        self.stages, self.loaded_at = b"", None
        ended = os.pidfd_open(pid)
        poll = select.poll()
        poll.register(ended, select.POLLIN)
        poll.register(self._control, select.POLLIN)
        if job.kind == "call":
            poll.register(self._phase, select.POLLIN)
        timeout_s = min(_POLL_S, job.total_s)
        try:
            while True:
                ready = {descriptor for descriptor, _ in poll.poll(max(1, int(timeout_s * 1000)))}
                wall_s = time.monotonic() - started
                if ended in ready:
                    return self._after_the_end(pid, wall_s, job)
                if self._control in ready:
                    return "asked", Usage(wall_s)
                usage = measure(self._list_pids(pid), wall_s)
                if self._phase in ready:
                    self._note_stage(usage)
                reason = self._check(usage, job)
                if reason is not None:
                    return reason, usage
                timeout_s = min(_POLL_S, self._remaining_s(usage, job))
        finally:
            os.close(ended)

    def _note_stage(self, usage: Usage) -> None:
        self.stages += os.read(self._phase, 4096)[:16]
        if b"L" in self.stages and self.loaded_at is None:
            self.loaded_at = usage

    def _check(self, usage: Usage, job: jobs.Job) -> str | None:
        reason = over_time(usage, self.loaded_at or Usage(), job.total_s)
        if reason is None and job.memory_bytes and usage.processes > 1:
            # One process is held by its address space; several could add up.
            own = usage.resident_bytes - usage.processes * self.loaded_resident_bytes
            if own > job.memory_bytes:
                return "memory"
        return reason

    def _remaining_s(self, usage: Usage, job: jobs.Job) -> float:
        since = self.loaded_at or Usage()
        wall_s = usage.wall_s - since.wall_s
        own_s = max(usage.cpu_s - since.cpu_s, wall_s - (usage.delay_s - since.delay_s))
        return max(0.002, job.total_s - own_s)

    def late_check(self, usage: Usage, loaded: bool, job: jobs.Job) -> str | None:
        """Judge the time of a program that ended by itself between two looks at it."""
        if loaded and self.loaded_at is None:  # both stages passed unseen: allow for both
            return over_time(usage, Usage(), 2 * job.total_s)
        return over_time(usage, self.loaded_at or Usage(), job.total_s)

    def _after_the_end(self, pid: int, wall_s: float, job: jobs.Job) -> tuple[str | None, Usage]:
        usage = Usage(wall_s)
        if wall_s > job.total_s:
            usage.delay_s = waited_for_core_s(pid)  # still there: nobody has reaped it
        return None, usage
