"""Range addition and range maximum."""

from random import Random

META = {
    "question_id": "emb053_river_gauges",
    "title": "River Gauges",
    "difficulty": "hard",
    "mode": "stdin",
    "contest_id": "emb_round_01",
    "contest_date": "2025-01-25T00:00:00",
}

STATEMENT = """\
n gauges stand along a river and each has a water level, which may be negative. Two kinds of
events happen:

add l r v: the level at each gauge from l to r rises by v (v may be negative),
max l r: report the highest level among the gauges from l to r.

Gauges are counted from 1, and both ends l and r belong to the range.

Input
The first line has two integers n and q. The second line has the n levels at the beginning.
Each of the next q lines has one event.

Output
One line for each max event.

Constraints
n and q are between 1 and 2000. Levels and v are between -10^9 and 10^9. There is at least
one max event.
"""

PUBLIC = ["4 4\n1 5 2 3\nmax 1 4\nadd 3 4 3\nmax 2 4\nmax 1 1\n", "1 1\n-7\nmax 1 1\n"]


def _case(rng: Random, n: int, q: int, limit: int) -> str:
    lines = [f"{n} {q}", " ".join(str(rng.randint(-limit, limit)) for _ in range(n))]
    for i in range(q):
        left, right = sorted((rng.randint(1, n), rng.randint(1, n)))
        if rng.random() < 0.5 and i < q - 1:
            lines.append(f"add {left} {right} {rng.randint(-limit, limit)}")
        else:
            lines.append(f"max {left} {right}")
    return "\n".join(lines) + "\n"


def generate(rng: Random) -> list[str]:
    """Return the hidden stdin texts; the last one is the large one."""
    cases = ["1 2\n0\nadd 1 1 -4\nmax 1 1\n", "2 2\n-3 -8\nmax 1 2\nmax 2 2\n"]
    cases.append("3 3\n0 0 0\nadd 2 3 5\nmax 1 2\nmax 3 3\n")
    cases.append("2 3\n5 5\nadd 1 2 -6\nadd 2 2 1\nmax 1 2\n")
    for n, q in ((4, 6), (5, 10), (7, 15), (8, 20), (13, 30), (40, 60), (64, 80)):
        cases.append(_case(rng, n, q, 20))
    cases.append(_case(rng, 2000, 2000, 10**9))
    return cases


REFERENCE = """\
import sys


def main():
    data = sys.stdin.read().split()
    n, q = int(data[0]), int(data[1])
    size = 1
    while size < n:
        size *= 2
    low = -(10 ** 18)
    top = [low] * (2 * size)
    extra = [0] * (2 * size)
    top[size:size + n] = map(int, data[2:2 + n])
    for i in range(size - 1, 0, -1):
        top[i] = max(top[2 * i], top[2 * i + 1])

    def add(node, start, end, left, right, value):
        if right < start or end < left:
            return
        if left <= start and end <= right:
            top[node] += value
            extra[node] += value
            return
        middle = (start + end) // 2
        add(2 * node, start, middle, left, right, value)
        add(2 * node + 1, middle + 1, end, left, right, value)
        top[node] = max(top[2 * node], top[2 * node + 1]) + extra[node]

    def highest(node, start, end, left, right):
        if right < start or end < left:
            return low
        if left <= start and end <= right:
            return top[node]
        middle = (start + end) // 2
        first = highest(2 * node, start, middle, left, right)
        second = highest(2 * node + 1, middle + 1, end, left, right)
        return max(first, second) + extra[node]

    at = 2 + n
    for _ in range(q):
        left, right = int(data[at + 1]) - 1, int(data[at + 2]) - 1
        if data[at] == "add":
            add(1, 0, size - 1, left, right, int(data[at + 3]))
            at += 4
        else:
            print(highest(1, 0, size - 1, left, right))
            at += 3


main()
"""

WRONG = [
    """\
# Fault: the maximum starts from zero, so negative levels are reported as zero.
n, q = map(int, input().split())
levels = list(map(int, input().split()))
for _ in range(q):
    event = input().split()
    left, right = int(event[1]) - 1, int(event[2])
    if event[0] == "add":
        for i in range(left, right):
            levels[i] += int(event[3])
    else:
        print(max(0, max(levels[left:right])))
""",
    """\
# Fault: off by one, the right end of a range is not raised.
n, q = map(int, input().split())
levels = list(map(int, input().split()))
for _ in range(q):
    event = input().split()
    left, right = int(event[1]) - 1, int(event[2])
    if event[0] == "add":
        for i in range(left, right - 1):
            levels[i] += int(event[3])
    else:
        print(max(levels[left:right]))
""",
]
