"""Greatest common divisor with zeros."""

from random import Random

META = {
    "question_id": "emb020_equal_bags",
    "title": "Equal Bags",
    "difficulty": "easy",
    "mode": "functional",
    "contest_id": "emb_round_08",
    "contest_date": "2025-08-04T00:00:00",
}

STATEMENT = """\
You have a apples and b pears and want to fill as many equal bags as possible, using up all
the fruit. Return the largest number that divides both a and b. If one of them is 0, the
answer is the other one.

Constraints
a and b are between 0 and 10^18 and at least one of them is positive.
"""

SIGNATURE = "def equalBags(self, a: int, b: int) -> int:"

PUBLIC = [[12, 18], [7, 3]]


def generate(rng: Random) -> list[list[object]]:
    """Return the hidden argument lists; the last one is the large one."""
    pairs = [(0, 5), (9, 0), (1, 1), (6, 6), (4, 8), (8, 4), (17, 13), (100, 75)]
    for _ in range(3):
        shared = rng.randint(2, 50)
        pairs.append((shared * rng.randint(1, 99), shared * rng.randint(1, 99)))
    pairs.append((10**18, 6**20))
    return [[a, b] for a, b in pairs]


REFERENCE = """\
class Solution:
    def equalBags(self, a: int, b: int) -> int:
        while b:
            a, b = b, a % b
        return a
"""

WRONG = [
    """\
# Fault: divides by zero when one of the numbers is zero.
class Solution:
    def equalBags(self, a: int, b: int) -> int:
        while a % b != 0:
            a, b = b, a % b
        return b
""",
    """\
# Fault: one step of the division only.
class Solution:
    def equalBags(self, a: int, b: int) -> int:
        low, high = min(a, b), max(a, b)
        if low == 0:
            return high
        return low if high % low == 0 else high % low
""",
]
