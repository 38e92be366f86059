"""What a conversation is: plain frozen data, made from published files by ``build``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import fsum
from typing import Any, Literal

from lcbgrid.models.types import Usage

AnswerKey = tuple[str, int]
BlockKind = Literal["system", "heard", "reasoning", "said", "tool", "result", "note"]


@dataclass(frozen=True, slots=True)
class Block:
    """One piece of text with who says it to whom.

    Attributes:
        kind: ``system`` (instructions), ``heard`` (a message to the agent), ``reasoning`` and
            ``said`` (the agent's own), ``tool`` (what it gives to a tool), ``result`` (what the
            tool gives back), ``note`` (what happened beside).
        heading: Who to whom.
        text: The text as it stands in the transcript, not made harmless yet.
        code: True for Python code.
    """

    kind: BlockKind
    heading: str
    text: str
    code: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """One model call: what was new to the agent, what it said, and what its tools gave back.

    ``latency_s`` and ``waited_s`` are ``None`` where nothing was measured.
    """

    agent: str
    step: int
    blocks: tuple[Block, ...]
    usage: Usage
    finish_reason: str
    status: str
    message: str | None
    retries: int
    latency_s: float | None
    waited_s: float | None


@dataclass(frozen=True, slots=True)
class Conversation:
    """Everything about one answer of a team.

    Attributes:
        title: Title of the problem, if the prepared problems are beside the runs.
        prediction: The record of the run stage.
        verdict: The record of the judge stage; ``None`` before it ran.
        calls: Model calls, each after those that it builds on.
        judge_s: Measured time of the judge, if known.
    """

    question_id: str
    sample_index: int
    title: str | None
    prediction: Mapping[str, Any]
    verdict: Mapping[str, Any] | None
    calls: tuple[Call, ...]
    judge_s: float | None

    @property
    def program(self) -> str | None:
        """The program handed in."""
        code = self.prediction.get("predicted_code")
        return code if isinstance(code, str) else None

    @property
    def model_s(self) -> float | None:
        """Sum of the calls' latencies; agents that worked beside each other count each."""
        measured = [call.latency_s for call in self.calls if call.latency_s is not None]
        return fsum(measured) if measured else None

    @property
    def outcome(self) -> str:
        """The verdict's status, or that there is none."""
        return str(self.verdict["status"]) if self.verdict else NOT_JUDGED


NOT_JUDGED = "not_judged"
