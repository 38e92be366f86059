"""Difference of maximum and minimum."""

from random import Random

META = {
    "question_id": "emb027_price_spread",
    "title": "Price Spread",
    "difficulty": "easy",
    "mode": "functional",
    "contest_id": "emb_round_03",
    "contest_date": "2025-03-28T00:00:00",
}

STATEMENT = """\
Return the difference between the highest and the lowest price in the list. Return 0 for an
empty list.

Constraints
The list has at most 3000 integers between -100000 and 100000.
"""

SIGNATURE = "def priceSpread(self, prices: List[int]) -> int:"

PUBLIC = [[[4, 9, 2]], [[8]]]


def generate(rng: Random) -> list[list[object]]:
    """Return the hidden argument lists; the last one is the large one."""
    lists = [[], [0], [1, 5], [5, 1], [3, 3], [-4, -9], [-2, 0, 2], [1, 10, 1]]
    lists += [[rng.randint(-50, 50) for _ in range(size)] for size in (5, 10, 20)]
    lists.append([rng.randint(-100000, 100000) for _ in range(3000)])
    return [[prices] for prices in lists]


REFERENCE = """\
class Solution:
    def priceSpread(self, prices: List[int]) -> int:
        if not prices:
            return 0
        return max(prices) - min(prices)
"""

WRONG = [
    """\
# Fault: forgot the empty list.
class Solution:
    def priceSpread(self, prices: List[int]) -> int:
        return max(prices) - min(prices)
""",
    """\
# Fault: takes the last and the first price.
class Solution:
    def priceSpread(self, prices: List[int]) -> int:
        return abs(prices[-1] - prices[0]) if prices else 0
""",
]
