"""The reflection model of a search: its calls are answered once, and told what they cost.

Optimizers specification, sections 1 (reflection client), 3.1 (seeds) and 8.4 (replay).
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from lcbgrid.core.errors import InfrastructureError
from lcbgrid.core.hashing import sha256_text
from lcbgrid.optimize.attempts import MAXIMUM_ATTEMPTS
from lcbgrid.optimize.canonical import content_hash, plain
from lcbgrid.optimize.context import Window
from lcbgrid.optimize.errors import BudgetSpent, ContractError
from lcbgrid.optimize.interface import Job
from lcbgrid.optimize.journal import ReflectionJournal, ReflectionKey
from lcbgrid.optimize.records import Usage
from lcbgrid.optimize.seeds import reflection_seed


@dataclass(frozen=True, slots=True)
class Request:
    """What is sent to the reflection model.

    Attributes:
        prompt: The user's message.
        system: The system message, if any.
        temperature: Of sampling.
        request_seed: Of sampling.
    """

    prompt: str
    system: str | None
    temperature: float
    request_seed: int


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back; a count that was not reported is ``None``, never 0.

    Attributes:
        text: The answer, without the model's thinking.
        input_tokens: Of the request.
        output_tokens: Of the answer, thinking included.
        reasoning_tokens: Of the thinking.
        finish_reason: ``length`` if the answer was cut off.
    """

    text: str
    input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    finish_reason: str | None = None


CALLS_A_ROLLOUT, CALLS_AT_LEAST = 4, 400
Complete = Callable[[Request], Awaitable[Reply]]
"""Asks the model; a failure of the transport is raised as ``InfrastructureError``."""


def most_calls(budget: int) -> int:
    """Return how many reflection calls a search with a budget of rollouts may make.

    Reflection is free of the rollout budget, so a search whose proposals are all refused would
    ask for ever. No method here comes near this bound otherwise.
    """
    return CALLS_A_ROLLOUT * budget + CALLS_AT_LEAST


class JournalledReflection:
    """Implements ``interface.Reflection`` over a completion and a journal.

    Args:
        job: Its seed and cell are part of every request's seed.
        complete: Asks the model.
        journal: Of this job; ``None`` keeps one in memory.
        model: Name of the model, part of what a request is.
        max_in_flight: Requests under way at a time.
        window: What the model takes.

    Attributes:
        spent: The search was refused a call, because it had made ``most_calls``.
    """

    def __init__(
        self,
        job: Job,
        complete: Complete,
        *,
        journal: ReflectionJournal | None = None,
        model: str = "",
        max_in_flight: int = 16,
        window: Window | None = None,
    ) -> None:
        self.window = window or Window()
        self.asked = 0
        self.spent = False
        self._job = job
        self._complete = complete
        self._model = model
        self._journal = ReflectionJournal() if journal is None else journal
        self._slots = asyncio.Semaphore(max_in_flight)
        self._turns: Counter[tuple[str | int, ...]] = Counter()
        self._alike: Counter[tuple[str, int]] = Counter()
        self._calls: list[dict[str, Any] | None] = []
        self._open: set[asyncio.Future[None]] = set()
        self._closed = False

    async def complete(
        self,
        prompt: str,
        *,
        phase: str,
        iteration: int,
        role: str = "",
        temperature: float = 1.0,
        system: str | None = None,
    ) -> str:
        """Return the model's text; see ``interface.Reflection.complete``.

        Raises:
            BudgetSpent: The search has made as many calls as it may.
            ContractError: The search has ended.
            InfrastructureError: The transport failed three times.
        """
        if self._closed:
            raise ContractError("the search has ended", where=phase)
        if len(self._calls) >= most_calls(self._job.budget):
            self.spent = True
            raise BudgetSpent(
                f"the reflection model was asked {len(self._calls)} times", where=phase
            )
        prompt, system = plain(prompt), plain(system)
        turn = self._count(phase, iteration, role, sha256_text(prompt))
        seed = reflection_seed(
            optimizer_seed=self._job.optimizer_seed,
            cell_id=self._job.cell_id,
            phase=phase,
            iteration=iteration,
            prompt=prompt,
            role=role,
            turn=turn,
        )
        request = Request(prompt, system, float(temperature), seed)
        key = self._key(request)
        place = len(self._calls)
        self._calls.append(None)
        answer = self._journal.found(key)
        if answer is None:
            over = asyncio.get_running_loop().create_future()
            self._open.add(over)
            try:
                async with self._slots:
                    reply = await self._reply(request)
                told = _telemetry(request, reply, self._model, phase, role)
                answer = self._journal.add(key, told)
                await asyncio.to_thread(self._journal.sync)  # others go on meanwhile
            finally:
                self._open.discard(over)
                over.set_result(None)
        self._calls[place] = answer
        return str(answer["text"])

    async def close(self) -> None:
        """Begin no further call, and wait until those that are under way are kept."""
        self._closed = True
        while self._open:
            await asyncio.wait(set(self._open))

    def calls(self) -> list[dict[str, Any]]:
        """Return the telemetry of all answered calls, in the order of asking, without texts."""
        return [
            {name: value for name, value in call.items() if name != "text"}
            for call in self._calls
            if call is not None
        ]

    def usage(self) -> Usage:
        """Return the sum of what was reported."""
        calls = self.calls()
        return Usage(
            model_calls=len(calls),
            input_tokens=sum(call["input_tokens"] or 0 for call in calls),
            output_tokens=sum(call["output_tokens"] or 0 for call in calls),
        )

    def _count(self, *slot: str | int) -> int:
        turn = self._turns[slot]
        self._turns[slot] += 1
        return turn

    def _key(self, request: Request) -> ReflectionKey:
        content = {
            "prompt": request.prompt,
            "system": request.system,
            "temperature": request.temperature,
            "model": self._model,
        }
        alike = (content_hash(content), request.request_seed)
        occurrence = self._alike[alike]
        self._alike[alike] += 1
        return ReflectionKey(*alike, occurrence)

    async def _reply(self, request: Request) -> Reply:
        for attempt in range(MAXIMUM_ATTEMPTS):
            self.asked += 1
            try:
                return await self._complete(request)
            except InfrastructureError:
                if attempt + 1 == MAXIMUM_ATTEMPTS:
                    raise
        raise AssertionError("the last attempt returns or raises")


def _telemetry(
    request: Request, reply: Reply, model: str, phase: str, role: str
) -> Mapping[str, Any]:
    text = plain(reply.text)
    return {
        "text": text,
        "phase": phase,
        "role": role,
        "model": model,
        "temperature": request.temperature,
        "request_seed": request.request_seed,
        "prompt_sha256": sha256_text(request.prompt),
        "output_sha256": sha256_text(text),
        "input_tokens": reply.input_tokens,
        "output_tokens": reply.output_tokens,
        "reasoning_tokens": reply.reasoning_tokens,
        "finish_reason": reply.finish_reason,
        "length_limited": reply.finish_reason == "length",
        "empty": not text.strip(),
    }
