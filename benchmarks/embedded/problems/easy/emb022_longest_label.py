"""First longest string of a list."""

from random import Random

META = {
    "question_id": "emb022_longest_label",
    "title": "Longest Label",
    "difficulty": "easy",
    "mode": "functional",
    "contest_id": "emb_round_10",
    "contest_date": "2025-10-18T00:00:00",
}

STATEMENT = """\
Return the longest label in the list. If several labels are equally long, return the one
that comes first. If the list is empty, return the empty string.

Constraints
There are at most 1500 labels of 1 to 20 small English letters.
"""

SIGNATURE = "def longestLabel(self, labels: List[str]) -> str:"

PUBLIC = [[["salt", "sugar", "flour"]], [["tea"]]]


def generate(rng: Random) -> list[list[object]]:
    """Return the hidden argument lists; the last one is the large one."""
    lists = [[], ["a"], ["a", "b"], ["ab", "b"], ["b", "ab"], ["abc", "xyz", "pq"]]
    lists += [["z", "yy", "xx", "w"], ["one", "three", "seven", "two"]]
    for count in (5, 10, 1500):
        lists.append(["".join(rng.choices("abcde", k=rng.randint(1, 20))) for _ in range(count)])
    return [[labels] for labels in lists]


REFERENCE = """\
class Solution:
    def longestLabel(self, labels: List[str]) -> str:
        best = ""
        for label in labels:
            if len(label) > len(best):
                best = label
        return best
"""

WRONG = [
    """\
# Fault: a later label of the same length wins.
class Solution:
    def longestLabel(self, labels: List[str]) -> str:
        best = ""
        for label in labels:
            if len(label) >= len(best):
                best = label
        return best
""",
    """\
# Fault: forgot the empty list.
class Solution:
    def longestLabel(self, labels: List[str]) -> str:
        return max(labels, key=len)
""",
]
