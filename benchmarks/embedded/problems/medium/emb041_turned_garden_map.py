"""Apply rotations and mirror steps to a grid."""

from random import Random

META = {
    "question_id": "emb041_turned_garden_map",
    "title": "Turned Garden Map",
    "difficulty": "medium",
    "mode": "stdin",
    "contest_id": "emb_round_09",
    "contest_date": "2025-09-11T00:00:00",
}

STATEMENT = """\
A garden map is a rectangle of small letters. It is changed by a row of commands:

R turns the map by a quarter clockwise,
L turns the map by a quarter counterclockwise,
F mirrors the map, so that left and right are exchanged.

Print the map after all commands, applied from left to right.

Input
The first line has two integers r and c. Then r lines with c letters follow. The last line
has the commands.

Output
The lines of the final map.

Constraints
r and c are between 1 and 40; there are between 1 and 300 commands.
"""

PUBLIC = ["2 3\nabc\ndef\nR\n", "1 2\nxy\nFF\n"]


def _case(rng: Random, rows: int, cols: int, commands: str) -> str:
    lines = ["".join(rng.choices("abcdefgh", k=cols)) for _ in range(rows)]
    return "\n".join([f"{rows} {cols}", *lines, commands]) + "\n"


def generate(rng: Random) -> list[str]:
    """Return the hidden stdin texts; the last one is the large one."""
    cases = ["1 1\na\nRLF\n", "2 2\nab\ncd\nL\n", "2 2\nab\ncd\nF\n", "3 1\na\nb\nc\nL\n"]
    cases += ["2 3\nabc\ndef\nRF\n", "2 3\nabc\ndef\nFR\n", "2 3\nabc\ndef\nRRRR\n"]
    for size in (3, 4, 5, 6):
        commands = "".join(rng.choices("RLF", k=2 * size + 1))
        cases.append(_case(rng, size, size + 2, commands))
    cases.append(_case(rng, 40, 37, "".join(rng.choices("RRLF", k=300))))
    return cases


REFERENCE = """\
rows, cols = map(int, input().split())
grid = [input().strip() for _ in range(rows)]
for command in input().strip():
    if command == "R":
        grid = ["".join(column) for column in zip(*grid[::-1])]
    elif command == "L":
        grid = ["".join(column) for column in zip(*grid)][::-1]
    else:
        grid = [row[::-1] for row in grid]
print("\\n".join(grid))
"""

WRONG = [
    """\
# Fault: turns clockwise for both turning commands.
rows, cols = map(int, input().split())
grid = [input().strip() for _ in range(rows)]
for command in input().strip():
    if command in "RL":
        grid = ["".join(column) for column in zip(*grid[::-1])]
    else:
        grid = [row[::-1] for row in grid]
print("\\n".join(grid))
""",
    """\
# Fault: F exchanges top and bottom instead of left and right.
rows, cols = map(int, input().split())
grid = [input().strip() for _ in range(rows)]
for command in input().strip():
    if command == "R":
        grid = ["".join(column) for column in zip(*grid[::-1])]
    elif command == "L":
        grid = ["".join(column) for column in zip(*grid)][::-1]
    else:
        grid = grid[::-1]
print("\\n".join(grid))
""",
]
