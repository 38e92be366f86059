"""Count grid paths modulo a number."""

from random import Random

META = {
    "question_id": "emb051_orchard_paths",
    "title": "Orchard Paths",
    "difficulty": "medium",
    "mode": "functional",
    "contest_id": "emb_round_03",
    "contest_date": "2025-03-11T00:00:00",
}

STATEMENT = """\
An orchard is a grid given as a list of equally long texts. "." is grass and "T" is a tree. A
path starts in the top left cell, ends in the bottom right cell, steps only to the right or
down, and never touches a tree. Return the number of different paths modulo 1000003. If the
first or the last cell has a tree, there is no path.

Constraints
The grid has between 1 and 100 rows and columns.
"""

SIGNATURE = "def countPaths(self, orchard: List[str]) -> int:"

PUBLIC = [[["...", ".T.", "..."]], [["T"]]]


def _orchard(rng: Random, rows: int, cols: int, trees: float) -> list[str]:
    cells = [["T" if rng.random() < trees else "." for _ in range(cols)] for _ in range(rows)]
    cells[0][0] = cells[-1][-1] = "."
    return ["".join(row) for row in cells]


def generate(rng: Random) -> list[list[object]]:
    """Return the hidden argument lists; the last one is the large one."""
    grids = [["."], ["...."], ["..T."], [".", ".", "."], [".T", "T."], ["..", ".T"]]
    grids += [["T.", ".."], [".T..", "....", "...."], ["...", "T..", "..."]]
    grids += [_orchard(rng, size, size + 1, 0.15) for size in (5, 8, 12)]
    grids += [["." * 20] * 20, _orchard(rng, 100, 100, 0.08)]
    return [[grid] for grid in grids]


REFERENCE = """\
class Solution:
    def countPaths(self, orchard: List[str]) -> int:
        ways = [1] + [0] * (len(orchard[0]) - 1)
        for row in orchard:
            for col, cell in enumerate(row):
                if cell == "T":
                    ways[col] = 0
                elif col > 0:
                    ways[col] = (ways[col] + ways[col - 1]) % 1000003
        return ways[-1]
"""

WRONG = [
    """\
# Fault: forgets the modulo.
class Solution:
    def countPaths(self, orchard: List[str]) -> int:
        ways = [1] + [0] * (len(orchard[0]) - 1)
        for row in orchard:
            for col, cell in enumerate(row):
                if cell == "T":
                    ways[col] = 0
                elif col > 0:
                    ways[col] += ways[col - 1]
        return ways[-1]
""",
    """\
# Fault: a tree in the first row does not block the cells behind it.
class Solution:
    def countPaths(self, orchard: List[str]) -> int:
        ways = [1 if cell == "." else 0 for cell in orchard[0]]
        for row in orchard[1:]:
            for col, cell in enumerate(row):
                if cell == "T":
                    ways[col] = 0
                elif col > 0:
                    ways[col] = (ways[col] + ways[col - 1]) % 1000003
        return ways[-1]
""",
]
