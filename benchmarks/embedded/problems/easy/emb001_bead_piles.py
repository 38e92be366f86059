"""Add two integers that may be very big."""

from random import Random

META = {
    "question_id": "emb001_bead_piles",
    "title": "Two Piles of Beads",
    "difficulty": "easy",
    "mode": "stdin",
    "contest_id": "emb_round_01",
    "contest_date": "2025-01-11T00:00:00",
}

STATEMENT = """\
Mira keeps her beads in two piles. Print how many beads she has in total.

Input
Two lines with one integer each: the sizes of the first and the second pile.

Output
One integer, the total number of beads.

Constraints
Each size is between 0 and 10^18.
"""

PUBLIC = ["3\n4\n", "10\n0\n"]


def generate(rng: Random) -> list[str]:
    """Return the hidden stdin texts; the last one is the large one."""
    pairs = [(0, 0), (0, 1), (7, 0), (1, 1), (99, 1), (123, 456)]
    pairs += [(rng.randint(10, 10**6), rng.randint(10, 10**6)) for _ in range(5)]
    pairs.append((10**18 - 1, 10**18 - 3))
    return [f"{a}\n{b}\n" for a, b in pairs]


REFERENCE = """\
first = int(input())
second = int(input())
print(first + second)
"""

WRONG = [
    """\
# Fault: joins the two texts instead of adding the numbers.
first = input()
second = input()
print(first + second)
""",
    """\
# Fault: goes through floats and loses the last digits of big numbers.
first = float(input())
second = float(input())
print(int(first + second))
""",
]
