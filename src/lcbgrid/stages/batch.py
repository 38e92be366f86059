"""A batch: one cell run over a data set, judged, and turned into one record an instance.

Everything happens in a work folder of the usual layout, so a batch that was killed goes on where
it stopped, and its transcript can be read and replayed like any other.
"""

from __future__ import annotations

import logging
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lcbgrid.config.effective import Effective
from lcbgrid.config.grid import Cell
from lcbgrid.config.problem_spec import DatasetSpec
from lcbgrid.core import locks
from lcbgrid.core.errors import InfrastructureError
from lcbgrid.core.files import write_text
from lcbgrid.core.jsonl import read_jsonl
from lcbgrid.judge.pool import usable_cores
from lcbgrid.problems.hub import HubError
from lcbgrid.problems.prepare import prepare
from lcbgrid.problems.store import MANIFEST_FILE, PreparedProblems
from lcbgrid.stages.batch_records import read_records
from lcbgrid.stages.judge import judge_cell
from lcbgrid.stages.paths import Layout
from lcbgrid.stages.run import run_cell
from lcbgrid.stages.variables import base_of

logger = logging.getLogger(__name__)

_NO_HUB = (
    "connect once and run it again, or put the file in a folder named by LCBGRID_HUB_DIR, or run "
    "our own problems, which need no network, with --dataset embedded"
)


@dataclass(frozen=True, slots=True)
class Batch:
    """What is run, and the folder for work in progress."""

    effective: Effective
    cell: Cell
    work: Path

    @property
    def layout(self) -> Layout:
        """Where its files are."""
        return Layout(self.work)


def run_batch(batch: Batch, *, fresh: bool = False) -> list[dict[str, Any]]:
    """Prepare, run and judge; return the records, in order of the question ids.

    Args:
        batch: What is run.
        fresh: Forget finished model calls and verdicts of this cell.

    Raises:
        InfrastructureError: The data set cannot be had, or every answer was lost.
        BusyError: Another batch works in the same folder.
    """
    effective, cell, layout = batch.effective, batch.cell, batch.layout
    with locks.held(batch.work / "batch.lock", what=f"the folder {batch.work}"):
        if fresh:
            for folder in (layout.work(cell), layout.run(cell)):
                shutil.rmtree(folder, ignore_errors=True)
        write_text(layout.effective_config, effective.dump())  # lcbgrid's own commands read it
        store = _prepared(effective, layout)
        run_cell(effective, cell, layout)
        judge_cell(effective, cell, layout, workers=usable_cores())
        problems = {problem.question_id: problem for problem in store.problems()}
        return read_records(
            layout.run(cell),
            problems,
            cell.communication,
            in_stages=base_of(cell.topology) == "sequential",
        )


def _prepared(effective: Effective, layout: Layout) -> PreparedProblems:
    """Prepare the data set; what comes from the hub is pinned and need not be read again."""
    spec = effective.config.dataset
    folder = layout.problems(spec.name)
    mark = folder.with_name(f"{folder.name}.sha256")
    digest = effective.dataset_digest()
    known = mark.is_file() and mark.read_text() == digest
    if spec.source != "hub" or not known or not (folder / MANIFEST_FILE).is_file():
        mark.unlink(missing_ok=True)
        try:
            logger.info("problems: %s", prepare(spec, folder).summary())
        except HubError as error:
            raise InfrastructureError(
                f"LiveCodeBench cannot be had: {error.what}", where=error.where, remedy=_NO_HUB
            ) from error
        write_text(mark, digest)
    store = PreparedProblems(folder)
    _say_if_fewer(spec, store)
    return store


def _say_if_fewer(spec: DatasetSpec, store: PreparedProblems) -> None:
    wanted, found = spec.filters.limit, store.manifest.n_problems
    if wanted is not None and found < wanted:
        logger.warning("%d problems are asked for, %d are there", wanted, found)


def outcomes_of(batch: Batch) -> dict[str, list[dict[str, Any]]]:
    """Return question -> outcome of every test, of a batch that was run."""
    lines = read_jsonl(batch.layout.run(batch.cell) / "verdicts.jsonl")
    return {record["question_id"]: record.get("tests", []) for record in lines}
