"""Binary search for the longest common piece."""

from random import Random

META = {
    "question_id": "emb049_equal_ribbons",
    "title": "Equal Ribbons",
    "difficulty": "medium",
    "mode": "functional",
    "contest_id": "emb_round_01",
    "contest_date": "2025-01-09T00:00:00",
}

STATEMENT = """\
A shop has rolls of ribbon, given by their lengths in centimetres. From these rolls it must
cut at least pieces ribbons that all have the same whole number of centimetres. A ribbon
cannot be sewn together from several rolls; what is left of a roll is thrown away. Return the
greatest possible length, or 0 if not even 1 centimetre is possible.

Constraints
There are between 1 and 2500 rolls with lengths between 1 and 10^9. pieces is between 1 and
10^9.
"""

SIGNATURE = "def ribbonLength(self, rolls: List[int], pieces: int) -> int:"

PUBLIC = [[[10, 7], 3], [[2, 1], 5]]


def generate(rng: Random) -> list[list[object]]:
    """Return the hidden argument lists; the last one is the large one."""
    cases: list[list[object]] = [[[1], 1], [[1], 2], [[9], 1], [[9], 2], [[5, 5], 2]]
    cases += [[[4, 4, 4], 4], [[1, 1, 8], 3], [[100], 7], [[3, 3], 7]]
    for size in (4, 8, 12):
        cases.append([[rng.randint(1, 60) for _ in range(size)], rng.randint(size, 5 * size)])
    cases.append([[rng.randint(1, 10**9) for _ in range(2500)], 123_456])
    return cases


REFERENCE = """\
class Solution:
    def ribbonLength(self, rolls: List[int], pieces: int) -> int:
        low, high = 0, max(rolls)
        while low < high:
            middle = (low + high + 1) // 2
            if sum(roll // middle for roll in rolls) >= pieces:
                low = middle
            else:
                high = middle - 1
        return low
"""

WRONG = [
    """\
# Fault: acts as if the rolls were sewn together first.
class Solution:
    def ribbonLength(self, rolls: List[int], pieces: int) -> int:
        return sum(rolls) // pieces
""",
    """\
# Fault: off by one, the length of the longest roll is never tried.
class Solution:
    def ribbonLength(self, rolls: List[int], pieces: int) -> int:
        low, high = 0, max(rolls)
        while high - low > 1:
            middle = (low + high) // 2
            if sum(roll // middle for roll in rolls) >= pieces:
                low = middle
            else:
                high = middle
        return low
""",
]
