"""Sum of the even numbers in a list."""

from random import Random

META = {
    "question_id": "emb005_even_receipts",
    "title": "Even Receipts",
    "difficulty": "easy",
    "mode": "stdin",
    "contest_id": "emb_round_05",
    "contest_date": "2025-05-14T00:00:00",
}

STATEMENT = """\
A cafe gives points only for even amounts. Add up all the even numbers in the list.

Input
The first line has an integer n. The second line has n integers.

Output
One integer, the sum of the even numbers (0 if there are none).

Constraints
n is between 1 and 3000. Each number is between -100000 and 100000.
"""

PUBLIC = ["5\n1 2 3 4 5\n", "2\n7 9\n"]


def generate(rng: Random) -> list[str]:
    """Return the hidden stdin texts; the last one is the large one."""
    lists = [[0], [1], [-2], [-3, -4], [2, 2, 2], [10, 11, 12], [5, 4]]
    lists += [[rng.randint(-40, 40) for _ in range(size)] for size in (6, 9, 15, 30)]
    lists.append([rng.randint(-100000, 100000) for _ in range(3000)])
    return [f"{len(items)}\n{' '.join(map(str, items))}\n" for items in lists]


REFERENCE = """\
n = int(input())
values = list(map(int, input().split()))
total = 0
for value in values:
    if value % 2 == 0:
        total += value
print(total)
"""

WRONG = [
    """\
# Fault: tests the position instead of the value.
n = int(input())
values = list(map(int, input().split()))
print(sum(values[i] for i in range(n) if i % 2 == 0))
""",
    """\
# Fault: ignores negative even numbers.
n = int(input())
values = list(map(int, input().split()))
print(sum(v for v in values if v > 0 and v % 2 == 0))
""",
]
