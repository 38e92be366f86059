"""Print a growing triangle of characters."""

from random import Random

META = {
    "question_id": "emb016_paper_stairs",
    "title": "Paper Stairs",
    "difficulty": "easy",
    "mode": "stdin",
    "contest_id": "emb_round_04",
    "contest_date": "2025-04-21T00:00:00",
}

STATEMENT = """\
Print paper stairs with n steps: the first line has one "#", the second line has two, and
so on up to the last line with n of them.

Input
One integer n.

Output
n lines, the stairs.

Constraints
n is between 1 and 100.
"""

PUBLIC = ["3\n"]


def generate(rng: Random) -> list[str]:
    """Return the hidden stdin texts; the last one is the large one."""
    sizes = [1, 2, 4, 5, 6, 7, 8, 10, 15, rng.randint(20, 30), 100]
    return [f"{size}\n" for size in sizes]


REFERENCE = """\
n = int(input())
for i in range(1, n + 1):
    print("#" * i)
"""

WRONG = [
    """\
# Fault: off by one, the longest step is missing.
n = int(input())
for i in range(n):
    print("#" * i)
""",
    """\
# Fault: builds the stairs upside down.
n = int(input())
for i in range(n, 0, -1):
    print("#" * i)
""",
]
