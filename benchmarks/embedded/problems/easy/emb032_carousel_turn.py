"""Rotate a list to the left."""

from random import Random

META = {
    "question_id": "emb032_carousel_turn",
    "title": "Carousel Turn",
    "difficulty": "easy",
    "mode": "functional",
    "contest_id": "emb_round_08",
    "contest_date": "2025-08-18T00:00:00",
}

STATEMENT = """\
Horses stand on a carousel. One turn moves the first horse to the end of the list. Return
the list after k turns. k may be larger than the number of horses.

Constraints
The list has at most 2500 integers between 0 and 100000. k is between 0 and 10^9.
"""

SIGNATURE = "def turnCarousel(self, horses: List[int], k: int) -> List[int]:"

PUBLIC = [[[1, 2, 3, 4], 1], [[5, 6], 2]]


def generate(rng: Random) -> list[list[object]]:
    """Return the hidden argument lists; the last one is the large one."""
    cases: list[list[object]] = [[[], 0], [[], 3], [[1], 5], [[1, 2], 1], [[1, 2, 3], 0]]
    cases += [[[1, 2, 3], 3], [[1, 2, 3], 4], [[4, 3, 2, 1], 7]]
    for size in (5, 10, 15):
        cases.append([[rng.randint(0, 99) for _ in range(size)], rng.randint(0, 40)])
    cases.append([[rng.randint(0, 100000) for _ in range(2500)], 10**9 - 7])
    return cases


REFERENCE = """\
class Solution:
    def turnCarousel(self, horses: List[int], k: int) -> List[int]:
        if not horses:
            return []
        k %= len(horses)
        return horses[k:] + horses[:k]
"""

WRONG = [
    """\
# Fault: fails when k is larger than the list.
class Solution:
    def turnCarousel(self, horses: List[int], k: int) -> List[int]:
        return horses[k:] + horses[:k]
""",
    """\
# Fault: turns in the other direction.
class Solution:
    def turnCarousel(self, horses: List[int], k: int) -> List[int]:
        if not horses:
            return []
        k %= len(horses)
        return horses[-k:] + horses[:-k] if k else horses
""",
]
