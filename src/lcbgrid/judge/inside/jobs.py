"""What the judge asks of the server, as the server and its child see it."""

from __future__ import annotations

from typing import Any


class Job:
    """One request: a compilation, a program with a stdin, a call of a function, or many tests."""

    __slots__ = (
        "fds",
        "function",
        "has_solution_class",
        "kind",
        "memory_bytes",
        "shape",
        "show_errors",
        "time_s",
        "total_s",
    )

    def __init__(self, header: dict[str, Any], fds: dict[str, int]) -> None:
        self.kind: str = header["kind"]
        self.fds = fds
        self.function: str = header.get("function", "")
        self.time_s: float = header["time_s"]
        self.memory_bytes: int = header["memory_bytes"]
        self.show_errors: bool = header.get("show_errors", False)
        self.shape: str = header.get("shape", "")
        self.has_solution_class: bool = header.get("has_solution_class", False)
        # Time of the whole job, where one job holds several tests.
        self.total_s: float = header.get("total_s") or self.time_s
