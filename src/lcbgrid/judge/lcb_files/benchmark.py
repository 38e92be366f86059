"""The problems that result files speak of: from files of rows, or from a prepared data set."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lcbgrid.core.errors import UserError
from lcbgrid.judge.lcb_files.model import FACTS
from lcbgrid.problems.lookup import suites_of
from lcbgrid.problems.readers import read_rows
from lcbgrid.problems.rows import RawRow, question_id_of
from lcbgrid.problems.schema import Problem, TestSuite
from lcbgrid.problems.store import MANIFEST_FILE, PreparedProblems


@dataclass(frozen=True, slots=True)
class Benchmark:
    """Problems by id.

    Attributes:
        facts: What is public about each problem, as result files spell it, without the id.
        fn_names: The function a program has to define; ``None`` for stdin problems.
        suite: Opens the tests of one problem; may be called by several threads.
    """

    facts: Mapping[str, Mapping[str, str]]
    fn_names: Mapping[str, str | None]
    suite: Callable[[str], TestSuite]

    @property
    def ids(self) -> Collection[str]:
        """The ids of all problems."""
        return self.facts.keys()

    @property
    def official_order(self) -> list[str]:
        """The ids as LiveCodeBench sorts them: as text."""
        return sorted(self.facts)


def open_benchmark(paths: Sequence[Path]) -> Benchmark:
    """Open files of rows, or one folder that ``lcbgrid problems prepare`` has made.

    Raises:
        UserError: A file is missing, or a folder is given with something else.
    """
    folders = [path for path in paths if path.is_dir()]
    if not folders:
        return _of_rows(paths)
    if len(paths) > 1 or not (paths[0] / MANIFEST_FILE).is_file():
        raise UserError(
            "give either files of rows or one folder with prepared problems", where=folders[0]
        )
    return of_prepared(PreparedProblems(paths[0]))


def of_prepared(store: PreparedProblems) -> Benchmark:
    """Use a prepared data set."""
    problems = store.problems()
    return Benchmark(
        facts={problem.question_id: facts_of(problem) for problem in problems},
        fn_names={problem.question_id: problem.fn_name for problem in problems},
        suite=store.suite,
    )


def facts_of(problem: Problem) -> dict[str, str]:
    """Return what is public about a problem under the names of result files."""
    return {
        "question_title": problem.title,
        "question_content": problem.statement,
        "platform": problem.platform,
        "contest_id": problem.contest_id,
        "contest_date": problem.contest_date,
        "starter_code": problem.starter_code,
        "difficulty": problem.difficulty,
    }


def _of_rows(paths: Sequence[Path]) -> Benchmark:
    suites = suites_of(paths)
    facts: dict[str, dict[str, str]] = {}
    fn_names: dict[str, str | None] = {}
    for path in paths:
        for entry in read_rows(path):
            if isinstance(entry, RawRow) and question_id_of(entry.row) not in facts:
                question_id = question_id_of(entry.row)
                facts[question_id] = _facts_of_row(entry.row)
                fn_names[question_id] = _fn_name(entry.row)
    return Benchmark(facts, fn_names, suites.__getitem__)


def _facts_of_row(row: Mapping[str, object]) -> dict[str, str]:
    names = (name for name in FACTS if name != "question_id")
    return {name: str(row[name]) for name in names if row.get(name) is not None}


def _fn_name(row: Mapping[str, object]) -> str | None:
    metadata = row.get("metadata")
    try:
        value = json.loads(metadata) if isinstance(metadata, str) else metadata
    except ValueError:
        return None  # a broken row is reported when its tests are opened
    name = value.get("func_name") if isinstance(value, dict) else None
    return name if isinstance(name, str) else None
