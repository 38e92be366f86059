"""What a problem is, and what a test is; the two are kept apart.

A ``Problem`` is all that prompts, tools, agents and optimizers may see. Hidden tests live in
``TestSuite`` objects that only the judge opens, by question id (design, section 4).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

Mode = Literal["stdin", "functional"]
Difficulty = Literal["easy", "medium", "hard"]


@dataclass(frozen=True, slots=True)
class TestCase:
    """One test: the input text, the expected output text, and how they are used.

    For ``functional`` tests the input holds one JSON value a line, one line a positional argument,
    and the output one JSON value (judge specification, section 1).
    """

    __test__ = False  # not a pytest class

    input: str
    output: str
    testtype: Mode


@dataclass(frozen=True, slots=True)
class TestSuite:
    """All judged tests of one question: public ones first, then private ones."""

    __test__ = False

    question_id: str
    fn_name: str | None
    tests: tuple[TestCase, ...]
    n_public: int

    @property
    def mode(self) -> Mode:
        """``functional`` if a function name is known, else ``stdin``."""
        return "functional" if self.fn_name else "stdin"


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem as agents see it; hidden tests are not in it.

    ``fn_name`` comes from ``metadata.func_name`` and decides the mode. ``contest_date`` is the
    ISO text of the data set, without a zone, read as UTC. ``public_tests`` are the samples of the
    statement; they are public by nature.
    """

    question_id: str
    title: str
    statement: str
    starter_code: str
    fn_name: str | None
    platform: str
    difficulty: str
    contest_id: str
    contest_date: str
    public_tests: tuple[TestCase, ...] = ()

    @property
    def mode(self) -> Mode:
        """``functional`` if a function name is known, else ``stdin``."""
        return "functional" if self.fn_name else "stdin"

    def to_record(self) -> dict[str, Any]:
        """Return the JSON form that ``problems.jsonl`` holds."""
        record = asdict(self)
        record["public_tests"] = [asdict(test) for test in self.public_tests]
        return record

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> Problem:
        """Rebuild a problem from ``to_record``'s form."""
        fields = dict(record)
        fields.pop("schema_version", None)
        fields["public_tests"] = tuple(TestCase(**test) for test in fields.get("public_tests", ()))
        return cls(**fields)
