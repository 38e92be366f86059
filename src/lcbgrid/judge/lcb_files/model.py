"""What LiveCodeBench's result files hold, whatever spelling they came in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Kind = Literal["eval_all", "generations", "custom"]

FACTS = (
    "question_title",
    "question_content",
    "platform",
    "question_id",
    "contest_id",
    "contest_date",
    "starter_code",
    "difficulty",
)
"""Keys that describe the problem, in the order the files have them; all are texts."""

VERDICTS_KEY = "lcbgrid_verdicts"
"""Our own key beside theirs: one verdict record (or null) a sample."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One program of a result file.

    Attributes:
        code: The extracted program; empty if there was none.
        output: The reply it was taken from; empty if the file has none.
        passed: The recorded grade, if there is one.
        metadata: The recorded JSON text about the failure or the time, if there is one.
        verdict: Our own verdict record, if the file was written by us.
    """

    code: str
    output: str = ""
    passed: bool | None = None
    metadata: str | None = None
    verdict: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """All programs for one problem, with what the file says about the problem.

    Attributes:
        question_id: The id, always text.
        samples: The programs in the file's order.
        facts: Those of ``FACTS`` that the file has, without the id.
        recorded_pass_at_1: The recorded share of programs that passed, if there is one.
    """

    question_id: str
    samples: tuple[Sample, ...]
    facts: Mapping[str, str] = field(default_factory=dict)
    recorded_pass_at_1: float | None = None


@dataclass(frozen=True, slots=True)
class ResultFile:
    """A whole file: which of the forms it had, and its questions sorted by id as text."""

    kind: Kind
    questions: tuple[Question, ...]

    @property
    def n_samples(self) -> int:
        """Programs in the file."""
        return sum(len(question.samples) for question in self.questions)
