"""Count one letter, ignoring its case."""

from random import Random

META = {
    "question_id": "emb028_letter_stamps",
    "title": "Letter Stamps",
    "difficulty": "easy",
    "mode": "functional",
    "contest_id": "emb_round_04",
    "contest_date": "2025-04-03T00:00:00",
}

STATEMENT = """\
How many stamps of one letter are needed to print a text? Return how often the letter
occurs in the text. Capital and small forms are the same letter.

Constraints
The text has at most 5000 characters (English letters and spaces). The letter is one
English letter, small or capital.
"""

SIGNATURE = "def countStamps(self, text: str, letter: str) -> int:"

PUBLIC = [["Banana Bread", "b"], ["sun", "x"]]


def generate(rng: Random) -> list[list[object]]:
    """Return the hidden argument lists; the last one is the large one."""
    cases: list[list[object]] = [["", "a"], ["a", "a"], ["A", "a"], ["a", "A"], ["aAa", "A"]]
    cases += [["b b b", "a"], ["Mississippi", "S"], ["Zig Zag", "z"]]
    for size in (15, 40, 5000):
        cases.append(["".join(rng.choices("abcABC ", k=size)), rng.choice("abcABC")])
    return cases


REFERENCE = """\
class Solution:
    def countStamps(self, text: str, letter: str) -> int:
        return text.lower().count(letter.lower())
"""

WRONG = [
    """\
# Fault: capital and small forms are treated as different letters.
class Solution:
    def countStamps(self, text: str, letter: str) -> int:
        return text.count(letter)
""",
    """\
# Fault: the text is made small but the letter is not.
class Solution:
    def countStamps(self, text: str, letter: str) -> int:
        return text.lower().count(letter)
""",
]
