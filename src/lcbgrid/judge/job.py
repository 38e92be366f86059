"""What is asked of a sandbox, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from lcbgrid.judge.limits import Limits

JobKind = Literal["compile", "stdin", "call", "official", "batch"]
EndedBy = Literal["cpu", "wall", "memory", "output", "sandbox", "enough"]

REPORT_CAP_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class Job:
    """One request to a sandbox.

    Attributes:
        kind: Compile the source, run it with a stdin, call a function of it, or run all tests
            in one process: by the official habits, or as a batch of calls.
        data: Source, stdin, or argument lines, as bytes.
        limits: Time and memory.
        stdout_cap_bytes: What is kept of the output; more ends the program. 0: not read at all.
        stderr_cap_bytes: The same for the error stream.
        report_cap_bytes: The same for the wrapper's own channel, which carries results.
        function: Name to call.
        keep_going: Past a cap, throw the rest away instead of ending the program.
        shape: How the source is changed before it is compiled; empty: not at all.
        total_s: Time of the whole job if it holds several tests.
        parts: The inputs of several tests, instead of ``data``.
        has_solution_class: Whether the source names a class ``Solution``, for the official rules.
        consume: Takes what it can use off the front of the wrapper's channel while the program
            runs; returns whether that is enough and the program may be ended.
    """

    kind: JobKind
    data: bytes
    limits: Limits
    stdout_cap_bytes: int = 0
    stderr_cap_bytes: int = 0
    report_cap_bytes: int = REPORT_CAP_BYTES
    function: str = ""
    keep_going: bool = False
    shape: str = ""
    total_s: float | None = None
    parts: Iterable[bytes] | None = None
    has_solution_class: bool = False
    consume: Callable[[bytearray], bool] | None = None

    def header(self) -> dict[str, object]:
        """Return the fields that the server needs, but for descriptors and memory."""
        return {
            "kind": self.kind,
            "time_s": self.limits.time_s,
            "total_s": self.total_s,
            "function": self.function,
            "show_errors": bool(self.stderr_cap_bytes),
            "shape": self.shape,
            "has_solution_class": self.has_solution_class,
        }


@dataclass(frozen=True, slots=True)
class Report:
    """What became of a job.

    Attributes:
        exit_code: Exit code, if the program ended by itself.
        signal_name: Name of the signal that ended it, otherwise.
        ended_by: The limit that made the judge end it; ``enough`` if nothing more was needed.
        loading: Whether a functional program was still being loaded.
        contended: Whether the machine kept it waiting for a core.
        stdout, stderr, report: What was read, up to the caps.
        cut: Names of the streams that were cut.
    """

    exit_code: int | None
    signal_name: str | None
    ended_by: EndedBy | None
    loading: bool
    contended: bool
    wall_s: float
    cpu_s: float
    memory_mb: float | None
    stdout: bytes = b""
    stderr: bytes = b""
    report: bytes = b""
    cut: frozenset[str] = frozenset()
