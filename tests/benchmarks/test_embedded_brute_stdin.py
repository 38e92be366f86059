"""Second opinions for the harder stdin problems of the embedded set.

The expected outputs of the set come from its references. Here each expected output on a small
input is compared with a slow and simple program that works in another way.
"""

import re
from collections import Counter
from collections.abc import Callable
from itertools import permutations

import pytest


def _numbers(text: str) -> list[int]:
    return list(map(int, text.split()))


def _tuples(text: str, size: int, skip: int) -> list[tuple[int, ...]]:
    """Return the numbers of a text after the first ``skip`` ones in groups of ``size``."""
    numbers = _numbers(text)[skip:]
    return [tuple(numbers[i : i + size]) for i in range(0, len(numbers), size)]


def nested_crates(text: str) -> str:
    """Remove the innermost crates round by round; the number of rounds is the depth."""
    rest, rounds = re.sub("[a-z]", "", text.strip()), 0
    while True:
        shorter = re.sub(r"\(\)|\[\]|\{\}", "", rest)
        if shorter == rest:
            return str(-1 if rest else rounds)
        rest, rounds = shorter, rounds + 1


def _distance(free: set[tuple[int, int]], goal: tuple[int, int]) -> float:
    reached, border, steps = {(0, 0)}, {(0, 0)}, 0
    while border:
        if goal in border:
            return steps
        near = {(r + a, c + b) for r, c in border for a, b in ((0, 1), (1, 0), (0, -1), (-1, 0))}
        border = (near & free) - reached
        reached |= border
        steps += 1
    return float("inf")


def one_wall_robot(text: str) -> str:
    """Open each wall in turn and search without any further wall."""
    grid = text.split()[2:]
    cells = {(r, c): char for r, row in enumerate(grid) for c, char in enumerate(row)}
    free = {cell for cell, char in cells.items() if char == "."}
    goal = max(cells)
    best = min(_distance(free | {cell}, goal) for cell in cells)
    return str(-1 if best == float("inf") else best)


def street_lamps(text: str) -> str:
    """Mark every lit metre."""
    return str(len({metre for a, b in _tuples(text, 2, 1) for metre in range(a, b)}))


def exact_postage(text: str) -> str:
    """Collect all amounts that can be paid with 0, 1, 2, ... stamps."""
    amount, _, *kinds = _numbers(text)
    level, count = {0}, 0
    while level and amount not in level:
        level = {paid + kind for paid in level for kind in kinds if paid + kind <= amount}
        count += 1
    return str(count if level else -1)


def packed_message(text: str) -> str:
    """Walk over the pieces anew for every question."""
    packed, _, *positions = text.split()
    answers = []
    for position in map(int, positions):
        left = position
        for size, letter in re.findall(r"(\d+)(\D)", packed):
            left -= int(size)
            if left <= 0:
                answers.append(letter)
                break
        else:
            answers.append("end")
    return "\n".join(answers)


def popular_dishes(text: str) -> str:
    """Sort twice with a stable sort."""
    _, k, *names = text.split()
    ranked = sorted(sorted(set(names)), key=names.count, reverse=True)
    return "\n".join(f"{name} {names.count(name)}" for name in ranked[: int(k)])


def balanced_walks(text: str) -> str:
    """Add up every block."""
    n, k, *changes = _numbers(text)
    return str(sum(sum(changes[i:j]) == k for i in range(n) for j in range(i + 1, n + 1)))


def growing_count_out(text: str) -> str:
    """Keep the circle as a list and the place of the next child as an index."""
    names = text.split()[1:]
    at, step = 0, 1
    while len(names) > 1:
        at = (at + step - 1) % len(names)
        names.pop(at)
        step += 1
    return names[0]


def turned_garden_map(text: str) -> str:
    """Move every cell to its new coordinates."""
    _, _, *grid, commands = text.split()
    cells = {(r, c): char for r, row in enumerate(grid) for c, char in enumerate(row)}
    for command in commands:
        rows, cols = map(max, zip(*cells, strict=True))
        moves: dict[str, Callable[[int, int], tuple[int, int]]] = {
            "R": lambda r, c, last=rows: (c, last - r),  # type: ignore[misc]
            "L": lambda r, c, last=cols: (last - c, r),  # type: ignore[misc]
            "F": lambda r, c, last=cols: (r, last - c),  # type: ignore[misc]
        }
        cells = {moves[command](r, c): char for (r, c), char in cells.items()}
    rows, cols = map(max, zip(*cells, strict=True))
    return "\n".join("".join(cells[r, c] for c in range(cols + 1)) for r in range(rows + 1))


def busiest_minute(text: str) -> str:
    """Count the visitors of every minute."""
    inside = Counter(minute for s, e in _tuples(text, 2, 1) for minute in range(s, e))
    peak = max(inside.values())
    return f"{peak} {min(minute for minute, count in inside.items() if count == peak)}"


def river_gauges(text: str) -> str:
    """Change and read a plain list."""
    _, start, *events = text.strip().split("\n")
    levels = _numbers(start)
    reports = []
    for event in events:
        kind, left, right, *value = event.split()
        for i in range(int(left) - 1, int(right)):
            levels[i] += int(value[0]) if value else 0
        if kind == "max":
            reports.append(max(levels[int(left) - 1 : int(right)]))
    return "\n".join(map(str, reports))


def half_price_ride(text: str) -> str:
    """Use the voucher on each line in turn and relax all lines n times (Bellman-Ford)."""
    n, lines = _numbers(text)[0], _tuples(text, 3, 2)
    best = 0.0 if n == 1 else float("inf")
    for chosen in range(len(lines)):
        cost = [float("inf")] * (n + 1)
        cost[1] = 0
        for _ in range(n):
            for i, (u, v, w) in enumerate(lines):
                cost[v] = min(cost[v], cost[u] + (w // 2 if i == chosen else w))
        best = min(best, cost[n])
    return str(-1 if best == float("inf") else int(best))


def lighthouse_shifts(text: str) -> str:
    """Try every earlier shift as the one before (quadratic)."""
    rest = _numbers(text)[1]
    best: list[tuple[int, int]] = []
    for start, end, pay in sorted(_tuples(text, 3, 2)):
        before = max((total for over, total in best if over + rest <= start), default=0)
        best.append((end, before + pay))
    return str(max(total for _, total in best))


def gift_in_a_gift(text: str) -> str:
    """Try every smaller box as the one inside (quadratic)."""
    chains: list[tuple[int, int, int]] = []
    for w, h in sorted(_tuples(text, 2, 1)):
        inside = max((size for a, b, size in chains if a < w and b < h), default=0)
        chains.append((w, h, inside + 1))
    return str(max(size for _, _, size in chains))


def saw_mill_plan(text: str) -> str:
    """Try all orders of the cuts."""
    length, _, *marks = _numbers(text)
    prices = []
    for order in permutations(marks):
        ends, price = [0, length], 0
        for mark in order:
            left = max(end for end in ends if end < mark)
            right = min(end for end in ends if end > mark)
            price += max(mark - left, right - mark)
            ends.append(mark)
        prices.append(price)
    return str(min(prices))


def festival_schedule(text: str) -> str:
    """Move start times up until no rule is broken; lengthen each task by one hour."""
    n, _, *rest = _numbers(text)
    hours, rules = rest[:n], _tuples(text, 2, 2 + n)

    def total(times: list[int]) -> int | None:
        start = [0] * n
        for _ in range(n + 1):
            later = list(start)
            for a, b in rules:
                later[b - 1] = max(later[b - 1], later[a - 1] + times[a - 1])
            if later == start:
                return max(map(sum, zip(start, times, strict=True)))
            start = later
        return None

    needed = total(hours)
    if needed is None:
        return "circle"
    longer = [[hour + (i == task) for i, hour in enumerate(hours)] for task in range(n)]
    return f"{needed} {sum(total(times) != needed for times in longer)}"


# The largest input, in characters, that each slow program gets.
LIMITS: dict[Callable[[str], str], int] = {
    nested_crates: 10_000,
    one_wall_robot: 200,
    street_lamps: 400,
    exact_postage: 40,
    packed_message: 400,
    popular_dishes: 1000,
    balanced_walks: 400,
    growing_count_out: 20_000,
    turned_garden_map: 3000,
    busiest_minute: 500,
    river_gauges: 60_000,
    half_price_ride: 700,
    lighthouse_shifts: 1000,
    gift_in_a_gift: 40_000,
    saw_mill_plan: 27,
    festival_schedule: 300,
}


@pytest.mark.parametrize("solve", LIMITS, ids=lambda solve: solve.__name__)
def test_expected_outputs_agree_with_a_slow_program(
    solve: Callable[[str], str], small_tests: Callable[[str, int], list[dict[str, str]]]
) -> None:
    """The reference and the slow program give the same outputs on small inputs."""
    for test in small_tests(solve.__name__, LIMITS[solve]):
        assert solve(test["input"]).split() == test["output"].split(), test["input"]
