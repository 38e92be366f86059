"""Locks that die with their owner.

The lock is the kernel's ``flock`` on an open file: when the owner dies, even by ``kill -9``, the
kernel lets go. So no stale lock can exist and nothing has to be unlocked by hand. The file's text
names the owner for people.
"""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import time
from collections.abc import Iterator
from pathlib import Path

from lcbgrid.core.errors import BusyError

logger = logging.getLogger(__name__)


@contextlib.contextmanager
def held(path: Path | str, *, what: str, wait_s: float = 0.0) -> Iterator[None]:
    """Hold the lock file ``path`` while the block runs.

    Args:
        path: Lock file; made if missing, never removed.
        what: What is locked, for the message.
        wait_s: How long to wait for a live owner before giving up.

    Raises:
        BusyError: A live process holds the lock; the message names its pid.
    """
    descriptor = acquire(path, what=what, wait_s=wait_s)
    try:
        yield
    finally:
        os.close(descriptor)


def acquire(path: Path | str, *, what: str, wait_s: float = 0.0) -> int:
    """Take the lock and return its descriptor; closing it (or dying) lets go."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    deadline = time.monotonic() + wait_s
    said = False
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            owner = os.pread(descriptor, 200, 0).decode(errors="replace").strip() or "unknown"
            if time.monotonic() >= deadline:
                os.close(descriptor)
                raise BusyError(
                    f"{what} is in use by a live process, pid {owner}",
                    where=path.name,
                    remedy="wait for it or end it, then run the same command again",
                ) from None
            if not said:
                logger.warning("waiting for %s, in use by pid %s", what, owner)
                said = True
            time.sleep(0.1)
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
    return descriptor
