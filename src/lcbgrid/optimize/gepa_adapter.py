"""One adapter between the package ``gepa`` and this project; gepa and mamut_gepa both use it.

Optimizers specification, sections 2 (adapter interface, engine facts), 4.1 and 4.6.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from gepa.core.adapter import EvaluationBatch

from lcbgrid.optimize.context import fitted
from lcbgrid.optimize.gepa_log import SearchLog
from lcbgrid.optimize.gepa_rollouts import Halt, Rollouts
from lcbgrid.optimize.interface import Row
from lcbgrid.optimize.proposer import Proposer, Wanted
from lcbgrid.optimize.records import RunRecord
from lcbgrid.optimize.rows import row_id
from lcbgrid.optimize.switches import ANYTIME, CURTAILED
from lcbgrid.teams.bundle import PromptBundle

Trace = tuple[Row, RunRecord | None]


class Name(str):
    """A role's name whose hash is the same in every process.

    The engine's merge walks a set of names (section 2, fact 4); so their order is fixed.
    """

    __slots__ = ()

    def __hash__(self) -> int:
        return int.from_bytes(hashlib.sha256(self.encode()).digest()[:7], "big")

    def __eq__(self, other: object) -> bool:
        return str.__eq__(self, other) if isinstance(other, str) else NotImplemented

    def __ne__(self, other: object) -> bool:
        return not self == other


@dataclass(frozen=True, slots=True)
class Style:
    """How a method talks to the reflection model.

    Attributes:
        record: What is shown of one rollout to who rewrites a role; ``None`` leaves it out.
        prompt: The request for a new text, from role, text and what is shown.
        parse: Reads the new text from a reply.
    """

    record: Callable[[Row, RunRecord | None, str], str | None]
    prompt: Callable[[str, str, Sequence[str]], str]
    parse: Callable[[str], str]


class Adapter:
    """Implements the engine's adapter protocol.

    Args:
        rollouts: Makes them.
        proposer: Writes role texts.
        style: Of the method.
        log: Is told what is asked for.
        validation: The validation rows.
    """

    def __init__(
        self,
        rollouts: Rollouts,
        proposer: Proposer,
        style: Style,
        log: SearchLog,
        validation: Sequence[Row],
    ) -> None:
        self._rollouts = rollouts
        self._proposer = proposer
        self._style = style
        self._log = log
        self._validation = list(validation)
        self._validation_ids = frozenset(map(row_id, validation))

    def evaluate(
        self, batch: list[Row], candidate: dict[str, str], capture_traces: bool = False
    ) -> EvaluationBatch[Trace, str]:
        """Run a candidate on rows.

        Raises:
            Halt: The batch does not fit into the budget, or the runner failed.
        """
        del capture_traces
        bundle = self._rollouts.bundle(candidate)
        iteration = self._log.iteration
        if row_id(batch[0]) in self._validation_ids:
            records = self._rollouts.validation(batch, bundle, iteration)
            if self._log.merging and not self._merge_wins(bundle, records):
                return _refused(batch, records)
        else:
            parent = self._log.before if self._log.is_child else None
            records = self._rollouts.minibatch(batch, bundle, iteration, parent)
        return EvaluationBatch(
            outputs=["" if record is None else record.final_output for record in records],
            scores=[0.0 if record is None else record.score or 0.0 for record in records],
            trajectories=list(zip(batch, records, strict=True)),
            objective_scores=None,
            num_metric_calls=len(batch),
        )

    def _merge_wins(self, bundle: PromptBundle, records: Sequence[RunRecord | None]) -> bool:
        """Return whether a merge is worth its validation; decided as for other children."""
        job = self._rollouts.job
        if not self._rollouts.paired or not (job.has(CURTAILED) or job.has(ANYTIME)):
            return True  # the engine validates it in full
        names = [record.example_id for record in records if record is not None]
        reached = sum(record.score or 0.0 for record in records if record is not None)
        return reached >= self._log.parents_best(names) and self._rollouts.contest(
            self._validation, bundle, self._log.best_scores()
        )

    def batch_evaluate(
        self, items: list[tuple[dict[str, str], list[Row]]]
    ) -> list[EvaluationBatch[Trace, str]]:
        """Run candidates on rows; each batch is parallel in itself."""
        return [self.evaluate(batch, candidate, True) for candidate, batch in items]

    def make_reflective_dataset(
        self,
        candidate: dict[str, str],
        eval_batch: EvaluationBatch[Trace, str],
        components_to_update: list[str],
    ) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """Return what is shown of each rollout, by role."""
        del candidate
        shown: dict[str, list[Mapping[str, Any]]] = {}
        for name in components_to_update:
            said = [
                self._style.record(row, record, str(name))
                for row, record in eval_batch.trajectories or []
            ]
            shown[name] = [{"shown": text} for text in said if text is not None]
        return shown

    def propose_new_texts(
        self,
        candidate: dict[str, str],
        reflective_dataset: Mapping[str, Sequence[Mapping[str, Any]]],
        components_to_update: list[str],
    ) -> dict[str, str]:
        """Return new texts; a role is left out if no usable or no other text came."""
        wanted: dict[str, Wanted] = {}
        for name in components_to_update:
            role = str(name)
            self._log.components.append(role)
            shown = [str(item["shown"]) for item in reflective_dataset[name]]
            if shown:
                ask = partial(self._style.prompt, role, str(candidate[name]))
                prompt, rounds = fitted(shown, ask, window=self._proposer.window)
                self._log.asked(prompt, rounds)
                wanted[name] = Wanted(role, prompt, self._log.iteration)
        texts = self._rollouts.bridge.call(
            self._proposer.rewrite_all(list(wanted.values()), self._style.parse)
        )
        return {
            name: text
            for name, text in zip(wanted, texts, strict=True)
            if text is not None and text.strip() != str(candidate[name]).strip()
        }


def _refused(
    batch: Sequence[Row], records: Sequence[RunRecord | None]
) -> EvaluationBatch[Trace, str]:
    """Return scores with which the engine accepts no merge."""
    return EvaluationBatch(
        outputs=[""] * len(batch),
        scores=[-1.0] * len(batch),
        trajectories=list(zip(batch, records, strict=True)),
        objective_scores=None,
        num_metric_calls=len(batch),
    )


class Acceptance:
    """Accepts a child that is strictly better on its minibatch.

    With curtailment or the anytime-valid test in force it must then still have a chance to become
    the best while its validation runs; rows that it has run are not run again.
    """

    def __init__(self, rollouts: Rollouts, log: SearchLog, validation: Sequence[Row]) -> None:
        self._rollouts = rollouts
        self._log = log
        self._validation = list(validation)
        self._ids = [row_id(row) for row in validation]

    def should_accept(self, proposal: Any, state: Any) -> bool:
        """Return whether the child enters the pool."""
        del state
        before = list(proposal.subsample_scores_before or [])
        after = list(proposal.subsample_scores_after or [])
        bundle = self._rollouts.bundle(proposal.candidate)
        self._log.after = after
        if not sum(after) > sum(before):
            self._log.rejected(bundle, proposal.parent_program_ids, after, "minibatch")
            return False
        job = self._rollouts.job
        if not self._rollouts.paired or not (job.has(CURTAILED) or job.has(ANYTIME)):
            return True
        if self._rollouts.contest(self._validation, bundle, self._log.best_scores()):
            return True
        known = self._rollouts.known[bundle.exec_digest]
        scores = [known[name].score or 0.0 for name in self._ids if name in known]
        self._log.rejected(bundle, proposal.parent_program_ids, scores, "validation")
        return False


__all__ = ["Acceptance", "Adapter", "Halt", "Name", "Style", "Trace"]
