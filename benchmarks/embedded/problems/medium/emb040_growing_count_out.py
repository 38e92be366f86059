"""Circle elimination with a growing step."""

from random import Random

META = {
    "question_id": "emb040_growing_count_out",
    "title": "Growing Count-Out",
    "difficulty": "medium",
    "mode": "stdin",
    "contest_id": "emb_round_08",
    "contest_date": "2025-08-04T00:00:00",
}

STATEMENT = """\
Children stand in a circle and play a counting game. In round 1 they count one child, in
round 2 two children, in round 3 three children, and so on. The child that is counted last
in a round leaves the circle, and the next round begins with the child after it. Round 1
begins with the first child of the list. The count may go round the circle several times.
The game ends when one child is left.

Input
The first line has an integer n. The second line has n different names of small English
letters, in the order of the circle.

Output
The name of the last child.

Constraints
n is between 1 and 3000. A name has at most 6 letters.
"""

PUBLIC = ["4\nana ben cora dan\n", "1\nzoe\n"]


def _names(count: int) -> list[str]:
    letters = "bcdfghjklmnprstvwz"
    return [
        letters[i % 18] + "aeiou"[i // 18 % 5] + letters[i // 90 % 18] + "aeiou"[i // 1620]
        for i in range(count)
    ]


def generate(rng: Random) -> list[str]:
    """Return the hidden stdin texts; the last one is the large one."""
    cases = []
    for size in (2, 3, 5, 6, 7, 8, 9, 10, 17, 30, rng.randint(100, 150), 3000):
        names = _names(size)
        rng.shuffle(names)
        cases.append(f"{size}\n{' '.join(names)}\n")
    return cases


REFERENCE = """\
from collections import deque

n = int(input())
circle = deque(input().split())
step = 1
while len(circle) > 1:
    circle.rotate(-((step - 1) % len(circle)))
    circle.popleft()
    step += 1
print(circle[0])
"""

WRONG = [
    """\
# Fault: off by one, counts one child too many in each round.
from collections import deque

n = int(input())
circle = deque(input().split())
step = 1
while len(circle) > 1:
    circle.rotate(-(step % len(circle)))
    circle.popleft()
    step += 1
print(circle[0])
""",
    """\
# Fault: the step does not grow after the second round.
from collections import deque

n = int(input())
circle = deque(input().split())
step = 1
while len(circle) > 1:
    circle.rotate(-((step - 1) % len(circle)))
    circle.popleft()
    step = 2
print(circle[0])
""",
]
