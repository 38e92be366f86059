"""Length of the union of intervals."""

from random import Random

META = {
    "question_id": "emb035_street_lamps",
    "title": "Street Lamps",
    "difficulty": "medium",
    "mode": "stdin",
    "contest_id": "emb_round_03",
    "contest_date": "2025-03-14T00:00:00",
}

STATEMENT = """\
Each street lamp lights a part of a straight road, from metre a to metre b. The lit parts
may overlap or touch. Print how many metres of the road are lit by at least one lamp.

Input
The first line has an integer n. Each of the next n lines has two integers a and b.

Output
One integer, the lit length in metres.

Constraints
n is between 0 and 2000, and 0 <= a < b <= 10^9.
"""

PUBLIC = ["3\n0 4\n2 6\n8 9\n", "1\n5 7\n"]


def _case(lamps: list[tuple[int, int]]) -> str:
    return f"{len(lamps)}\n" + "".join(f"{a} {b}\n" for a, b in lamps)


def _random_lamps(rng: Random, count: int, limit: int, reach: int) -> list[tuple[int, int]]:
    starts = [rng.randrange(limit - reach) for _ in range(count)]
    return [(start, start + rng.randint(1, reach)) for start in starts]


def generate(rng: Random) -> list[str]:
    """Return the hidden stdin texts; the last one is the large one."""
    groups = [[], [(0, 1)], [(0, 5), (0, 5)], [(0, 10), (2, 3)], [(2, 3), (0, 10), (4, 12)]]
    groups += [[(0, 2), (2, 4)], [(7, 9), (1, 3)], [(0, 10), (1, 4), (6, 11), (20, 21)]]
    for count in (5, 10, 20, 40):
        groups.append(_random_lamps(rng, count, 100, 12))
    groups.append(_random_lamps(rng, 2000, 10**9, 800_000))
    return [_case(group) for group in groups]


REFERENCE = """\
n = int(input())
lamps = sorted(tuple(map(int, input().split())) for _ in range(n))
total = 0
reached = 0
for start, end in lamps:
    start = max(start, reached)
    if end > start:
        total += end - start
        reached = end
print(total)
"""

WRONG = [
    """\
# Fault: overlapping parts are counted more than once.
n = int(input())
total = 0
for _ in range(n):
    start, end = map(int, input().split())
    total += end - start
print(total)
""",
    """\
# Fault: a short lamp inside a long one pulls the reached point back.
n = int(input())
lamps = sorted(tuple(map(int, input().split())) for _ in range(n))
total = 0
reached = 0
for start, end in lamps:
    total += max(0, end - max(start, reached))
    reached = end
print(total)
""",
]
