"""Factorial."""

from random import Random

META = {
    "question_id": "emb019_shelf_orders",
    "title": "Shelf Orders",
    "difficulty": "easy",
    "mode": "functional",
    "contest_id": "emb_round_07",
    "contest_date": "2025-07-09T00:00:00",
}

STATEMENT = """\
In how many different orders can n different books stand on a shelf? The answer is
1 * 2 * 3 * ... * n. An empty shelf has exactly 1 order. Return the exact number.

Constraints
n is between 0 and 1000.
"""

SIGNATURE = "def shelfOrders(self, n: int) -> int:"

PUBLIC = [[4], [1]]


def generate(rng: Random) -> list[list[object]]:
    """Return the hidden argument lists; the last one is the large one."""
    sizes = [0, 2, 3, 5, 6, 7, 10, 13, 20, rng.randint(30, 60), 1000]
    return [[size] for size in sizes]


REFERENCE = """\
class Solution:
    def shelfOrders(self, n: int) -> int:
        result = 1
        for i in range(2, n + 1):
            result *= i
        return result
"""

WRONG = [
    """\
# Fault: off by one, the factor n is missing.
class Solution:
    def shelfOrders(self, n: int) -> int:
        result = 1
        for i in range(1, n):
            result *= i
        return result
""",
    """\
# Fault: returns 0 for the empty shelf.
class Solution:
    def shelfOrders(self, n: int) -> int:
        return 0 if n == 0 else factorial(n)
""",
]
