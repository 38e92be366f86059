"""What one test may use; plain numbers with their units in the name."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1 << 20
MIN_OUTPUT_CAP_BYTES = 64 * MIB
MAX_RESULT_BYTES = 256 * MIB
FILE_SIZE_MB = 64
MAX_PROCESSES = 64
RECURSION_LIMIT = 50_000
INT_DIGITS = 50_000
STACK_MB = 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one test.

    Attributes:
        time_s: CPU seconds of the program and its children, and also seconds on the clock once
            the time spent waiting for a free core is taken off.
        memory_mb: Budget in MiB above the loaded interpreter; 0 means none.
        output_bytes: How much output is kept; more is a wrong answer. Default: 64 MiB, or four
            times the expected text if that is more.
    """

    time_s: float
    memory_mb: int
    output_bytes: int | None = None

    def output_cap_bytes(self, expected_bytes: int) -> int:
        """Return how much output is kept for a test with an expected text of this size."""
        if self.output_bytes is not None:
            return self.output_bytes
        return max(MIN_OUTPUT_CAP_BYTES, 4 * expected_bytes)
