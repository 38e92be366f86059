"""The run stage: a team answers every problem of a cell.

The transcript is the only state. A stage that was killed starts over, but every model call and
every tool run that it finished is answered from the transcript, so nothing is asked or paid for
twice and the outcome is that of an undisturbed run. Answers lost to infrastructure leave no line
there, so they are tried again.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lcbgrid import __version__
from lcbgrid.config.effective import Effective
from lcbgrid.config.grid import Cell
from lcbgrid.core import locks
from lcbgrid.core.errors import InfrastructureError
from lcbgrid.core.files import write_json, write_jsonl
from lcbgrid.core.secrets import mask
from lcbgrid.judge.judge import Judge
from lcbgrid.models.client import ModelClient
from lcbgrid.models.failures import ModelCallError
from lcbgrid.models.transcript import Transcript, open_published
from lcbgrid.problems.schema import Problem
from lcbgrid.problems.store import PreparedProblems
from lcbgrid.stages.paths import Layout
from lcbgrid.stages.progress import Progress
from lcbgrid.teams.bundle import PromptBundle
from lcbgrid.teams.interface import Answer, Team, build
from lcbgrid.teams.tools import ToolBox
from lcbgrid.teams.work import Context, Spent

logger = logging.getLogger(__name__)

SCHEMA_VERSION = 1
ORPHAN_WAIT_S = 24 * 3600.0


@dataclass(frozen=True, slots=True)
class RunSummary:
    """What a run stage did; ``answering_s`` is the wall time from first request to last answer."""

    n_answers: int
    n_infra_errors: int
    answering_s: float


def run_cell(
    effective: Effective, cell: Cell, layout: Layout, *, replay_from: Path | None = None
) -> RunSummary:
    """Answer all problems of a cell and publish predictions, transcript and timing.

    Args:
        effective: The configuration.
        cell: Which cell.
        layout: Where files are.
        replay_from: Results folder whose transcripts answer every model call.

    Raises:
        InfrastructureError: Too many answers were lost; nothing is published, all is kept.
    """
    store = PreparedProblems(layout.problems(cell.dataset))
    work, folder = layout.work(cell), layout.run(cell)
    with locks.held(work / "run.lock", what=f"cell {cell.path}", wait_s=ORPHAN_WAIT_S):
        if replay_from is None:
            transcript = Transcript(
                work / "transcript.jsonl", seeds_from=_baseline_calls(cell, layout)
            )
        else:
            transcript = open_published(Layout(replay_from).run(cell) / "transcript.jsonl")
        with transcript:
            bundle = _bundle(effective, cell, layout)
            runner = _Runner(effective, cell, bundle, transcript, replay=replay_from is not None)
            records = runner.run(store.each_problem(), store.manifest.n_problems)
            _refuse_if_lost(records, effective.config.run.max_infra_share, cell)
            folder.mkdir(parents=True, exist_ok=True)
            transcript.publish(folder / "transcript.jsonl", folder / "timing.jsonl")
        write_json(folder / "cell.json", _description(effective, cell, bundle, store))
        write_jsonl(folder / "predictions.jsonl", records)  # last: it says that the stage is done
    lost = sum(record["status"] == "infra_error" for record in records)
    return RunSummary(len(records), lost, runner.answering_s)


class _Runner:
    """Keeps as many problems in flight as the endpoint takes calls."""

    def __init__(
        self,
        effective: Effective,
        cell: Cell,
        bundle: PromptBundle,
        transcript: Transcript,
        *,
        replay: bool,
    ) -> None:
        self._effective = effective
        self._cell = cell
        self._spec = effective.models[cell.model]
        self._team_spec = effective.teams[cell.topology]
        self._transcript = transcript
        self._replay = replay
        self.answering_s = 0.0
        self._team: Team = build(self._team_spec, cell.team_size, cell.communication)
        self._bundle = bundle
        self._tools = ToolBox(
            self._team_spec,
            transcript,
            lambda: Judge(effective.config.judge, workers=len(os.sched_getaffinity(0))),
        )

    def run(self, problems: Iterable[Problem], n_problems: int) -> list[dict[str, Any]]:
        """Answer all problems; records come in order of question and sample.

        Problems are taken one by one, so the first call is on its way while others are read.
        """
        samples = range(self._effective.config.run.n_samples)
        wanted = ((problem, sample) for problem in problems for sample in samples)
        try:
            records = asyncio.run(self._answer_all(wanted, n_problems * len(samples)))
        finally:
            self._tools.close()
        return sorted(records, key=lambda r: (r["question_id"], r["sample_index"]))

    async def _answer_all(
        self, wanted: Iterator[tuple[Problem, int]], n_wanted: int
    ) -> list[dict[str, Any]]:
        records: list[dict[str, Any]] = []
        progress = Progress(self._cell.path, total=n_wanted)
        async with ModelClient(
            self._cell.model, self._spec, self._transcript, replay=self._replay
        ) as client:

            async def worker() -> None:
                for problem, sample in wanted:  # shared by all workers
                    record = await self._answer(client, problem, sample)
                    records.append(record)
                    progress.step(record["status"])

            gc.freeze()  # what is there now is not looked at again; a full collection takes 60 ms
            start = time.perf_counter()
            async with asyncio.TaskGroup() as group:
                for _ in range(min(self._in_flight(), n_wanted)):
                    group.create_task(worker())
                    await asyncio.sleep(0)  # the first call is sent before the last is prepared
            self.answering_s = time.perf_counter() - start
        return records

    def _in_flight(self) -> int:
        """Problems worked on at a time: more than calls, so a next request is always ready.

        While an agent's tool runs its problem makes no call, so others have to be there.
        """
        calls = self._spec.max_concurrency
        return 4 * calls if any(role.tools for role in self._team_spec.roles) else calls * 3 // 2

    async def _answer(self, client: ModelClient, problem: Problem, sample: int) -> dict[str, Any]:
        context = Context(
            client=client,
            tools=self._tools,
            spec=self._team_spec,
            sampling=self._effective.sampling(self._cell.model),
            cell_seed=self._cell.seed,
            sample_index=sample,
        )
        try:
            answer = await self._team.solve(problem, self._bundle, context)
        except ModelCallError as error:
            if error.fatal:
                raise
            line = mask(str(error))
            logger.warning("%s sample %d: %s", problem.question_id, sample, line)
            return _record(problem, sample, None, error=line)
        return _record(problem, sample, answer, error=answer.message)


def _record(
    problem: Problem, sample: int, answer: Answer | None, *, error: str | None
) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA_VERSION,
        "question_id": problem.question_id,
        "sample_index": sample,
        "difficulty": problem.difficulty,
        "platform": problem.platform,
        "mode": problem.mode,
        "predicted_code": answer.extraction.code if answer else None,
        "official_code": answer.extraction.official_code if answer else None,
        "extraction": answer.extraction.method if answer else "none",
        "status": answer.status if answer else "infra_error",
        "finish_reason": answer.finish_reason if answer else "",
        "usage": asdict(answer.spent if answer else Spent()),
        "agents": [asdict(member) for member in answer.members] if answer else [],
        "winner": answer.winner if answer else None,
        "vote": dict(answer.vote) if answer and answer.vote else None,
        "communication": (dict(answer.communication) if answer and answer.communication else None),
        "n_turns": answer.n_turns if answer else None,
        "error": error,
    }


def _refuse_if_lost(records: list[dict[str, Any]], share: float, cell: Cell) -> None:
    lost = [record for record in records if record["status"] == "infra_error"]
    allowed = max(1, int(share * len(records)))
    if lost and (len(lost) == len(records) or len(lost) > allowed):
        raise InfrastructureError(
            f"{len(lost)} of {len(records)} answers were lost to the endpoint; the cell is "
            f"unfinished and gets no score. Last reason: {lost[-1]['error']}",
            where=cell.path,
            remedy="mend the endpoint and run the same command again; answers so far are kept",
        )


def _bundle(effective: Effective, cell: Cell, layout: Layout) -> PromptBundle:
    """Return the prompts that a cell runs with: as written, or as its search deploys them."""
    written = PromptBundle(effective.role_prompts(cell))
    if not cell.optimizes:
        return written
    from lcbgrid.stages.optimize import deployed_bundle

    return deployed_bundle(layout.bundle(cell), cell, written)


def _baseline_calls(cell: Cell, layout: Layout) -> list[Path]:
    """Return the calls of the same cell with the prompts as written, if there are any.

    Where the search deploys the prompts as written, or a member's first call is the same, the
    request is the same, and so is the answer: nothing is asked twice, and a pair of cells
    differs by the prompts alone.
    """
    if not cell.optimizes:
        return []
    folders = (layout.run(cell.baseline), layout.work(cell.baseline))  # the journal may be gone
    return [path for folder in folders if (path := folder / "transcript.jsonl").is_file()]


def _description(
    effective: Effective, cell: Cell, bundle: PromptBundle, store: PreparedProblems
) -> dict[str, Any]:
    model = effective.models[cell.model]
    return {
        "schema_version": SCHEMA_VERSION,
        **cell.axes(),
        "path": cell.path,
        "simulated": model.is_simulated,
        "model_id": model.model_id,
        "config_sha256": effective.run_digest(cell),
        "prompts_sha256": bundle.digest,
        "run": effective.cell_settings(cell)["run"],
        "dataset_manifest": store.manifest.to_record(),
        "versions": {"lcbgrid": __version__},
    }
