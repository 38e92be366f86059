"""The instructions that MIPRO chooses among, and more of them as the search goes on.

Optimizers specification, section 4.2 (step 2) and section 9 (item 10). As published, instructions
are asked for once, before any combination was tried. With ``fresh_instructions`` more are asked
for once those are tried: from the texts of the best bundle, and from what it fails.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lcbgrid.optimize.demos import Bootstrap
from lcbgrid.optimize.errors import BudgetSpent
from lcbgrid.optimize.grounding import Grounding, told
from lcbgrid.optimize.interface import Job, Row, Runner
from lcbgrid.optimize.rows import row_id
from lcbgrid.optimize.switches import RICH
from lcbgrid.teams.bundle import PromptBundle

FAILURES, LOOKED_AT = 8, 6


@dataclass(slots=True)
class Instructions:
    """Texts of each role by index; the first is the seed's.

    Attributes:
        job: Says which improvements are in force.
        runner: Runs the best bundle on train rows.
        train: Those.
        grounding: Asks for texts.
        found: What the bootstrap came to.
        phase: First part of the seeds.
        texts: By role.
        tips: Of each text.
    """

    job: Job
    runner: Runner
    train: Sequence[Row]
    grounding: Grounding
    found: Bootstrap
    phase: str
    texts: dict[str, list[str]] = field(default_factory=dict)
    tips: dict[str, list[str]] = field(default_factory=dict)
    _summary: str = ""
    _round: int = 0

    async def first(self) -> None:
        """Ask for the first texts."""
        if self.job.has(RICH):
            failed = list(self.found.failures.values())[:FAILURES]
            self.grounding.failures = tuple(told(*pair) for pair in failed)
        self._summary = await self.grounding.summary(self.train)
        self.texts, self.tips = await self.grounding.instructions(self._summary, self.found.sets)

    async def more(self, best: PromptBundle, current: Mapping[str, str]) -> list[dict[str, int]]:
        """Ask for more texts; return the indices of new ones by role, a set for each trial.

        Args:
            best: The best bundle, which is run on train rows to see what it fails.
            current: Its instructions, without examples.

        Raises:
            BudgetSpent: Not a row could be run.
        """
        self._round += 1
        await self._look(best)
        texts, tips = await self.grounding.instructions(
            self._summary, self.found.sets, base=current, again=self._round
        )
        new: dict[str, list[int]] = {}
        for role, found in texts.items():
            new[role] = []
            for text, tip in zip(found[1:], tips[role][1:], strict=True):
                if text not in self.texts[role]:
                    new[role].append(len(self.texts[role]))
                    self.texts[role].append(text)
                    self.tips[role].append(tip)
        most = max(map(len, new.values()))
        return [
            {role: of[min(number, len(of) - 1)] for role, of in new.items() if of}
            for number in range(most)
        ]

    async def _look(self, best: PromptBundle) -> None:
        """Run the best bundle on rows that the seed failed first, then on others."""
        ordered = [row for row, _ in self.found.failures.values()]
        ordered += [row for row in self.train if row_id(row) not in self.found.failures]
        start = (self._round - 1) * LOOKED_AT % len(ordered)
        rows = (ordered[start:] + ordered[:start])[:LOOKED_AT]
        batch = await self.runner.run_batch(
            rows, best, phase=self.phase, iteration=0, slot="bootstrap"
        )
        if batch.truncated:
            raise BudgetSpent("train rows")
        if self.job.has(RICH):
            failed = [
                told(row, record)
                for row, record in zip(rows, batch.records, strict=True)
                if not record.score
            ]
            self.grounding.failures = tuple(failed)
