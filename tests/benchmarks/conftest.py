"""Fixtures for the tests of the embedded problem set."""

import base64
import json
import pickle
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

SET = Path(__file__).parents[2] / "benchmarks" / "embedded"
FEWEST_SMALL_TESTS = 8
SmallTests = Callable[[str, int], list[dict[str, str]]]


@pytest.fixture(scope="session")
def small_tests() -> SmallTests:
    """Return a function that finds the tests of a problem with inputs up to a length.

    The function takes the name of a problem, which is its id without the number, and the
    greatest number of characters.
    """
    found: dict[str, list[dict[str, str]]] = {}
    for line in (SET / "problems.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        hidden = row["private_test_cases"]
        if not hidden.startswith("["):
            hidden = pickle.loads(zlib.decompress(base64.b64decode(hidden)))
        tests = json.loads(row["public_test_cases"]) + json.loads(hidden)
        found[row["question_id"].split("_", 1)[1]] = tests

    def select(name: str, limit: int) -> list[dict[str, str]]:
        tests = [test for test in found[name] if len(test["input"]) <= limit]
        assert len(tests) >= FEWEST_SMALL_TESTS
        return tests

    return select
