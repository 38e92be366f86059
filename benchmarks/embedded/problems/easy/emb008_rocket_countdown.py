"""Print n, n-1, ..., 1 and a final word."""

from random import Random

META = {
    "question_id": "emb008_rocket_countdown",
    "title": "Rocket Countdown",
    "difficulty": "easy",
    "mode": "stdin",
    "contest_id": "emb_round_08",
    "contest_date": "2025-08-03T00:00:00",
}

STATEMENT = """\
Print the countdown of a rocket on one line: the numbers n, n-1, ..., 1 and then the word
"go", all separated by single spaces. If n is 0, print only "go".

Input
One integer n.

Output
One line, the countdown.

Constraints
n is between 0 and 2000.
"""

PUBLIC = ["3\n"]


def generate(rng: Random) -> list[str]:
    """Return the hidden stdin texts; the last one is the large one."""
    sizes = [0, 1, 2, 4, 5, 7, 10, 11, 20, 33, rng.randint(100, 200), 2000]
    return [f"{size}\n" for size in sizes]


REFERENCE = """\
n = int(input())
parts = []
for i in range(n, 0, -1):
    parts.append(str(i))
parts.append("go")
print(" ".join(parts))
"""

WRONG = [
    """\
# Fault: also counts the zero.
n = int(input())
print(*range(n, -1, -1), "go")
""",
    """\
# Fault: stops at two, the one is missing.
n = int(input())
print(*range(n, 1, -1), "go")
""",
]
