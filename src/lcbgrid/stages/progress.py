"""Progress lines on stderr: what is done, of how many, with which failures."""

from __future__ import annotations

import collections
import logging
import time

logger = logging.getLogger(__name__)


class Progress:
    """Says how far a stage is, at most every few seconds and at the end."""

    def __init__(self, what: str, *, total: int, every_s: float = 10.0) -> None:
        self._what = what
        self._done = 0
        self._total = total
        self._every_s = every_s
        self._said = time.monotonic()
        self._kinds: collections.Counter[str] = collections.Counter()

    def step(self, kind: str) -> None:
        """Count one finished item of a kind (a status)."""
        self._done += 1
        self._kinds[kind] += 1
        now = time.monotonic()
        if self._done == self._total or now - self._said >= self._every_s:
            self._said = now
            kinds = ", ".join(f"{name} {count}" for name, count in sorted(self._kinds.items()))
            logger.info("%s: %d/%d (%s)", self._what, self._done, self._total, kinds)
