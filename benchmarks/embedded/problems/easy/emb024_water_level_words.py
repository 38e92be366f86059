"""Map numbers to three words by limits."""

from random import Random

META = {
    "question_id": "emb024_water_level_words",
    "title": "Water Level Words",
    "difficulty": "easy",
    "mode": "functional",
    "contest_id": "emb_round_12",
    "contest_date": "2025-12-07T00:00:00",
}

STATEMENT = """\
For each water level return a word: "low" if the level is below 40, "high" if it is 70 or
more, and "normal" for everything in between. Return the list of words in the same order.

Constraints
The list has at most 2000 integers between -1000 and 1000.
"""

SIGNATURE = "def levelWords(self, levels: List[int]) -> List[str]:"

PUBLIC = [[[10, 55, 90]]]


def generate(rng: Random) -> list[list[object]]:
    """Return the hidden argument lists; the last one is the large one."""
    lists = [[], [39], [40], [41], [69], [70], [71], [-5, 1000], [40, 70, 40]]
    lists += [[rng.randint(30, 80) for _ in range(size)] for size in (5, 15)]
    lists.append([rng.randint(-1000, 1000) for _ in range(2000)])
    return [[levels] for levels in lists]


REFERENCE = """\
class Solution:
    def levelWords(self, levels: List[int]) -> List[str]:
        words = []
        for level in levels:
            if level < 40:
                words.append("low")
            elif level >= 70:
                words.append("high")
            else:
                words.append("normal")
        return words
"""

WRONG = [
    """\
# Fault: the level 70 should already be high.
class Solution:
    def levelWords(self, levels: List[int]) -> List[str]:
        return ["low" if x < 40 else "high" if x > 70 else "normal" for x in levels]
""",
    """\
# Fault: the level 40 should already be normal.
class Solution:
    def levelWords(self, levels: List[int]) -> List[str]:
        return ["low" if x <= 40 else "high" if x >= 70 else "normal" for x in levels]
""",
]
