"""Clamp every value into a range."""

from random import Random

META = {
    "question_id": "emb023_volume_limits",
    "title": "Volume Limits",
    "difficulty": "easy",
    "mode": "functional",
    "contest_id": "emb_round_11",
    "contest_date": "2025-11-25T00:00:00",
}

STATEMENT = """\
A speaker plays no sound below low and no sound above high. Return the list of volumes
after every volume below low is raised to low and every volume above high is lowered to
high. Keep the order.

Constraints
The list has at most 3000 integers. All numbers are between -100000 and 100000, and
low <= high.
"""

SIGNATURE = "def limitVolumes(self, volumes: List[int], low: int, high: int) -> List[int]:"

PUBLIC = [[[1, 5, 9], 3, 7], [[4], 0, 10]]


def generate(rng: Random) -> list[list[object]]:
    """Return the hidden argument lists; the last one is the large one."""
    cases: list[list[object]] = [[[], 1, 2], [[0], 1, 2], [[3], 1, 2], [[1, 2], 1, 2]]
    cases += [[[-5, 0, 5], 0, 0], [[-5, -1], -3, -2], [[7, 8, 9], 1, 5]]
    for size in (5, 10, 20):
        cases.append([[rng.randint(-30, 30) for _ in range(size)], -10, rng.randint(-5, 15)])
    cases.append([[rng.randint(-100000, 100000) for _ in range(2500)], -40000, 60000])
    return cases


REFERENCE = """\
class Solution:
    def limitVolumes(self, volumes: List[int], low: int, high: int) -> List[int]:
        return [max(low, min(high, volume)) for volume in volumes]
"""

WRONG = [
    """\
# Fault: forgets the lower limit.
class Solution:
    def limitVolumes(self, volumes: List[int], low: int, high: int) -> List[int]:
        return [min(high, volume) for volume in volumes]
""",
    """\
# Fault: drops the values outside of the limits.
class Solution:
    def limitVolumes(self, volumes: List[int], low: int, high: int) -> List[int]:
        return [volume for volume in volumes if low <= volume <= high]
""",
]
