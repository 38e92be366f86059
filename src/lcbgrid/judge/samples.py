"""Samples for a comparison of rule sets, out of the files that other commands read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from lcbgrid.core.jsonl import read_jsonl
from lcbgrid.judge.cases import read_cases
from lcbgrid.judge.diff import Sample
from lcbgrid.judge.submissions import Submission, SuiteLookup
from lcbgrid.problems.schema import TestSuite


def case_samples(path: Path | str) -> Iterator[Sample]:
    """Yield the programs of a file of cases, under their own limits."""
    for case in read_cases(path):
        yield Sample(case.case_id, case.code, case.suite, case.limits, case.float_tol)


def submission_samples(suites: SuiteLookup, path: Path | str) -> Iterator[Sample]:
    """Yield the recorded programs whose problem is at hand."""
    find: Callable[[str], TestSuite | None]
    find = suites.get if isinstance(suites, Mapping) else suites
    for record in read_jsonl(path):
        submission = Submission.from_record(record)
        suite = find(submission.question_id)
        if suite is not None:
            name = f"{submission.submission_id} {submission.question_id}"
            yield Sample(name, submission.code, suite)
