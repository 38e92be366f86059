"""What one logical rollout gave: its record, its status and its usage.

Optimizers specification, section 1. A record refuses to exist when its parts contradict each
other, so nothing behind this point has to ask again whether a score belongs to its status.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from lcbgrid.optimize.canonical import content_hash, plain
from lcbgrid.optimize.errors import ContractError
from lcbgrid.optimize.seeds import SEED_LIMIT

# Metadata keys that explain a scored rollout without any model call.
ABSTENTION = "zero_call_abstention"
BUDGET_EXHAUSTED = "budget_exhausted"


class Status(StrEnum):
    """How a rollout ended; the first two are usable and are charged."""

    SUCCESS = "success"
    SEMANTIC_FAILURE = "semantic_failure"
    INFRASTRUCTURE_FAILURE = "infrastructure_failure"

    @property
    def usable(self) -> bool:
        """Whether there is a score."""
        return self is not Status.INFRASTRUCTURE_FAILURE


def status_of(score: float | None) -> Status:
    """Return the status that belongs to a score; ``None`` means that none was observed."""
    if score is None:
        return Status.INFRASTRUCTURE_FAILURE
    return Status.SUCCESS if score > 0 else Status.SEMANTIC_FAILURE


@dataclass(frozen=True, slots=True)
class Usage:
    """Calls and tokens of one component (task, judge or reflection).

    Raises:
        ContractError: A count is negative or no integer, or there are tokens but no model call.
    """

    model_calls: int = 0
    tool_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def __post_init__(self) -> None:
        for name, count in dataclasses.asdict(self).items():
            if isinstance(count, bool) or not isinstance(count, int) or count < 0:
                raise ContractError("a count is a natural number", where=name, value=count)
        if self.total_tokens and not self.model_calls:
            raise ContractError("tokens without a model call", value=self.total_tokens)

    @property
    def total_tokens(self) -> int:
        """Input and output tokens."""
        return self.input_tokens + self.output_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.model_calls + other.model_calls,
            self.tool_calls + other.tool_calls,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
        )

    def to_json(self) -> dict[str, int]:
        """Return the counts with their total."""
        return {**dataclasses.asdict(self), "total_tokens": self.total_tokens}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Usage:
        """Return the usage that ``to_json`` wrote.

        Raises:
            ContractError: Keys are missing or unknown, or the total is not the sum.
        """
        names = {item.name for item in dataclasses.fields(cls)}
        if set(content) != names | {"total_tokens"}:
            raise ContractError("a usage has other keys", value=sorted(content))
        usage = cls(**{name: content[name] for name in names})
        if usage.total_tokens != content["total_tokens"]:
            raise ContractError("the total is not the sum", value=content["total_tokens"])
        return usage


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One logical rollout.

    Attributes:
        cell_id: The job.
        example_id: The row.
        status: Must fit the score.
        final_output: What the team handed in.
        score: In [0, 1]; ``None`` exactly for an infrastructure failure.
        request_seed: In [0, 2**31 - 1).
        messages: What was said, each with ``source`` and ``content``.
        tool_events: What tools were asked and answered.
        usage: Cost of the task model.
        latency_s: Wall time.
        framework: What ran the team.
        model_id: The task model.
        trace_id: Where the transcript has it.
        error: Why there is no score; scrubbed.
        metadata: For example ``scorer_metadata`` with its ``feedback``.

    Raises:
        ContractError: The parts contradict each other.
    """

    cell_id: str
    example_id: str
    status: Status
    final_output: str
    score: float | None
    request_seed: int
    messages: tuple[Mapping[str, Any], ...] = ()
    tool_events: tuple[Mapping[str, Any], ...] = ()
    usage: Usage = field(default_factory=Usage)
    latency_s: float = 0.0
    framework: str = ""
    model_id: str = ""
    trace_id: str = ""
    error: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._check_types()
        self._check_score()
        if self.score is not None:  # 1 and 1.0 are one score and must have one spelling
            object.__setattr__(self, "score", float(self.score))
        object.__setattr__(self, "latency_s", float(self.latency_s))
        seed = self.request_seed
        if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < SEED_LIMIT:
            raise ContractError("a seed is in [0, 2**31 - 1)", where=self.example_id, value=seed)
        if not (math.isfinite(self.latency_s) and self.latency_s >= 0):
            raise ContractError(
                "no such latency", where=self.example_id, value=str(self.latency_s)
            )
        for message in self.messages:
            if "source" not in message:
                raise ContractError("a message names its source", where=self.example_id)

    def _check_types(self) -> None:
        """Refuse at once what would else break a method, or a journal, later."""
        texts = ("cell_id", "example_id", "final_output", "framework", "model_id", "trace_id")
        for name, kind in {
            **dict.fromkeys(texts, str),
            "score": int | float | None,
            "latency_s": int | float,
            "error": str | None,
            "usage": Usage,
            "metadata": Mapping,
            "messages": tuple | list,
            "tool_events": tuple | list,
        }.items():
            value = getattr(self, name)
            of_objects = name not in ("messages", "tool_events") or all(
                isinstance(item, Mapping) for item in value or ()
            )
            if not isinstance(value, kind) or not of_objects:
                raise ContractError(
                    f"{name} has another type", where=self.example_id, value=type(value).__name__
                )

    def _check_score(self) -> None:
        score = self.score
        if score is not None and not 0 <= score <= 1:  # false for NaN as well
            raise ContractError("a score is in [0, 1]", where=self.example_id, value=str(score))
        if self.status is not status_of(score):
            raise ContractError(
                f"status {self.status!s} does not belong to the score",
                where=self.example_id,
                value=str(score),
            )
        if not self.usable and not self.error:
            raise ContractError("an infrastructure failure says why", where=self.example_id)
        explained = self.metadata.get(ABSTENTION) or self.metadata.get(BUDGET_EXHAUSTED)
        if self.usable and not self.usage.model_calls and not explained:
            raise ContractError(
                "a score without any model call is an infrastructure failure",
                where=self.example_id,
            )

    @property
    def usable(self) -> bool:
        """Whether there is a score."""
        return self.status.usable

    @property
    def feedback(self) -> str | None:
        """What the metric said in words, if it did."""
        scorer = self.metadata.get("scorer_metadata")
        said = scorer.get("feedback") if isinstance(scorer, Mapping) else None
        return None if said is None else str(said)

    @property
    def digest(self) -> str:
        """Content hash of the record."""
        return content_hash(self.to_json())

    def to_json(self) -> dict[str, Any]:
        """Return the record as a JSON object."""
        content = {item.name: getattr(self, item.name) for item in dataclasses.fields(self)}
        checked: dict[str, Any] = plain({**content, "usage": self.usage.to_json()})
        return checked

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> RunRecord:
        """Return the record that ``to_json`` wrote.

        Raises:
            ContractError: Keys are missing or unknown, or the record contradicts itself.
        """
        names = {item.name for item in dataclasses.fields(cls)}
        if set(content) != names:
            raise ContractError(
                "a record has other keys", value=sorted(names.symmetric_difference(content))
            )
        if content["status"] not in list(Status):
            raise ContractError("no such status", value=content["status"])
        return cls(
            **{
                **content,
                "status": Status(content["status"]),
                "usage": Usage.from_json(content["usage"]),
                "messages": tuple(content["messages"]),
                "tool_events": tuple(content["tool_events"]),
            }
        )
