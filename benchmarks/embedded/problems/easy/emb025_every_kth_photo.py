"""Take the k-th, 2k-th, 3k-th item of a list."""

from random import Random

META = {
    "question_id": "emb025_every_kth_photo",
    "title": "Every K-th Photo",
    "difficulty": "easy",
    "mode": "functional",
    "contest_id": "emb_round_01",
    "contest_date": "2025-01-14T00:00:00",
}

STATEMENT = """\
Counting from 1, keep the photos at positions k, 2k, 3k and so on, and return their numbers
in the same order.

Constraints
The list has at most 3000 integers between 0 and 100000. k is between 1 and 3000.
"""

SIGNATURE = "def everyKth(self, photos: List[int], k: int) -> List[int]:"

PUBLIC = [[[10, 20, 30, 40, 50], 2], [[7, 8], 1]]


def generate(rng: Random) -> list[list[object]]:
    """Return the hidden argument lists; the last one is the large one."""
    cases: list[list[object]] = [[[], 1], [[5], 1], [[5], 2], [[1, 2, 3], 3], [[1, 2, 3], 4]]
    cases += [[[4, 5, 6, 7], 2], [[9, 8, 7, 6, 5, 4, 3], 3]]
    for size in (8, 16, 32):
        cases.append([[rng.randint(0, 99) for _ in range(size)], rng.randint(2, 6)])
    cases.append([[rng.randint(0, 100000) for _ in range(3000)], 3])
    return cases


REFERENCE = """\
class Solution:
    def everyKth(self, photos: List[int], k: int) -> List[int]:
        return photos[k - 1::k]
"""

WRONG = [
    """\
# Fault: off by one, starts with the first photo.
class Solution:
    def everyKth(self, photos: List[int], k: int) -> List[int]:
        return photos[::k]
""",
    """\
# Fault: the loop never reaches the last position.
class Solution:
    def everyKth(self, photos: List[int], k: int) -> List[int]:
        return [photos[i - 1] for i in range(k, len(photos), k)]
""",
]
