"""Multiply the hours above a free limit."""

from random import Random

META = {
    "question_id": "emb011_parking_fee",
    "title": "Parking Fee",
    "difficulty": "easy",
    "mode": "stdin",
    "contest_id": "emb_round_11",
    "contest_date": "2025-11-11T00:00:00",
}

STATEMENT = """\
A car park is free for the first f hours. Every hour after that costs c coins. Print the
price for h hours.

Input
One line with three integers h, f and c.

Output
One integer, the price in coins.

Constraints
All three numbers are between 0 and 10^9.
"""

PUBLIC = ["5 2 3\n", "1 4 10\n"]


def generate(rng: Random) -> list[str]:
    """Return the hidden stdin texts; the last one is the large one."""
    rows = [(0, 0, 0), (0, 5, 2), (5, 5, 2), (6, 5, 2), (4, 5, 2), (3, 0, 7), (9, 1, 0)]
    rows += [(rng.randint(0, 50), rng.randint(0, 50), rng.randint(1, 9)) for _ in range(4)]
    rows.append((10**9, 1, 10**9))
    return [f"{h} {f} {c}\n" for h, f, c in rows]


REFERENCE = """\
h, f, c = map(int, input().split())
paid = max(0, h - f)
print(paid * c)
"""

WRONG = [
    """\
# Fault: a stay shorter than the free time gives a negative price.
h, f, c = map(int, input().split())
print((h - f) * c)
""",
    """\
# Fault: charges for all hours once the free time is over.
h, f, c = map(int, input().split())
print(h * c if h > f else 0)
""",
]
