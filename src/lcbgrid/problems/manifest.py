"""What was prepared, from what, and what was left out: the ``manifest.json`` of a data set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from lcbgrid.core.errors import DataError
from lcbgrid.problems.resources import read_json_object
from lcbgrid.problems.rows import Broken, Skipped
from lcbgrid.problems.schema import Problem

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class Manifest:
    """Identity of a prepared data set; tables and reports quote it.

    ``first_id`` and ``last_id`` are in the order of ``problems.jsonl`` (id as text).
    ``start_date`` is included, ``end_date`` excluded, both 00:00 UTC. ``missing_from_split`` are
    ids of the chosen split that the source does not have. ``n_public_only`` counts problems
    without hidden tests.
    """

    name: str
    source: str
    hub_dataset: str | None
    hub_revision: str | None
    release: str | None
    split: str
    start_date: str | None
    end_date: str | None
    filters: dict[str, Any]
    files: list[dict[str, Any]]
    n_rows: int
    n_problems: int
    n_tests: int
    n_public_only: int
    first_id: str
    last_id: str
    by_difficulty: dict[str, int]
    by_platform: dict[str, int]
    by_mode: dict[str, int]
    problems_sha256: str
    tests_sha256: str
    missing_from_split: list[str] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    broken: list[Broken] = field(default_factory=list)
    code_version: str = ""
    schema_version: int = SCHEMA_VERSION

    def summary(self) -> str:
        """Return one line for people: count, first and last id, window, what was left out."""
        window = f"[{self.start_date or 'any'}, {self.end_date or 'any'})"
        return (
            f"{self.name}: {self.n_problems} problems of {self.n_rows} rows, "
            f"{self.first_id} to {self.last_id}, {self.n_tests} tests, "
            f"release {self.release or 'none'}, split {self.split}, window {window} UTC, "
            f"{len(self.skipped)} skipped, {len(self.broken)} broken"
        )

    def to_record(self) -> dict[str, Any]:
        """Return the JSON form."""
        return asdict(self)

    @classmethod
    def read(cls, path: Path) -> Manifest:
        """Read ``manifest.json``.

        Raises:
            DataError: It is missing, malformed, or of another schema version.
        """
        record = read_json_object(path)
        version = record.get("schema_version")
        if version != SCHEMA_VERSION:
            message = f"schema version {SCHEMA_VERSION} is needed"
            raise DataError(
                message, where=path, value=version, remedy="prepare the data set again"
            )
        try:
            record["skipped"] = [Skipped(**item) for item in record["skipped"]]
            record["broken"] = [Broken(**item) for item in record["broken"]]
            return cls(**record)
        except (KeyError, TypeError) as error:
            raise DataError(f"not a manifest of this version ({error})", where=path) from None


def counts(problems: Iterable[Problem], attribute: str) -> dict[str, int]:
    """Count problems by an attribute, names sorted."""
    return dict(sorted(Counter(getattr(problem, attribute) for problem in problems).items()))
