"""Running totals."""

from random import Random

META = {
    "question_id": "emb029_savings_so_far",
    "title": "Savings So Far",
    "difficulty": "easy",
    "mode": "functional",
    "contest_id": "emb_round_05",
    "contest_date": "2025-05-09T00:00:00",
}

STATEMENT = """\
Each number is the money put into (or taken out of) a jar on one day. Return a list of the
same length with the money in the jar at the end of each day. The jar is empty at first.

Constraints
The list has at most 2000 integers between -100000 and 100000.
"""

SIGNATURE = "def savingsSoFar(self, changes: List[int]) -> List[int]:"

PUBLIC = [[[5, 2, -3, 4]], [[6]]]


def generate(rng: Random) -> list[list[object]]:
    """Return the hidden argument lists; the last one is the large one."""
    lists = [[], [0], [-1], [1, 1, 1], [1, -1, 1, -1], [0, 0, 7], [3, 2, 1]]
    lists += [[rng.randint(-20, 20) for _ in range(size)] for size in (4, 8, 16)]
    lists.append([rng.randint(-100000, 100000) for _ in range(2000)])
    return [[changes] for changes in lists]


REFERENCE = """\
class Solution:
    def savingsSoFar(self, changes: List[int]) -> List[int]:
        total = 0
        result = []
        for change in changes:
            total += change
            result.append(total)
        return result
"""

WRONG = [
    """\
# Fault: stores the total before the change of the day.
class Solution:
    def savingsSoFar(self, changes: List[int]) -> List[int]:
        total = 0
        result = []
        for change in changes:
            result.append(total)
            total += change
        return result
""",
    """\
# Fault: adds only the change of the day before.
class Solution:
    def savingsSoFar(self, changes: List[int]) -> List[int]:
        return [c + (changes[i - 1] if i else 0) for i, c in enumerate(changes)]
""",
]
