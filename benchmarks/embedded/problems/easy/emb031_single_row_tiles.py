"""Primality test."""

from random import Random

META = {
    "question_id": "emb031_single_row_tiles",
    "title": "Single-Row Tiles",
    "difficulty": "easy",
    "mode": "functional",
    "contest_id": "emb_round_07",
    "contest_date": "2025-07-11T00:00:00",
}

STATEMENT = """\
A floor of n square tiles is boring if n > 1 and the tiles can form only one kind of full
rectangle, a single row. That happens exactly when n is a prime number. Return True if n is
prime and False otherwise.

Constraints
n is between 1 and 10^9.
"""

SIGNATURE = "def isBoring(self, n: int) -> bool:"

PUBLIC = [[7], [12]]


def generate(rng: Random) -> list[list[object]]:
    """Return the hidden argument lists; the last one is the large one."""
    sizes = [1, 2, 3, 4, 5, 9, 25, 49, 97, 91, rng.randint(1000, 9999), 31607**2, 999_999_937]
    return [[size] for size in sizes]


REFERENCE = """\
class Solution:
    def isBoring(self, n: int) -> bool:
        if n < 2:
            return False
        i = 2
        while i * i <= n:
            if n % i == 0:
                return False
            i += 1
        return True
"""

WRONG = [
    """\
# Fault: one is accepted as a prime number.
class Solution:
    def isBoring(self, n: int) -> bool:
        return all(n % i for i in range(2, isqrt(n) + 1))
""",
    """\
# Fault: off by one, squares of primes are accepted.
class Solution:
    def isBoring(self, n: int) -> bool:
        return n > 1 and all(n % i for i in range(2, isqrt(n)))
""",
]
