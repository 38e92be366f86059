"""Best sum when two days of rest follow each pick."""

from random import Random

META = {
    "question_id": "emb046_shows_with_rest",
    "title": "Shows with Rest",
    "difficulty": "medium",
    "mode": "functional",
    "contest_id": "emb_round_10",
    "contest_date": "2025-10-21T00:00:00",
}

STATEMENT = """\
A band can play at most one show per day. gains[i] is the money a show on day i brings; it
is negative if the show loses money. After each show the band rests for two days, so it can
play again on the third day after the show at the earliest. Return the greatest total gain.
Playing no show at all gives 0.

Constraints
The list has at most 3000 integers between -100000 and 100000.
"""

SIGNATURE = "def bestGain(self, gains: List[int]) -> int:"

PUBLIC = [[[5, 1, 2, 6, 3]], [[-4]]]


def generate(rng: Random) -> list[list[object]]:
    """Return the hidden argument lists; the last one is the large one."""
    lists = [[], [3], [-1, -2], [1, 2], [4, 9, 4], [5, 6, 5, 5], [1, 0, 0, 1, 0, 0, 1]]
    lists += [[10, 0, 10, 0, 10, 10], [2, 9, 1, 1, 9, 1, 8]]
    lists += [[rng.randint(-5, 20) for _ in range(size)] for size in (7, 12, 25)]
    lists.append([rng.randint(-20000, 100000) for _ in range(3000)])
    return [[gains] for gains in lists]


REFERENCE = """\
class Solution:
    def bestGain(self, gains: List[int]) -> int:
        three_ago = two_ago = one_ago = 0
        for gain in gains:
            today = max(one_ago, three_ago + gain)
            three_ago, two_ago, one_ago = two_ago, one_ago, today
        return one_ago
"""

WRONG = [
    """\
# Fault: rests for one day only.
class Solution:
    def bestGain(self, gains: List[int]) -> int:
        two_ago = one_ago = 0
        for gain in gains:
            two_ago, one_ago = one_ago, max(one_ago, two_ago + gain)
        return one_ago
""",
    """\
# Fault: greedy, takes the best day that is left again and again.
class Solution:
    def bestGain(self, gains: List[int]) -> int:
        taken = set()
        total = 0
        for i in sorted(range(len(gains)), key=lambda day: -gains[day]):
            if gains[i] > 0 and not taken & {i - 2, i - 1, i, i + 1, i + 2}:
                taken.add(i)
                total += gains[i]
        return total
""",
]
