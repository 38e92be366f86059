"""Subtree sizes in a tree given by parents."""

from random import Random

META = {
    "question_id": "emb045_team_sizes",
    "title": "Team Sizes",
    "difficulty": "medium",
    "mode": "functional",
    "contest_id": "emb_round_09",
    "contest_date": "2025-09-14T00:00:00",
}

STATEMENT = """\
In a company each person has one boss, except for one person at the top. bosses[i] is the
number of the boss of person i, or -1 for the person at the top. The team of a person is the
person, all the people they are the boss of, the people below those, and so on. Return the
list of team sizes for the persons 0, 1, 2, and so on.

Constraints
There are between 1 and 4000 persons. The list describes one tree. A boss may have a greater
number than the people below.
"""

SIGNATURE = "def teamSizes(self, bosses: List[int]) -> List[int]:"

PUBLIC = [[[-1, 0, 0, 1]], [[2, 2, -1]]]


def _tree(rng: Random, size: int) -> list[int]:
    names = list(range(size))
    rng.shuffle(names)
    bosses = [-1] * size
    for i in range(1, size):
        bosses[names[i]] = names[rng.randrange(max(0, i - 15), i)]
    return bosses


def generate(rng: Random) -> list[list[object]]:
    """Return the hidden argument lists; the last one is the large one."""
    trees = [[-1], [-1, 0], [1, -1], [1, 2, 3, -1], [-1, 0, 1, 2], [-1, 0, 0, 0]]
    trees += [[4, 4, 0, 0, -1], [2, 0, -1]]
    trees += [_tree(rng, size) for size in (6, 10, 20, 4000)]
    return [[bosses] for bosses in trees]


REFERENCE = """\
class Solution:
    def teamSizes(self, bosses: List[int]) -> List[int]:
        n = len(bosses)
        waiting = [0] * n
        for boss in bosses:
            if boss >= 0:
                waiting[boss] += 1
        sizes = [1] * n
        ready = [i for i in range(n) if waiting[i] == 0]
        while ready:
            person = ready.pop()
            boss = bosses[person]
            if boss >= 0:
                sizes[boss] += sizes[person]
                waiting[boss] -= 1
                if waiting[boss] == 0:
                    ready.append(boss)
        return sizes
"""

WRONG = [
    """\
# Fault: assumes that a boss has a smaller number than the people below.
class Solution:
    def teamSizes(self, bosses: List[int]) -> List[int]:
        sizes = [1] * len(bosses)
        for i in range(len(bosses) - 1, -1, -1):
            if bosses[i] >= 0:
                sizes[bosses[i]] += sizes[i]
        return sizes
""",
    """\
# Fault: counts only the people directly below.
class Solution:
    def teamSizes(self, bosses: List[int]) -> List[int]:
        sizes = [1] * len(bosses)
        for boss in bosses:
            if boss >= 0:
                sizes[boss] += 1
        return sizes
""",
]
