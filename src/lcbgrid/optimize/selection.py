"""Which bundle is deployed: the incumbent only if it is strictly better on validation.

Optimizers specification, section 6.6. Everything else, defects included, deploys the seed and
names the reason.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from lcbgrid.optimize.errors import ContractError
from lcbgrid.optimize.records import Status
from lcbgrid.teams.bundle import PromptBundle

Candidate = Literal["seed", "incumbent"]
ForcedReason = Literal["infrastructure_invalid_optimization", "invalid_incumbent_bundle"]

_TEST_WORDS = frozenset({"test", "tests", "testset", "heldout", "holdout", "hidden", "private"})
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


class Scored(Protocol):
    """What selection reads of a record."""

    @property
    def example_id(self) -> str:
        """The row."""

    @property
    def status(self) -> str:
        """How it ended."""

    @property
    def score(self) -> float | None:
        """In [0, 1]."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The decision and what it rests on.

    Attributes:
        selected_candidate: Whose bundle is deployed.
        fallback_reason: Why it is the seed's; ``None`` if it is the incumbent's.
        baseline_validation_score: The seed's mean; ``None`` if its records have a defect.
        incumbent_validation_score: The incumbent's mean; ``None`` likewise.
        validation_delta: Their difference; ``None`` unless both are known on the same rows.
    """

    selected_candidate: Candidate
    fallback_reason: str | None
    baseline_validation_score: float | None
    incumbent_validation_score: float | None
    validation_delta: float | None

    def to_json(self) -> dict[str, Any]:
        """Return the decision as a JSON object."""
        return dataclasses.asdict(self)


def select(
    seed_records: Sequence[Scored],
    incumbent_records: Sequence[Scored],
    *,
    forced: ForcedReason | None = None,
) -> Selection:
    """Decide between the seed and the incumbent on their validation records.

    Args:
        seed_records: The seed's, one a row.
        incumbent_records: The incumbent's on the same rows; may be empty if ``forced``.
        forced: A reason from outside that deploys the seed whatever the scores are.
    """
    seed, seed_defect = _scores(seed_records)
    new, new_defect = _scores(incumbent_records)
    baseline = None if seed_defect else _mean(seed)
    score = None if new_defect else _mean(new)
    defect = seed_defect or new_defect
    if defect is None and set(seed) != set(new):
        defect = "unpaired_validation_ids"
    reason: str | None = forced or defect
    delta = None
    if defect is None and baseline is not None and score is not None:
        delta = score - baseline
        if reason is None and delta <= 0:
            reason = "validation_tie" if delta == 0 else "validation_regression"
    return Selection("seed" if reason else "incumbent", reason, baseline, score, delta)


def _scores(records: Sequence[Scored]) -> tuple[dict[str, float], str | None]:
    """Return the scores by row, and the first defect if there is one."""
    scores: dict[str, float] = {}
    for record in records:
        row, score = record.example_id, record.score
        if row in scores:
            return scores, f"duplicate_example:{row}"
        if record.status not in (Status.SUCCESS, Status.SEMANTIC_FAILURE):
            return scores, f"invalid_record:{row}:{record.status}"
        if score is None or not 0 <= score <= 1:
            return scores, f"score_out_of_range:{row}"
        scores[row] = score
    return scores, None if scores else "empty_validation"


def _mean(scores: Mapping[str, float]) -> float:
    return math.fsum(scores.values()) / len(scores)  # the order of rows does not matter


def find_test_material(content: object, test_ids: Collection[str] = ()) -> list[str]:
    """Return the places in a JSON value that would carry test material.

    Args:
        content: A bundle's metadata or demos.
        test_ids: IDs of test rows; no text may be one of them.

    Returns:
        A path for each key with a word like ``test`` or ``hidden`` in it (a ``false`` is let
        through: it says that there is none) and for each text that is a test row's ID.
    """
    return sorted(_places(content, frozenset(test_ids), "$"))


def refuse_test_material(bundle: PromptBundle, test_ids: Collection[str] = ()) -> None:
    """Refuse a bundle whose metadata, or whose demos' IDs, come from the test split.

    Raises:
        ContractError: Test material was found; the message names the first place.
    """
    found = find_test_material(dict(bundle.metadata), test_ids)
    known = frozenset(test_ids)
    found += [place for demo in bundle.demos for place in _named(demo, known, "$.demos")]
    if found:
        raise ContractError("a bundle must not carry test material", where=found[0])


def _places(content: object, test_ids: frozenset[str], where: str) -> Iterator[str]:
    if isinstance(content, Mapping):
        for key, item in content.items():
            words = {word.lower() for word in _WORD.findall(str(key))}
            if (words & _TEST_WORDS and item is not False) or str(key) in test_ids:
                yield f"{where}.{key}"
            else:
                yield from _places(item, test_ids, f"{where}.{key}")
    elif isinstance(content, list | tuple):
        for index, item in enumerate(content):
            yield from _places(item, test_ids, f"{where}[{index}]")
    else:
        yield from _named(content, test_ids, where)


def _named(content: object, test_ids: frozenset[str], where: str) -> Iterator[str]:
    """Yield the places of texts that are IDs of test rows, whatever their keys are called."""
    if isinstance(content, str):
        if content in test_ids:
            yield where
    elif isinstance(content, Mapping):
        for key, item in content.items():
            yield from _named(item, test_ids, f"{where}.{key}")
    elif isinstance(content, list | tuple):
        for index, item in enumerate(content):
            yield from _named(item, test_ids, f"{where}[{index}]")
