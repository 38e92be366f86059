"""Count pairs that drop by more than a gap."""

from random import Random

META = {
    "question_id": "emb044_clear_drops",
    "title": "Clear Drops",
    "difficulty": "medium",
    "mode": "functional",
    "contest_id": "emb_round_08",
    "contest_date": "2025-08-07T00:00:00",
}

STATEMENT = """\
A list has the scores of a player, from the oldest to the newest game. A clear drop is a pair
of games, not only neighbours, in which the older score is greater than the newer score plus
gap. Return the number of clear drops.

Constraints
The list has at most 4000 integers between -10^6 and 10^6. gap is between 0 and 10^6.
"""

SIGNATURE = "def clearDrops(self, scores: List[int], gap: int) -> int:"

PUBLIC = [[[9, 5, 3, 6], 2], [[1, 2], 0]]


def generate(rng: Random) -> list[list[object]]:
    """Return the hidden argument lists; the last one is the large one."""
    cases: list[list[object]] = [[[], 1], [[4], 0], [[4, 4], 0], [[5, 4], 1], [[6, 4], 1]]
    cases += [[[3, 2, 1], 0], [[3, 2, 1], 1], [[-1, -5, 0, -9], 3]]
    for size in (8, 16, 32):
        cases.append([[rng.randint(-10, 10) for _ in range(size)], rng.randint(0, 5)])
    cases.append([[rng.randint(-(10**6), 10**6) for _ in range(4000)], 250_000])
    return cases


REFERENCE = """\
class Solution:
    def clearDrops(self, scores: List[int], gap: int) -> int:
        older = []
        count = 0
        for score in scores:
            count += len(older) - bisect_right(older, score + gap)
            insort(older, score)
        return count
"""

WRONG = [
    """\
# Fault: a drop by exactly the gap is counted too.
class Solution:
    def clearDrops(self, scores: List[int], gap: int) -> int:
        older = []
        count = 0
        for score in scores:
            count += len(older) - bisect_left(older, score + gap)
            insort(older, score)
        return count
""",
    """\
# Fault: looks only at neighbouring games.
class Solution:
    def clearDrops(self, scores: List[int], gap: int) -> int:
        return sum(a > b + gap for a, b in zip(scores, scores[1:]))
""",
]
