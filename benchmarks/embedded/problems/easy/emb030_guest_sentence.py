"""Join names with commas and a final "and"."""

from random import Random

META = {
    "question_id": "emb030_guest_sentence",
    "title": "Guest Sentence",
    "difficulty": "easy",
    "mode": "functional",
    "contest_id": "emb_round_06",
    "contest_date": "2025-06-04T00:00:00",
}

STATEMENT = """\
Return one text that lists all guests. Put ", " between the names, except before the last
name, where " and " is used. One name stands alone. For no guests return "nobody".

Constraints
There are at most 1500 names of 1 to 10 English letters.
"""

SIGNATURE = "def guestSentence(self, names: List[str]) -> str:"

PUBLIC = [[["Ann", "Bo", "Cy"]], [["Ann", "Bo"]]]


def generate(rng: Random) -> list[list[object]]:
    """Return the hidden argument lists; the last one is the large one."""
    lists = [[], ["Zoe"], ["A", "B"], ["A", "B", "C", "D"], ["Max", "Max"], ["a", "b", "c"]]
    for count in (2, 3, 5, 8, 13, 1500):
        lists.append(
            ["".join(rng.choices("abcdeKLM", k=rng.randint(1, 10))) for _ in range(count)]
        )
    return [[names] for names in lists]


REFERENCE = """\
class Solution:
    def guestSentence(self, names: List[str]) -> str:
        if not names:
            return "nobody"
        if len(names) == 1:
            return names[0]
        return ", ".join(names[:-1]) + " and " + names[-1]
"""

WRONG = [
    """\
# Fault: forgot the empty list.
class Solution:
    def guestSentence(self, names: List[str]) -> str:
        head = ", ".join(names[:-1])
        return head + " and " + names[-1] if head else names[-1]
""",
    """\
# Fault: a single name gets a stray "and".
class Solution:
    def guestSentence(self, names: List[str]) -> str:
        if not names:
            return "nobody"
        return ", ".join(names[:-1]) + " and " + names[-1]
""",
]
