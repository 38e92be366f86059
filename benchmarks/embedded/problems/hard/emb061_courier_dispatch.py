"""Bitmask assignment with forbidden pairs."""

from random import Random

META = {
    "question_id": "emb061_courier_dispatch",
    "title": "Courier Dispatch",
    "difficulty": "hard",
    "mode": "functional",
    "contest_id": "emb_round_06",
    "contest_date": "2025-06-11T00:00:00",
}

STATEMENT = """\
Each parcel must be given to a courier of its own; couriers may stay without a parcel.
cost[i][j] is the price courier i asks for parcel j, or -1 if courier i cannot carry it.
Return the least total price for delivering all parcels, or -1 if this is not possible.

Constraints
There are between 1 and 12 couriers and between 1 and 10 parcels. Prices are between 0 and
10^6.
"""

SIGNATURE = "def dispatch(self, cost: List[List[int]]) -> int:"

PUBLIC = [[[[4, 2], [3, 5], [9, 1]]], [[[1, 2]]]]


def _table(rng: Random, couriers: int, parcels: int, top: int, gaps: float) -> list[list[int]]:
    return [
        [-1 if rng.random() < gaps else rng.randint(0, top) for _ in range(parcels)]
        for _ in range(couriers)
    ]


def generate(rng: Random) -> list[list[object]]:
    """Return the hidden argument lists; the last one is the large one."""
    tables = [[[0]], [[-1]], [[5], [3]], [[-1], [8]], [[1, 2], [1, 9]], [[1, -1], [2, -1]]]
    tables += [[[1, 2, 9], [1, 5, 9], [9, 9, -1]], [[10, 1], [11, 8], [10, 9]]]
    for couriers, parcels in ((3, 3), (4, 3), (5, 5), (6, 4)):
        tables.append(_table(rng, couriers, parcels, 30, 0.15))
    tables.append(_table(rng, 12, 10, 10**6, 0.1))
    return [[table] for table in tables]


REFERENCE = """\
class Solution:
    def dispatch(self, cost: List[List[int]]) -> int:
        parcels = len(cost[0])
        full = (1 << parcels) - 1
        best = {0: 0}
        for prices in cost:
            following = dict(best)
            for given, total in best.items():
                for parcel, price in enumerate(prices):
                    bit = 1 << parcel
                    if price >= 0 and not given & bit:
                        state = given | bit
                        if total + price < following.get(state, inf):
                            following[state] = total + price
            best = following
        return best.get(full, -1)
"""

WRONG = [
    """\
# Fault: greedy, gives each parcel to the cheapest courier that is still free.
class Solution:
    def dispatch(self, cost: List[List[int]]) -> int:
        free = set(range(len(cost)))
        total = 0
        for parcel in range(len(cost[0])):
            options = [(cost[i][parcel], i) for i in free if cost[i][parcel] >= 0]
            if not options:
                return -1
            price, courier = min(options)
            free.remove(courier)
            total += price
        return total
""",
    """\
# Fault: the mark -1 is used as if it were a price.
class Solution:
    def dispatch(self, cost: List[List[int]]) -> int:
        parcels = len(cost[0])
        best = {0: 0}
        for prices in cost:
            following = dict(best)
            for given, total in best.items():
                for parcel, price in enumerate(prices):
                    state = given | 1 << parcel
                    if state != given and total + price < following.get(state, inf):
                        following[state] = total + price
            best = following
        return best.get((1 << parcels) - 1, -1)
""",
]
