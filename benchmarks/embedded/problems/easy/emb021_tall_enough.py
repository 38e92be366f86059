"""Count values that reach a limit."""

from random import Random

META = {
    "question_id": "emb021_tall_enough",
    "title": "Tall Enough",
    "difficulty": "easy",
    "mode": "functional",
    "contest_id": "emb_round_09",
    "contest_date": "2025-09-11T00:00:00",
}

STATEMENT = """\
Only visitors who are at least as tall as the limit may ride. Return how many of the given
heights are greater than or equal to the limit.

Constraints
The list has at most 3000 heights. Heights and limit are between 1 and 100000.
"""

SIGNATURE = "def tallEnough(self, heights: List[int], limit: int) -> int:"

PUBLIC = [[[120, 140, 99], 120], [[50], 60]]


def generate(rng: Random) -> list[list[object]]:
    """Return the hidden argument lists; the last one is the large one."""
    cases: list[list[object]] = [[[], 5], [[5], 5], [[4], 5], [[6], 5], [[5, 5, 5], 5]]
    cases += [[[1, 2, 3, 4], 3], [[9, 9, 1], 2]]
    for size in (6, 12, 24):
        cases.append([[rng.randint(1, 20) for _ in range(size)], rng.randint(5, 15)])
    cases.append([[rng.randint(1, 100000) for _ in range(3000)], 50000])
    return cases


REFERENCE = """\
class Solution:
    def tallEnough(self, heights: List[int], limit: int) -> int:
        count = 0
        for height in heights:
            if height >= limit:
                count += 1
        return count
"""

WRONG = [
    """\
# Fault: a height equal to the limit is refused.
class Solution:
    def tallEnough(self, heights: List[int], limit: int) -> int:
        return sum(height > limit for height in heights)
""",
    """\
# Fault: counts equal heights once.
class Solution:
    def tallEnough(self, heights: List[int], limit: int) -> int:
        return len({height for height in heights if height >= limit})
""",
]
