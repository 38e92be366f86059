"""Check the judge against a file of cases whose verdicts are known."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lcbgrid.config.judge_spec import JudgeSpec, RuleSet
from lcbgrid.core.errors import EXIT_DIFFERENCE, EXIT_OK, DataError
from lcbgrid.core.jsonl import read_jsonl
from lcbgrid.judge.judge import Judge
from lcbgrid.judge.limits import Limits
from lcbgrid.judge.verdict import Verdict
from lcbgrid.problems.schema import TestCase, TestSuite

DEFAULT_TIME_S = 6.0
DEFAULT_MEMORY_MB = 4096
_OTHER_NAMES = {
    "pass": "passed",
    # The official runner lost the program, or was ended by it: no test passed, and it was the
    # program's doing.
    "harness_error": "runtime_error",
    "harness_crash": "runtime_error",
}


@dataclass(frozen=True, slots=True)
class Case:
    """One program, its tests, and the verdicts to expect.

    Attributes:
        case_id: Its name.
        code: The source.
        suite: The tests.
        expect: The verdict that is right, and that the rule set ``real`` gives.
        official: What the official runner said; ``None`` if that is not known.
        limits: Time and memory.
        float_tol: Tolerance, if the case has one.
    """

    case_id: str
    code: str
    suite: TestSuite
    expect: str
    official: str | None
    limits: Limits
    float_tol: float | None

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Case:
        """Read a line of the file.

        Raises:
            DataError: A field is missing or of another kind than it should be.
        """
        try:
            options = record.get("options") or {}
            mode = record["mode"]
            tests = tuple(TestCase(t["input"], t["output"], mode) for t in record["tests"])
            name = record["fn_name"] if mode == "functional" else None
            tolerance = options.get("float_tol")
            official = record.get("official")
            return cls(
                case_id=record["id"],
                code=record["code"],
                suite=TestSuite(record["id"], name, tests, n_public=0),
                expect=_OTHER_NAMES.get(record["expect"], record["expect"]),
                official=None if official is None else _OTHER_NAMES.get(official, official),
                limits=Limits(
                    float(options.get("time_s", DEFAULT_TIME_S)),
                    int(options.get("memory_mb", DEFAULT_MEMORY_MB)),
                ),
                float_tol=None if tolerance is None else float(tolerance),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DataError(
                f"not a judge case: {type(error).__name__} {error}", where=record.get("id")
            ) from error


@dataclass(frozen=True, slots=True)
class CasesReport:
    """Outcome of a run over cases.

    Attributes:
        matched: Verdicts that are the expected ones.
        total: Verdicts compared.
        mismatched: Ids of cases with another verdict, once for each rule set.
        unstable: Ids of cases whose record was not the same in all repeats.
    """

    matched: int
    total: int
    mismatched: tuple[str, ...]
    unstable: tuple[str, ...] = ()

    @property
    def exit_status(self) -> int:
        """Status for the command line: 1 for any other verdict than expected, or a moving one."""
        same = self.matched == self.total and not self.unstable
        return EXIT_OK if same else EXIT_DIFFERENCE


def read_cases(path: Path | str) -> list[Case]:
    """Read all cases of a JSON lines file.

    Raises:
        DataError: The file or one of its lines is not what it should be, or there is none.
    """
    cases = [Case.from_record(record) for record in read_jsonl(path)]
    if not cases:
        raise DataError("the file holds no cases", where=path)
    return cases


def judge_case(judge: Judge, case: Case, rules: RuleSet | None = None) -> Verdict:
    """Judge one case under its own limits."""
    return judge.judge(
        case.code,
        case.suite,
        limits_override=case.limits,
        float_tol=case.float_tol,
        rules=rules,
    )


def run_cases(
    path: Path | str,
    spec: JudgeSpec,
    *,
    rules: Sequence[RuleSet] = (),
    repeat: int = 1,
    jobs: int | None = None,
    say: Callable[[str], object] = print,
) -> CasesReport:
    """Judge every case of a file and print where the verdict is another one.

    Prints a line for each mismatch, in the file's order, and one for each case whose record
    differs between repeats; with several rule sets a line of counts for each of them; and
    ``matched M of N`` at the end.

    Args:
        path: JSON lines with id, mode, fn_name, code, tests, expect, official and options.
        spec: Rule set and isolation tier; limits come from the cases.
        rules: Rule sets to judge by, in this order, instead of the one in ``spec``. A case
            without an ``official`` verdict is left out under ``official``.
        repeat: How often each case is judged; the first verdict is the one compared.
        jobs: Sandboxes side by side; default: all cores.
        say: Receives each line.
    """
    names = tuple(rules) or (spec.rules,)
    cases = read_cases(path)
    report = CasesReport(0, 0, ())
    with Judge(spec, workers=jobs) as judge, ThreadPoolExecutor(judge.workers) as threads:
        for name in names:
            one = _run_by(name, cases, repeat, judge, threads, say)
            if len(names) > 1:
                say(f"{name}: {one.matched} of {one.total}")
            report = CasesReport(
                report.matched + one.matched,
                report.total + one.total,
                report.mismatched + one.mismatched,
                report.unstable + one.unstable,
            )
    if repeat > 1:
        say(f"the same in {repeat} repeats: {report.total - len(report.unstable)}")
    say(f"matched {report.matched} of {report.total}")
    return report


def _run_by(
    rules: RuleSet,
    cases: Sequence[Case],
    repeat: int,
    judge: Judge,
    threads: ThreadPoolExecutor,
    say: Callable[[str], object],
) -> CasesReport:
    expected = [(case, case.official if rules == "official" else case.expect) for case in cases]
    compared = [(case, status) for case, status in expected if status is not None]
    runs = [
        threads.map(lambda pair: judge_case(judge, pair[0], rules), compared)
        for _ in range(repeat)
    ]
    mismatched, unstable = [], []
    for (case, status), verdict, *others in zip(compared, *runs, strict=True):
        if verdict.status != status:
            mismatched.append(case.case_id)
            reason = verdict.message or "no reason"
            say(f"{case.case_id}: expected {status}, got {verdict.status} ({reason})")
        different = {v.status for v in others if v.to_record() != verdict.to_record()}
        if different:
            unstable.append(case.case_id)
            say(f"{case.case_id}: unstable, {verdict.status} and then {sorted(different)}")
    matched = len(compared) - len(mismatched)
    return CasesReport(matched, len(compared), tuple(mismatched), tuple(unstable))
