"""A result file judged by several rule sets: each one's report, and where they differ."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from lcbgrid.config.judge_spec import RuleSet
from lcbgrid.judge.diff import (
    DiffReport,
    RuleDifference,
    Sample,
    because_of_checker,
    close_report,
    explained,
)
from lcbgrid.judge.lcb_files.benchmark import Benchmark
from lcbgrid.judge.lcb_files.model import ResultFile
from lcbgrid.judge.lcb_files.rejudge import Rejudged, Report


def report_differences(
    file: ResultFile,
    reports: Mapping[RuleSet, Report],
    benchmark: Benchmark,
    say: Callable[[str], object] = print,
) -> DiffReport:
    """List and explain samples that the second rule set judges otherwise than the first.

    Prints a line for each and, last, ``differ M of N``; N are samples judged by both.

    Args:
        file: The file, for its programs.
        reports: One report for each rule set, the main one first.
        benchmark: The problems.
        say: Receives each line.
    """
    (left_rules, left), (right_rules, right) = list(reports.items())[:2]
    programs = {
        (question.question_id, index): sample.code
        for question in file.questions
        for index, sample in enumerate(question.samples)
    }
    others = {(sample.question_id, sample.index): sample for sample in right.samples}
    total = 0
    found: list[RuleDifference] = []
    for sample in left.samples:
        key = (sample.question_id, sample.index)
        other = others.get(key)
        if other is None or "not_judged" in (sample.outcome, other.outcome):
            continue
        total += 1
        if sample.checked.verdict.status != other.checked.verdict.status:
            found.append(_difference(sample, other, programs[key], benchmark))
            say(str(found[-1]))
    return close_report(total, found, (left_rules, right_rules), say)


def _difference(
    left: Rejudged, right: Rejudged, program: str, benchmark: Benchmark
) -> RuleDifference:
    name = f"{left.question_id} sample {left.index}"
    sample = Sample(name, program, benchmark.suite(left.question_id))
    why = next(
        (
            because_of_checker(one.checked.checker)
            for one in (left, right)
            if one.passed and not one.checked.passed_by_comparison
        ),
        None,
    )
    return explained(sample, left.checked.verdict, right.checked.verdict, why)
