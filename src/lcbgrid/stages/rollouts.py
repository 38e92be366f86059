"""Rollouts of a search on a real team: a bundle works on a problem, and the judge scores it.

Optimizers specification, sections 1, 6.3 and 6.5. Hidden tests are opened by the judge alone; of
train problems it also says, in words, what was expected and what came.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from lcbgrid.config.judge_spec import JudgeSpec
from lcbgrid.config.model_spec import SamplingSpec
from lcbgrid.config.team_spec import TeamSpec
from lcbgrid.core.errors import EXIT_INFRASTRUCTURE, DataError, InfrastructureError, LcbGridError
from lcbgrid.judge.checked import judge_checked
from lcbgrid.judge.errata import Errata, load_errata
from lcbgrid.judge.judge import Judge
from lcbgrid.judge.verdict import Verdict
from lcbgrid.models.failures import ModelCallError
from lcbgrid.models.transcript import Transcript
from lcbgrid.optimize.interface import Row
from lcbgrid.optimize.records import RunRecord, Usage, status_of
from lcbgrid.optimize.rows import row_id
from lcbgrid.optimize.texts import clip
from lcbgrid.problems.schema import Problem, TestSuite
from lcbgrid.problems.store import PreparedProblems
from lcbgrid.stages.conversation import Conversation
from lcbgrid.teams.bundle import PromptBundle
from lcbgrid.teams.interface import Answer, Team, build
from lcbgrid.teams.tools import ToolBox
from lcbgrid.teams.work import Client, Context

PASSING = frozenset(
    {"auth", "connection", "not_found", "quota", "rate_limit", "server_error", "timeout"}
)
"""Kinds of failure that say something about the endpoint, not about one request."""
SHOWN_INPUT, SHOWN_OUTPUT = 600, 300


class WorldFailed(LcbGridError):
    """The job stops, decides nothing, keeps all it has, and can be run again."""

    exit_status = EXIT_INFRASTRUCTURE


class EndpointGone(WorldFailed):
    """The endpoint does not answer."""


def failed_call(error: ModelCallError, *, answered: bool) -> LcbGridError:
    """Return what becomes of a model call that was given up.

    A failure that every other call would meet as well ends the job, and nothing is decided. One
    that belongs to a single request is a failure of the infrastructure on that row.

    Args:
        error: The failure.
        answered: The model has answered before. One that refuses its first request refuses them
            all: a setting is wrong.
    """
    if error.fatal or error.kind in PASSING or not answered:
        return EndpointGone(error.what, where=error.where, remedy=error.remedy)
    return InfrastructureError(error.what, where=error.where, remedy=error.remedy)


@dataclass(frozen=True, slots=True)
class Desk:
    """Everything that rollouts of one cell have in common.

    Attributes:
        spec: The team.
        size: Its size.
        communication: Its format.
        model: Name of the task model.
        judging: How programs are judged.
        first_tests: Judge by so many tests; ``None``: by all.
    """

    spec: TeamSpec
    size: int
    communication: str
    model: str
    judging: JudgeSpec
    first_tests: int | None = None


class Rollouts:
    """Runs bundles on the problems of one prepared folder.

    Args:
        desk: The team and the judge.
        client: Answers model calls.
        transcript: Where tool results are kept.
        judge: Judges, and runs what agents want to be run.
        store: The problems.
        told: Ids of the problems of which the judge explains failures: train problems.
    """

    def __init__(
        self,
        desk: Desk,
        client: Client,
        transcript: Transcript,
        judge: Judge,
        store: PreparedProblems,
        told: Collection[str] = (),
    ) -> None:
        self._desk = desk
        self._client = client
        self._judge = judge
        self._store = store
        self._told = frozenset(told)
        self._team: Team = build(desk.spec, desk.size, desk.communication)
        self._tools = ToolBox(desk.spec, transcript, lambda: judge)
        self._errata: Errata = load_errata(with_checkers=desk.judging.checkers)
        self._verdicts: dict[tuple[str, str | None], asyncio.Task[tuple[float, str]]] = {}
        self._answered = False
        self._hopes = 0  # rollouts under way that may still bring the model's first answer
        self._news = asyncio.Event()

    async def run(
        self, row: Row, bundle: PromptBundle, request_seed: int, sampling: SamplingSpec
    ) -> RunRecord:
        """Run one rollout and return its record.

        Times are not in it: they differ from run to run, and stand in the transcript's timing.

        Raises:
            InfrastructureError: This rollout was lost.
            WorldFailed: The endpoint does not answer at all, or the disk or the sandbox failed.
        """
        problem = self._store.problem(row_id(row))
        said = Conversation(self._client)
        answer = await self._answer(problem, bundle, said, (request_seed, sampling))
        score, feedback = await self._scored(problem, answer.extraction.code)
        return self._record(problem, answer, said, score, feedback, request_seed)

    async def _answer(
        self,
        problem: Problem,
        bundle: PromptBundle,
        said: Conversation,
        drawn: tuple[int, SamplingSpec],
    ) -> Answer:
        """Let the team work; what it makes of a lost member is no observation."""
        request_seed, sampling = drawn
        context = Context(said, self._tools, self._desk.spec, sampling, request_seed, 0)
        self._hopes += 1
        try:
            answer = await self._team.solve(problem, bundle, context)
        except ModelCallError as error:
            said.loss = said.loss or error
        except InfrastructureError as error:  # no model call: the disk, or the sandbox of a tool
            raise stopped(error) from error
        finally:
            self._hopes -= 1
            self._answered = self._answered or said.answered
            self._news.set()
        if said.loss is not None:
            await self._heard()
            raise failed_call(said.loss, answered=self._answered) from said.loss
        if answer.status == "infra_error":
            raise InfrastructureError(
                answer.message or "the team lost its members", where=problem.question_id
            )
        return answer

    async def _heard(self) -> None:
        """Wait until the model has answered anything, or nothing is under way any more."""
        while self._hopes and not self._answered:
            self._news.clear()
            await self._news.wait()

    def _record(
        self,
        problem: Problem,
        answer: Answer,
        said: Conversation,
        score: float,
        feedback: str,
        request_seed: int,
    ) -> RunRecord:
        roles = {member.agent: member.role for member in answer.members}
        spent = answer.spent
        scorer: dict[str, Any] = {"feedback": feedback} if feedback else {}
        return RunRecord(
            cell_id="",
            example_id=problem.question_id,
            status=status_of(score),
            final_output=answer.extraction.code or "",
            score=score,
            request_seed=request_seed,
            messages=tuple(said.messages(roles)),
            tool_events=tuple(said.tool_events(roles)),
            usage=Usage(
                spent.n_llm_calls,
                spent.n_tool_calls,
                spent.prompt_tokens,
                spent.completion_tokens,
            ),
            framework=self._desk.spec.builder,
            model_id=self._desk.model,
            metadata={"answer_status": answer.status, "scorer_metadata": scorer},
        )

    async def _scored(self, problem: Problem, code: str | None) -> tuple[float, str]:
        """Return the score and what the judge says; equal programs are judged once."""
        key = (problem.question_id, code)
        if key not in self._verdicts:
            judging = asyncio.to_thread(self._judged, problem.question_id, code)
            self._verdicts[key] = asyncio.ensure_future(judging)
        try:
            return await asyncio.shield(self._verdicts[key])
        except Exception:
            self._verdicts.pop(key, None)
            raise

    def _judged(self, question_id: str, code: str | None) -> tuple[float, str]:
        suite = self._store.suite(question_id)
        wanted = self._desk.first_tests
        if wanted is not None:
            suite = replace(suite, tests=suite.tests[:wanted])
        try:
            verdict = judge_checked(self._judge, code, suite, self._errata).verdict
        except InfrastructureError as error:  # no sandbox for any program
            raise stopped(error) from error
        if verdict.status == "infra_error":
            raise InfrastructureError("the judge failed", where=question_id, value=verdict.message)
        if verdict.status == "data_error":
            raise DataError("its tests cannot be used", where=question_id, value=verdict.message)
        said = feedback_of(verdict, suite) if question_id in self._told else ""
        return float(verdict.passed), said


def stopped(error: InfrastructureError) -> WorldFailed:
    """Return the same failure as one that ends the job."""
    return WorldFailed(error.what, where=error.where, value=error.value, remedy=error.remedy)


def feedback_of(verdict: Verdict, suite: TestSuite) -> str:
    """Return what the judge says of a program on a train problem: expected and got.

    Only train problems are spoken about (section 9, item 10); the text holds a hidden test.
    """
    if verdict.passed:
        return f"All {verdict.n_total} tests passed."
    failed = next((test for test in verdict.outcomes if not test.passed), None)
    if failed is None:
        return verdict.message or f"No test was run: {verdict.status}."
    test = suite.tests[failed.index]
    lines = [
        f"Test {failed.index + 1} of {verdict.n_total} failed ({failed.status}"
        + (f": {failed.detail})." if failed.detail else ")."),
        f"Input:\n{clip(test.input, SHOWN_INPUT)}",
        f"Expected:\n{clip(test.output, SHOWN_OUTPUT)}",
    ]
    if failed.got is not None:
        lines.append(f"Got:\n{clip(failed.got, SHOWN_OUTPUT)}")
    return "\n".join(lines)


def rows_of(store: PreparedProblems, ids: Collection[str]) -> list[Mapping[str, Any]]:
    """Return problems as optimizers see them, in the order of the ids; no test among it.

    Raises:
        UserError: A problem is not there.
    """
    return [
        {
            "id": problem.question_id,
            "title": problem.title,
            "statement": problem.statement,
            "starter_code": problem.starter_code,
            "difficulty": problem.difficulty,
            "platform": problem.platform,
        }
        for problem in map(store.problem, ids)
    ]
