"""Quotient and remainder."""

from random import Random

META = {
    "question_id": "emb010_egg_boxes",
    "title": "Egg Boxes",
    "difficulty": "easy",
    "mode": "stdin",
    "contest_id": "emb_round_10",
    "contest_date": "2025-10-04T00:00:00",
}

STATEMENT = """\
A farmer packs eggs into boxes of the same size. Print how many boxes get full and how many
eggs are left over.

Input
One line with two integers: the number of eggs and the size of a box.

Output
Two integers separated by a space: the full boxes and the eggs left over.

Constraints
The number of eggs is between 0 and 10^18, the box size between 1 and 10^9.
"""

PUBLIC = ["20 6\n", "5 10\n"]


def generate(rng: Random) -> list[str]:
    """Return the hidden stdin texts; the last one is the large one."""
    pairs = [(0, 1), (0, 7), (6, 6), (7, 6), (5, 6), (12, 6), (100, 1), (1, 2)]
    pairs += [(rng.randint(100, 10**6), rng.randint(2, 99)) for _ in range(3)]
    pairs.append((10**18 - 1, 7))
    return [f"{eggs} {size}\n" for eggs, size in pairs]


REFERENCE = """\
eggs, size = map(int, input().split())
print(eggs // size, eggs % size)
"""

WRONG = [
    """\
# Fault: float division rounds when there are very many eggs.
eggs, size = map(int, input().split())
boxes = int(eggs / size)
print(boxes, eggs - boxes * size)
""",
    """\
# Fault: rounds the number of boxes up.
eggs, size = map(int, input().split())
print((eggs + size - 1) // size, eggs % size)
""",
]
