"""Most frequent words with an alphabetical tie-break."""

from random import Random

META = {
    "question_id": "emb038_popular_dishes",
    "title": "Popular Dishes",
    "difficulty": "medium",
    "mode": "stdin",
    "contest_id": "emb_round_06",
    "contest_date": "2025-06-03T00:00:00",
}

STATEMENT = """\
A canteen wrote down each dish that was sold. Print the k dishes that were sold most often,
the most popular first. Dishes sold equally often are printed in alphabetical order. If
there are fewer than k different dishes, print all of them.

Input
The first line has two integers n and k. Each of the next n lines has the name of one sold
dish, written in small English letters.

Output
One line per dish: its name and the number of sales, separated by a space.

Constraints
n and k are between 1 and 4000. A name has at most 8 letters.
"""

PUBLIC = ["5 2\nsoup\nrice\npie\nrice\npie\n"]


def _case(names: list[str], k: int) -> str:
    return f"{len(names)} {k}\n" + "".join(name + "\n" for name in names)


def generate(rng: Random) -> list[str]:
    """Return the hidden stdin texts; the last one is the large one."""
    cases = [_case(["tea"], 1), _case(["tea"], 5), _case(["b", "a"], 1), _case(["b", "a"], 2)]
    cases.append(_case(["a", "b", "b", "c", "c", "c"], 2))
    cases.append(_case(["z", "z", "y", "y", "x"], 3))
    cases.append(_case(["pea", "peas", "pea", "peas"], 2))
    for count in (10, 20, 40):
        cases.append(_case([rng.choice("edcba") * 2 for _ in range(count)], rng.randint(2, 4)))
    menu = ["".join(rng.choices("abcdxyz", k=rng.randint(3, 8))) for _ in range(300)]
    cases.append(_case([rng.choice(menu) for _ in range(4000)], 120))
    return cases


REFERENCE = """\
from collections import Counter

n, k = map(int, input().split())
sold = Counter(input().strip() for _ in range(n))
ranked = sorted(sold.items(), key=lambda item: (-item[1], item[0]))
for name, count in ranked[:k]:
    print(name, count)
"""

WRONG = [
    """\
# Fault: equal counts stay in the order of their first sale.
from collections import Counter

n, k = map(int, input().split())
sold = Counter(input().strip() for _ in range(n))
for name, count in sold.most_common(k):
    print(name, count)
""",
    """\
# Fault: reversing the sort also reverses the alphabet for equal counts.
from collections import Counter

n, k = map(int, input().split())
sold = Counter(input().strip() for _ in range(n))
ranked = sorted(sold.items(), key=lambda item: (item[1], item[0]), reverse=True)
for name, count in ranked[:k]:
    print(name, count)
""",
]
