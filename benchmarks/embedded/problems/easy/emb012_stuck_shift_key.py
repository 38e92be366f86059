"""Swap the case of every letter."""

from random import Random

META = {
    "question_id": "emb012_stuck_shift_key",
    "title": "Stuck Shift Key",
    "difficulty": "easy",
    "mode": "stdin",
    "contest_id": "emb_round_12",
    "contest_date": "2025-12-18T00:00:00",
}

STATEMENT = """\
The shift key of a keyboard works the wrong way round. Turn every small letter into a
capital and every capital into a small letter. Leave all other characters as they are.

Input
One line of English letters, digits and single spaces, starting and ending with a letter.

Output
The repaired line.

Constraints
The line has between 1 and 5000 characters.
"""

PUBLIC = ["hELLO wORLD\n", "r2D\n"]


def generate(rng: Random) -> list[str]:
    """Return the hidden stdin texts; the last one is the large one."""
    texts = ["a", "A", "aB", "Ab c", "ALL", "none", "x1y2Z", "A B C d"]
    for size in (8, 16, 32, 4990):
        texts.append("Q" + "".join(rng.choices("abcXYZ123", k=size)) + "q")
    return [text + "\n" for text in texts]


REFERENCE = """\
line = input()
print(line.swapcase())
"""

WRONG = [
    """\
# Fault: makes everything a capital letter.
line = input()
print(line.upper())
""",
    """\
# Fault: drops the characters that are not letters.
line = input()
print("".join(c.swapcase() for c in line if c.isalpha()))
""",
]
