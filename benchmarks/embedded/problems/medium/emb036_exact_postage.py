"""Fewest stamps for an exact amount (DP)."""

from random import Random

META = {
    "question_id": "emb036_exact_postage",
    "title": "Exact Postage",
    "difficulty": "medium",
    "mode": "stdin",
    "contest_id": "emb_round_04",
    "contest_date": "2025-04-21T00:00:00",
}

STATEMENT = """\
A post office sells k kinds of stamps and has plenty of each kind. A letter needs stamps
worth exactly a cents. Print the least number of stamps, or -1 if the amount cannot be
reached.

Input
The first line has two integers a and k. The second line has k different integers, the
values of the stamps in cents.

Output
One integer.

Constraints
a is between 0 and 100000, k between 1 and 8, each value between 1 and 100000.
"""

PUBLIC = ["8 3\n1 4 6\n", "7 2\n4 6\n"]


def generate(rng: Random) -> list[str]:
    """Return the hidden stdin texts; the last one is the large one."""
    cases = [(0, [5]), (1, [2]), (5, [5]), (6, [1, 3, 4]), (12, [9, 6, 1]), (3, [7, 2])]
    cases += [(30, [1, 15, 25]), (40, [1, 20, 25]), (11, [6, 10])]
    for _ in range(3):
        cases.append((rng.randint(40, 400), rng.sample(range(3, 50), 4)))
    cases.append((100_000, [97, 1003, 2111, 4999, 7001, 15013]))
    return [f"{a} {len(kinds)}\n{' '.join(map(str, kinds))}\n" for a, kinds in cases]


REFERENCE = """\
amount, k = map(int, input().split())
kinds = list(map(int, input().split()))
NONE = amount + 1
fewest = [0] + [NONE] * amount
for value in kinds:
    for reached in range(value, amount + 1):
        if fewest[reached - value] + 1 < fewest[reached]:
            fewest[reached] = fewest[reached - value] + 1
print(fewest[amount] if fewest[amount] < NONE else -1)
"""

WRONG = [
    """\
# Fault: greedy, always takes the most valuable stamp that fits.
amount, k = map(int, input().split())
count = 0
for value in sorted(map(int, input().split()), reverse=True):
    count += amount // value
    amount %= value
print(-1 if amount else count)
""",
    """\
# Fault: uses every kind of stamp at most once.
amount, k = map(int, input().split())
NONE = amount + 1
fewest = [0] + [NONE] * amount
for value in map(int, input().split()):
    for reached in range(amount, value - 1, -1):
        fewest[reached] = min(fewest[reached], fewest[reached - value] + 1)
print(fewest[amount] if fewest[amount] < NONE else -1)
""",
]
