"""Count words when blanks may repeat."""

from random import Random

META = {
    "question_id": "emb009_words_on_a_banner",
    "title": "Words on a Banner",
    "difficulty": "easy",
    "mode": "stdin",
    "contest_id": "emb_round_09",
    "contest_date": "2025-09-09T00:00:00",
}

STATEMENT = """\
Count the words on a banner. Words are separated by one or more spaces. The line may also
start or end with spaces, or be empty.

Input
One line of English letters and spaces.

Output
One integer, the number of words.

Constraints
The line has at most 5000 characters.
"""

PUBLIC = ["big summer sale\n", "hello\n"]


def generate(rng: Random) -> list[str]:
    """Return the hidden stdin texts; the last one is the large one."""
    texts = ["", " ", "a", "a b", "a  b", " a", "a ", "   a   b   ", "one two three four"]
    for size in (10, 20):
        texts.append("".join(rng.choices("ab  ", k=size)))
    texts.append("".join(rng.choices("abcde  ", k=5000)))
    return [text + "\n" for text in texts]


REFERENCE = """\
line = input()
print(len(line.split()))
"""

WRONG = [
    """\
# Fault: counts single spaces, so repeated spaces count as words.
line = input()
print(line.count(" ") + 1)
""",
    """\
# Fault: splitting on one space leaves empty pieces.
line = input().strip()
print(len(line.split(" ")))
""",
]
