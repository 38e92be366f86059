"""Check the judge against a file of cases whose verdicts are known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lcbgrid.config.judge_spec import JudgeSpec
from lcbgrid.core.errors import EXIT_DIFFERENCE, EXIT_OK, DataError
from lcbgrid.core.jsonl import read_jsonl
from lcbgrid.judge.judge import Judge
from lcbgrid.judge.limits import Limits
from lcbgrid.judge.verdict import Verdict
from lcbgrid.problems.schema import TestCase, TestSuite

DEFAULT_TIME_S = 6.0
DEFAULT_MEMORY_MB = 4096
_OTHER_NAMES = {"pass": "passed"}


@dataclass(frozen=True, slots=True)
class Case:
    """One program, its tests, and the verdict that a right judge gives."""

    case_id: str
    code: str
    suite: TestSuite
    expect: str
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
            return cls(
                case_id=record["id"],
                code=record["code"],
                suite=TestSuite(record["id"], name, tests, n_public=0),
                expect=_OTHER_NAMES.get(record["expect"], record["expect"]),
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
    """Outcome of a run over cases."""

    matched: int
    total: int
    mismatched: tuple[str, ...]

    @property
    def exit_status(self) -> int:
        """Status for the command line: 1 if any verdict is another one than expected."""
        return EXIT_OK if self.matched == self.total else EXIT_DIFFERENCE


def read_cases(path: Path | str) -> list[Case]:
    """Read all cases of a JSON lines file.

    Raises:
        DataError: The file or one of its lines is not what it should be.
    """
    return [Case.from_record(record) for record in read_jsonl(path)]


def judge_case(judge: Judge, case: Case) -> Verdict:
    """Judge one case under its own limits."""
    return judge.judge(
        case.code, case.suite, limits_override=case.limits, float_tol=case.float_tol
    )


def run_cases(
    path: Path | str,
    spec: JudgeSpec,
    *,
    jobs: int | None = None,
    say: Callable[[str], object] = print,
) -> CasesReport:
    """Judge every case of a file and print where the verdict is another one.

    Prints a line for each mismatch, in the file's order, and ``matched M of N`` at the end.

    Args:
        path: JSON lines with id, mode, fn_name, code, tests, expect and options.
        spec: Rule set and isolation tier; limits come from the cases.
        jobs: Sandboxes side by side; default: all cores.
        say: Receives each line.
    """
    cases = read_cases(path)
    mismatched = []
    with Judge(spec, workers=jobs) as judge, ThreadPoolExecutor(judge.workers) as threads:
        verdicts = threads.map(lambda case: judge_case(judge, case), cases)
        for case, verdict in zip(cases, verdicts, strict=True):
            if verdict.status != case.expect:
                mismatched.append(case.case_id)
                reason = verdict.message or "no reason"
                say(f"{case.case_id}: expected {case.expect}, got {verdict.status} ({reason})")
    matched = len(cases) - len(mismatched)
    say(f"matched {matched} of {len(cases)}")
    return CasesReport(matched, len(cases), tuple(mismatched))
