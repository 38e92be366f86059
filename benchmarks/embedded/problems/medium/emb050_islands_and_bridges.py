"""Number of groups after each new link."""

from random import Random

META = {
    "question_id": "emb050_islands_and_bridges",
    "title": "Islands and Bridges",
    "difficulty": "medium",
    "mode": "functional",
    "contest_id": "emb_round_02",
    "contest_date": "2025-02-04T00:00:00",
}

STATEMENT = """\
There are n islands with the numbers 0 to n-1 and no bridges. Bridges are then built one
after another; links[i] = [a, b] is a bridge between the islands a and b. A group is a
largest set of islands that can all reach each other. Return the list with the number of
groups after each bridge.

Constraints
n is between 1 and 3000 and there are at most 2500 bridges. a and b may be equal, and a pair
may be linked more than once.
"""

SIGNATURE = "def groupCounts(self, n: int, links: List[List[int]]) -> List[int]:"

PUBLIC = [[4, [[0, 1], [2, 3], [1, 0], [1, 2]]], [2, [[1, 1]]]]


def generate(rng: Random) -> list[list[object]]:
    """Return the hidden argument lists; the last one is the large one."""
    cases: list[list[object]] = [[1, []], [1, [[0, 0]]], [3, []], [2, [[0, 1], [0, 1]]]]
    cases += [[4, [[0, 1], [0, 2], [0, 3]]], [4, [[0, 1], [2, 1], [2, 3], [3, 0]]]]
    cases += [[5, [[4, 3], [3, 2], [2, 1], [1, 0], [0, 4]]]]
    for n, count in ((5, 8), (8, 12), (20, 30), (3000, 2500)):
        cases.append([n, [[rng.randrange(n), rng.randrange(n)] for _ in range(count)]])
    return cases


REFERENCE = """\
class Solution:
    def groupCounts(self, n: int, links: List[List[int]]) -> List[int]:
        leader = list(range(n))

        def find(island):
            while leader[island] != island:
                leader[island] = leader[leader[island]]
                island = leader[island]
            return island

        counts = []
        groups = n
        for a, b in links:
            a, b = find(a), find(b)
            if a != b:
                leader[a] = b
                groups -= 1
            counts.append(groups)
        return counts
"""

WRONG = [
    """\
# Fault: each bridge is believed to join two groups.
class Solution:
    def groupCounts(self, n: int, links: List[List[int]]) -> List[int]:
        return [max(1, n - i) for i in range(1, len(links) + 1)]
""",
    """\
# Fault: moves one island to the other group and forgets the rest of its group.
class Solution:
    def groupCounts(self, n: int, links: List[List[int]]) -> List[int]:
        group = list(range(n))
        counts = []
        for a, b in links:
            group[a] = group[b]
            counts.append(len(set(group)))
        return counts
""",
]
