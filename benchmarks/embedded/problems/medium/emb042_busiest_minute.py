"""Peak number of overlapping half-open intervals."""

from random import Random

META = {
    "question_id": "emb042_busiest_minute",
    "title": "Busiest Minute",
    "difficulty": "medium",
    "mode": "stdin",
    "contest_id": "emb_round_10",
    "contest_date": "2025-10-18T00:00:00",
}

STATEMENT = """\
A visitor of a museum enters at minute s and leaves at minute e. The visitor is inside
during the minutes s, s+1, ..., e-1; at minute e the place is free again. Print the greatest
number of visitors who are inside in the same minute, and the earliest minute in which this
number is reached.

Input
The first line has an integer n. Each of the next n lines has two integers s and e.

Output
Two integers separated by a space.

Constraints
n is between 1 and 2000, and 0 <= s < e <= 10^6.
"""

PUBLIC = ["3\n1 5\n4 8\n5 9\n", "1\n0 3\n"]


def _case(visits: list[tuple[int, int]]) -> str:
    return f"{len(visits)}\n" + "".join(f"{s} {e}\n" for s, e in visits)


def generate(rng: Random) -> list[str]:
    """Return the hidden stdin texts; the last one is the large one."""
    groups = [[(3, 4)], [(0, 2), (2, 4)], [(5, 6), (1, 2)], [(0, 9), (0, 9)]]
    groups += [[(0, 3), (3, 5), (3, 4)], [(1, 10), (2, 3), (4, 5)], [(2, 4), (0, 2), (4, 6)]]
    for count, limit in ((6, 12), (12, 30), (24, 60), (50, 100), (2000, 10**6)):
        starts = [rng.randrange(limit - 1) for _ in range(count)]
        reach = limit // 4
        groups.append([(s, min(limit, s + rng.randint(1, reach))) for s in starts])
    return [_case(group) for group in groups]


REFERENCE = """\
n = int(input())
events = []
for _ in range(n):
    start, end = map(int, input().split())
    events.append((start, 1))
    events.append((end, -1))
events.sort()
inside = best = best_minute = 0
for minute, change in events:
    inside += change
    if inside > best:
        best, best_minute = inside, minute
print(best, best_minute)
"""

WRONG = [
    """\
# Fault: a visitor still counts in the minute of leaving.
n = int(input())
events = []
for _ in range(n):
    start, end = map(int, input().split())
    events.append((start, 0, 1))
    events.append((end, 1, -1))
events.sort()
inside = best = best_minute = 0
for minute, _, change in events:
    inside += change
    if inside > best:
        best, best_minute = inside, minute
print(best, best_minute)
""",
    """\
# Fault: reports the last minute of the peak, not the first one.
n = int(input())
events = []
for _ in range(n):
    start, end = map(int, input().split())
    events.append((start, 1))
    events.append((end, -1))
events.sort()
inside = best = best_minute = 0
for minute, change in events:
    inside += change
    if inside >= best:
        best, best_minute = inside, minute
print(best, best_minute)
""",
]
