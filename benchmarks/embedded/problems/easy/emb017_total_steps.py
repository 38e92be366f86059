"""Sum of a list that may be empty."""

from random import Random

META = {
    "question_id": "emb017_total_steps",
    "title": "Total Steps",
    "difficulty": "easy",
    "mode": "functional",
    "contest_id": "emb_round_05",
    "contest_date": "2025-05-28T00:00:00",
}

STATEMENT = """\
A watch stores the number of steps of each walk. Return the sum of all walks. If there were
no walks, return 0.

Constraints
The list has at most 3000 numbers, each between 0 and 100000.
"""

SIGNATURE = "def totalSteps(self, walks: List[int]) -> int:"

PUBLIC = [[[100, 250, 50]], [[7]]]


def generate(rng: Random) -> list[list[object]]:
    """Return the hidden argument lists; the last one is the large one."""
    lists = [[], [0], [1, 2], [5, 0, 5], [10, 10, 10], [0, 3], [4, 0, 0, 6]]
    lists += [[rng.randint(0, 500) for _ in range(size)] for size in (4, 8, 16)]
    lists.append([rng.randint(0, 100000) for _ in range(3000)])
    return [[walks] for walks in lists]


REFERENCE = """\
class Solution:
    def totalSteps(self, walks: List[int]) -> int:
        return sum(walks)
"""

WRONG = [
    """\
# Fault: forgot the empty list, reduce has no start value.
class Solution:
    def totalSteps(self, walks: List[int]) -> int:
        return reduce(lambda a, b: a + b, walks)
""",
    """\
# Fault: off by one, the first walk is left out.
class Solution:
    def totalSteps(self, walks: List[int]) -> int:
        total = 0
        for i in range(1, len(walks)):
            total += walks[i]
        return total
""",
]
