"""Weighted intervals with a rest between picks."""

from random import Random

META = {
    "question_id": "emb055_lighthouse_shifts",
    "title": "Lighthouse Shifts",
    "difficulty": "hard",
    "mode": "stdin",
    "contest_id": "emb_round_05",
    "contest_date": "2025-05-14T00:00:00",
}

STATEMENT = """\
A keeper may choose among n shifts at different lighthouses. A shift runs from hour s to hour
e and pays p coins. After a shift that ends at hour e the keeper needs g hours of rest, so
the next chosen shift must start at hour e + g or later. Print the greatest total pay.

Input
The first line has two integers n and g. Each of the next n lines has three integers s, e
and p.

Output
One integer.

Constraints
n is between 1 and 2000, g between 0 and 10^6, 0 <= s < e <= 10^9 and 1 <= p <= 10^6.
"""

PUBLIC = ["3 2\n0 4 10\n6 8 5\n5 9 7\n", "2 0\n0 3 1\n3 5 1\n"]


def _case(rest: int, shifts: list[tuple[int, int, int]]) -> str:
    return f"{len(shifts)} {rest}\n" + "".join(f"{s} {e} {p}\n" for s, e, p in shifts)


def generate(rng: Random) -> list[str]:
    """Return the hidden stdin texts; the last one is the large one."""
    cases = [_case(0, [(0, 1, 1)]), _case(5, [(0, 1, 3), (2, 3, 4)]), _case(1, [(0, 9, 5)] * 2)]
    cases.append(_case(1, [(0, 2, 4), (3, 5, 4), (1, 4, 7)]))
    cases.append(_case(0, [(4, 6, 2), (2, 4, 2), (0, 2, 2), (1, 5, 5)]))
    cases.append(_case(3, [(0, 1, 1), (4, 5, 1), (8, 9, 1), (0, 9, 2)]))
    for count, limit, rest in ((6, 15, 1), (10, 25, 2), (15, 40, 0), (25, 60, 3), (40, 90, 2)):
        shifts = []
        for _ in range(count):
            start = rng.randrange(limit - 1)
            end = rng.randint(start + 1, min(limit, start + 12))
            shifts.append((start, end, rng.randint(1, 20)))
        cases.append(_case(rest, shifts))
    shifts = []
    for _ in range(2000):
        start = rng.randrange(990_000_000)
        shifts.append((start, start + rng.randint(1, 10**7), rng.randint(1, 10**6)))
    cases.append(_case(250_000, shifts))
    return cases


REFERENCE = """\
import sys
from bisect import bisect_right

data = list(map(int, sys.stdin.read().split()))
n, rest = data[0], data[1]
shifts = sorted((data[i + 1], data[i], data[i + 2]) for i in range(2, 2 + 3 * n, 3))
ends = [shift[0] for shift in shifts]
best = [0] * (n + 1)
for i, (end, start, pay) in enumerate(shifts):
    earlier = bisect_right(ends, start - rest, 0, i)
    best[i + 1] = max(best[i], best[earlier] + pay)
print(best[n])
"""

WRONG = [
    """\
# Fault: a shift that starts exactly when the rest is over is refused.
import sys
from bisect import bisect_left

data = list(map(int, sys.stdin.read().split()))
n, rest = data[0], data[1]
shifts = sorted((data[i + 1], data[i], data[i + 2]) for i in range(2, 2 + 3 * n, 3))
ends = [shift[0] for shift in shifts]
best = [0] * (n + 1)
for i, (end, start, pay) in enumerate(shifts):
    earlier = bisect_left(ends, start - rest, 0, i)
    best[i + 1] = max(best[i], best[earlier] + pay)
print(best[n])
""",
    """\
# Fault: greedy, always takes the shift that ends first.
import sys

data = list(map(int, sys.stdin.read().split()))
n, rest = data[0], data[1]
shifts = sorted((data[i + 1], data[i], data[i + 2]) for i in range(2, 2 + 3 * n, 3))
free_from = total = 0
for end, start, pay in shifts:
    if start >= free_from:
        total += pay
        free_from = end + rest
print(total)
""",
]
