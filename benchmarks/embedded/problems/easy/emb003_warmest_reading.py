"""Maximum of a list that may be all negative."""

from random import Random

META = {
    "question_id": "emb003_warmest_reading",
    "title": "Warmest Reading",
    "difficulty": "easy",
    "mode": "stdin",
    "contest_id": "emb_round_03",
    "contest_date": "2025-03-25T00:00:00",
}

STATEMENT = """\
A weather station noted some temperatures. Print the highest one.

Input
The first line has an integer n. The second line has n integers, the temperatures.

Output
One integer, the highest temperature.

Constraints
n is between 1 and 3000. Temperatures are between -100000 and 100000.
"""

PUBLIC = ["4\n3 -2 8 5\n", "1\n6\n"]


def generate(rng: Random) -> list[str]:
    """Return the hidden stdin texts; the last one is the large one."""
    lists = [[0], [-5], [-3, -9], [1, 2, 3], [3, 2, 1], [7, 7, 7], [-1, 0, -1]]
    lists += [[rng.randint(-50, 50) for _ in range(size)] for size in (5, 8, 12, 20)]
    lists.append([rng.randint(-100000, 99999) for _ in range(2999)] + [100000])
    return [f"{len(items)}\n{' '.join(map(str, items))}\n" for items in lists]


REFERENCE = """\
n = int(input())
values = list(map(int, input().split()))
print(max(values))
"""

WRONG = [
    """\
# Fault: starts from zero, so a list of negative numbers gives zero.
n = int(input())
best = 0
for value in map(int, input().split()):
    if value > best:
        best = value
print(best)
""",
    """\
# Fault: off by one, the last reading is never looked at.
n = int(input())
values = list(map(int, input().split()))
best = values[0]
for i in range(n - 1):
    best = max(best, values[i])
print(best)
""",
]
