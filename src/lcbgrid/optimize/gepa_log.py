"""What the engine did, from its callbacks: candidates, events, trials and the curve.

Optimizers specification, sections 3.8, 4.1 (incumbent, plateau) and 8.1. A callback that fails
ends the search, because the engine would only warn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lcbgrid.core.hashing import sha256_text
from lcbgrid.optimize.canonical import content_hash
from lcbgrid.optimize.curve import Observation
from lcbgrid.optimize.gepa_rollouts import Halt, Rollouts
from lcbgrid.optimize.interface import Row, Trials
from lcbgrid.optimize.rows import row_id
from lcbgrid.optimize.switches import NOISE_AWARE
from lcbgrid.teams.bundle import PromptBundle


@dataclass(frozen=True, slots=True)
class Candidate:
    """A bundle with a full validation; ``scores`` by row."""

    bundle: PromptBundle
    scores: Mapping[str, float]
    parents: tuple[int, ...]

    @property
    def mean(self) -> float:
        """Mean on validation."""
        return sum(self.scores.values()) / len(self.scores)


class SearchLog:
    """Receives the engine's callbacks.

    Args:
        rollouts: Where estimates and charges are read.
        trials: Where evaluated bundles go.
        train: Train rows, in the order of their indices.
        validation: Validation rows, likewise.

    Attributes:
        iteration: Of the engine, 0 before the first.
        components: The roles that were asked for.
        merging: Parents of the merge whose first rows are under way, if any.
        is_child: The minibatch under way is a child's.
        before: Scores of the parent on its minibatch.
        after: Scores of the child on it.
        candidates: In the order of the engine's indices.
        flat: Full validations in a row without a higher best mean.
        refits: Requests that were cut to fit the window.
    """

    def __init__(
        self,
        rollouts: Rollouts,
        trials: Trials,
        train: Sequence[Row],
        validation: Sequence[Row],
    ) -> None:
        self.iteration = 0
        self.components: list[str] = []
        self.merging: tuple[int, ...] = ()
        self.is_child = False
        self.before: list[float] = []
        self.after: list[float] = []
        self.candidates: list[Candidate] = []
        self.flat = 0
        self.events: list[dict[str, Any]] = []
        seed = rollouts.runner.seed_bundle
        self.observations = [Observation(0, seed.full_digest, "initial")]
        self._rollouts = rollouts
        self._trials = trials
        self._train = [row_id(row) for row in train]
        self._validation = [row_id(row) for row in validation]
        self._minibatch: list[str] = []
        self._parent = 0
        self._merged: PromptBundle | None = None
        self._reflection: list[str] = []
        self._spent = 0
        self.refits = 0

    def best_index(self) -> int:
        """Return the index of the highest validation mean; the first one on a tie."""
        means = [candidate.mean for candidate in self.candidates]
        return means.index(max(means))

    def best_scores(self) -> Mapping[str, float]:
        """Return the validation scores of the best by row."""
        return self.candidates[self.best_index()].scores

    def parents_best(self, names: Sequence[str]) -> float:
        """Return the higher sum of the two parents of the merge under way on some rows."""
        pair = [self.candidates[number].scores for number in self.merging]
        return max(sum(scores[name] for name in names) for scores in pair)

    def incumbent(self) -> int:
        """Return the index of what would be deployed; the seed, 0, wins ties."""
        if not self.candidates:
            return 0
        if not self._rollouts.job.has(NOISE_AWARE):
            return self.best_index()
        means = self._rollouts.means()
        found = [means[item.bundle.exec_digest] for item in self.candidates]
        return found.index(max(found))

    def rejected(
        self, bundle: PromptBundle, parents: Sequence[int], scores: Sequence[float], where: str
    ) -> None:
        """Note a child that did not enter the pool."""
        self._trial("reflective", bundle, parents, scores, pruned=where)
        self._event("rejected", where=where, scores=list(scores))

    def asked(self, prompt: str, rounds: int) -> None:
        """Note a request for a text, and in how many rounds it was cut to fit."""
        self._reflection.append(sha256_text(prompt))
        if rounds:
            self.refits += 1
            self._event("refit", rounds=rounds, characters=len(prompt))

    def observe(self, reason: str) -> None:
        """Commit the incumbent to the learning curve."""
        charged = self._rollouts.runner.ledger.snapshot().charged
        if not self.candidates:
            digest, score = self._rollouts.runner.seed_bundle.full_digest, None
        else:
            chosen = self.candidates[self.incumbent()]
            digest, score = chosen.bundle.full_digest, chosen.mean
        self.observations.append(Observation(charged, digest, reason, self.iteration, score))

    def on_iteration_start(self, event: Mapping[str, Any]) -> None:
        """Engine callback."""
        self.iteration = int(event["iteration"])
        self.components, self.is_child, self._minibatch = [], False, []
        self._reflection = []
        self.merging = ()
        self.before, self.after = [], []

    def on_candidate_selected(self, event: Mapping[str, Any]) -> None:
        """Engine callback."""
        self._parent = int(event["candidate_idx"])

    def on_minibatch_sampled(self, event: Mapping[str, Any]) -> None:
        """Engine callback."""
        self._minibatch = [self._train[number] for number in event["minibatch_ids"]]

    def on_evaluation_start(self, event: Mapping[str, Any]) -> None:
        """Engine callback."""
        self.is_child = event["candidate_idx"] is None
        parents = tuple(int(number) for number in event.get("parent_ids") or ())
        self.merging = parents if len(parents) > 1 else ()

    def on_evaluation_end(self, event: Mapping[str, Any]) -> None:
        """Engine callback."""
        self.merging = ()
        if not self.is_child:
            self.before = list(event["scores"])

    def on_merge_attempted(self, event: Mapping[str, Any]) -> None:
        """Engine callback."""
        self._merged = self._rollouts.bundle(event["merged_candidate"])

    def on_merge_rejected(self, event: Mapping[str, Any]) -> None:
        """Engine callback."""
        if self._merged is not None:
            self._trial("merge", self._merged, event["parent_ids"], [], pruned="minibatch")
        self._event("merge_rejected", parents=list(event["parent_ids"]))

    def on_valset_evaluated(self, event: Mapping[str, Any]) -> None:
        """Engine callback: a candidate is in the pool."""
        scores = {self._validation[n]: float(s) for n, s in event["scores_by_val_id"].items()}
        parents = tuple(int(number) for number in event["parent_ids"])
        bundle = self._rollouts.bundle(event["candidate"])
        best = max((item.mean for item in self.candidates), default=-1.0)
        self.candidates.append(Candidate(bundle, scores, parents))
        risen = self.candidates[-1].mean > best
        self.flat = 0 if risen else self.flat + 1
        kind = ("seed", "reflective", "merge")[min(2, len(parents))]
        self._trial(kind, bundle, parents, [scores[name] for name in sorted(scores)])
        self._event(kind, candidate=len(self.candidates) - 1, mean=self.candidates[-1].mean)
        self.observe("seed_validated" if kind == "seed" else "accepted")

    def on_iteration_end(self, event: Mapping[str, Any]) -> None:
        """Engine callback."""
        self._event(
            "iteration",
            accepted=bool(event["proposal_accepted"]),
            parent=self._parent,
            components=list(self.components),
            minibatch=list(self._minibatch),
            before=list(self.before),
            after=list(self.after),
            candidates=len(self.candidates),
        )

    def _event(self, name: str, **more: Any) -> None:
        charged = self._rollouts.runner.ledger.snapshot().charged
        self.events.append(
            {"event": name, "iteration": self.iteration, "charged": charged, **more}
        )

    def _trial(
        self,
        kind: str,
        bundle: PromptBundle,
        parents: Sequence[int],
        scores: Sequence[float],
        *,
        pruned: str = "",
    ) -> None:
        roles = self._rollouts.runner.role_order
        changed = [roles.index(name) for name in dict.fromkeys(self.components)]
        component = changed[0] if len(changed) == 1 else len(roles)  # the last: several at once
        ledger = self._rollouts.runner.ledger.snapshot()
        chosen = self.candidates[self.incumbent()].bundle if self.candidates else bundle
        attributes = {
            "kind": kind,
            "iteration": self.iteration,
            "parents": list(parents),
            "rows": content_hash(self._minibatch),
            "minibatch": list(self._minibatch),
            "parent_scores": list(self.before),
            "child_scores": list(self.after),
            "components": list(self.components),
            "reflection": list(self._reflection),
            "pruned_at": pruned,
            "accepted": not pruned,
            "incumbent_after": chosen.full_digest,
            "charged": ledger.charged - self._spent,
            "ledger_after": ledger.charged,
            "tokens": self._rollouts.tokens[bundle.exec_digest],
        }
        self._spent = ledger.charged
        try:
            self._trials.trial(
                f"{self.iteration}/{kind}",
                bundle=bundle,
                params={"parent": parents[0], "component": component} if parents else {},
                value=sum(scores) / len(scores) if scores else None,
                scores=scores,
                state="pruned" if pruned else "complete",
                attributes=attributes,
            )
        except Exception as error:
            raise Halt(str(error)) from error
