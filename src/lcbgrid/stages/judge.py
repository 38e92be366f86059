"""The judge stage: every program of a cell gets its verdict."""

from __future__ import annotations

import concurrent.futures
import itertools
import logging
from pathlib import Path
from typing import Any

from lcbgrid.config.effective import Effective
from lcbgrid.config.grid import Cell
from lcbgrid.config.judge_spec import JudgeSpec, RuleSet
from lcbgrid.core import locks
from lcbgrid.core.errors import DataError, InfrastructureError
from lcbgrid.core.files import write_json, write_jsonl
from lcbgrid.core.jsonl import Journal, read_jsonl
from lcbgrid.judge.checked import judge_checked
from lcbgrid.judge.errata import Errata, load_errata
from lcbgrid.judge.judge import Judge
from lcbgrid.judge.keys import program_key, rules_key
from lcbgrid.judge.shared import SharedVerdicts, copy_of
from lcbgrid.judge.verdict import JUDGE_VERSION
from lcbgrid.problems.schema import TestSuite
from lcbgrid.problems.store import PreparedProblems
from lcbgrid.stages.paths import Layout
from lcbgrid.stages.progress import Progress

logger = logging.getLogger(__name__)

SCHEMA_VERSION = 1
ORPHAN_WAIT_S = 24 * 3600.0


def judge_cell(effective: Effective, cell: Cell, layout: Layout, *, workers: int = 1) -> int:
    """Judge the predictions of a cell and publish its verdicts; returns their number.

    Hidden tests are opened one question at a time. A verdict is kept under a key of program,
    question, tests and rules, so a killed stage resumes, and a program that this or any other cell
    of the results folder has judged is not judged again.

    Raises:
        InfrastructureError: The judge itself failed on a program; nothing is published.
    """
    work = layout.work(cell)
    folder = layout.run(cell)
    store = PreparedProblems(layout.problems(cell.dataset))
    wanted = store.manifest.n_problems * effective.config.run.n_samples
    predictions = _read_predictions(folder / "predictions.jsonl", wanted)
    with locks.held(work / "judge.lock", what=f"verdicts of {cell.path}", wait_s=ORPHAN_WAIT_S):
        judge_spec = effective.config.judge
        by_rules = {
            rules: _judge_all(judge_spec.by(rules), cell, layout, store, predictions, workers)
            for rules in judge_spec.rule_sets
        }
        verdicts = by_rules[judge_spec.rules]
        records = [_published(record, by_rules) for record in predictions]
        every = [r for record in records for r in (record, *record.get("by_rules", {}).values())]
        lost = [r for r in every if r["status"] == "infra_error" and not r["unanswered"]]
        if lost:
            raise InfrastructureError(
                f"the judge failed on {len(lost)} programs: {lost[0].get('message')}",
                where=f"{cell.path}, question {lost[0]['question_id']}",
                remedy="run the same command again; verdicts so far are kept",
            )
        write_json(
            folder / "judge.json",
            judge_spec.model_dump(mode="json") | {"version": JUDGE_VERSION},
        )
        timing = [{**_identity(r), **verdicts[_program_key(r)]["timing"]} for r in predictions]
        write_jsonl(folder / "judge_timing.jsonl", timing)
        write_jsonl(folder / "verdicts.jsonl", records)  # last: it says that the stage is done
    return len(records)


def _judge_all(
    spec: JudgeSpec,
    cell: Cell,
    layout: Layout,
    store: PreparedProblems,
    predictions: list[dict[str, Any]],
    workers: int,
) -> dict[str, dict[str, Any]]:
    errata = load_errata(with_checkers=spec.checkers)
    rules = rules_key(spec, store.manifest.tests_sha256, errata.digest)
    path = layout.work(cell) / "verdicts.jsonl"
    wanted = {_program_key(answer) for answer in predictions}
    with (
        Journal(path) as journal,
        SharedVerdicts(layout.verdict_index, layout.all_work, journal, rules, wanted) as shared,
        Judge(spec, workers=workers) as judge,
    ):
        known = _read_known(path, rules)
        shared.adopt()
        groups = itertools.groupby(predictions, key=lambda record: str(record["question_id"]))
        progress = Progress(
            f"{cell.path} verdicts, {spec.rules}", total=len(wanted - known.keys())
        )

        def one_question(question_id: str, answers: list[dict[str, Any]]) -> None:
            suite: TestSuite | None = None
            for answer in answers:
                key = _program_key(answer)
                if key in known:
                    continue
                with shared.claim(key):
                    found = shared.find(key)
                    if found is not None:
                        record = copy_of(found)
                    else:
                        suite = suite or store.suite(question_id)
                        record = _verdict(judge, answer, suite, errata)
                        record.update(key=key, rules_key=rules)
                    shared.keep(record)
                known[key] = record
                progress.step(record["verdict"]["status"])

        with concurrent.futures.ThreadPoolExecutor(workers) as pool:
            jobs = [pool.submit(one_question, q, list(answers)) for q, answers in groups]
            for job in concurrent.futures.as_completed(jobs):
                job.result()
    return known


def _verdict(
    judge: Judge, answer: dict[str, Any], suite: TestSuite, errata: Errata
) -> dict[str, Any]:
    if answer["status"] == "infra_error":
        verdict = {"status": "infra_error", "n_passed": 0, "n_total": len(suite.tests)}
        return {"verdict": verdict | {"unanswered": True}, "timing": {}}
    checked = judge_checked(judge, answer["predicted_code"], suite, errata)
    shown = without_hidden(checked.verdict.to_record(), suite.n_public)
    return {
        "verdict": shown | checked.to_record() | {"unanswered": False},
        "timing": checked.verdict.timing_record(),
    }


def without_hidden(record: dict[str, Any], n_public: int) -> dict[str, Any]:
    """Return a verdict's record without what a program could tell about hidden tests.

    A program can print its input or raise it, and the number of expected lines tells something,
    too. Of hidden tests only the kind of failure stays: the exception's name, not its text.
    """
    tests = [
        test
        if test["index"] < n_public
        else {**test, "got": None, "detail": _kind_of_failure(test["detail"])}
        for test in record["tests"]
    ]
    message = record["message"]
    failing = record["first_failing"]
    if failing is not None and failing >= n_public:
        kind = next((t["detail"] for t in tests if t["index"] == failing), None)
        message = f"test {failing}: {kind}" if kind else f"test {failing}"
    return record | {"tests": tests, "message": message}


def _kind_of_failure(detail: str | None) -> str | None:
    if detail is None:
        return None
    if " lines instead of " in detail:
        return "another number of lines"
    return detail.split(":", 1)[0][:60]


def _read_predictions(path: Path, wanted: int) -> list[dict[str, Any]]:
    """Read the predictions of a whole cell, sorted.

    Raises:
        DataError: A line is no prediction, stands twice, or some are missing.
    """
    found: dict[tuple[str, int], dict[str, Any]] = {}
    again = "remove the file and run the cell again; model calls are kept"
    for record in read_jsonl(path):
        try:
            key = (str(record["question_id"]), int(record["sample_index"]))
            _ = record["status"], record["predicted_code"]
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(
                f"a line is no prediction ({error})", where=path, remedy=again
            ) from None
        if key in found:
            raise DataError(f"{key[0]} sample {key[1]} twice", where=path, remedy=again)
        found[key] = record
    if len(found) != wanted:
        raise DataError(f"{wanted} answers are wanted", where=path, value=len(found), remedy=again)
    return [found[key] for key in sorted(found)]


def _read_known(path: Path, rules: str) -> dict[str, dict[str, Any]]:
    """Read verdicts that were given under the same rules on the same tests."""
    known = {}
    for record in read_jsonl(path):
        verdict = record.get("verdict")
        if not isinstance(verdict, dict) or "key" not in record:
            logger.warning("%s: left out a line that is no verdict", path)
        elif record.get("rules_key") == rules and verdict.get("status") != "infra_error":
            known[str(record["key"])] = record
    return known


def _program_key(answer: dict[str, Any]) -> str:
    """Key of a program on a question; samples with the same program share a verdict."""
    lost = answer["status"] == "infra_error"
    return program_key(answer["question_id"], answer["predicted_code"], lost)


def _identity(answer: dict[str, Any]) -> dict[str, Any]:
    return {"question_id": answer["question_id"], "sample_index": answer["sample_index"]}


def _published(
    answer: dict[str, Any], by_rules: dict[RuleSet, dict[str, dict[str, Any]]]
) -> dict[str, Any]:
    """Return the verdict by the first rule set, with those by the others inside."""
    key = _program_key(answer)
    main, *others = ((rules, known[key]["verdict"]) for rules, known in by_rules.items())
    record = {"schema_version": SCHEMA_VERSION, **main[1], **_identity(answer)}
    return record | ({"by_rules": dict(others)} if others else {})
