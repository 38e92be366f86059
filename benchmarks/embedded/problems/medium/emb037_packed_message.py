"""Index into a run-length coded text."""

from random import Random

META = {
    "question_id": "emb037_packed_message",
    "title": "Packed Message",
    "difficulty": "medium",
    "mode": "stdin",
    "contest_id": "emb_round_05",
    "contest_date": "2025-05-28T00:00:00",
}

STATEMENT = """\
A message is packed as a chain of pieces. Each piece is a count followed by one small
letter and stands for that many copies of the letter. For example, "3a12b" stands for three
a followed by twelve b.

Answer q questions. A question is a position p, counted from 1. Print the letter at this
position of the unpacked message, or "end" if the message is shorter than p.

Input
The first line has the packed message. The second line has q. The third line has q integers,
the positions.

Output
q lines with one answer each.

Constraints
There are between 1 and 2000 pieces with counts between 1 and 10^9; q is between 1 and 1000
and positions are between 1 and 10^13.
"""

PUBLIC = ["3a12b\n5\n1 3 4 15 16\n"]


def _case(pieces: list[tuple[int, str]], positions: list[int]) -> str:
    packed = "".join(f"{count}{letter}" for count, letter in pieces)
    return f"{packed}\n{len(positions)}\n{' '.join(map(str, positions))}\n"


def generate(rng: Random) -> list[str]:
    """Return the hidden stdin texts; the last one is the large one."""
    cases = [_case([(1, "a")], [1, 2]), _case([(2, "a"), (2, "b")], [2, 3, 4, 5])]
    cases.append(_case([(10, "x"), (1, "y")], [10, 11, 12]))
    cases.append(_case([(1, "q"), (1, "r"), (1, "s")], [3, 2, 1]))
    cases.append(_case([(10**9, "z")], [10**9, 10**9 + 1, 10**13]))
    cases.append(_case([(5, "m"), (7, "m")], [5, 6, 12, 13]))
    for count in (4, 8, 12, 16, 1999):
        top = 10**9 if count > 100 else 30
        pieces = [(rng.randint(1, top), rng.choice("abcdefgh")) for _ in range(count)]
        length = sum(piece[0] for piece in pieces)
        positions = [rng.randint(1, length + 3) for _ in range(min(1000, 2 * count))]
        cases.append(_case(pieces, [*positions[1:], length]))
    return cases


REFERENCE = """\
import re
from bisect import bisect_left

pieces = re.findall("([0-9]+)([a-z])", input())
q = int(input())
ends = []
total = 0
for count, letter in pieces:
    total += int(count)
    ends.append(total)
for position in map(int, input().split()):
    if position > total:
        print("end")
    else:
        print(pieces[bisect_left(ends, position)][1])
"""

WRONG = [
    """\
# Fault: expects counts with a single digit.
packed = input().strip()
q = int(input())
ends = []
total = 0
for i in range(0, len(packed) - 1, 2):
    total += int(packed[i]) if packed[i].isdigit() else 1
    ends.append((total, packed[i + 1]))
for position in map(int, input().split()):
    print(next((letter for end, letter in ends if position <= end), "end"))
""",
    """\
# Fault: positions are treated as if they were counted from 0.
import re
from bisect import bisect_right

pieces = re.findall("([0-9]+)([a-z])", input())
q = int(input())
ends = []
total = 0
for count, letter in pieces:
    total += int(count)
    ends.append(total)
for position in map(int, input().split()):
    print("end" if position >= total else pieces[bisect_right(ends, position)][1])
""",
]
