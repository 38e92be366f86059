"""Count misses of a least-recently-used store."""

from random import Random

META = {
    "question_id": "emb048_tool_bench",
    "title": "Tool Bench",
    "difficulty": "medium",
    "mode": "functional",
    "contest_id": "emb_round_12",
    "contest_date": "2025-12-03T00:00:00",
}

STATEMENT = """\
A workbench has room for a number of tools given by room. Whenever a tool is needed that is
not on the bench, the worker must fetch it. If the bench is full at that moment, the tool
that was not used for the longest time is put away first. The bench is empty at the
beginning. Given the tools in the order of use, return how often a tool must be fetched.

Constraints
room is between 1 and 100. The list has at most 3000 integers between 1 and 100000.
"""

SIGNATURE = "def countFetches(self, room: int, tools: List[int]) -> int:"

PUBLIC = [[2, [1, 2, 1, 3, 2]], [1, [5, 5]]]


def generate(rng: Random) -> list[list[object]]:
    """Return the hidden argument lists; the last one is the large one."""
    cases: list[list[object]] = [[1, []], [1, [4]], [1, [1, 2, 1]], [3, [1, 2, 3, 1, 2, 3]]]
    cases += [[2, [1, 2, 3, 1, 2, 3]], [2, [7, 8, 7, 9, 7]], [3, [1, 2, 3, 1, 4, 1]]]
    for size, room in ((15, 2), (30, 4), (60, 5)):
        cases.append([room, [rng.randint(1, 8) for _ in range(size)]])
    cases.append([60, [100000 - int(rng.random() ** 2 * 300) for _ in range(3000)]])
    return cases


REFERENCE = """\
class Solution:
    def countFetches(self, room: int, tools: List[int]) -> int:
        bench = OrderedDict()
        fetched = 0
        for tool in tools:
            if tool in bench:
                bench.move_to_end(tool)
                continue
            fetched += 1
            if len(bench) == room:
                bench.popitem(last=False)
            bench[tool] = True
        return fetched
"""

WRONG = [
    """\
# Fault: puts away the tool that was fetched first, not the one unused for longest.
class Solution:
    def countFetches(self, room: int, tools: List[int]) -> int:
        bench = deque()
        fetched = 0
        for tool in tools:
            if tool not in bench:
                fetched += 1
                if len(bench) == room:
                    bench.popleft()
                bench.append(tool)
        return fetched
""",
    """\
# Fault: off by one, uses one place less than the bench has.
class Solution:
    def countFetches(self, room: int, tools: List[int]) -> int:
        bench = []
        fetched = 0
        for tool in tools:
            if tool in bench:
                bench.remove(tool)
            else:
                fetched += 1
            bench.append(tool)
            if len(bench) >= room and room > 1:
                bench.pop(0)
        return fetched
""",
]
