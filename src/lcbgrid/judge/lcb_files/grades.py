"""Our verdicts in the terms of LiveCodeBench's result files (judge specification, 5.5 and 13.8).

A sample has a list of results, one entry a test up to the first that failed, and a JSON text of
metadata. Codes are -2 (wrong answer), -3 (time limit) and -4 (everything else that is the
program's fault). All keys of the official form are there; texts are cut to 300 characters, the
middle left out. Verdicts never hold expected outputs: the failing test's texts have to be given.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from lcbgrid.core.errors import DataError
from lcbgrid.judge.verdict import NOT_A_SCORE

WRONG_ANSWER, TIME_LIMIT, OTHER = -2, -3, -4
_CODES: Final = {"wrong_answer": WRONG_ANSWER, "time_limit": TIME_LIMIT}
_SIDE_CHARS = 150
_CUT = " … "


@dataclass(frozen=True, slots=True)
class TestTexts:
    """Input and expected output of the test that decided, as far as they may be shown."""

    __test__ = False  # not a pytest class

    inputs: str = ""
    expected: str = ""


NOTHING_SHOWN = TestTexts()


def code_of(status: str) -> int:
    """Return the official code of a failed sample.

    Raises:
        DataError: The status is no score; the official form has no word for that.
    """
    if status in NOT_A_SCORE:
        raise DataError("a program that was not judged cannot be exported", value=status)
    return _CODES.get(status, OTHER)


def results_of(verdict: Mapping[str, Any]) -> list[bool | int]:
    """Return the official list of results: true for each test passed, then the failure's code."""
    if verdict["status"] == "passed":
        return [True] * max(1, verdict["n_passed"])
    passed = 0
    for test in verdict.get("tests", ()):
        if test["status"] != "passed":
            break
        passed += 1
    return [True] * passed + [code_of(verdict["status"])]


def metadata_of(
    verdict: Mapping[str, Any], texts: TestTexts = NOTHING_SHOWN, seconds: float | None = None
) -> str:
    """Return the official JSON text about one sample.

    Args:
        verdict: Our verdict record.
        texts: The failing test.
        seconds: Time of all tests, if it was measured.
    """
    status = verdict["status"]
    if status == "passed":
        return json.dumps({"execution time": 0.0 if seconds is None else round(seconds, 4)})
    code = code_of(status)
    shown = {"inputs": cut(texts.inputs), "expected": cut(texts.expected), "error_code": code}
    message = str(verdict.get("message") or status)
    name = status.replace("_", " ")
    if code == WRONG_ANSWER:
        record = {"output": cut(_output(verdict))} | shown | {"error_message": cut(message)}
    else:
        record = {"error": cut(message)} | shown | {"error_message": name}
    return json.dumps(record)


def deciding_test(verdict: Mapping[str, Any]) -> int:
    """Return the index of the failing test; the first one if the program never ran."""
    return verdict.get("first_failing") or 0


def shown_texts(
    index: int, tests: Sequence[Any], n_public: int, *, with_hidden_tests: bool
) -> TestTexts:
    """Return the texts of a test, or nothing if it is hidden and must stay so.

    Args:
        index: Which test.
        tests: The tests at hand, each with ``input`` and ``output``; public ones come first.
        n_public: How many are public.
        with_hidden_tests: Whether hidden ones may be shown.
    """
    if index >= len(tests) or (index >= n_public and not with_hidden_tests):
        return NOTHING_SHOWN
    return TestTexts(tests[index].input, tests[index].output)


def cut(text: str) -> str:
    """Cut a long text to 150 characters from each end."""
    if len(text) <= 2 * _SIDE_CHARS:
        return text
    return text[:_SIDE_CHARS] + _CUT + text[-_SIDE_CHARS:]


def _output(verdict: Mapping[str, Any]) -> str:
    index = verdict.get("first_failing")
    for test in verdict.get("tests", ()):
        if test["index"] == index:
            return test.get("got") or ""
    return ""
