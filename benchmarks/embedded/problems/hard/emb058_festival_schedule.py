"""Critical path and critical tasks in a DAG."""

from random import Random

META = {
    "question_id": "emb058_festival_schedule",
    "title": "Festival Schedule",
    "difficulty": "hard",
    "mode": "stdin",
    "contest_id": "emb_round_11",
    "contest_date": "2025-11-03T00:00:00",
}

STATEMENT = """\
A festival needs n tasks; task i takes d_i hours. A rule "a b" says that task a must be
finished before task b starts. Tasks without such an order may run at the same time.

Print the least number of hours in which all tasks can be finished, and how many tasks are
critical. A task is critical if one more hour for it alone would make the festival later. If
the rules contradict each other because they form a circle, print only the word "circle".

Input
The first line has two integers n and m. The second line has n integers, the hours. Each of
the next m lines has one rule "a b" with task numbers counted from 1.

Output
Two integers separated by a space, or the word "circle".

Constraints
n is between 1 and 1500, m between 0 and 3000, hours between 1 and 10^6. A rule may occur more
than once.
"""

PUBLIC = ["4 3\n2 3 1 3\n1 2\n1 3\n3 4\n", "2 2\n1 1\n1 2\n2 1\n"]


def _case(hours: list[int], rules: list[tuple[int, int]]) -> str:
    head = f"{len(hours)} {len(rules)}\n{' '.join(map(str, hours))}\n"
    return head + "".join(f"{a} {b}\n" for a, b in rules)


def _random_case(rng: Random, n: int, m: int, limit: int) -> str:
    order = list(range(1, n + 1))
    rng.shuffle(order)
    rules = []
    for _ in range(m):
        first = rng.randrange(n - 1)
        rules.append((order[first], order[rng.randint(first + 1, min(n - 1, first + 30))]))
    return _case([rng.randint(1, limit) for _ in range(n)], rules)


def generate(rng: Random) -> list[str]:
    """Return the hidden stdin texts; the last one is the large one."""
    cases = [_case([5], []), _case([3, 3], []), _case([2, 3], []), _case([2, 3], [(2, 1)] * 2)]
    cases.append(_case([1], [(1, 1)]))
    cases.append(_case([1, 2, 2, 1], [(1, 2), (1, 3), (2, 4), (3, 4)]))
    cases.append(_case([4, 1, 1, 1], [(2, 3), (3, 4), (4, 2)]))
    cases.append(_case([1, 2, 1, 1, 1], [(1, 2), (2, 5), (1, 3), (3, 4), (4, 5)]))
    for n, m, limit in ((5, 6, 2), (8, 12, 3), (12, 20, 3), (20, 40, 4)):
        cases.append(_random_case(rng, n, m, limit))
    cases.append(_random_case(rng, 1500, 3000, 10**6))
    return cases


REFERENCE = """\
import sys

data = list(map(int, sys.stdin.read().split()))
n, m = data[0], data[1]
hours = [0] + data[2:2 + n]
after = [[] for _ in range(n + 1)]
open_rules = [0] * (n + 1)
for i in range(2 + n, 2 + n + 2 * m, 2):
    after[data[i]].append(data[i + 1])
    open_rules[data[i + 1]] += 1
order = [task for task in range(1, n + 1) if open_rules[task] == 0]
start = [0] * (n + 1)
for task in order:
    for later in after[task]:
        start[later] = max(start[later], start[task] + hours[task])
        open_rules[later] -= 1
        if open_rules[later] == 0:
            order.append(later)
if len(order) < n:
    print("circle")
else:
    tail = [0] * (n + 1)
    for task in reversed(order):
        tail[task] = hours[task] + max((tail[later] for later in after[task]), default=0)
    total = max(tail)
    critical = sum(start[task] + tail[task] == total for task in range(1, n + 1))
    print(total, critical)
"""

WRONG = [
    """\
# Fault: counts the tasks of only one longest chain.
import sys

data = list(map(int, sys.stdin.read().split()))
n, m = data[0], data[1]
hours = [0] + data[2:2 + n]
after = [[] for _ in range(n + 1)]
open_rules = [0] * (n + 1)
for i in range(2 + n, 2 + n + 2 * m, 2):
    after[data[i]].append(data[i + 1])
    open_rules[data[i + 1]] += 1
order = [task for task in range(1, n + 1) if open_rules[task] == 0]
for task in order:
    for later in after[task]:
        open_rules[later] -= 1
        if open_rules[later] == 0:
            order.append(later)
if len(order) < n:
    print("circle")
else:
    tail = [(0, 0)] * (n + 1)
    for task in reversed(order):
        total, count = max((tail[later] for later in after[task]), default=(0, 0))
        tail[task] = (total + hours[task], count + 1)
    print(*max(tail))
""",
    """\
# Fault: does not notice rules that form a circle.
import sys

data = list(map(int, sys.stdin.read().split()))
n, m = data[0], data[1]
hours = [0] + data[2:2 + n]
after = [[] for _ in range(n + 1)]
open_rules = [0] * (n + 1)
for i in range(2 + n, 2 + n + 2 * m, 2):
    after[data[i]].append(data[i + 1])
    open_rules[data[i + 1]] += 1
order = [task for task in range(1, n + 1) if open_rules[task] == 0]
start = [0] * (n + 1)
for task in order:
    for later in after[task]:
        start[later] = max(start[later], start[task] + hours[task])
        open_rules[later] -= 1
        if open_rules[later] == 0:
            order.append(later)
tail = [0] * (n + 1)
for task in reversed(order):
    tail[task] = hours[task] + max((tail[later] for later in after[task]), default=0)
total = max(tail)
print(total, sum(start[task] + tail[task] == total for task in range(1, n + 1)))
""",
]
