"""Our own problem set under our own judge: references pass, wrong programs fail, all of them."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lcbgrid.config.judge_spec import JudgeSpec
from lcbgrid.config.problem_spec import DatasetSpec
from lcbgrid.judge.judge import Judge
from lcbgrid.problems.embedded import embedded_solutions
from lcbgrid.problems.prepare import prepare
from lcbgrid.problems.store import PreparedProblems


@pytest.mark.slow
def test_references_pass_and_wrong_programs_fail(tmp_path: Path) -> None:
    prepare(DatasetSpec(), tmp_path / "embedded")
    store = PreparedProblems(tmp_path / "embedded")
    programs = []
    for line in embedded_solutions().read_text().splitlines():
        row = json.loads(line)
        programs.append((row["question_id"], row["reference"], True))
        programs += [(row["question_id"], wrong, False) for wrong in row["wrong"]]
    assert len(programs) == 3 * len(store.problems())

    with Judge(JudgeSpec()) as judge, ThreadPoolExecutor(judge.workers) as threads:

        def verdict(item: tuple[str, str, bool]) -> str:
            return judge.judge(item[1], store.suite(item[0])).status

        found = list(threads.map(verdict, programs))
    surprising = [
        (question_id, should_pass, status)
        for (question_id, _, should_pass), status in zip(programs, found, strict=True)
        if (status == "passed") != should_pass
    ]
    assert surprising == []
