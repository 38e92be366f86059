"""Which parent and which rows the engine proposes from, where minibatches are chosen.

Optimizers specification, section 9 (items 3 and 10). Where bundles share the chance of a row, a
child can win only on rows that its parent fails; and a failure tells the reflection model more
than a success. So a minibatch holds rows on which the parent is known to fail, which cost
nothing again, and rows that are new to it.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

from gepa.strategies.proposal_sampling import ProposalTask

from lcbgrid.optimize.gepa_rollouts import Rollouts
from lcbgrid.optimize.interface import Row
from lcbgrid.optimize.rows import row_id

WIDE, KNOWN = 8, 4


class FailingRows:
    """Implements the engine's sampling strategy.

    Args:
        rollouts: Remember what a parent did on train rows.
        train: Train rows, in the order of the engine's indices.
        seed: Of the order in which rows are taken.
    """

    def __init__(self, rollouts: Rollouts, train: Sequence[Row], seed: int) -> None:
        self._rollouts = rollouts
        self._ids = [row_id(row) for row in train]
        self._order = list(range(len(train)))
        random.Random(seed).shuffle(self._order)
        self._shown: Counter[int] = Counter()

    def sample_tasks(
        self, state: Any, candidate_selector: Any, batch_sampler: Any, trainset: Any
    ) -> list[ProposalTask[int, Row]]:
        """Return one task."""
        del batch_sampler
        parent = candidate_selector.select_candidate_idx(state)
        candidate = state.program_candidates[parent]
        rows = self.rows(self._rollouts.bundle(candidate).exec_digest)
        self._shown.update(rows)
        return [ProposalTask(parent, candidate, rows, trainset.fetch(rows))]

    def rows(self, digest: str) -> list[int]:
        """Return the indices of the next minibatch for a bundle as parent.

        At most half are failures that are known, those shown least often first; the others
        are rows that it has not run, or, when there is none left, any others.
        """
        known = self._rollouts.known.get(digest, {})
        size = min(WIDE, len(self._ids))
        scores = {
            n: known[self._ids[n]].score or 0.0 for n in self._order if self._ids[n] in known
        }
        failed = sorted(
            (n for n, score in scores.items() if score < 1), key=self._shown.__getitem__
        )
        fresh = [n for n in self._order if n not in scores]
        others = failed[KNOWN:] + [n for n, score in scores.items() if score >= 1]
        return [*failed[: min(KNOWN, size)], *fresh, *others][:size]
