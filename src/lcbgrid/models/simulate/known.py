"""The problems that the simulated model knows, with right and wrong programs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from lcbgrid.core.errors import DataError, InfrastructureError
from lcbgrid.core.jsonl import read_jsonl

MAX_REMEMBERED = 4096


@dataclass(frozen=True, slots=True)
class KnownProblem:
    """One problem of the simulated model's memory."""

    question_id: str
    statement: str
    difficulty: str
    functional: bool
    sample_input: str
    reference: str
    wrong: tuple[str, ...]


class KnownProblems:
    """Finds the problem that a text is about by its statement."""

    def __init__(self, problems: list[KnownProblem]) -> None:
        self._problems = problems
        self._remembered: dict[str, KnownProblem | None] = {}

    def __len__(self) -> int:
        """Return the number of problems."""
        return len(self._problems)

    def find(self, text: str) -> KnownProblem | None:
        """Return the problem whose statement stands in ``text``, or ``None``."""
        if text in self._remembered:
            return self._remembered[text]
        found = next((p for p in self._problems if p.statement in text), None)
        if found is None:  # teams may re-wrap or cut the statement: compare its first words
            words = " ".join(text.split())
            found = next((p for p in self._problems if _opening(p) in words), None)
        if len(self._remembered) >= MAX_REMEMBERED:
            self._remembered.clear()
        self._remembered[text] = found
        return found


def _opening(problem: KnownProblem) -> str:
    return " ".join(problem.statement.split())[:100]


def load_known_problems(folder: Path | str | None = None) -> KnownProblems:
    """Load ``problems.jsonl`` and ``solutions.jsonl`` of a folder.

    Args:
        folder: The folder; ``None``: the embedded set, or nothing if it is not installed.

    Raises:
        DataError: The folder that was asked for lacks a file, or a row lacks a field.
    """
    if folder is None:
        folder = _embedded_folder()
        if folder is None:
            return KnownProblems([])
    folder = Path(folder)
    for name in ("problems.jsonl", "solutions.jsonl"):
        if not (folder / name).is_file():
            raise DataError("the simulated model's problems are missing", where=folder / name)
    solutions = {row["question_id"]: row for row in read_jsonl(folder / "solutions.jsonl")}
    problems = []
    for row in read_jsonl(folder / "problems.jsonl"):
        solution = solutions.get(row["question_id"])
        if solution is not None:
            problems.append(_known(row, solution))
    return KnownProblems(problems)


def _embedded_folder() -> Path | None:
    try:
        from lcbgrid.problems.embedded import embedded_dir

        return embedded_dir()
    except (ImportError, InfrastructureError):
        return None


def _known(row: dict[str, str], solution: dict[str, object]) -> KnownProblem:
    public = json.loads(row.get("public_test_cases") or "[]")
    metadata = json.loads(row.get("metadata") or "{}")
    wrong = solution["wrong"]
    assert isinstance(wrong, list)
    return KnownProblem(
        question_id=row["question_id"],
        statement=row["question_content"].strip(),
        difficulty=row.get("difficulty", "medium"),
        functional=bool(metadata.get("func_name")),
        sample_input=public[0]["input"] if public else "",
        reference=str(solution["reference"]).strip(),
        wrong=tuple(_without_notes(text) for text in wrong),
    )


def _without_notes(program: str) -> str:
    """Drop the comment at the top that says what is wrong: a model would not write it."""
    lines = program.strip().split("\n")
    while lines and lines[0].startswith("#"):
        lines.pop(0)
    return "\n".join(lines).strip()
