"""Interval DP over the order of cuts."""

from random import Random

META = {
    "question_id": "emb057_saw_mill_plan",
    "title": "Saw Mill Plan",
    "difficulty": "hard",
    "mode": "stdin",
    "contest_id": "emb_round_09",
    "contest_date": "2025-09-28T00:00:00",
}

STATEMENT = """\
A beam of length t must be cut at all of the given marks. One cut splits a piece into two
pieces, and the mill charges as many coins as the longer one of the two new pieces has
centimetres. The order of the cuts is up to you. Print the least total price.

Input
The first line has two integers t and k. The second line has k different integers in rising
order, the distances of the marks from the left end.

Output
One integer.

Constraints
t is between 2 and 10^9, k between 1 and 90, and the marks are between 1 and t - 1.
"""

PUBLIC = ["10 2\n2 5\n", "7 1\n3\n"]


def _case(length: int, marks: list[int]) -> str:
    return f"{length} {len(marks)}\n{' '.join(map(str, sorted(marks)))}\n"


def generate(rng: Random) -> list[str]:
    """Return the hidden stdin texts; the last one is the large one."""
    cases = [_case(2, [1]), _case(10, [9]), _case(4, [1, 2, 3]), _case(100, [1, 2, 3, 99])]
    cases += [_case(12, [1, 2, 4, 8]), _case(9, [4, 5]), _case(20, [8, 9, 10, 11, 12])]
    for length, count in ((15, 4), (30, 6), (60, 8), (100, 12), (500, 25)):
        cases.append(_case(length, rng.sample(range(1, length), count)))
    cases.append(_case(10**9, rng.sample(range(1, 10**9), 90)))
    return cases


REFERENCE = """\
length, k = map(int, input().split())
points = [0] + list(map(int, input().split())) + [length]
n = len(points)
price = [[0] * n for _ in range(n)]
for gap in range(2, n):
    for left in range(n - gap):
        right = left + gap
        price[left][right] = min(
            price[left][cut]
            + price[cut][right]
            + max(points[cut] - points[left], points[right] - points[cut])
            for cut in range(left + 1, right)
        )
print(price[0][n - 1])
"""

WRONG = [
    """\
# Fault: greedy, always cuts at the mark nearest to the middle of a piece.
length, k = map(int, input().split())
points = [0] + list(map(int, input().split())) + [length]
total = 0
pieces = [(0, len(points) - 1)]
while pieces:
    left, right = pieces.pop()
    if right - left < 2:
        continue
    longer = [
        (max(points[cut] - points[left], points[right] - points[cut]), cut)
        for cut in range(left + 1, right)
    ]
    cost, cut = min(longer)
    total += cost
    pieces += [(left, cut), (cut, right)]
print(total)
""",
    """\
# Fault: cuts from left to right without looking for a better order.
length, k = map(int, input().split())
total = 0
left = 0
for mark in map(int, input().split()):
    total += max(mark - left, length - mark)
    left = mark
print(total)
""",
]
