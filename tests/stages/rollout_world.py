"""Rollouts of real teams on embedded problems, with a model in this process and no sandbox."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

from lcbgrid.config.effective import read_yaml
from lcbgrid.config.judge_spec import JudgeSpec
from lcbgrid.config.model_spec import SamplingSpec, SimulateSpec
from lcbgrid.config.optimize_spec import OptimizeSpec
from lcbgrid.config.problem_spec import DatasetSpec
from lcbgrid.config.team_spec import TeamsFile, TeamSpec
from lcbgrid.judge.checked import Checked
from lcbgrid.judge.execution import Execution
from lcbgrid.judge.verdict import Status, TestOutcome, Verdict
from lcbgrid.models.simulate.known import load_known_problems
from lcbgrid.models.simulate.skill import SkilledModel
from lcbgrid.models.transcript import Transcript
from lcbgrid.models.types import ChatReply, ChatRequest, Usage
from lcbgrid.optimize.records import RunRecord
from lcbgrid.problems.store import PreparedProblems
from lcbgrid.stages import rollouts
from lcbgrid.stages.rollouts import Desk, Rollouts, rows_of
from lcbgrid.stages.search_problems import SearchSplits, prepare_search, search_splits
from lcbgrid.teams.bundle import PromptBundle

REPOSITORY = Path(__file__).resolve().parents[2]
SAMPLING = SamplingSpec(temperature=0.2, top_p=0.9, max_tokens=1000)
DATASET = DatasetSpec(name="embedded", source="embedded", split="test")
SIZES = OptimizeSpec(n_train=3, n_validation=2)
Hook = Callable[[ChatRequest, int], ChatReply | None]


class Model:
    """Answers like the simulated server, each call after another time."""

    def __init__(self, jitter: int, hook: Hook | None = None) -> None:
        self._wait = random.Random(jitter)
        self._skilled = SkilledModel(SimulateSpec(), load_known_problems())
        self._hook = hook
        self.asked: list[ChatRequest] = []

    async def chat(self, request: ChatRequest) -> ChatReply:
        self.asked.append(request)
        number = len(self.asked)
        await asyncio.sleep(self._wait.choice((0.0, 0.001, 0.004)))
        other = self._hook(request, number) if self._hook else None
        if other is not None:
            return other
        body = {
            "messages": list(request.messages),
            "tools": list(request.tools),
            "seed": request.seed,
            "temperature": request.sampling.temperature,
        }
        answer = self._skilled.answer(body)
        usage = Usage(10, answer.completion_tokens, 10 + answer.completion_tokens)
        return ChatReply(answer.text, tool_calls=answer.tool_calls, usage=usage)


class NoSandbox:
    """Runs nothing; every program prints its length, and how many ran before it if it asks."""

    def __init__(self) -> None:
        self._ran = 0

    def execute(self, code: str, stdin: str, **limits: Any) -> Execution:
        self._ran += 1
        time.sleep(0.01)
        more = self._ran if "random" in code else 0
        return Execution(f"{len(code)} {more}\n", "", 0, False, False, False, 0.1)


def verdict(status: Status = "passed", *outcomes: TestOutcome, message: str = "") -> Checked:
    """A judge's answer."""
    found = Verdict(
        question_id="q",
        status=status,
        outcomes=outcomes,
        n_passed=0,
        n_total=5,
        first_failing=None,
        message=message or None,
        rules="real",
        tier="none",
        limits={},
    )
    return Checked(found, None, status == "passed", None, None)


class World:
    """The embedded problems, prepared for a search."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.splits: SearchSplits = search_splits(DATASET, SIZES)
        prepare_search(DATASET, SIZES, folder / "problems")
        self.store = PreparedProblems(folder / "problems")
        self.rows = rows_of(self.store, (*self.splits.train, *self.splits.validation))
        config = REPOSITORY / "config"
        self.teams = TeamsFile.model_validate(read_yaml(config / "teams.yaml")).teams

    def prompts(self, topology: str, size: int) -> PromptBundle:
        """The prompts as shipped."""
        folder = REPOSITORY / "config" / "prompts" / topology
        names = {role.name for role in self.teams[topology].lineup(size)}
        return PromptBundle({name: (folder / f"{name}.md").read_text() for name in names})

    def size(self, topology: str) -> int:
        """Four agents where the topology has teams."""
        sizes = self.teams[topology].sizes
        return 4 if 4 in sizes else sizes[0]

    def run(
        self,
        topology: str,
        model: Model,
        *,
        communication: str = "freeform",
        judged: Any = None,
        n_rows: int = 3,
        spec: dict[str, Any] | None = None,
    ) -> list[RunRecord]:
        """Run the prompts as shipped on rows, all at once.

        Args:
            topology: Which team.
            model: Answers.
            communication: Its format.
            judged: Stands for the judge; by default every program passes.
            n_rows: How many rows; validation rows come behind three train rows.
            spec: Changes of the team.
        """
        size = self.size(topology)
        team: TeamSpec = self.teams[topology].model_copy(update=spec or {})
        desk = Desk(team, size, communication, "m", JudgeSpec())
        number = sum(1 for _ in self.folder.glob("transcript*.jsonl"))
        judging = judged or (lambda *arguments: verdict())

        async def work(transcript: Transcript) -> list[RunRecord]:
            running = Rollouts(
                desk,
                model,
                transcript,
                NoSandbox(),  # type: ignore[arg-type]
                self.store,
                told=self.splits.train,
            )
            bundle = self.prompts(topology, size)
            jobs = [
                asyncio.ensure_future(running.run(row, bundle, 7, SAMPLING))
                for row in self.rows[:n_rows]
            ]
            try:
                return await asyncio.gather(*jobs)
            except BaseException:
                for job in jobs:
                    job.cancel()
                await asyncio.gather(*jobs, return_exceptions=True)
                raise

        with (
            Transcript(self.folder / f"transcript{number}.jsonl") as transcript,
            mock.patch.object(rollouts, "judge_checked", judging),
        ):
            return asyncio.run(work(transcript))


def as_text(records: list[RunRecord]) -> str:
    """Return records as they are written."""
    return json.dumps([record.to_json() for record in records], sort_keys=True)
