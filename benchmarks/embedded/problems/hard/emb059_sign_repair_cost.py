"""Edit distance with three prices."""

from random import Random

META = {
    "question_id": "emb059_sign_repair_cost",
    "title": "Sign Repair Cost",
    "difficulty": "hard",
    "mode": "functional",
    "contest_id": "emb_round_02",
    "contest_date": "2025-02-09T00:00:00",
}

STATEMENT = """\
A shop wants to turn the old text of its sign into a new text. It can put in one letter
anywhere for add coins, take out one letter for drop coins, or replace one letter by another
one for swap coins. Return the least number of coins needed.

Constraints
Both texts have at most 250 small English letters and may be empty. The three prices are
between 0 and 10^6.
"""

SIGNATURE = "def repairCost(self, old: str, new: str, add: int, drop: int, swap: int) -> int:"

PUBLIC = [["cold", "old", 4, 3, 5], ["tea", "sea", 1, 1, 5]]


def generate(rng: Random) -> list[list[object]]:
    """Return the hidden argument lists; the last one is the large one."""
    cases: list[list[object]] = [["", "", 1, 1, 1], ["", "abc", 2, 9, 9], ["abc", "", 9, 2, 9]]
    cases += [["a", "a", 5, 5, 5], ["a", "b", 3, 4, 9], ["a", "b", 3, 4, 6]]
    cases += [["ab", "ba", 1, 1, 3], ["aaaa", "aa", 1, 7, 0], ["kite", "skies", 2, 3, 4]]
    for size in (6, 10, 18):
        old, new = ("".join(rng.choices("abc", k=size + rng.randint(-2, 2))) for _ in "on")
        cases.append([old, new, rng.randint(1, 9), rng.randint(1, 9), rng.randint(1, 15)])
    old, new = ("".join(rng.choices("abcd", k=250)) for _ in "on")
    cases.append([old, new, 700_000, 400_000, 900_000])
    return cases


REFERENCE = """\
class Solution:
    def repairCost(self, old: str, new: str, add: int, drop: int, swap: int) -> int:
        previous = [j * add for j in range(len(new) + 1)]
        for i, before in enumerate(old, 1):
            current = [i * drop]
            for j, after in enumerate(new, 1):
                best = previous[j - 1] + (0 if before == after else swap)
                best = min(best, previous[j] + drop, current[j - 1] + add)
                current.append(best)
            previous = current
        return previous[-1]
"""

WRONG = [
    """\
# Fault: the prices for putting in and taking out are exchanged.
class Solution:
    def repairCost(self, old: str, new: str, add: int, drop: int, swap: int) -> int:
        previous = [j * drop for j in range(len(new) + 1)]
        for i, before in enumerate(old, 1):
            current = [i * add]
            for j, after in enumerate(new, 1):
                best = previous[j - 1] + (0 if before == after else swap)
                best = min(best, previous[j] + add, current[j - 1] + drop)
                current.append(best)
            previous = current
        return previous[-1]
""",
    """\
# Fault: greedy, compares letters at equal positions and pays for the rest.
class Solution:
    def repairCost(self, old: str, new: str, add: int, drop: int, swap: int) -> int:
        cost = sum(min(swap, add + drop) for a, b in zip(old, new) if a != b)
        cost += max(0, len(new) - len(old)) * add
        return cost + max(0, len(old) - len(new)) * drop
""",
]
