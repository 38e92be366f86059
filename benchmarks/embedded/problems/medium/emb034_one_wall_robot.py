"""Breadth-first search with one wall that may be broken."""

from random import Random

META = {
    "question_id": "emb034_one_wall_robot",
    "title": "One-Wall Robot",
    "difficulty": "medium",
    "mode": "stdin",
    "contest_id": "emb_round_02",
    "contest_date": "2025-02-07T00:00:00",
}

STATEMENT = """\
A robot stands in the top left cell of a hall and wants to reach the bottom right cell. It
moves up, down, left or right by one cell. "." is a free cell and "#" is a wall. During the
whole trip the robot may enter at most one wall cell. The first and the last cell are free.

Print the least number of moves, or -1 if the goal cannot be reached.

Input
The first line has two integers r and c, the rows and columns. Then r lines follow with c
characters each.

Output
One integer.

Constraints
r and c are between 1 and 80.
"""

PUBLIC = ["3 3\n..#\n##.\n...\n", "2 3\n.##\n##.\n"]


def _hall(rng: Random, rows: int, cols: int, walls: float) -> str:
    grid = [["#" if rng.random() < walls else "." for _ in range(cols)] for _ in range(rows)]
    grid[0][0] = grid[-1][-1] = "."
    return f"{rows} {cols}\n" + "".join("".join(row) + "\n" for row in grid)


def generate(rng: Random) -> list[str]:
    """Return the hidden stdin texts; the last one is the large one."""
    halls = ["1 1\n.\n", "1 3\n.#.\n", "1 4\n.##.\n", "2 2\n..\n..\n"]
    halls.append("5 5\n.....\n###.#\n..#.#\n#.###\n.....\n")
    halls.append("5 4\n.#..\n....\n####\n##..\n....\n")
    halls.append("3 7\n.#.....\n.#.###.\n...###.\n")
    for size in (4, 5, 6, 7, 8, 12):
        halls.append(_hall(rng, size, size, 0.45))
    halls.append(_hall(rng, 80, 80, 0.33))
    return halls


REFERENCE = """\
from collections import deque

rows, cols = map(int, input().split())
grid = [input().strip() for _ in range(rows)]
start = (0, 0, 0)
moves = {start: 0}
queue = deque([start])
answer = -1
while queue:
    row, col, broken = state = queue.popleft()
    if row == rows - 1 and col == cols - 1:
        answer = moves[state]
        break
    for dr, dc in ((0, 1), (1, 0), (0, -1), (-1, 0)):
        r, c = row + dr, col + dc
        if 0 <= r < rows and 0 <= c < cols:
            following = (r, c, broken + (grid[r][c] == "#"))
            if following[2] <= 1 and following not in moves:
                moves[following] = moves[state] + 1
                queue.append(following)
print(answer)
"""

WRONG = [
    """\
# Fault: never walks through a wall.
from collections import deque

rows, cols = map(int, input().split())
grid = [input().strip() for _ in range(rows)]
moves = {(0, 0): 0}
queue = deque([(0, 0)])
while queue:
    row, col = queue.popleft()
    for r, c in ((row, col + 1), (row + 1, col), (row, col - 1), (row - 1, col)):
        if 0 <= r < rows and 0 <= c < cols and grid[r][c] == "." and (r, c) not in moves:
            moves[r, c] = moves[row, col] + 1
            queue.append((r, c))
print(moves.get((rows - 1, cols - 1), -1))
""",
    """\
# Fault: one visited mark per cell, although the spare wall is part of the state.
from collections import deque

rows, cols = map(int, input().split())
grid = [input().strip() for _ in range(rows)]
moves = {(0, 0): 0}
queue = deque([(0, 0, 0)])
while queue:
    row, col, broken = queue.popleft()
    for r, c in ((row, col + 1), (row + 1, col), (row, col - 1), (row - 1, col)):
        if 0 <= r < rows and 0 <= c < cols and (r, c) not in moves:
            used = broken + (grid[r][c] == "#")
            if used <= 1:
                moves[r, c] = moves[row, col] + 1
                queue.append((r, c, used))
print(moves.get((rows - 1, cols - 1), -1))
""",
]
