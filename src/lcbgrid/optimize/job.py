"""One job in its folder: search, validate, select, test, each sealed before the next begins.

Optimizers specification, sections 6.4 to 6.8. A phase that is sealed is not run again. A search
that was interrupted runs again from its beginning and finds in its journals what it had done. No
test row is opened before the selection is sealed.

The versions of the method and of the libraries that steer it belong to a job: another version may
go another way, so it is refused to continue an interrupted search instead of mixing two.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from lcbgrid.core import files, locks
from lcbgrid.core.errors import ConfigError
from lcbgrid.optimize.bundles import bundle_from_json, bundle_to_json
from lcbgrid.optimize.canonical import content_hash, plain
from lcbgrid.optimize.cell import CELL_ID_LENGTH, Cell, job_identity, searched_and_gate
from lcbgrid.optimize.compared import compared
from lcbgrid.optimize.errors import ArtifactError
from lcbgrid.optimize.evaluation import sealed_evaluation
from lcbgrid.optimize.failures import failure_note
from lcbgrid.optimize.gate import decide
from lcbgrid.optimize.interface import Job, Row
from lcbgrid.optimize.journal import ReflectionJournal, RolloutJournal
from lcbgrid.optimize.ledger import BudgetLedger, Snapshot
from lcbgrid.optimize.records import RunRecord, Usage
from lcbgrid.optimize.rows import row_id
from lcbgrid.optimize.runner import WINDOW
from lcbgrid.optimize.sealed import SealedFolder
from lcbgrid.optimize.search import Searched, search
from lcbgrid.optimize.selection import Selection
from lcbgrid.optimize.trials import StudyTrials
from lcbgrid.teams.bundle import PromptBundle

Phase = Literal["optimize", "validate", "test", "all"]
PHASES: tuple[Phase, ...] = ("optimize", "validate", "test", "all")
SCHEMA = "lcbgrid-optimizer-job/v1"
JOB, ENVELOPE, SELECTION = "job.json", "optimization.json", "selection.json"
TEST, RESULT, LOCK, TIMES = "test.json", "result.json", "job.lock", "times.jsonl"
FAILURE = "failure.json"


@dataclass(frozen=True, slots=True)
class Options:
    """How a job runs; nothing here changes what it finds, but ``window``.

    Attributes:
        max_in_flight: Rollouts under way at a time.
        window: See ``JournalledRunner``; part of the job's identity.
        evaluations: Folder of evaluations that jobs share; ``None``: the job's own.
        progress: Told the ledger whenever something was settled.
    """

    max_in_flight: int = 16
    window: int = WINDOW
    evaluations: Path | None = None
    progress: Callable[[Snapshot], None] | None = None


_DEFAULT = Options()


async def run_job(
    folder: Path | str, job: Job, cell: Cell, *, phase: Phase = "all", options: Options = _DEFAULT
) -> dict[str, Any]:
    """Run the phases of a job that are asked for and not sealed yet.

    Args:
        folder: The job's own.
        job: What is searched, with what.
        cell: Where.
        phase: One phase, or all.
        options: How.

    Returns:
        The content of the last artifact: ``optimization.json``, ``selection.json`` or
        ``result.json``.

    Raises:
        ConfigError: The folder is another job's, or an earlier phase is missing.
        BusyError: Another process runs the job.
        ArtifactError: A sealed artifact was changed.
        ContractError: The method broke the protocol; nothing is sealed then.
    """
    run = _JobRun(Path(folder), job, cell, options)
    with locks.held(run.folder / LOCK, what="the job"):
        run.claim()
        last = await run.optimize() if phase in ("optimize", "all") else {}
        if phase in ("validate", "all"):
            last = await run.validate()
        if phase in ("test", "all"):
            last = await run.test()
    return last


@dataclass(frozen=True, slots=True)
class _JobRun:
    folder: Path
    job: Job
    cell: Cell
    options: Options
    store: SealedFolder = field(init=False)
    identity: Mapping[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "store", SealedFolder(self.folder))
        identity = job_identity(self.job, self.cell, window=self.options.window)
        object.__setattr__(self, "identity", identity)

    @property
    def job_id(self) -> str:
        """Name of the study, and what the journals belong to."""
        return content_hash(dict(self.identity))[:CELL_ID_LENGTH]

    def claim(self) -> None:
        """Write ``job.json``, or see that the folder is this job's."""
        content = {
            "schema": SCHEMA,
            "job_id": self.job_id,
            "identity": self.identity,
            "cell_id": self.cell.cell_id,
            "condition": self.cell.condition,
            "condition_id": self.cell.condition_id,
            "seed_bundle": bundle_to_json(self.cell.seed_bundle),
            "split_sizes": {
                "train": len(self.cell.train),
                "validation": len(self.cell.validation),
                "test": len(self.cell.test_ids),
            },
        }
        if self.store.exists(JOB) and (there := self.store.read(JOB)) != plain(content):
            raise ConfigError(
                "the folder belongs to another job",
                where=self.folder.name,
                value=f"another {_differing(there, plain(content))}",
                remedy="choose another folder, or the settings of the job that is there",
            )
        self.store.write(JOB, content)

    async def optimize(self) -> dict[str, Any]:
        """Search, unless the envelope is sealed."""
        if self.store.exists(ENVELOPE):
            return self._needed(ENVELOPE, "optimize")
        ledger = BudgetLedger(self.job.budget)
        try:
            envelope = await self._searched(self.folder / "optimization", ledger)
        except Exception as error:
            note = {"job_id": self.job_id, **failure_note(error, ledger.snapshot())}
            with contextlib.suppress(OSError):  # the disk may be what failed
                files.write_json(self.folder / FAILURE, note)
            raise
        (self.folder / FAILURE).unlink(missing_ok=True)  # what an earlier try had left
        self.store.write(ENVELOPE, envelope)
        return self.store.read(ENVELOPE)

    async def _searched(self, place: Path, ledger: BudgetLedger) -> dict[str, Any]:
        """Search from the journals or anew, write what happened, and return the envelope."""
        began = time.monotonic()
        with (
            contextlib.closing(RolloutJournal(place / "rollouts.jsonl", self.job_id)) as rollouts,
            contextlib.closing(
                ReflectionJournal(place / "reflection.jsonl", self.job_id)
            ) as reflections,
        ):
            trials = StudyTrials(place, self.job_id, {"identity": self.identity})
            found = await search(
                self.job,
                self.cell,
                trials,
                rollouts=rollouts,
                reflections=reflections,
                ledger=ledger,
                max_in_flight=self.options.max_in_flight,
                window=self.options.window,
                progress=self.options.progress,
            )
        trials.attribute("ledger", found.budget.to_json())
        trials.attribute("stop_reason", found.outcome.stop_reason)
        self._write_search(place, found)
        self._time("optimize", began, {"executed": found.executed, "asked": found.asked})
        return plain(self._envelope(found))  # type: ignore[no-any-return]

    def _write_search(self, place: Path, found: Searched) -> None:
        files.write_jsonl(place / "records.jsonl", [item.to_json() for item in found.rollouts])
        files.write_jsonl(place / "reflection_calls.jsonl", found.reflections)
        files.write_jsonl(place / "events.jsonl", [plain(event) for event in found.outcome.events])
        files.write_jsonl(place / "learning_curve.jsonl", [row.to_json() for row in found.curve()])
        store = SealedFolder(place)
        for bundle in (self.cell.seed_bundle, found.outcome.incumbent):
            store.write(f"bundle-{bundle.full_digest}.json", bundle_to_json(bundle))

    def _envelope(self, found: Searched) -> dict[str, Any]:
        searched_on, gate = searched_and_gate(self.job, self.cell)
        return {
            "schema": SCHEMA,
            "job_id": self.job_id,
            "status": found.status,
            "failure_kind": None if found.error is None else "infrastructure_invalid",
            "error": found.error,
            "forced": found.forced,
            "stop_reason": found.outcome.stop_reason,
            "seed_bundle": bundle_to_json(self.cell.seed_bundle),
            "incumbent_bundle": bundle_to_json(found.outcome.incumbent),
            "training_ids": _ids(self.cell.train),
            "validation_ids": _ids(searched_on),
            "gate_ids": _ids(gate),
            "budget": found.budget.to_json(),
            "usage": {
                "task": found.task_usage.to_json(),
                "judge": Usage().to_json(),
                "reflection": found.reflection_usage.to_json(),
            },
            "learning_curve": [row.to_json() for row in found.curve()],
            "metadata": dict(found.outcome.metadata),
        }

    async def validate(self) -> dict[str, Any]:
        """Evaluate seed and incumbent on the whole validation split and decide."""
        envelope = self._needed(ENVELOPE, "optimize")
        if self.store.exists(SELECTION):
            return self._needed(SELECTION, "validate")
        began = time.monotonic()
        seed_id, seed_records = await self._evaluate(self.cell.seed_bundle, "validation")
        new_id: str | None = None
        new_records: list[RunRecord] = []
        if not envelope["forced"]:
            incumbent = bundle_from_json(envelope["incumbent_bundle"])
            new_id, new_records = await self._evaluate(incumbent, "validation")
        decision = decide(
            seed_records, new_records, envelope["gate_ids"], forced=envelope["forced"]
        )
        self._time("validate", began)
        content = self._selection(envelope, decision, (seed_id, new_id))
        self.store.write(SELECTION, {**content, "selection_id": content_hash(content)})
        return self.store.read(SELECTION)

    def _selection(
        self,
        envelope: Mapping[str, Any],
        decision: Selection,
        evaluations: tuple[str, str | None],
    ) -> dict[str, Any]:
        deployed = "incumbent" if decision.selected_candidate == "incumbent" else "seed"
        content: dict[str, Any] = plain(
            {
                "schema": SCHEMA,
                "job_id": self.job_id,
                "condition_id": self.cell.condition_id,
                "optimization_envelope_sha256": content_hash(envelope),
                "deployed_bundle": envelope[f"{deployed}_bundle"],
                "seed_validation_evaluation": evaluations[0],
                "incumbent_validation_evaluation": evaluations[1],
                "ordered_validation_ids": _ids(self.cell.validation),
                "gate_ids": envelope["gate_ids"],
                "test_exposed": False,
                **decision.to_json(),
            }
        )
        return content

    async def test(self) -> dict[str, Any]:
        """Compare seed and deployed bundle on test; only now are its rows opened."""
        envelope = self._needed(ENVELOPE, "optimize")
        selection = self._needed(SELECTION, "validate")
        if selection["optimization_envelope_sha256"] != content_hash(envelope):
            raise ArtifactError("the selection rests on another search", where=SELECTION)
        if self.store.exists(RESULT):
            return self._needed(RESULT, "test")
        began = time.monotonic()
        deployed = bundle_from_json(selection["deployed_bundle"])
        seed_id, before = await self._evaluate(self.cell.seed_bundle, "test")
        new_id, after = await self._evaluate(deployed, "test")
        self._time("test", began)
        content = {
            "selection_id": selection["selection_id"],
            "condition_id": self.cell.condition_id,
            "evaluation_seed": self.job.optimizer_seed,
            "baseline_evaluation": seed_id,
            "deployed_evaluation": new_id,
            "selected_candidate": selection["selected_candidate"],
            "fallback_reason": selection["fallback_reason"],
            **compared(before, after),
        }
        self.store.write(TEST, content)
        extract = ("status", "stop_reason", "budget", "usage", "error")
        result = {
            "schema": SCHEMA,
            "job_id": self.job_id,
            "identity": self.identity,
            "cell_id": self.cell.cell_id,
            "condition_id": self.cell.condition_id,
            "status": envelope["status"],
            "optimizer_seed": self.job.optimizer_seed,
            "optimization": {name: envelope[name] for name in extract},
            "selection": selection,
            "test": content,
            "delta_pp": content["delta_pp"],
        }
        self.store.write(RESULT, result)
        return self.store.read(RESULT)

    async def _evaluate(
        self, bundle: PromptBundle, split: Literal["validation", "test"]
    ) -> tuple[str, list[RunRecord]]:
        """Evaluate on a whole split; a copy of a shared evaluation stays with the job."""
        rows = list(self.cell.validation) if split == "validation" else self._test_rows()
        own = self.folder / "evaluations"
        seed = self.job.optimizer_seed
        name, records = await sealed_evaluation(
            self.options.evaluations or own,
            self.cell,
            bundle,
            rows,
            split=split,
            optimizer_seed=seed,
            max_in_flight=self.options.max_in_flight,
        )
        if self.options.evaluations is not None:
            shared = SealedFolder(self.options.evaluations).read(f"{name}.json")
            SealedFolder(own).write(f"{name}.json", shared)
        return name, records

    def _test_rows(self) -> list[Row]:
        """Open the test rows.

        Raises:
            ConfigError: The selection is not sealed.
            ArtifactError: They are not the rows of the split.
        """
        self._needed(SELECTION, "validate")
        rows = list(self.cell.load_test())
        if tuple(_ids(rows)) != self.cell.test_ids:
            raise ArtifactError("the test rows are not those of the split")
        return rows

    def _needed(self, name: str, phase: Phase) -> dict[str, Any]:
        if not self.store.exists(name):
            raise ConfigError(
                f"{name} is not there yet",
                where=self.folder.name,
                remedy=f"run the phase {phase} first, or all",
            )
        content = self.store.read(name)
        if content.get("job_id") != self.job_id:
            raise ArtifactError("the artifact is of another job", where=name)
        return content

    def _time(self, phase: str, began: float, more: Mapping[str, int] | None = None) -> None:
        """Note how long a phase took, in a file that no artifact rests on."""
        line = {"phase": phase, "seconds": round(time.monotonic() - began, 3), **(more or {})}
        with open(self.folder / TIMES, "a", encoding="utf-8") as handle:
            handle.write(files.dump_json(line) + "\n")


def _differing(there: Mapping[str, Any], here: Mapping[str, Any]) -> str:
    """Name what tells two jobs apart."""
    pairs = [
        {
            **one["identity"],
            **one["condition"],
            **one["condition"]["names"],
            **{f"version of {name}": it for name, it in one["identity"]["versions"].items()},
        }
        for one in (there, here)
    ]
    names = sorted({*pairs[0], *pairs[1]} - {"names", "condition_id", "versions"})
    found = [name for name in names if pairs[0].get(name) != pairs[1].get(name)]
    return ", ".join(found) or "form"


def _ids(rows: Any) -> list[str]:
    return [row_id(row) for row in rows]
