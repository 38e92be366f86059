"""Problems with several right answers: the checkers, the errata list, scores with and without."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcbgrid.config.judge_spec import JudgeSpec
from lcbgrid.core.errors import ConfigError, DataError
from lcbgrid.judge.checked import Checked, judge_checked
from lcbgrid.judge.checkers import CALL_CHECKERS, STDIN_CHECKERS, CheckerEntry, read_checkers
from lcbgrid.judge.errata import NEEDS_CHECKER, Errata, load_errata
from lcbgrid.judge.judge import Judge
from lcbgrid.problems.schema import TestCase, TestSuite

CYCLE = "7\n6 7 2 1 3 4 5\n"
EVENTS = "4\n1 1\n1 1\n1 2\n2 1\n"
TWO_POTIONS = "5\n1 1\n2 1\n1 2\n1 2\n2 2\n"
GRID_GIVEN = "5\nABCBC\nACAAB\n"
GRID = "Yes\nAC..B\n.BA.C\nC.BA.\nBA.C.\n..CBA\n"
RANGES = "3\n3 5\n-4 1\n-2 3\n"
TRIPLE = "5 16\n1 8 5 10 13"

RIGHT = [
    ("sum_of_distinct", "10", "4 6", "1 9"),
    ("sum_of_distinct", "10", "4\n6\n", "1 9"),
    ("any_order_lines", "", "b \na\n", "a\nb"),
    ("permutation", "", "3 1\n2", "1 2 3"),
    ("digit_other_than_sum", "2 5", "9", "2"),
    ("three_indices_with_sum", TRIPLE, "1 3 4", "1 3 4"),
    ("three_indices_with_sum", "4 6\n2 2 2 2", "2 3 4", "1 2 3"),
    ("three_indices_with_sum", "3 9\n1 1 1", "-1", "-1"),
    ("cycle_of_successors", CYCLE, "3\n4 1 6", "4\n7 5 3 2"),
    ("cycle_of_successors", CYCLE, "4 2 7 5 3", "4\n7 5 3 2"),
    ("ranges_sum_zero", RANGES, "Yes\n3 -4 1\n", "Yes\n4 -3 -1"),
    ("ranges_sum_zero", "1\n1 2", "No", "No"),
    ("potions", EVENTS, "1\n0 1 0", "1\n1 0 0"),
    ("potions", TWO_POTIONS, "1\n1 0 1", "1\n1 1 0"),
    ("potions", "1\n2 1", "-1", "-1"),
    ("potions", "1\n1 1", "0\n0", "0\n0"),
    ("abc_grid", GRID_GIVEN, GRID, "Yes\n"),
    ("abc_grid", "3\nAAA\nBBB", "No\n", "No"),
    ("three_cubes", "840 84 7", "Yes\n-10 0 0 -10 0 6 -10 6 1", "Yes\n0 0 0 0 6 0 6 0 0"),
    ("three_cubes", "1029 0 0", "Yes\n0 0 0 7 0 0 0 7 0", "Yes\n0 0 0 9 9 9 50 0 0"),
    ("three_cubes", "0 0 343", "Yes 1 1 1 1 1 1 1 1 1", "Yes\n0 0 0 0 0 0 0 0 0"),
    ("three_cubes", "343 34 3", "No", "No"),
]
WRONG = [
    ("sum_of_distinct", "10", "5 5", "1 9"),
    ("sum_of_distinct", "10", "0 10", "1 9"),
    ("sum_of_distinct", "10", "4 7", "1 9"),
    ("sum_of_distinct", "10", "4 6 0", "1 9"),
    ("sum_of_distinct", "10", "4 six", "1 9"),
    ("sum_of_distinct", "10", "٤ 6", "1 9"),
    ("any_order_lines", "", "a\na", "a\nb"),
    ("permutation", "", "1 2", "1 2 2"),
    ("digit_other_than_sum", "2 5", "7", "2"),
    ("digit_other_than_sum", "2 5", "10", "2"),
    ("digit_other_than_sum", "2 5", "", "2"),
    ("three_indices_with_sum", TRIPLE, "3 1 4", "1 3 4"),
    ("three_indices_with_sum", TRIPLE, "1 2 3", "1 3 4"),
    ("three_indices_with_sum", TRIPLE, "-1", "1 3 4"),
    ("three_indices_with_sum", TRIPLE, "0 3 4", "1 3 4"),
    ("three_indices_with_sum", TRIPLE, "1 3 6", "1 3 4"),
    ("three_indices_with_sum", TRIPLE, "1 3", "1 3 4"),
    ("three_indices_with_sum", "3 9\n1 1 1", "1 2 3", "-1"),
    ("cycle_of_successors", CYCLE, "3\n4 6 1", "4\n7 5 3 2"),
    ("cycle_of_successors", CYCLE, "2\n4 1 6", "4\n7 5 3 2"),
    ("cycle_of_successors", CYCLE, "6\n4 1 6 4 1 6", "4\n7 5 3 2"),
    ("cycle_of_successors", CYCLE, "1\n4", "4\n7 5 3 2"),
    ("cycle_of_successors", CYCLE, "3\n4 1 9", "4\n7 5 3 2"),
    ("cycle_of_successors", CYCLE, "", "4\n7 5 3 2"),
    ("ranges_sum_zero", RANGES, "Yes\n3 -4 2\n", "Yes\n4 -3 -1"),
    ("ranges_sum_zero", RANGES, "Yes\n6 -4 -2\n", "Yes\n4 -3 -1"),
    ("ranges_sum_zero", RANGES, "Yes\n4 -4\n", "Yes\n4 -3 -1"),
    ("ranges_sum_zero", RANGES, "No", "Yes\n4 -3 -1"),
    ("ranges_sum_zero", "1\n1 2", "No 1", "No"),
    ("potions", EVENTS, "1\n0 0 1", "1\n1 0 0"),
    ("potions", EVENTS, "1\n1 1 0", "1\n1 0 0"),
    ("potions", EVENTS, "2\n1 1 0", "1\n1 0 0"),
    ("potions", EVENTS, "1\n1 0", "1\n1 0 0"),
    ("potions", EVENTS, "1\n2 0 0", "1\n1 0 0"),
    ("potions", EVENTS, "-1", "1\n1 0 0"),
    ("potions", "1\n2 1", "-1 0", "-1"),
    ("abc_grid", GRID_GIVEN, GRID.replace("AC..B", "CA..B"), "Yes"),
    ("abc_grid", GRID_GIVEN, GRID.replace("..CBA", "..CAB"), "Yes"),
    ("abc_grid", GRID_GIVEN, GRID.replace("..CBA", "..CB"), "Yes"),
    ("abc_grid", GRID_GIVEN, GRID.replace("..CBA", "DDCBA"), "Yes"),
    ("abc_grid", GRID_GIVEN, GRID.replace("AC..B", "A...B"), "Yes"),
    ("abc_grid", GRID_GIVEN, "No", "Yes"),
    ("three_cubes", "840 84 7", "Yes\n0 0 0 0 6 0 6 0 1", "Yes\n0 0 0 0 6 0 6 0 0"),
    ("three_cubes", "840 84 7", "Yes\n0 0 0 0 6 0 6 0", "Yes\n0 0 0 0 6 0 6 0 0"),
    ("three_cubes", "1029 0 0", "Yes\n0 0 0 101 0 0 0 7 0", "Yes\n0 0 0 9 9 9 50 0 0"),
    ("three_cubes", "343 34 3", "Yes\n0 0 0 0 6 0 6 0 0", "No"),
]


@pytest.mark.parametrize(("name", "given_", "got", "expected"), RIGHT)
def test_right_answers_of_another_form(name: str, given_: str, got: str, expected: str) -> None:
    assert STDIN_CHECKERS[name](given_, got, expected) is None


@pytest.mark.parametrize(("name", "given_", "got", "expected"), WRONG)
def test_wrong_answers(name: str, given_: str, got: str, expected: str) -> None:
    reason = STDIN_CHECKERS[name](given_, got, expected)
    assert reason
    assert expected not in reason or len(expected) < 3


def test_every_checker_has_both_a_right_and_a_wrong_example() -> None:
    assert {name for name, *_ in RIGHT} == {name for name, *_ in WRONG} == set(STDIN_CHECKERS)


@pytest.mark.parametrize(
    ("got", "expected", "right"),
    [
        ([3, 1], [1, 3], True),
        ([], [], True),
        (["b", "a"], ["a", "b"], True),
        ([[2], [1]], [[1], [2]], True),
        ([1, 1], [1, 3], False),
        ([1], [1, 3], False),
        (3, [3], False),
        ([{"a": 1}], [1], False),
    ],
)
def test_any_order(got: Any, expected: Any, right: bool) -> None:
    assert (CALL_CHECKERS["any_order"]("", got, expected) is None) is right


@given(st.text(), st.sampled_from(RIGHT))
def test_no_output_makes_a_checker_fail(got: str, example: tuple[str, str, str, str]) -> None:
    name, given_, _, expected = example
    reason = STDIN_CHECKERS[name](given_, got, expected)
    assert reason is None or isinstance(reason, str)


@pytest.mark.parametrize("name", sorted(set(STDIN_CHECKERS) - {"any_order_lines", "permutation"}))
def test_inputs_of_another_problem_are_refused(name: str) -> None:
    if name == "abc_grid":
        with pytest.raises(ValueError, match="unpack"):
            STDIN_CHECKERS[name]("hello", "Yes", "Yes")
    else:
        with pytest.raises((DataError, ValueError)):
            STDIN_CHECKERS[name]("hello", "1", "1")


# The file


def test_the_files_own_checkers_are_known_and_errata_or_tolerances() -> None:
    errata = load_errata()
    assert len(errata.checkers) >= 10
    for question_id, entry in errata.checkers.items():
        assert (entry.float_tol is not None) or errata.kinds[question_id] == "several_answers"
    assert errata.undecided("abc327_b") == NEEDS_CHECKER
    assert errata.undecided("abc337_e") == "interactive"
    assert errata.undecided("abc350_c") == "bad_tests"
    assert errata.undecided("abc343_a") is None
    assert errata.undecided("1873_A") is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("source: x\nproblems: {a: {checker: permutatio, why: y}}", "did you mean 'permutation'"),
        ("source: x\nproblems: {a: {checker: float_tol, why: y}}", "tolerance"),
        ("source: x\nproblems: {a: {checker: permutation, tolerance: 0.1, why: y}}", "tolerance"),
        ("source: x\nproblems: {a: {checker: permutation}}", "why"),
        ("- 3", "no mapping"),
        ("source: x\nproblems:\n a: {checker: permutation, why: y}\n a: {}", "twice"),
    ],
)
def test_a_malformed_file_is_refused(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "checkers.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=says):
        read_checkers(path)


def test_a_checker_for_the_other_kind_of_problem_is_refused() -> None:
    entry = CheckerEntry(checker="permutation", why="y")
    with pytest.raises(DataError, match="results of calls"):
        entry.reason("", [1], [1], call=True)


# With the judge

SUM = CheckerEntry(checker="sum_of_distinct", why="any two different positive integers")
SEVERAL = {"q": "several_answers"}
FIXED_CODE = "n=int(input()); print(4, n-4)"


def _judged(judge: Judge, errata: Errata, code: str | None, *pairs: tuple[str, str]) -> Checked:
    tests = tuple(TestCase(given_, wanted, "stdin") for given_, wanted in pairs)
    return judge_checked(judge, code, TestSuite("q", None, tests, 1), errata)


def _called(judge: Judge, errata: Errata, code: str, *pairs: tuple[Any, Any]) -> Checked:
    tests = tuple(TestCase(json.dumps(g), json.dumps(w), "functional") for g, w in pairs)
    return judge_checked(judge, code, TestSuite("q", "f", tests, 1), errata)


def test_report_r01_with_a_checker(bwrap_judge: Judge) -> None:
    errata = Errata(SEVERAL, {"q": SUM})
    found = _judged(bwrap_judge, errata, FIXED_CODE, ("10", "1 9"), ("7", "1 6"))
    assert found.verdict.passed
    assert (found.verdict.n_passed, found.verdict.n_total) == (2, 2)
    assert found.checker == found.verdict.limits["checker"] == "sum_of_distinct"
    assert found.undecided is None


def test_report_r01_without_a_checker(bwrap_judge: Judge) -> None:
    found = _judged(bwrap_judge, Errata(SEVERAL), FIXED_CODE, ("10", "1 9"))
    assert found.undecided == NEEDS_CHECKER
    crash = _judged(bwrap_judge, Errata(SEVERAL), "1/0", ("10", "1 9"))
    assert crash.undecided is None  # a crash is one whatever the right answers are
    assert not crash.verdict.passed


def test_a_checker_still_fails_wrong_answers(bwrap_judge: Judge) -> None:
    errata = Errata(SEVERAL, {"q": SUM})
    found = _judged(bwrap_judge, errata, FIXED_CODE, ("10", "1 9"), ("8", "1 7"))
    assert found.verdict.status == "wrong_answer"
    assert found.verdict.first_failing == 1
    assert found.verdict.message == "test 1: sum_of_distinct: not two different positive integers"
    assert _judged(bwrap_judge, errata, None, ("10", "1 9")).verdict.status == "no_code"


def test_a_checker_goes_on_where_the_judge_had_stopped() -> None:
    errata = Errata(SEVERAL, {"q": SUM})
    with Judge(JudgeSpec(stop_at_first_failure=True), workers=1) as judge:
        right = _judged(judge, errata, FIXED_CODE, ("10", "1 9"), ("7", "1 6"), ("5", "4 1"))
        assert right.verdict.passed
        assert [outcome.index for outcome in right.verdict.outcomes] == [0, 1, 2]
        wrong = _judged(judge, errata, FIXED_CODE, ("10", "1 9"), ("8", "1 7"), ("5", "4 1"))
        assert wrong.verdict.status == "wrong_answer"
        assert len(wrong.verdict.outcomes) == 2


def test_results_of_calls_in_any_order(bwrap_judge: Judge) -> None:
    errata = Errata(SEVERAL, {"q": CheckerEntry(checker="any_order", why="any order")})
    down = "class Solution:\n    def f(self, n):\n        return list(range(n, 0, -1))"
    assert _called(bwrap_judge, errata, down, (3, [1, 2, 3])).verdict.passed
    wrong = _called(bwrap_judge, errata, down, (3, [1, 2, 4]))
    assert wrong.verdict.status == "wrong_answer"
    assert wrong.undecided is None
    long = _called(bwrap_judge, errata, down, (300, list(range(1, 301))))
    assert long.verdict.passed  # the checker sees all of the result, not the excerpt kept of it
    assert not long.passed_by_comparison
    missed = _called(bwrap_judge, errata, down, (300, list(range(1, 300))), (3, [3, 2, 1]))
    assert missed.verdict.status == "wrong_answer"
    assert missed.undecided is None
    assert missed.verdict.message == "test 0: any_order: 300 elements instead of 299"
    odd = "class Solution:\n    def f(self, n):\n        return [object()]"
    assert not _called(bwrap_judge, errata, odd, (1, [1])).verdict.passed


def test_a_test_that_the_checker_cannot_read_decides_nothing(bwrap_judge: Judge) -> None:
    errata = Errata(SEVERAL, {"q": SUM})
    found = _judged(bwrap_judge, errata, FIXED_CODE.replace("int(input())", "9"), ("x", "1 9"))
    assert found.verdict.status == "wrong_answer"
    assert found.undecided == NEEDS_CHECKER
    assert "not checked" in (found.verdict.message or "")
    # Another test shows that the program is wrong, whatever that one would say.
    both = _judged(bwrap_judge, errata, "print(4, 5)", ("x", "1 9"), ("8", "1 7"))
    assert both.undecided is None
    assert not both.verdict.passed


def test_the_official_rules_know_no_checkers(bwrap_judge: Judge) -> None:
    errata = Errata(SEVERAL, {"q": SUM})
    tests = (TestCase("10", "1 9", "stdin"),)
    suite = TestSuite("q", None, tests, 1)
    found = judge_checked(bwrap_judge, FIXED_CODE, suite, errata, rules="official")
    assert (found.verdict.status, found.verdict.rules) == ("wrong_answer", "official")
    assert (found.checker, found.undecided, found.errata) == (None, None, "several_answers")


def test_a_tolerance_is_the_judges_own(bwrap_judge: Judge) -> None:
    tolerance = CheckerEntry(checker="float_tol", tolerance=1e-6, why="absolute or relative error")
    third = _judged(bwrap_judge, Errata({}, {"q": tolerance}), "print(2/3)", ("", "0.6666666667"))
    assert third.verdict.passed
    assert third.verdict.limits["checker"] == "float_tol 1e-06"
    whole = _judged(bwrap_judge, Errata({}, {"q": tolerance}), "print(1000002)", ("", "1000001"))
    assert whole.verdict.status == "wrong_answer"
    assert not _judged(bwrap_judge, Errata(), "print(2/3)", ("", "0.6666666667")).verdict.passed


# Scores


def test_scores_with_and_without_errata() -> None:
    errata = Errata(
        {"a": "several_answers", "b": "several_answers", "c": "interactive"}, {"a": SUM}
    )
    scores = errata.scores({"a": (1, 1), "b": (1, 0), "c": (2, 1), "d": (4, 1), "e": (0, 0)})
    assert scores.everything == (pytest.approx(1.75 / 4), 4)
    assert scores.decided == (pytest.approx(1.25 / 2), 2)
    assert scores.without_errata == (0.25, 1)
    assert scores.left_out == {"b": "needs_checker", "c": "interactive"}
    assert scores.lines()[-1] == "left out: b (needs_checker), c (interactive)"


def test_a_problem_without_a_checker_is_left_out_even_if_it_passed() -> None:
    scores = Errata(SEVERAL).scores({"q": (1, 1), "r": (1, 0)})
    assert scores.decided == (0.0, 1)


def test_scores_of_nothing_are_undefined() -> None:
    scores = Errata().scores({})
    assert scores.decided == (None, 0)
    assert str(scores.decided) == "undefined of 0 problems"
    with pytest.raises(DataError):
        Errata().scores({"a": (1, 2)})


FAULTY_STORED_ANSWER = "4\n1 1 1 1 1 1 0 1 1 0 0 0 0 1 0 0 1 0 0 0\n"
"""Takes potion 21, leaves the only potion 6, and meets monster 6 in the end; the statement of
abc333_e prints another answer to the same sample."""


def test_checkers_accept_the_stored_answers_of_the_real_rows(shared_data: Path) -> None:
    from lcbgrid.problems.lookup import suites_of

    suites = suites_of([shared_data / "lcb_partial.jsonl", shared_data / "lcb_full_small.jsonl"])
    checked = 0
    for question_id, entry in read_checkers().items():
        if question_id not in suites or entry.float_tol is not None:
            continue
        suite = suites[question_id]
        call = suite.mode == "functional"
        for test in suite.tests:
            stored: Any = json.loads(test.output) if call else test.output
            if (question_id, stored) == ("abc333_e", FAULTY_STORED_ANSWER):
                continue
            assert entry.reason(test.input, stored, stored, call=call) is None, question_id
            checked += 1
    assert checked > 0
