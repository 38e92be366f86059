"""Reverse a line of text."""

from random import Random

META = {
    "question_id": "emb002_backward_sign",
    "title": "Sign in the Back Window",
    "difficulty": "easy",
    "mode": "stdin",
    "contest_id": "emb_round_02",
    "contest_date": "2025-02-18T00:00:00",
}

STATEMENT = """\
A shop sign is seen from behind, so its text must be written backwards.
Print the given line with its characters in reverse order.

Input
One line of letters, digits and single spaces. It starts and ends with a letter or a digit.

Output
The reversed line.

Constraints
The line has between 1 and 5000 characters.
"""

PUBLIC = ["open now\n", "A1\n"]


def generate(rng: Random) -> list[str]:
    """Return the hidden stdin texts; the last one is the large one."""
    texts = ["x", "ab", "level", "one two three", "Z9 z9", "12345", "a b c d e f"]
    for size in (10, 20, 30, 40):
        texts.append("".join(rng.choice("abcXYZ0189") for _ in range(size)))
    texts.append(" ".join("".join(rng.choices("abcdefgh", k=7)) for _ in range(600)))
    return [text + "\n" for text in texts]


REFERENCE = """\
text = input()
print(text[::-1])
"""

WRONG = [
    """\
# Fault: reverses the order of the words, not of the characters.
words = input().split()
print(" ".join(reversed(words)))
""",
    """\
# Fault: the slice stops before the first character.
text = input()
print(text[:0:-1])
""",
]
