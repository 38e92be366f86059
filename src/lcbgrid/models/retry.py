"""How long a call may be tried: bounded attempts, full jitter, ``Retry-After`` honoured."""

from __future__ import annotations

import random

from lcbgrid.config.model_spec import RetrySpec


class Patience:
    """Counts the attempts and waits of one call.

    The wait before attempt n+1 is drawn evenly from 0 to ``first_wait_s * 2**(n-1)``, at most
    ``max_wait_s`` ("full jitter", so that many calls that failed together do not return
    together). A ``Retry-After`` is a lower bound of the wait, whatever its size, but all waits of
    one call together stay below ``max_attempts * max_wait_s``.
    """

    def __init__(self, spec: RetrySpec, jitter: random.Random) -> None:
        self._spec = spec
        self._jitter = jitter
        self.retries = 0
        self.waited_s = 0.0

    @property
    def exhausted(self) -> bool:
        """True if the current attempt is the last one."""
        return self.retries + 1 >= self._spec.max_attempts

    def next_wait_s(self, retry_after_s: float | None) -> float | None:
        """Return the wait before the next attempt and count it; ``None`` to give up."""
        if self.exhausted:
            return None
        spec = self._spec
        longest_s = min(spec.max_wait_s, spec.first_wait_s * 2.0**self.retries)
        wait_s = self._jitter.uniform(0.0, longest_s)
        if retry_after_s is not None:
            wait_s = retry_after_s + min(wait_s, spec.first_wait_s)
            if self.waited_s + wait_s > spec.max_attempts * max(spec.max_wait_s, 1.0):
                return None
        self.retries += 1
        return wait_s
