"""Second largest distinct value."""

from random import Random

META = {
    "question_id": "emb013_runner_up_score",
    "title": "Runner-Up Score",
    "difficulty": "easy",
    "mode": "stdin",
    "contest_id": "emb_round_01",
    "contest_date": "2025-01-25T00:00:00",
}

STATEMENT = """\
The runner-up prize goes to the second highest score. Equal scores count as one score.
Print the second highest score, or "none" if all scores are equal.

Input
The first line has an integer n. The second line has n integers, the scores.

Output
One integer, or the word "none".

Constraints
n is between 1 and 3000. Scores are between -100000 and 100000.
"""

PUBLIC = ["5\n4 9 7 9 1\n", "2\n3 3\n"]


def generate(rng: Random) -> list[str]:
    """Return the hidden stdin texts; the last one is the large one."""
    lists = [[1], [5, 5, 5], [1, 2], [2, 1], [-1, -1, -2], [0, -7], [8, 8, 3, 3], [1, 1, 0]]
    lists += [[rng.randint(-9, 9) for _ in range(size)] for size in (4, 10, 25)]
    lists.append([rng.randint(-100000, 99990) for _ in range(2997)] + [100000] * 3)
    return [f"{len(items)}\n{' '.join(map(str, items))}\n" for items in lists]


REFERENCE = """\
n = int(input())
scores = sorted(set(map(int, input().split())))
if len(scores) < 2:
    print("none")
else:
    print(scores[-2])
"""

WRONG = [
    """\
# Fault: equal top scores are counted twice.
n = int(input())
scores = sorted(map(int, input().split()))
print(scores[-2] if n > 1 and scores[0] != scores[-1] else "none")
""",
    """\
# Fault: fails when all scores are equal.
n = int(input())
scores = sorted(set(map(int, input().split())))
print(scores[-2])
""",
]
