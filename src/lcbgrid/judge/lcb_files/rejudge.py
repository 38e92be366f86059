"""Judge the programs of a result file again, and compare with what it recorded.

Files may be subsets of the benchmark, and the other way round: what cannot be judged here is
counted and listed. A recorded failure that passes here says nothing if the row has public tests
only, and neither does a wrong answer to a problem that needs a checker; both are listed apart.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from lcbgrid.config.judge_spec import JudgeSpec
from lcbgrid.core.errors import EXIT_DIFFERENCE, EXIT_OK, DataError, UserError
from lcbgrid.judge.checked import Checked, judge_checked
from lcbgrid.judge.errata import Errata, Share
from lcbgrid.judge.judge import Judge
from lcbgrid.judge.lcb_files.benchmark import Benchmark
from lcbgrid.judge.lcb_files.grades import deciding_test, metadata_of, shown_texts
from lcbgrid.judge.lcb_files.model import Question, ResultFile, Sample
from lcbgrid.judge.lcb_files.write import names_like, sizes, write_all
from lcbgrid.problems.schema import TestSuite

Say = Callable[[str], object]
Outcome = Literal["agrees", "differs", "undecided", "not_recorded", "not_judged"]

_LISTED = 20
_AHEAD = 4  # questions in work for each sandbox, so that memory does not grow with the file


@dataclass(frozen=True, slots=True)
class Rejudged:
    """One program with our verdict."""

    question_id: str
    index: int
    recorded: bool | None
    checked: Checked
    outcome: Outcome
    reason: str | None

    @property
    def passed(self) -> bool:
        """Whether it passes here."""
        return self.checked.verdict.passed

    def __str__(self) -> str:
        recorded = {True: "passed", False: "failed", None: "nothing"}[self.recorded]
        verdict = self.checked.verdict
        reason = verdict.message or (
            f"accepted by checker {self.checked.checker}"
            if self.checked.checker
            else "all tests passed"
        )
        note = f" [{self.reason}]" if self.reason else ""
        return (
            f"{self.question_id} sample {self.index}: recorded {recorded}, "
            f"ours {verdict.status} ({reason}){note}"
        )


Result = tuple[list[Rejudged], Question] | DataError


@dataclass(frozen=True, slots=True)
class Report:
    """What a run over a result file found.

    Attributes:
        samples: Every judged program, by question id as text, then by position.
        questions: The questions that were judged, with our grades in place of the recorded.
        absent: Ids of the file that are not among the problems given.
        unusable: Ids whose tests cannot be used, with the reason.
        n_unused: Problems given that the file has no program for.
    """

    samples: tuple[Rejudged, ...]
    questions: tuple[Question, ...]
    absent: tuple[str, ...]
    unusable: dict[str, str]
    n_unused: int

    def outcomes(self, outcome: Outcome) -> list[Rejudged]:
        """Return the samples with an outcome."""
        return [sample for sample in self.samples if sample.outcome == outcome]

    @property
    def exit_status(self) -> int:
        """1 if any program got another grade than recorded, or could not be judged."""
        bad = self.outcomes("differs") or self.outcomes("not_judged") or self.unusable
        return EXIT_DIFFERENCE if bad else EXIT_OK


def rejudge(
    file: ResultFile,
    benchmark: Benchmark,
    spec: JudgeSpec,
    errata: Errata,
    *,
    jobs: int | None = None,
    with_hidden_tests: bool = False,
    say: Say = print,
) -> Report:
    """Judge every program of a file whose problem is at hand.

    Args:
        file: The file as read.
        benchmark: The problems.
        spec: How to judge.
        errata: Problems with several answers, and their checkers.
        jobs: Sandboxes side by side; default: all cores.
        with_hidden_tests: Whether new metadata may hold texts of hidden tests.
        say: Receives a line for each difference, in order of question id.

    Raises:
        UserError: No problem of the file is at hand.
    """
    here = [q for q in file.questions if q.question_id in benchmark.ids]
    if not here:
        raise UserError(
            "none of the file's problems is among those given",
            value=f"{file.questions[0].question_id}, …",
        )
    here_ids = {q.question_id for q in here}
    absent = tuple(q.question_id for q in file.questions if q.question_id not in here_ids)
    unusable: dict[str, str] = {}
    samples: list[Rejudged] = []
    judged: list[Question] = []
    with Judge(spec, workers=jobs) as judge:

        def one(question: Question) -> Result:
            try:
                suite = benchmark.suite(question.question_id)
            except DataError as error:
                return error
            return _one_question(judge, question, suite, errata, benchmark, with_hidden_tests)

        for question, result in zip(here, _side_by_side(one, here, judge.workers), strict=True):
            if isinstance(result, DataError):
                unusable[question.question_id] = str(result)
                continue
            found, again = result
            samples += found
            judged.append(again)
            for sample in found:
                if sample.outcome in ("differs", "not_judged"):
                    say(str(sample))
    n_unused = len(benchmark.ids) - len(here)
    return Report(tuple(samples), tuple(judged), absent, unusable, n_unused)


def _side_by_side(
    work: Callable[[Question], Result], items: Sequence[Question], workers: int
) -> Iterator[Result]:
    """Yield results in order, with a few questions in work at a time: tests can be large."""
    with ThreadPoolExecutor(workers) as threads:
        waiting: deque[Future[Result]] = deque()
        for item in items:
            waiting.append(threads.submit(work, item))
            if len(waiting) >= _AHEAD * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _one_question(
    judge: Judge,
    question: Question,
    suite: TestSuite,
    errata: Errata,
    benchmark: Benchmark,
    with_hidden_tests: bool,
) -> tuple[list[Rejudged], Question]:
    """Judge all samples of a question; a program that stands twice is judged once."""
    known: dict[str, Checked] = {}
    found: list[Rejudged] = []
    samples: list[Sample] = []
    for index, sample in enumerate(question.samples):
        if sample.code not in known:
            program = sample.code if sample.code.strip() else None
            known[sample.code] = judge_checked(judge, program, suite, errata)
        checked = known[sample.code]
        outcome, reason = _compare(sample.passed, checked, suite)
        found.append(
            Rejudged(question.question_id, index, sample.passed, checked, outcome, reason)
        )
        samples.append(_graded_by_us(sample, checked, suite, with_hidden_tests))
    facts = {**benchmark.facts[question.question_id], **question.facts}
    return found, replace(question, samples=tuple(samples), facts=facts, recorded_pass_at_1=None)


def _compare(
    recorded: bool | None, checked: Checked, suite: TestSuite
) -> tuple[Outcome, str | None]:
    verdict = checked.verdict
    if not verdict.is_score:
        return "not_judged", None
    if checked.undecided is not None:
        return "undecided", checked.undecided
    if recorded is None:
        return "not_recorded", None
    if verdict.passed == recorded:
        return "agrees", None
    if verdict.passed and suite.n_public == len(suite.tests):
        return "undecided", "only public tests are at hand"
    return "differs", None


def _graded_by_us(
    sample: Sample, checked: Checked, suite: TestSuite, with_hidden_tests: bool
) -> Sample:
    verdict = checked.verdict
    if not verdict.is_score:
        return replace(sample, passed=None, metadata=None, verdict=verdict.to_record())
    record = verdict.to_record()
    texts = shown_texts(
        deciding_test(record), suite.tests, suite.n_public, with_hidden_tests=with_hidden_tests
    )
    seconds = sum(outcome.wall_s for outcome in verdict.outcomes)
    metadata = metadata_of(record, texts, seconds)
    return replace(sample, passed=verdict.passed, metadata=metadata, verdict=record)


def write_ours(report: Report, out: Path, source: Path) -> list[str]:
    """Write the file's programs with our grades; return lines that say what and what not.

    Raises:
        UserError: A file would be written over the one that was read.
    """
    names = names_like(out, source)
    if source.resolve() in (path.resolve() for path in names):
        raise UserError("would be written over; choose another --out", where=source)
    whole = [q for q in report.questions if all(s.passed is not None for s in q.samples)]
    write_all(names, whole)
    lines = [f"{path}: {len(whole)} problems" for path in names]
    if len(whole) < len(report.questions):
        lost = [q.question_id for q in report.questions if q not in whole]
        lines.append(f"not written, as a sample could not be judged: {_listed(lost)}")
    if len(sizes(whole)) > 1:
        lines.append(
            "the problems have different numbers of samples; the official scripts refuse that"
        )
    return lines


def summary(file: ResultFile, report: Report, errata: Errata) -> list[str]:
    """Return the lines that close a run; the last one is ``differing N of M samples …``."""
    lines = [f"{len(file.questions)} problems, {file.n_samples} samples in the file ({file.kind})"]
    if report.absent:
        lines.append(f"not among the problems given: {_listed(report.absent)}")
    if report.n_unused:
        lines.append(f"problems given without a program in the file: {report.n_unused}")
    lines += [f"not usable: {key}: {why}" for key, why in sorted(report.unusable.items())]
    for reason, ids in _undecided(report).items():
        lines.append(f"undecided, {reason}: {_listed(ids)}")
    lines += _scores(report, errata)
    recorded = [sample for sample in report.samples if sample.recorded is not None]
    lost = len(report.outcomes("not_judged"))
    lines.append(
        f"differing {len(report.outcomes('differs'))} of {len(recorded)} samples, "
        f"undecided {len(report.outcomes('undecided'))}, not judged {lost}"
    )
    return lines


def _undecided(report: Report) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for sample in report.outcomes("undecided"):
        found.setdefault(sample.reason or "", []).append(f"{sample.question_id}[{sample.index}]")
    return found


def _scores(report: Report, errata: Errata) -> list[str]:
    ours = [s for s in report.samples if s.outcome != "not_judged"]
    both = [s for s in ours if s.recorded is not None]
    lines = []
    if both:
        here = errata.scores(_counts((s.question_id, s.passed) for s in both)).everything
        there = errata.scores(_counts((s.question_id, bool(s.recorded)) for s in both)).everything
        lines.append(
            f"pass@1 ours {_percent(here)}, recorded {_percent(there)} "
            f"({len(both)} samples of {here.n_problems} problems)"
        )
    scores = errata.scores(_counts((s.question_id, s.passed) for s in ours))
    return lines + [f"ours: {line}" for line in scores.lines()]


def _percent(share: Share) -> str:
    return "undefined" if share.pass_at_1 is None else f"{100 * share.pass_at_1:.2f} %"


def _counts(grades: Iterable[tuple[str, bool]]) -> dict[str, tuple[int, int]]:
    n: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for question_id, passed in grades:
        n[question_id] += 1
        right[question_id] += passed
    return {question_id: (n[question_id], right[question_id]) for question_id in n}


def _listed(ids: Iterable[str]) -> str:
    found = list(ids)
    more = f" and {len(found) - _LISTED} more" if len(found) > _LISTED else ""
    return f"{len(found)}: {', '.join(found[:_LISTED])}{more}"
