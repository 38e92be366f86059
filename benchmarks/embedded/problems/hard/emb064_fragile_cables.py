"""Bridges of a graph with parallel edges."""

from random import Random

META = {
    "question_id": "emb064_fragile_cables",
    "title": "Fragile Cables",
    "difficulty": "hard",
    "mode": "functional",
    "contest_id": "emb_round_12",
    "contest_date": "2025-12-07T00:00:00",
}

STATEMENT = """\
n computers with the numbers 0 to n-1 are joined by cables; cables[i] = [a, b] joins the
computers a and b. A cable is fragile if some two computers that can reach each other now
could not do so without it. Return the list of the positions i of all fragile cables in
rising order.

Constraints
n is between 1 and 1500 and there are at most 2500 cables. Two computers may be joined by
several cables, a cable may join a computer to itself, and the net may have several parts.
"""

SIGNATURE = "def fragileCables(self, n: int, cables: List[List[int]]) -> List[int]:"

PUBLIC = [[4, [[0, 1], [1, 2], [2, 0], [2, 3]]], [2, [[0, 1], [1, 0]]]]


def _net(rng: Random, n: int, count: int) -> list[list[int]]:
    cables = []
    for _ in range(count):
        a = rng.randrange(n)
        cables.append([a, max(0, min(n - 1, a + rng.randint(-6, 6)))])
    return cables


def generate(rng: Random) -> list[list[object]]:
    """Return the hidden argument lists; the last one is the large one."""
    cases: list[list[object]] = [[1, []], [1, [[0, 0]]], [2, [[0, 1]]], [3, [[2, 1], [0, 1]]]]
    cases += [[3, [[0, 1], [1, 2], [0, 1]]], [5, [[0, 1], [1, 2], [2, 0], [3, 4], [4, 4]]]]
    cases += [[6, [[0, 1], [1, 2], [2, 0], [2, 3], [3, 4], [4, 5], [5, 3]]]]
    for n, count in ((5, 6), (8, 9), (12, 14), (20, 24), (1500, 2400)):
        cases.append([n, _net(rng, n, count)])
    return cases


REFERENCE = """\
class Solution:
    def fragileCables(self, n: int, cables: List[List[int]]) -> List[int]:
        joined = [[] for _ in range(n)]
        for i, (a, b) in enumerate(cables):
            joined[a].append((b, i))
            joined[b].append((a, i))
        found = [0] * n
        low = [0] * n
        clock = 0
        fragile = []
        for root in range(n):
            if found[root]:
                continue
            clock += 1
            found[root] = low[root] = clock
            stack = [(root, -1, iter(joined[root]))]
            while stack:
                node, arrived_by, links = stack[-1]
                for other, cable in links:
                    if cable == arrived_by:
                        continue
                    if found[other]:
                        low[node] = min(low[node], found[other])
                        continue
                    clock += 1
                    found[other] = low[other] = clock
                    stack.append((other, cable, iter(joined[other])))
                    break
                else:
                    stack.pop()
                    if stack:
                        parent = stack[-1][0]
                        low[parent] = min(low[parent], low[node])
                        if low[node] > found[parent]:
                            fragile.append(arrived_by)
        return sorted(fragile)
"""

WRONG = [
    """\
# Fault: takes every cable that is the only one of some computer, and no others.
class Solution:
    def fragileCables(self, n: int, cables: List[List[int]]) -> List[int]:
        ends = Counter(end for cable in cables for end in cable)
        return [i for i, (a, b) in enumerate(cables) if ends[a] == 1 or ends[b] == 1]
""",
    """\
# Fault: skips the parent computer, so a second cable to it is not noticed.
class Solution:
    def fragileCables(self, n: int, cables: List[List[int]]) -> List[int]:
        joined = [[] for _ in range(n)]
        for i, (a, b) in enumerate(cables):
            joined[a].append((b, i))
            joined[b].append((a, i))
        found, low, fragile = {}, {}, []

        def visit(node, parent):
            found[node] = low[node] = len(found)
            for other, cable in joined[node]:
                if other == parent:
                    continue
                if other not in found:
                    visit(other, node)
                    if low[other] > found[node]:
                        fragile.append(cable)
                    low[node] = min(low[node], low[other])
                else:
                    low[node] = min(low[node], found[other])

        for root in range(n):
            if root not in found:
                visit(root, -1)
        return sorted(fragile)
""",
]
