"""A cell as a job sees it: its condition, its rows, and what runs a team on them.

Optimizers specification, sections 6.1 to 6.3 and 6.7.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from lcbgrid.core.errors import ConfigError
from lcbgrid.core.hashing import sha256_text
from lcbgrid.optimize.attempts import Execute
from lcbgrid.optimize.bundles import check_bundle
from lcbgrid.optimize.canonical import content_hash
from lcbgrid.optimize.context import Window
from lcbgrid.optimize.errors import ContractError
from lcbgrid.optimize.interface import Job, Row, method
from lcbgrid.optimize.reflection import Complete
from lcbgrid.optimize.rows import row_id
from lcbgrid.optimize.runner import WINDOW
from lcbgrid.optimize.seeds import PAIRED_SCHEMA
from lcbgrid.teams.bundle import PromptBundle

PROTOCOL = "lcbgrid-optimizers/v1"
HELD_OUT_GATE = "held_out_gate"
CELL_ID_LENGTH = 24


@dataclass(frozen=True, slots=True)
class Cell:
    """One condition, whatever the method.

    Attributes:
        names: Task, topology, framework, communication, team size, task model, scorer and
            whatever else tells it from another; no path and no host.
        seed_bundle: Where every search starts.
        role_order: Its roles in the order in which they work.
        train: Rows to learn from.
        validation: Rows to search and to decide on.
        test_ids: Ids of the rows of the final comparison.
        load_test: Opens those rows; called after the selection is sealed, never before.
        search: Runs rollouts of a search.
        evaluate: Runs rollouts of validation and test.
        reflect: Asks the reflection model.
        reflection_model: Its name.
        reflection_window: What it takes.
        reflection_settings: Digest of whatever else decides its replies.
    """

    names: Mapping[str, Any]
    seed_bundle: PromptBundle
    role_order: tuple[str, ...]
    train: Sequence[Row]
    validation: Sequence[Row]
    test_ids: tuple[str, ...]
    load_test: Callable[[], Sequence[Row]]
    search: Execute
    evaluate: Execute
    reflect: Complete
    reflection_model: str
    reflection_window: Window = field(default_factory=Window)
    reflection_settings: str = ""

    def __post_init__(self) -> None:
        check_bundle(self.seed_bundle)
        ids = [*map(row_id, self.train), *map(row_id, self.validation), *self.test_ids]
        if len(set(ids)) < len(ids) or not self.train or not self.validation or not self.test_ids:
            raise ContractError("the splits of a cell are disjoint and none is empty")

    @property
    def split_hash(self) -> str:
        """Hash of the three lists of ids."""
        lists = {
            "train": [row_id(row) for row in self.train],
            "validation": [row_id(row) for row in self.validation],
            "test": list(self.test_ids),
        }
        return content_hash(lists)

    @property
    def condition(self) -> dict[str, Any]:
        """What decides an evaluation, no method among it (section 6.7)."""
        return {
            "protocol": PROTOCOL,
            "names": dict(self.names),
            "seed_bundle": self.seed_bundle.full_digest,
            "split": self.split_hash,
            "paired_seeds": PAIRED_SCHEMA,
        }

    @property
    def condition_id(self) -> str:
        """Hash of the condition."""
        return content_hash(self.condition)

    @property
    def cell_id(self) -> str:
        """Short identity of the cell, without the method."""
        return self.condition_id[:CELL_ID_LENGTH]

    def job(self, method: str, optimizer_seed: int, budget: int, **more: Any) -> Job:
        """Return a job of this cell; ``more`` is its profile and switches."""
        return Job(method, self.cell_id, optimizer_seed, budget, **more)


def job_identity(job: Job, cell: Cell, *, window: int = WINDOW) -> dict[str, Any]:
    """Return everything that decides what a job does (section 6.1).

    Raises:
        ContractError: The job is of another cell.
        ConfigError: There is no such method, or a package that it needs is missing.
    """
    if job.cell_id != cell.cell_id:
        raise ContractError("the job is of another cell", value=job.cell_id)
    return {
        "protocol": PROTOCOL,
        "method": job.method,
        "condition_id": cell.condition_id,
        "reflection_model": cell.reflection_model,
        "reflection_window": asdict(cell.reflection_window),
        "reflection_settings": cell.reflection_settings,
        "optimizer_seed": job.optimizer_seed,
        "budget": job.budget,
        "profile": job.profile,
        "switches": dict(job.switches),
        "window": window,
        "versions": versions_of(job.method),
    }


def versions_of(name: str) -> dict[str, str]:
    """Return the versions of whatever steers a method: its own, and those of its libraries.

    An interrupted search must not be continued by another version, which would go another way.

    Raises:
        ConfigError: There is no such method, or a package that it needs is missing.
    """
    optimizer = method(name)
    libraries = getattr(optimizer, "libraries", ())
    own = str(getattr(optimizer, "version", 1))
    try:
        return {"method": own, **{library: version(library) for library in libraries}}
    except PackageNotFoundError as error:
        raise ConfigError(
            f"the package {error.name} is not installed",
            where=f"method {name}",
            remedy=f"install it with pip install {error.name}",
        ) from None


def searched_and_gate(job: Job, cell: Cell) -> tuple[list[Row], list[Row]]:
    """Return the validation rows that a search gets, and those that have a veto (module gate).

    With the improvement ``held_out_gate`` (section 9, item 9) they are two halves, drawn by the
    rows' ids alone, so that all methods share them; otherwise both are the whole split.
    """
    rows = list(cell.validation)
    if len(rows) < 2 or not job.has(HELD_OUT_GATE):
        return rows, rows
    drawn = sorted(rows, key=lambda row: sha256_text(f"{HELD_OUT_GATE}|{row_id(row)}"))
    searched = {row_id(row) for row in drawn[: (len(rows) + 1) // 2]}
    return (
        [row for row in rows if row_id(row) in searched],
        [row for row in rows if row_id(row) not in searched],
    )
