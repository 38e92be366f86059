"""What the judge asks of the server, as the server and its child see it."""

from __future__ import annotations

from typing import Any


class Job:
    """One request: a compilation, a program with a stdin, or a call of a function."""

    __slots__ = ("fds", "function", "kind", "memory_bytes", "show_errors", "time_s")

    def __init__(self, header: dict[str, Any], fds: dict[str, int]) -> None:
        self.kind: str = header["kind"]
        self.fds = fds
        self.function: str = header.get("function", "")
        self.time_s: float = header["time_s"]
        self.memory_bytes: int = header["memory_bytes"]
        self.show_errors: bool = header.get("show_errors", False)
