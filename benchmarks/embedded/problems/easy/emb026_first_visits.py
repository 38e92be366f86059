"""Remove repeats and keep the order."""

from random import Random

META = {
    "question_id": "emb026_first_visits",
    "title": "First Visits",
    "difficulty": "easy",
    "mode": "functional",
    "contest_id": "emb_round_02",
    "contest_date": "2025-02-21T00:00:00",
}

STATEMENT = """\
A guest book lists visitor numbers. Return the list without repeats: keep only the first
visit of every visitor, in the original order.

Constraints
The list has at most 2500 integers between 1 and 100000.
"""

SIGNATURE = "def firstVisits(self, visitors: List[int]) -> List[int]:"

PUBLIC = [[[3, 1, 3, 2, 1]], [[5]]]


def generate(rng: Random) -> list[list[object]]:
    """Return the hidden argument lists; the last one is the large one."""
    lists = [[], [1], [2, 2], [2, 1], [1, 2, 1], [4, 4, 4, 4], [9, 8, 7], [1, 1, 2, 2, 1]]
    lists += [[rng.randint(1, 8) for _ in range(size)] for size in (6, 12)]
    lists.append([rng.randint(98500, 99999) for _ in range(2500)])
    return [[visitors] for visitors in lists]


REFERENCE = """\
class Solution:
    def firstVisits(self, visitors: List[int]) -> List[int]:
        seen = set()
        result = []
        for visitor in visitors:
            if visitor not in seen:
                seen.add(visitor)
                result.append(visitor)
        return result
"""

WRONG = [
    """\
# Fault: the original order is lost.
class Solution:
    def firstVisits(self, visitors: List[int]) -> List[int]:
        return sorted(set(visitors))
""",
    """\
# Fault: removes only repeats that stand next to each other.
class Solution:
    def firstVisits(self, visitors: List[int]) -> List[int]:
        return [key for key, _ in groupby(visitors)]
""",
]
