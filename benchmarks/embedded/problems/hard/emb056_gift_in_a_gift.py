"""Longest chain of boxes that are strictly nested."""

from random import Random

META = {
    "question_id": "emb056_gift_in_a_gift",
    "title": "Gift in a Gift",
    "difficulty": "hard",
    "mode": "stdin",
    "contest_id": "emb_round_07",
    "contest_date": "2025-07-21T00:00:00",
}

STATEMENT = """\
A clown hides a gift in a box, this box in a larger box, and so on. A box with width a and
height b fits into a box with width c and height d only if a < c and b < d. Boxes are never
turned. Print the greatest number of boxes in one such chain.

Input
The first line has an integer n. Each of the next n lines has the width and the height of
one box.

Output
One integer.

Constraints
n is between 1 and 2500; widths and heights are between 1 and 10^6.
"""

PUBLIC = ["4\n5 4\n6 4\n6 7\n2 3\n", "2\n3 3\n3 3\n"]


def _case(boxes: list[tuple[int, int]]) -> str:
    return f"{len(boxes)}\n" + "".join(f"{w} {h}\n" for w, h in boxes)


def generate(rng: Random) -> list[str]:
    """Return the hidden stdin texts; the last one is the large one."""
    groups = [[(1, 1)], [(1, 2), (2, 1)], [(2, 2), (1, 1)], [(1, 1), (1, 2), (1, 3)]]
    groups += [[(1, 5), (2, 5), (3, 5)], [(1, 9), (2, 2), (3, 3), (4, 4)]]
    groups += [[(4, 4), (3, 3), (2, 2), (2, 3), (3, 2)]]
    for count, limit in ((6, 5), (12, 8), (25, 15), (60, 30)):
        groups.append([(rng.randint(1, limit), rng.randint(1, limit)) for _ in range(count)])
    groups.append([(rng.randint(1, 900), rng.randint(1, 10**6)) for _ in range(2500)])
    return [_case(group) for group in groups]


REFERENCE = """\
import sys
from bisect import bisect_left

data = list(map(int, sys.stdin.read().split()))
boxes = sorted(zip(data[1::2], data[2::2]), key=lambda box: (box[0], -box[1]))
smallest_end = []
for _, height in boxes:
    at = bisect_left(smallest_end, height)
    if at == len(smallest_end):
        smallest_end.append(height)
    else:
        smallest_end[at] = height
print(len(smallest_end))
"""

WRONG = [
    """\
# Fault: boxes of the same width may end up in one chain.
import sys
from bisect import bisect_left

data = list(map(int, sys.stdin.read().split()))
boxes = sorted(zip(data[1::2], data[2::2]))
smallest_end = []
for _, height in boxes:
    at = bisect_left(smallest_end, height)
    smallest_end[at:at + 1] = [height]
print(len(smallest_end))
""",
    """\
# Fault: boxes of the same height may end up in one chain.
import sys
from bisect import bisect_right

data = list(map(int, sys.stdin.read().split()))
boxes = sorted(zip(data[1::2], data[2::2]), key=lambda box: (box[0], -box[1]))
smallest_end = []
for _, height in boxes:
    at = bisect_right(smallest_end, height)
    smallest_end[at:at + 1] = [height]
print(len(smallest_end))
""",
]
