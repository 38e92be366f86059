"""Users that programs run as when the judge is started by root: one for each sandbox."""

from __future__ import annotations

import itertools
import os
from pathlib import Path

_FIRST = 1_000_000_000
_EACH = 256
_SMALL_FIRST = 20_000  # for containers whose own user namespace knows 65,536 users
_SMALL_EACH = 32

_numbers = itertools.count()


def next_uid() -> int:
    """Return a user id that no account has and no other sandbox uses.

    The limit on processes counts all processes of a user on the machine, so two sandboxes must
    not share one; the id is made of this process's pid and a running number.
    """
    number = next(_numbers)
    if _highest_uid() > _FIRST + (1 << 22) * _EACH:
        return _FIRST + (os.getpid() % (1 << 22)) * _EACH + number % _EACH
    return _SMALL_FIRST + (os.getpid() % 1000) * _SMALL_EACH + number % _SMALL_EACH


def _highest_uid() -> int:
    try:
        lines = Path("/proc/self/uid_map").read_text().splitlines()
    except OSError:
        return 65_535
    return max((sum(map(int, line.split()[::2])) - 1 for line in lines), default=65_535)
