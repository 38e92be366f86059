"""Asks the reflection model for a role text, and lets nothing through that breaks the team.

Optimizers specification, section 3.5 (malformed replies fall back) and section 9, item 11: a
rewrite that lost a placeholder, a tool or a role is refused before a rollout is spent on it.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from lcbgrid.optimize.canonical import plain
from lcbgrid.optimize.interface import Job, Reflection
from lcbgrid.optimize.manifest import Difference, guard
from lcbgrid.teams.bundle import PromptBundle

GUARD_RETRY = "guard_retry"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A text that is asked for.

    Attributes:
        role: Whose.
        prompt: What is asked.
        iteration: Part of the request's seed.
    """

    role: str
    prompt: str
    iteration: int


class Proposer:
    """Gets new texts of roles.

    Args:
        job: Whether a refused text gets a second try (switch ``guard_retry``).
        reflection: Who writes.
        seed: Its texts say what a rewrite has to keep.
        phase: Part of the seeds of the requests.
        temperature: Of sampling.

    Attributes:
        window: What who writes takes.
        refused: Differences for which texts were refused, in order.
        malformed: Replies that held no text.
    """

    def __init__(
        self,
        job: Job,
        reflection: Reflection,
        seed: PromptBundle,
        *,
        phase: str,
        temperature: float = 1.0,
    ) -> None:
        self.window = reflection.window
        self.refused: list[tuple[str, tuple[str, ...]]] = []
        self.malformed = 0
        self._retry = job.has(GUARD_RETRY)
        self._reflection = reflection
        self._seed = seed
        self._phase = phase
        self._temperature = temperature

    async def rewrite(
        self, role: str, prompt: str, parse: Callable[[str], str], *, iteration: int
    ) -> str | None:
        """Return a text that keeps the interface; ``None`` if none came."""
        return (await self.rewrite_all([Wanted(role, prompt, iteration)], parse))[0]

    async def rewrite_all(
        self, wanted: Sequence[Wanted], parse: Callable[[str], str]
    ) -> list[str | None]:
        """Return a text for each that is wanted, asked for side by side.

        Those that are refused are asked for again when all have come, so that the order of the
        calls does not tell which came first.
        """
        found = await self._asked(wanted, parse)
        again = [index for index, (_, lost) in enumerate(found) if lost and self._retry]
        reminded = [
            dataclasses.replace(
                wanted[index], prompt=_reminded(wanted[index].prompt, found[index][1])
            )
            for index in again
        ]
        for index, second in zip(again, await self._asked(reminded, parse), strict=True):
            found[index] = second
        return [None if lost else text for text, lost in found]

    async def _asked(
        self, wanted: Sequence[Wanted], parse: Callable[[str], str]
    ) -> list[tuple[str | None, list[Difference]]]:
        calls = (
            self._reflection.complete(
                one.prompt,
                phase=self._phase,
                iteration=one.iteration,
                role=one.role,
                temperature=self._temperature,
            )
            for one in wanted
        )
        replies = await asyncio.gather(*calls)
        return [
            self._judged(one.role, parse(reply))
            for one, reply in zip(wanted, replies, strict=True)
        ]

    def _judged(self, role: str, text: str) -> tuple[str | None, list[Difference]]:
        text = plain(text)
        if not text.strip():
            self.malformed += 1
            return None, []
        lost = guard(self._seed.prompts[role], text, roles=self._seed.prompts, exact=False)
        if lost:
            self.refused.append((role, tuple(map(str, lost))))
        return text, lost


def _reminded(prompt: str, lost: Iterable[Difference]) -> str:
    named = "; ".join(map(str, lost))
    return (
        f"{prompt}\n\nAn earlier answer could not be used, because other parts of the program "
        f"rely on these names: {named}. Keep every name of the current prompt as it is, and add "
        "no placeholder or delegation tool."
    )
