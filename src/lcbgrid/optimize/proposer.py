"""Asks the reflection model for a role text, and lets nothing through that breaks the team.

Optimizers specification, section 3.5 (malformed replies fall back) and section 9, item 11: a
rewrite that lost a placeholder, a tool or a role is refused before a rollout is spent on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from lcbgrid.optimize.canonical import plain
from lcbgrid.optimize.interface import Job, Reflection
from lcbgrid.optimize.manifest import Difference, guard
from lcbgrid.teams.bundle import PromptBundle

GUARD_RETRY = "guard_retry"


class Proposer:
    """Gets new texts of roles.

    Args:
        job: Whether a refused text gets a second try (switch ``guard_retry``).
        reflection: Who writes.
        seed: Its texts say what a rewrite has to keep.
        phase: Part of the seeds of the requests.
        temperature: Of sampling.

    Attributes:
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
        text, lost = await self._asked(role, prompt, parse, iteration)
        if lost and self._retry:
            text, lost = await self._asked(role, _reminded(prompt, lost), parse, iteration)
        return None if lost else text

    async def _asked(
        self, role: str, prompt: str, parse: Callable[[str], str], iteration: int
    ) -> tuple[str | None, list[Difference]]:
        reply = await self._reflection.complete(
            prompt,
            phase=self._phase,
            iteration=iteration,
            role=role,
            temperature=self._temperature,
        )
        text: str = plain(parse(reply))
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
