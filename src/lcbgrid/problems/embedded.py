"""The embedded problem set: our own problems, with reference solutions and fixed splits.

The folder holds ``problems.jsonl`` (rows of the LiveCodeBench schema), ``solutions.jsonl`` and
``splits.json``.
"""

from __future__ import annotations

from pathlib import Path

from lcbgrid.problems.resources import resource_dir

EMBEDDED_DIR_ENV = "LCBGRID_EMBEDDED_DIR"


def embedded_dir() -> Path:
    """Return the folder of the embedded set; ``LCBGRID_EMBEDDED_DIR`` overrides it.

    Raises:
        InfrastructureError: The folder is missing.
    """
    return resource_dir("embedded", EMBEDDED_DIR_ENV)


def embedded_problems() -> Path:
    """Return the file with the rows, hidden tests included."""
    return embedded_dir() / "problems.jsonl"


def embedded_solutions() -> Path:
    """Return the file with the reference and the wrong solutions."""
    return embedded_dir() / "solutions.jsonl"
