"""Two small problems of our own that show what a team does, in the hub's schema.

All their tests are public, so that a demonstration may say how each of them ended.
"""

from __future__ import annotations

import json
from typing import Any

_BUS = """A bus starts empty. At each stop some people get off, then some get on. Print the largest
number of people that are in the bus at the same time.

Input
The first line has an integer n, the number of stops. Each of the next n lines has two integers:
how many people get off and how many get on at that stop.

Output
One integer.

Constraints
n is between 1 and 1000. Nobody gets off who is not in the bus.

Sample Input 1

3
0 4
1 5
3 2

Sample Output 1

8
"""

_CALM = """A buoy measures the height of the waves once an hour. An hour is calm if its height is
at most limit. Return the length of the longest run of calm hours without a break.

Example 1

Input: waves = [2, 5, 1, 2, 2], limit = 2
Output: 3

Constraints
waves has between 1 and 1000 heights. Heights and limit are between 0 and 1000.
"""

_CALM_STARTER = """class Solution:
    def longestCalm(self, waves: List[int], limit: int) -> int:
        """


def _row(
    question_id: str, title: str, statement: str, tests: list[tuple[str, str]], **more: Any
) -> dict[str, str]:
    kind = "functional" if "func_name" in more else "stdin"
    cases = [{"input": given, "output": wanted, "testtype": kind} for given, wanted in tests]
    return {
        "question_title": title,
        "question_content": statement,
        "platform": "demo",
        "question_id": question_id,
        "contest_id": "demo",
        "contest_date": "2026-01-01T00:00:00",
        "starter_code": more.get("starter_code", ""),
        "difficulty": "easy",
        "public_test_cases": json.dumps(cases),
        "private_test_cases": "[]",
        "metadata": json.dumps({key: more[key] for key in ("func_name",) if key in more}),
    }


ROWS: tuple[dict[str, str], ...] = (
    _row(
        "demo_bus",
        "The Fullest Bus",
        _BUS,
        [
            ("3\n0 4\n1 5\n3 2\n", "8\n"),
            ("1\n0 0\n", "0\n"),
            ("4\n0 10\n10 3\n1 1\n3 0\n", "10\n"),
            ("2\n0 1000000\n1 1000000\n", "1999999\n"),
        ],
    ),
    _row(
        "demo_calm",
        "Calm Hours",
        _CALM,
        [
            ("[2, 5, 1, 2, 2]\n2", "3"),
            ("[7, 8, 9]\n6", "0"),
            ("[0, 0, 0, 0]\n0", "4"),
        ],
        starter_code=_CALM_STARTER,
        func_name="longestCalm",
    ),
)
"""One problem that reads stdin, one with a function; rows as a local data set holds them."""
