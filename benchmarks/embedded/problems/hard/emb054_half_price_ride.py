"""Shortest path with one halved edge."""

from random import Random

META = {
    "question_id": "emb054_half_price_ride",
    "title": "Half-Price Ride",
    "difficulty": "hard",
    "mode": "stdin",
    "contest_id": "emb_round_03",
    "contest_date": "2025-03-07T00:00:00",
}

STATEMENT = """\
Towns 1 to n are joined by one-way bus lines. Line i goes from town u to town v and costs w
coins. You hold one voucher: on one ride of your trip you pay only half of the price, rounded
down. You need not use it.

Print the least number of coins for a trip from town 1 to town n, or -1 if there is no trip.

Input
The first line has two integers n and m. Each of the next m lines has three integers u, v
and w.

Output
One integer.

Constraints
n is between 1 and 1000, m between 0 and 3000, and 0 <= w <= 10^9. Several lines may join the
same towns, and a line may return to its own town.
"""

PUBLIC = ["3 3\n1 2 10\n2 3 4\n1 3 20\n", "2 1\n2 1 5\n"]


def _case(n: int, lines: list[tuple[int, int, int]]) -> str:
    return f"{n} {len(lines)}\n" + "".join(f"{u} {v} {w}\n" for u, v, w in lines)


def _random_case(rng: Random, n: int, m: int, price: int) -> str:
    lines = []
    for _ in range(m):
        u = rng.randint(1, n)
        v = max(1, min(n, u + rng.randint(-n // 4 - 1, n // 4 + 1)))
        lines.append((u, v, rng.randint(0, price)))
    return _case(n, lines)


def generate(rng: Random) -> list[str]:
    """Return the hidden stdin texts; the last one is the large one."""
    cases = [_case(1, []), _case(2, []), _case(2, [(1, 2, 7)]), _case(2, [(1, 2, 9), (1, 2, 6)])]
    cases.append(_case(4, [(1, 2, 5), (2, 4, 5), (1, 3, 1), (3, 4, 12)]))
    cases.append(_case(4, [(1, 2, 3), (2, 3, 3), (3, 4, 3), (1, 4, 13)]))
    cases.append(_case(3, [(1, 1, 0), (1, 2, 1), (2, 3, 1), (3, 1, 0)]))
    for n, m in ((5, 10), (6, 15), (8, 24), (12, 40), (20, 70)):
        cases.append(_random_case(rng, n, m, 30))
    cases.append(_random_case(rng, 1000, 3000, 10**9))
    return cases


REFERENCE = """\
import heapq
import sys

data = list(map(int, sys.stdin.read().split()))
n, m = data[0], data[1]
lines = [[] for _ in range(n + 1)]
for i in range(2, 2 + 3 * m, 3):
    lines[data[i]].append((data[i + 1], data[i + 2]))
done = set()
heap = [(0, 1, 0)]
answer = -1
while heap:
    cost, town, used = heapq.heappop(heap)
    if (town, used) in done:
        continue
    done.add((town, used))
    if town == n:
        answer = cost
        break
    for following, price in lines[town]:
        heapq.heappush(heap, (cost + price, following, used))
        if not used:
            heapq.heappush(heap, (cost + price // 2, following, 1))
print(answer)
"""

WRONG = [
    """\
# Fault: finds the cheapest trip first and halves its dearest ride afterwards.
import heapq
import sys

data = list(map(int, sys.stdin.read().split()))
n, m = data[0], data[1]
lines = [[] for _ in range(n + 1)]
for i in range(2, 2 + 3 * m, 3):
    lines[data[i]].append((data[i + 1], data[i + 2]))
done = set()
heap = [(0, 1, 0)]
answer = -1
while heap:
    cost, town, dearest = heapq.heappop(heap)
    if town in done:
        continue
    done.add(town)
    if town == n:
        answer = cost - (dearest + 1) // 2
        break
    for following, price in lines[town]:
        heapq.heappush(heap, (cost + price, following, max(dearest, price)))
print(answer)
""",
    """\
# Fault: rounds half of an odd price up instead of down.
import heapq
import sys

data = list(map(int, sys.stdin.read().split()))
n, m = data[0], data[1]
lines = [[] for _ in range(n + 1)]
for i in range(2, 2 + 3 * m, 3):
    lines[data[i]].append((data[i + 1], data[i + 2]))
done = set()
heap = [(0, 1, 0)]
answer = -1
while heap:
    cost, town, used = heapq.heappop(heap)
    if (town, used) in done:
        continue
    done.add((town, used))
    if town == n:
        answer = cost
        break
    for following, price in lines[town]:
        heapq.heappush(heap, (cost + price, following, used))
        if not used:
            heapq.heappush(heap, (cost + (price + 1) // 2, following, 1))
print(answer)
""",
]
