"""Read a prepared data set; hidden tests are opened one question at a time.

Only the judge calls ``suite``. Everything else lives on ``problems``, which hold no hidden test.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import zlib
from collections.abc import Iterator
from dataclasses import asdict
from functools import cached_property
from pathlib import Path

from lcbgrid.core.errors import DataError, InfrastructureError, UserError, nearest
from lcbgrid.core.files import dump_json, gzip_bytes
from lcbgrid.core.hashing import sha256_file
from lcbgrid.core.jsonl import read_jsonl
from lcbgrid.problems.manifest import Manifest
from lcbgrid.problems.schema import Problem, TestCase, TestSuite
from lcbgrid.problems.splits import Splits, read_splits

PROBLEMS_FILE = "problems.jsonl"
SPLITS_FILE = "splits.json"
MANIFEST_FILE = "manifest.json"
TESTS_DIR = "tests"
PREPARE_COMMAND = "lcbgrid problems prepare"

_PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_AGAIN = f"prepare the data set again with `{PREPARE_COMMAND}`"


def suite_file_name(question_id: str) -> str:
    """Return the file name for a question's tests; safe for any id a user's file may hold.

    Ids made of letters, digits, ``_`` and ``-`` (all of LiveCodeBench's) stand for themselves.
    """
    if _PLAIN_NAME.fullmatch(question_id):
        return f"{question_id}.json.gz"
    slug = re.sub(r"[^A-Za-z0-9_-]+", "-", question_id)[:40].strip("-")
    digest = hashlib.sha256(question_id.encode()).hexdigest()[:16]
    return f"{slug}.{digest}.json.gz"  # the dot keeps it apart from every plain name


def suite_bytes(suite: TestSuite) -> bytes:
    """Return the stored form of a test suite; equal suites give equal bytes."""
    return gzip_bytes(dump_json(asdict(suite)).encode())


class PreparedProblems:
    """A folder written by ``prepare``.

    Args:
        directory: The folder.

    Raises:
        InfrastructureError: Nothing is prepared there; names the command.
        DataError: The folder's files do not belong together.
    """

    def __init__(self, directory: Path | str) -> None:
        self.directory = Path(directory)
        manifest = self.directory / MANIFEST_FILE
        if not manifest.is_file():
            raise InfrastructureError(
                f"data set {self.directory.name!r} is not prepared",
                where=self.directory,
                remedy=f"run `{PREPARE_COMMAND}` (or the rule that makes {MANIFEST_FILE}) first",
            )
        self.manifest = Manifest.read(manifest)

    @cached_property
    def _by_id(self) -> dict[str, Problem]:
        return {problem.question_id: problem for problem in self.each_problem()}

    @cached_property
    def splits(self) -> Splits:
        """The splits, with only the ids that are prepared."""
        return read_splits(self.directory / SPLITS_FILE)

    def each_problem(self) -> Iterator[Problem]:
        """Yield all problems in their order, read one by one."""
        path = self.directory / PROBLEMS_FILE
        if not path.is_file():
            raise DataError("the file is missing", where=path, remedy=_AGAIN)
        if sha256_file(path) != self.manifest.problems_sha256:
            message = f"the file is not the one {MANIFEST_FILE} describes"
            raise DataError(message, where=path, remedy=_AGAIN)
        return (Problem.from_record(record) for record in read_jsonl(path))

    def problems(self) -> list[Problem]:
        """Return all problems, sorted by question id as text."""
        return list(self._by_id.values())

    def problem(self, question_id: str) -> Problem:
        """Return one problem.

        Raises:
            UserError: It is not in this data set.
        """
        try:
            return self._by_id[question_id]
        except KeyError:
            raise self._unknown(question_id) from None

    def suite(self, question_id: str) -> TestSuite:
        """Open the tests of one question, hidden ones included; for the judge only.

        Raises:
            UserError: The question is not in this data set.
            DataError: The file is missing or damaged; never an empty suite.
        """
        path = self.directory / TESTS_DIR / suite_file_name(question_id)
        try:
            record = json.loads(gzip.decompress(path.read_bytes()))
            tests = tuple(TestCase(**test) for test in record.pop("tests"))
            suite = TestSuite(tests=tests, **record)
        except FileNotFoundError:
            if question_id not in self._by_id:
                raise self._unknown(question_id) from None
            raise self._damaged(question_id, "its test file is missing") from None
        except (OSError, EOFError, zlib.error, ValueError, TypeError, KeyError, AttributeError):
            raise self._damaged(question_id, "its test file is damaged") from None
        if suite.question_id != question_id or not suite.tests:
            raise self._damaged(question_id, "its test file does not hold its tests")
        return suite

    def _unknown(self, question_id: str) -> UserError:
        return UserError(
            f"no question {question_id!r} in data set {self.manifest.name!r}",
            remedy=nearest(question_id, self._by_id),
        )

    def _damaged(self, question_id: str, what: str) -> DataError:
        return DataError(what, where=f"question {question_id}", remedy=_AGAIN)
