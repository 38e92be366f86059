"""Check the judge against real programs whose verdicts were recorded elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lcbgrid.config.judge_spec import JudgeSpec
from lcbgrid.core.errors import EXIT_DIFFERENCE, EXIT_OK, DataError
from lcbgrid.core.jsonl import read_jsonl
from lcbgrid.judge.judge import Judge
from lcbgrid.judge.keys import program_key
from lcbgrid.judge.verdict import Verdict
from lcbgrid.problems.schema import TestSuite

SuiteLookup = Mapping[str, TestSuite] | Callable[[str], TestSuite | None]


@dataclass(frozen=True, slots=True)
class Submission:
    """A recorded program.

    Attributes:
        submission_id: Its id.
        question_id: The problem it answers.
        code: The source; may be empty.
        recorded: Whether it has to pass; ``None`` if the tests at hand cannot tell.
    """

    submission_id: str
    question_id: str
    code: str
    recorded: bool | None

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Submission:
        """Read a line of the file.

        Raises:
            DataError: A field is missing or has an unknown value.
        """
        try:
            decidable, graded = record["decidable"], bool(record["graded"])
            recorded = {"yes": graded, "must_pass": True, "must_fail": False, "unknown": None}
            return cls(record["id"], record["question_id"], record["code"], recorded[decidable])
        except (KeyError, TypeError) as error:
            raise DataError(
                f"not a graded submission: {type(error).__name__} {error}",
                where=record.get("id"),
            ) from error


@dataclass(frozen=True, slots=True)
class Difference:
    """A program on which our verdict is not the recorded one."""

    submission: Submission
    verdict: Verdict

    def __str__(self) -> str:
        recorded = "passed" if self.submission.recorded else "failed"
        reason = self.verdict.message or "all tests passed"
        return (
            f"{self.submission.submission_id} {self.submission.question_id}: "
            f"recorded {recorded}, ours {self.verdict.status} ({reason})"
        )


@dataclass(frozen=True, slots=True)
class SubmissionsReport:
    """Outcome of a run over submissions."""

    agreed: int
    total: int
    unknown: int
    differences: tuple[Difference, ...]

    @property
    def exit_status(self) -> int:
        """Status for the command line: 1 if any verdict is another one than recorded."""
        return EXIT_OK if self.agreed == self.total else EXIT_DIFFERENCE


def run_submissions(
    suites: SuiteLookup,
    path: Path | str,
    spec: JudgeSpec,
    *,
    jobs: int | None = None,
    say: Callable[[str], object] = print,
) -> SubmissionsReport:
    """Judge recorded programs and print where the verdict is another one.

    Prints a line for each difference, in the file's order, and ``agreed M of N, unknown U`` at
    the end. Unknown are those that the file marks as undecidable with the tests at hand, and
    those whose problem is not there; they are not run.

    Args:
        suites: Tests by question id.
        path: JSON lines with id, question_id, code, graded and decidable.
        spec: How to judge.
        jobs: Sandboxes side by side; default: all cores.
        say: Receives each line.

    Raises:
        DataError: The file holds none, or a line is no submission.
    """
    find = suites.get if isinstance(suites, Mapping) else suites
    submissions = [Submission.from_record(record) for record in read_jsonl(path)]
    if not submissions:
        raise DataError("the file holds no submissions", where=path)
    decidable = [s for s in submissions if s.recorded is not None]
    agreed, judged, differences = 0, 0, []
    with Judge(spec, workers=jobs) as judge, ThreadPoolExecutor(judge.workers) as threads:
        # Equal programs on a question are judged once.
        known: dict[str, Future[Verdict | None]] = {}
        for submission in decidable:
            key = _key_of(submission)
            if key not in known:
                known[key] = threads.submit(_judged, judge, find, submission)
        for submission in decidable:
            verdict = known[_key_of(submission)].result()
            if verdict is None:
                continue
            judged += 1
            if verdict.is_score and verdict.passed == submission.recorded:
                agreed += 1
            else:
                differences.append(Difference(submission, verdict))
                say(str(differences[-1]))
    unknown = len(submissions) - judged
    say(f"agreed {agreed} of {judged}, unknown {unknown}")
    return SubmissionsReport(agreed, judged, unknown, tuple(differences))


def _key_of(submission: Submission) -> str:
    return program_key(submission.question_id, submission.code)


def _judged(
    judge: Judge, find: Callable[[str], TestSuite | None], submission: Submission
) -> Verdict | None:
    suite = find(submission.question_id)
    return None if suite is None else judge.judge(submission.code, suite)
