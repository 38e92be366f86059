"""Count blocks of a list with a given sum."""

from random import Random

META = {
    "question_id": "emb039_balanced_walks",
    "title": "Balanced Walks",
    "difficulty": "medium",
    "mode": "stdin",
    "contest_id": "emb_round_07",
    "contest_date": "2025-07-09T00:00:00",
}

STATEMENT = """\
A hiker notes the change of height for each hour, which may be negative. A walk is a block of
one or more hours in a row. Print how many walks change the height by exactly k in total.
Walks that start or end at different hours are different.

Input
The first line has two integers n and k. The second line has n integers, the changes.

Output
One integer, the number of walks.

Constraints
n is between 1 and 4000, k between -10^6 and 10^6, each change between -1000 and 1000.
"""

PUBLIC = ["5 3\n1 2 -2 3 0\n", "2 5\n1 1\n"]


def _case(changes: list[int], k: int) -> str:
    return f"{len(changes)} {k}\n{' '.join(map(str, changes))}\n"


def generate(rng: Random) -> list[str]:
    """Return the hidden stdin texts; the last one is the large one."""
    cases = [_case([0], 0), _case([4], 4), _case([4], 0), _case([0, 0, 0], 0)]
    cases += [_case([1, -1, 1, -1], 0), _case([5, -2, -3, 5], 5), _case([-1, -1, -1], -2)]
    for size in (8, 16, 32):
        cases.append(_case([rng.randint(-3, 3) for _ in range(size)], rng.randint(-2, 4)))
    cases.append(_case([rng.randint(-9, 9) for _ in range(4000)], 7))
    return cases


REFERENCE = """\
from collections import defaultdict

n, k = map(int, input().split())
seen = defaultdict(int)
seen[0] = 1
height = 0
count = 0
for change in map(int, input().split()):
    height += change
    count += seen[height - k]
    seen[height] += 1
print(count)
"""

WRONG = [
    """\
# Fault: walks that start in the first hour are missed.
from collections import defaultdict

n, k = map(int, input().split())
seen = defaultdict(int)
height = 0
count = 0
for change in map(int, input().split()):
    height += change
    count += seen[height - k]
    seen[height] += 1
print(count)
""",
    """\
# Fault: a sliding window does not work with negative changes.
n, k = map(int, input().split())
changes = list(map(int, input().split()))
left = total = count = 0
for right in range(n):
    total += changes[right]
    while left < right and total > k:
        total -= changes[left]
        left += 1
    count += total == k
print(count)
""",
]
