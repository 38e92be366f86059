"""Judging result files again: differences, subsets, what cannot be decided, and our own files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lcbgrid.cli.main import main
from lcbgrid.config.judge_spec import JudgeSpec
from lcbgrid.core.errors import UserError
from lcbgrid.judge.errata import Errata
from lcbgrid.judge.lcb_files.benchmark import open_benchmark
from lcbgrid.judge.lcb_files.read import read_results
from lcbgrid.judge.lcb_files.rejudge import Report, rejudge, summary, write_ours

from .files import (
    BROKEN,
    CRASH,
    LATE,
    RIGHT,
    TWICE,
    WRONG,
    entry,
    functional_row,
    row,
    write,
    write_rows,
)
from .official import compute_scores, repair_feedback

SPEC = JudgeSpec(time_s=1.0, stop_at_first_failure=True)
ONLY_PUBLIC = "print(3)"


def _run(
    path: Path, rows: Path, errata: Errata | None = None, *, with_hidden_tests: bool = False
) -> tuple[Report, list[str]]:
    said: list[str] = []
    benchmark = open_benchmark([rows])
    found = read_results(path, benchmark)
    errata = errata or Errata()
    report = rejudge(
        found, benchmark, SPEC, errata, with_hidden_tests=with_hidden_tests, say=said.append
    )
    return report, said + summary(found, report, errata)


def test_agreement(tmp_path: Path) -> None:
    rows = write_rows(tmp_path, row("a"), functional_row("b"))
    path = write(
        tmp_path,
        [entry("a", (RIGHT, True), (WRONG, False)), entry("b", (TWICE, True), (BROKEN, False))],
    )
    report, lines = _run(path, rows)
    assert report.exit_status == 0
    assert "pass@1 ours 50.00 %, recorded 50.00 % (4 samples of 2 problems)" in lines
    assert lines[-1] == "differing 0 of 4 samples, undecided 0, not judged 0"


def test_differences_are_listed(tmp_path: Path) -> None:
    rows = write_rows(tmp_path, row("a"), row("b"))
    path = write(tmp_path, [entry("b", (WRONG, True)), entry("a", (RIGHT, False), (RIGHT, True))])
    report, lines = _run(path, rows)
    assert report.exit_status == 1
    assert lines[:2] == [
        "a sample 0: recorded failed, ours passed (all tests passed)",
        "b sample 0: recorded passed, ours wrong_answer (test 0: line 1 differs)",
    ]
    assert "pass@1 ours 50.00 %, recorded 75.00 % (3 samples of 2 problems)" in lines


def test_subsets_are_accepted_counted_and_listed(tmp_path: Path) -> None:
    """Report S5: a subset of the benchmark, or programs for other problems, is no failure."""
    broken = row("c", private_test_cases="???")
    rows = write_rows(tmp_path, row("a"), row("b"), broken)
    path = write(tmp_path, [entry(q, (RIGHT, True)) for q in ("a", "c", "x", "y")])
    report, lines = _run(path, rows)
    assert report.exit_status == 1  # c could not be judged
    assert report.absent == ("x", "y")
    assert report.n_unused == 1
    assert list(report.unusable) == ["c"]
    assert "not among the problems given: 2: x, y" in lines
    assert "problems given without a program in the file: 1" in lines
    assert any(line.startswith("not usable: c: ") for line in lines)
    assert lines[-1] == "differing 0 of 1 samples, undecided 0, not judged 0"


def test_public_tests_alone_cannot_refute_a_recorded_failure(tmp_path: Path) -> None:
    rows = write_rows(tmp_path, row("a", private_test_cases="[]"))
    report, lines = _run(write(tmp_path, [entry("a", (RIGHT, False))]), rows)
    assert report.exit_status == 0
    assert "undecided, only public tests are at hand: 1: a[0]" in lines


def test_problems_that_need_a_checker_are_listed(tmp_path: Path) -> None:
    rows = write_rows(tmp_path, row("a"), row("b"))
    path = write(tmp_path, [entry("a", (WRONG, True)), entry("b", (RIGHT, True))])
    report, lines = _run(path, rows, Errata({"a": "several_answers"}))
    assert report.exit_status == 0
    assert "undecided, needs_checker: 1: a[0]" in lines
    assert "ours: pass@1, errata without a checker left out: 100.00 % of 1 problems" in lines
    assert "ours: left out: a (needs_checker)" in lines


def test_programs_without_grades(tmp_path: Path) -> None:
    rows = write_rows(tmp_path, row("a"))
    items = [{"question_id": "a", "code_list": [RIGHT, WRONG, ""]}]
    report, lines = _run(write(tmp_path, items, "mine.json"), rows)
    assert report.exit_status == 0
    assert [s.checked.verdict.status for s in report.samples] == [
        "passed",
        "wrong_answer",
        "no_code",
    ]
    assert not any("recorded" in line for line in lines)
    names = write_ours(report, tmp_path / "out", tmp_path / "mine.json")
    assert names[-1].endswith("mine_codegeneration_output_eval_all.json: 1 problems")
    rows_ = json.loads((tmp_path / "out" / "mine_codegeneration_output_eval_all.json").read_text())
    assert rows_[0]["difficulty"] == "easy"  # from the problems, as the file has none
    assert rows_[0]["graded_list"] == [True, False, False]


def test_our_grades_as_files_that_the_official_tools_read(tmp_path: Path) -> None:
    rows = write_rows(tmp_path, row("a"), row("b"))
    codes = [ONLY_PUBLIC, LATE, CRASH, BROKEN]
    path = write(
        tmp_path, [entry("a", *((c, False) for c in codes)), entry("b", *[(RIGHT, True)] * 4)]
    )
    report, _ = _run(path, rows)
    write_ours(report, tmp_path / "out", path)
    written = tmp_path / "out" / path.name
    assert compute_scores(written, ks=(1,))["all"] == {1: 0.5}
    again = read_results(written)
    notes = [sample.metadata or "" for sample in again.questions[0].samples]
    assert [json.loads(note)["error_code"] for note in notes] == [-2, -3, -4, -4]
    assert all(len(repair_feedback(note)) == 3 for note in notes)
    hidden, late = json.loads(notes[0]), json.loads(notes[1])
    assert hidden["inputs"] == hidden["expected"] == ""
    assert late["inputs"] == "1 2\n"  # a public test failed
    assert "30" not in written.read_text()  # the hidden test's answer is nowhere
    assert [s.verdict["status"] for s in again.questions[0].samples if s.verdict] == [
        "wrong_answer",
        "time_limit",
        "runtime_error",
        "compile_error",
    ]
    with pytest.raises(UserError, match="written over"):
        write_ours(report, tmp_path, path)


def test_hidden_tests_are_written_if_asked_for(tmp_path: Path) -> None:
    rows = write_rows(tmp_path, row("a"))
    path = write(tmp_path, [entry("a", (ONLY_PUBLIC, False))])
    report, _ = _run(path, rows, with_hidden_tests=True)
    note = json.loads(report.questions[0].samples[0].metadata or "")
    assert (note["inputs"], note["expected"], note["output"]) == ("10 20\n", "30\n", "3\n")


def test_broken_tests_are_no_grade(tmp_path: Path) -> None:
    bad = functional_row("a")
    tests = [{"input": "4", "output": "8", "testtype": "functional"}]
    bad["public_test_cases"] = json.dumps(tests)
    bad["metadata"] = "{}"
    report, lines = _run(write(tmp_path, [entry("a", (TWICE, True))]), write_rows(tmp_path, bad))
    assert lines[-1].startswith("differing 0 of 0 samples")
    assert list(report.unusable) == ["a"]


def test_a_file_for_other_problems_is_a_mistake(tmp_path: Path) -> None:
    rows = write_rows(tmp_path, row("a"))
    with pytest.raises(UserError, match="none of the file's problems"):
        _run(write(tmp_path, [entry("x", (RIGHT, True))]), rows)


@pytest.mark.parametrize("spelling", [["from-lcb"], ["--from-lcb"]])
def test_both_spellings_of_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], spelling: list[str]
) -> None:
    rows = write_rows(tmp_path, row("a"))
    path = write(tmp_path, [entry("a", (RIGHT, False))])
    out = tmp_path / "out"
    status = main(
        [
            "judge",
            *spelling,
            str(path),
            "--problems",
            str(rows),
            "--out",
            str(out),
            "--time-s",
            "2",
        ]
    )
    assert status == 1
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "a sample 0: recorded failed, ours passed (all tests passed)"
    assert said[-1] == "differing 1 of 1 samples, undecided 0, not judged 0"
    assert json.loads((out / path.name).read_text())[0]["graded_list"] == [True]


def test_both_rule_sets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = write_rows(tmp_path, row("abc343_a"), row("b"), row("c", private_test_cases="???"))
    exits = f"{RIGHT}\nraise SystemExit(3)"
    other_digit = "print((sum(map(int, input().split())) + 1) % 10)"
    items = [entry("abc343_a", (other_digit, False)), entry("b", (exits, True), (RIGHT, True))]
    path = write(tmp_path, [*items, entry("c", (RIGHT, True))])
    out = tmp_path / "out"
    command = ["judge", "from-lcb", str(path), "--problems", str(rows), "--out", str(out)]
    assert main([*command, "--rules", "official,real"]) == 1  # c cannot be judged
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "rules official"
    assert "differing 0 of 3 samples, undecided 0, not judged 0" in said
    assert "rules real" in said
    assert said[-4:] == [
        "abc343_a sample 0: official wrong_answer, real passed: "
        "officially only the stored answer is right; checker digit_other_than_sum accepts",
        "b sample 0: official passed, real runtime_error: officially exit codes do not count",
        "passed by official only: 1, by real only: 1",
        "differ 2 of 3",
    ]
    grades = [
        [item["graded_list"] for item in json.loads((out / rules / path.name).read_text())]
        for rules in ("official", "real")
    ]
    assert grades == [[[False], [True, True]], [[True], [False, True]]]


@pytest.mark.parametrize(
    "arguments",
    [
        ["judge", "from-lcb", "x", "--problems", "absent.jsonl", "--rules", "real,real"],
        ["judge", "from-lcb", "x", "--problems", "absent.jsonl", "--rules", "real,strict"],
        ["judge", "--jobs", "2"],
        ["judge", "--from-lcb", "x", "cases", "y"],
        ["judge", "from-lcb", "x"],
        ["judge", "--from-lcb", "x", "--problems", "absent.jsonl"],
    ],
)
def test_mistakes_in_the_command(arguments: list[str]) -> None:
    assert main(arguments) == 2


def _eval_all_of(shared_data: Path, wanted: int) -> list[dict[str, object]]:
    """Real submissions of one model, for problems whose tests are all at hand."""
    items: list[dict[str, object]] = []
    for line in (shared_data / "graded_submissions.jsonl").read_text().splitlines():
        record = json.loads(line)
        if record["model"].startswith("O1-Mini") and record["row_file"] == "lcb_full_small":
            items.append(entry(record["question_id"], (record["code"], record["graded"])))
        if len(items) == wanted:
            break
    return items


@pytest.mark.slow
def test_real_submissions(shared_data: Path, tmp_path: Path) -> None:
    path = write(tmp_path, _eval_all_of(shared_data, 20))
    report, lines = _run(path, shared_data / "lcb_full_small.jsonl")
    assert len(report.samples) == 20
    assert report.exit_status == 0, lines
