"""Check whether a word is a palindrome."""

from random import Random

META = {
    "question_id": "emb018_mirror_word",
    "title": "Mirror Word",
    "difficulty": "easy",
    "mode": "functional",
    "contest_id": "emb_round_06",
    "contest_date": "2025-06-03T00:00:00",
}

STATEMENT = """\
A word is a mirror word if it reads the same from left to right and from right to left.
Return True if the given word is a mirror word and False if it is not. The empty word is a
mirror word.

Constraints
The word has at most 5000 small English letters.
"""

SIGNATURE = "def isMirror(self, word: str) -> bool:"

PUBLIC = [["noon"], ["night"]]


def generate(rng: Random) -> list[list[object]]:
    """Return the hidden argument lists; the last one is the large one."""
    words = ["", "a", "ab", "aa", "aba", "abca", "abcba", "aabb", "racecars", "xyyx", "abab"]
    half = "".join(rng.choices("abcdef", k=2490))
    words += [half + "x" + half[::-1], half + "zy" + half[::-1]]
    return [[word] for word in words]


REFERENCE = """\
class Solution:
    def isMirror(self, word: str) -> bool:
        return word == word[::-1]
"""

WRONG = [
    """\
# Fault: compares only the first and the last letter.
class Solution:
    def isMirror(self, word: str) -> bool:
        return word == "" or word[0] == word[-1]
""",
    """\
# Fault: asks whether the letters could be rearranged into a mirror word.
class Solution:
    def isMirror(self, word: str) -> bool:
        return sum(count % 2 for count in Counter(word).values()) <= 1
""",
]
