"""End every process that a program started, whatever it did to hide them."""

from __future__ import annotations

import contextlib
import os
import signal
import time

_GIVE_UP_S = 10.0


class Tree:
    """The processes below the server.

    Args:
        own_namespace: The server is pid 1 of a pid namespace that holds nothing else.
        uid: The user that programs run as, if it is not the server's own.
        fenced: The server can signal its own descendants only.
    """

    def __init__(self, own_namespace: bool, uid: int | None, fenced: bool = False) -> None:
        self._own_namespace = own_namespace
        self._fenced = fenced
        self._uid = uid

    def pids(self, first: int) -> list[int]:
        """Return the pids of the program's tree, as far as they can be told apart."""
        me = os.getpid()
        if self._own_namespace:
            return [pid for pid in _all_pids() if pid != me]
        if self._uid is not None:
            return [pid for pid in _all_pids() if _owner_of(pid) == self._uid]
        found = [first]
        for pid in found:  # grows while it is walked: children of children follow
            found += _children_of(pid)
        return found

    def end(self, first: int) -> tuple[int, float, int, bool]:
        """Kill and reap everything.

        Returns:
            Wait status of ``first``, CPU seconds of all, peak resident KiB, and whether
            nothing is left.
        """
        status, cpu_s, peak_kb = 0, 0.0, 0
        deadline = time.monotonic() + _GIVE_UP_S
        pid, status, used = os.wait4(first, os.WNOHANG)
        if pid == first:
            cpu_s, peak_kb = used.ru_utime + used.ru_stime, used.ru_maxrss
        all_doomed = False
        while time.monotonic() < deadline:
            all_doomed = all_doomed or self._kill_all(first if pid != first else None)
            try:
                reaped, its_status, used = os.wait4(-1, 0)
            except ChildProcessError:
                return status, cpu_s, peak_kb, True
            cpu_s += used.ru_utime + used.ru_stime
            peak_kb = max(peak_kb, used.ru_maxrss)
            if reaped == first:
                pid, status = first, its_status
        return status, cpu_s, peak_kb, False

    def _kill_all(self, first: int | None) -> bool:
        """Signal the tree; return whether that was all of it at one moment.

        A process that is being killed can no longer fork, so one complete signal is enough.
        """
        if self._own_namespace or self._fenced:
            _kill_everybody()
            return True
        if self._uid is not None:
            return self._kill_as_user(self._uid)
        for pid in _children_of(os.getpid()):
            _kill(pid)
        if first is not None:
            _kill(first)
        return False

    def _kill_as_user(self, uid: int) -> bool:
        """Let a process of that user signal all it may signal: that is exactly the tree.

        The tree may kill that process first; then nothing was signalled.
        """
        killer = os.fork()
        if killer == 0:
            try:
                os.setgroups([])
                os.setresgid(uid, uid, uid)
                os.setresuid(uid, uid, uid)
                _kill_everybody()
                os._exit(0)
            finally:
                os._exit(1)
        return os.waitpid(killer, 0)[1] == 0


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _kill_everybody() -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(-1, signal.SIGKILL)


def _all_pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _owner_of(pid: int) -> int | None:
    with contextlib.suppress(OSError):
        return os.stat(f"/proc/{pid}").st_uid
    return None


def _children_of(parent: int) -> list[int]:
    found = []
    for pid in _all_pids():
        try:
            with open(f"/proc/{pid}/stat", "rb") as stat:
                fields = stat.read().rpartition(b")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == parent:
            found.append(pid)
    return found
