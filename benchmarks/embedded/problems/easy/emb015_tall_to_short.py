"""Sort in descending order."""

from random import Random

META = {
    "question_id": "emb015_tall_to_short",
    "title": "Tall to Short",
    "difficulty": "easy",
    "mode": "stdin",
    "contest_id": "emb_round_03",
    "contest_date": "2025-03-14T00:00:00",
}

STATEMENT = """\
Children line up for a photo from the tallest to the shortest. Print their heights in that
order.

Input
The first line has an integer n. The second line has n integers, the heights.

Output
The n heights from high to low, separated by single spaces.

Constraints
n is between 1 and 2500. Heights are between 1 and 100000.
"""

PUBLIC = ["4\n120 95 130 120\n"]


def generate(rng: Random) -> list[str]:
    """Return the hidden stdin texts; the last one is the large one."""
    lists = [[1], [1, 2], [2, 1], [3, 3, 3], [9, 10], [100, 99, 1000], [5, 4, 3, 2, 1]]
    lists += [[rng.randint(1, 200) for _ in range(size)] for size in (5, 10, 20, 40)]
    lists.append([rng.randint(1, 100000) for _ in range(2500)])
    return [f"{len(items)}\n{' '.join(map(str, items))}\n" for items in lists]


REFERENCE = """\
n = int(input())
heights = list(map(int, input().split()))
heights.sort(reverse=True)
print(*heights)
"""

WRONG = [
    """\
# Fault: sorts the numbers as texts.
n = int(input())
print(*sorted(input().split(), reverse=True))
""",
    """\
# Fault: the set removes children of equal height.
n = int(input())
print(*sorted(set(map(int, input().split())), reverse=True))
""",
]
