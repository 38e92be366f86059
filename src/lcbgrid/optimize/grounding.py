"""Instructions that are grounded in the data, the team and worked examples.

Optimizers specification, section 4.2, step 2. A description that does not come is left out.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from lcbgrid.optimize.canonical import plain
from lcbgrid.optimize.context import fitted
from lcbgrid.optimize.demos import DemoSet
from lcbgrid.optimize.interface import Reflection, Row
from lcbgrid.optimize.proposer import Proposer, Wanted
from lcbgrid.optimize.records import RunRecord
from lcbgrid.optimize.texts import OUTPUT, between_fences, clip, compact, fenced, task_text
from lcbgrid.teams.bundle import PromptBundle

VIEW, FOLLOW_UPS, ENDINGS, SHOWN = 10, 9, 5, 3
ROOM = 6000  # tokens of earlier observations and examples, or a third of a small window
TIPS = {
    "none": "",
    "creative": "Be creative: try an unusual way of putting it.",
    "concise": "Be concise and brief.",
    "detailed": "Be detailed and specific on what to do in which case.",
    "high_stakes": "Add what is at stake: a wrong program does real damage.",
    "persona": "Give the role a persona whose skills fit the task.",
}


@dataclass(slots=True)
class Grounding:
    """Asks for what instructions rest on, and for the instructions.

    Attributes:
        reflection: The prompt model.
        proposer: Asks for texts and guards them.
        seed: The seed bundle.
        roles: In the order in which they work.
        phase: First part of the seeds.
        rng: Draws the tips.
        pad: Keep a copy of the seed's text where no new one came, as published.
        count: New texts that are asked for, for each role.
        refits: Requests that were cut to fit the window.
        failures: What is told of attempts that went wrong; empty, as published: nothing.
    """

    reflection: Reflection
    proposer: Proposer
    seed: PromptBundle
    roles: tuple[str, ...]
    phase: str
    rng: random.Random
    pad: bool = False
    count: int = 2
    failures: tuple[str, ...] = ()
    refits: int = 0

    async def summary(self, rows: Sequence[Row]) -> str:
        """Return two or three sentences on the data, from observations on batches of ten."""
        seen = await self._ask(
            f"{self._problems(rows[:VIEW])}\n\nState observations on what these problems have in "
            "common: subjects, form, traps, how answers are judged.",
            0,
        )
        endings = 0
        for number in range(1, FOLLOW_UPS + 1):
            batch = rows[number * VIEW : (number + 1) * VIEW]
            if not batch or endings == ENDINGS:
                break
            more = await self._ask(
                f"Earlier observations:\n{clip(seen, 7000)}\n\n{self._problems(batch)}\n\n"
                "Add observations that these problems support. Begin with COMPLETE if nothing is "
                "left to add.",
                number,
            )
            if more.upper().startswith("COMPLETE"):
                endings += 1
            elif more:
                seen = f"{seen}\n{more}"
        return await self._ask(
            f"Notes on a data set:\n{clip(seen, 7000)}\n\nGive a summary of two or three "
            "sentences.",
            0,
        )

    async def instructions(
        self,
        summary: str,
        sets: Sequence[DemoSet],
        *,
        base: Mapping[str, str] | None = None,
        again: int = 0,
    ) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
        """Return candidates and tips of every role; candidate 0 is the text to improve.

        Args:
            summary: Of the data.
            sets: Demo sets, the first empty.
            base: Texts to improve; the seed's if ``None``.
            again: How often texts were asked for before.
        """
        current = self.seed.prompts if base is None else base
        team = "A team whose members work in this order: " + ", ".join(self.roles) + "."
        texts = {role: [current[role]] for role in self.roles}
        tips = {role: ["none"] for role in self.roles}
        drafts = []
        for role in self.roles:
            for number in range(self.count + 1):
                tip = self.rng.choice(list(TIPS))
                if self.failures:
                    tip = "none"  # the failures say what to write of
                if number:  # the seed's text takes the first place
                    drafts.append((role, number + again * self.count, tip))
        whole = await asyncio.gather(
            *(
                self._ask(f"{team}\n\nDescribe what this program does.", number)
                for _, number, _ in drafts
            )
        )
        parts = await asyncio.gather(
            *(
                self._ask(
                    f"{said or team}\n\nIts text:\n{fenced(current[role])}\n\n"
                    f"Describe what the member {role} does.",
                    number,
                    role,
                )
                for (role, number, _), said in zip(drafts, whole, strict=True)
            )
        )
        wanted = []
        for (role, number, tip), program, part in zip(drafts, whole, parts, strict=True):
            shown = 1 + (number - 1) % (len(sets) - 1)
            views = (summary, f"{team} {program}", part)
            prompt = self._prompt(role, current[role], views, sets, shown, TIPS[tip])
            wanted.append(Wanted(role, prompt, number))
        found = await self.proposer.rewrite_all(wanted, between_fences)
        for (role, _, tip), text in zip(drafts, found, strict=True):
            if not self.pad and text in (None, *texts[role]):
                continue
            texts[role].append(text or current[role])
            tips[role].append(tip)
        return texts, tips

    def _prompt(
        self,
        role: str,
        text: str,
        views: tuple[str, str, str],
        sets: Sequence[DemoSet],
        shown: int,
        tip: str,
    ) -> str:
        """Return what asks for a text, from views of the data, the program and the member."""
        summary, program, member = views
        order = [shown, *(other for other in range(1, len(sets)) if other != shown)]
        alone = len(self.roles) == 1
        demos = [demo for other in order for demo in sets[other].of(role, alone=alone)][:SHOWN]
        examples = "\n".join(
            json.dumps(plain(compact(demo)), ensure_ascii=False, sort_keys=True) for demo in demos
        )
        before = [
            f"The data: {summary}" if summary else "",
            f"The program: {program}",
            f"The member {role}: {member}",
            f"Worked examples:\n{examples}" if examples else "",
            "Attempts that failed:" if self.failures else "",
        ]
        after = [
            f"The current prompt of {role}:\n{fenced(text)}",
            f"Write a new instruction for {role} that makes the team succeed more often. Keep "
            f"every name, tag and placeholder in braces. {tip}".rstrip(),
            "Answer with the whole text inside one fence of three backticks.",
        ]
        return self._fitted(
            self.failures,
            lambda cut: "\n\n".join(item for item in (*before, *cut, *after) if item),
        )

    def _problems(self, rows: Sequence[Row]) -> str:
        texts = [f"Problem {n}\n{task_text(row)}" for n, row in enumerate(rows, 1)]
        return self._fitted(texts, "\n\n".join)

    def _fitted(self, texts: Sequence[str], build: Callable[[Sequence[str]], str]) -> str:
        """Return a prompt, or the long part of one, that leaves room for some more."""
        window = self.reflection.window
        beside = min(ROOM, (window.tokens - window.reply_tokens) // 3)
        prompt, rounds = fitted(texts, build, window=window, beside=beside)
        self.refits += rounds > 0
        return prompt

    async def _ask(self, prompt: str, iteration: int, role: str = "") -> str:
        said = await self.reflection.complete(
            prompt, phase=f"{self.phase}/grounding", iteration=iteration, role=role
        )
        return said.strip()


def told(row: Row, record: RunRecord) -> str:
    """Return what is shown of an attempt that failed."""
    said = record.feedback or f"it scored {record.score or 0.0:g} of 1."
    return (
        f"Task:\n{task_text(row)}\n"
        f"What the team handed in:\n{clip(record.final_output, OUTPUT)}\nFeedback: {said}"
    )
