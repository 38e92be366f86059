"""Smallest period of every prefix."""

from random import Random

META = {
    "question_id": "emb063_wallpaper_stamp",
    "title": "Wallpaper Stamp",
    "difficulty": "hard",
    "mode": "functional",
    "contest_id": "emb_round_10",
    "contest_date": "2025-10-25T00:00:00",
}

STATEMENT = """\
A painter has a stamp with a short pattern and repeats it side by side; the last copy may be
cut off on the right. For each beginning of the given text (its first 1, 2, 3, ... letters)
find the length of the shortest pattern that produces exactly this beginning. Return the
list of these lengths.

For example, "abcab" is produced by the pattern "abc" with a last copy that is cut off.

Constraints
The text has between 1 and 4000 small English letters.
"""

SIGNATURE = "def stampLengths(self, text: str) -> List[int]:"

PUBLIC = [["abcab"], ["aab"]]


def generate(rng: Random) -> list[list[object]]:
    """Return the hidden argument lists; the last one is the large one."""
    texts = ["a", "aa", "ab", "aba", "aabaab", "aabaaab", "abababc", "aaaab", "abacabadabacaba"]
    texts += ["".join(rng.choices("ab", k=size)) for size in (12, 25, 50)]
    block = "".join(rng.choices("aab", k=130))
    texts.append((block * 30 + "c" + block)[:4000])
    return [[text] for text in texts]


REFERENCE = """\
class Solution:
    def stampLengths(self, text: str) -> List[int]:
        border = [0] * len(text)
        k = 0
        for i in range(1, len(text)):
            while k > 0 and text[i] != text[k]:
                k = border[k - 1]
            if text[i] == text[k]:
                k += 1
            border[i] = k
        return [i + 1 - k for i, k in enumerate(border)]
"""

WRONG = [
    """\
# Fault: allows only patterns whose copies are all complete.
class Solution:
    def stampLengths(self, text: str) -> List[int]:
        border = [0] * len(text)
        k = 0
        for i in range(1, len(text)):
            while k > 0 and text[i] != text[k]:
                k = border[k - 1]
            if text[i] == text[k]:
                k += 1
            border[i] = k
        periods = [i + 1 - k for i, k in enumerate(border)]
        return [p if (i + 1) % p == 0 else i + 1 for i, p in enumerate(periods)]
""",
    """\
# Fault: falls back to the empty border instead of the next shorter one.
class Solution:
    def stampLengths(self, text: str) -> List[int]:
        border = [0] * len(text)
        k = 0
        for i in range(1, len(text)):
            if text[i] != text[k]:
                k = 0
            if text[i] == text[k]:
                k += 1
            border[i] = k
        return [i + 1 - k for i, k in enumerate(border)]
""",
]
