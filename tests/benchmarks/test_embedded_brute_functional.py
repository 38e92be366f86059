"""Second opinions for the harder functional problems of the embedded set.

The expected outputs of the set come from its references. Here each expected output on a small
input is compared with a slow and simple function that works in another way.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from itertools import combinations, count, pairwise, permutations
from typing import Any

import pytest


def _blocks(values: list[int], shortest: int = 1) -> Iterator[list[int]]:
    """Yield every block of neighbouring values."""
    for i in range(len(values)):
        for j in range(i + shortest, len(values) + 1):
            yield values[i:j]


def _groups(n: int, links: list[list[int]]) -> int:
    """Count the groups of nodes by spreading the smallest number of each group."""
    label = list(range(n))
    for _ in range(n):
        for a, b in links:
            label[a] = label[b] = min(label[a], label[b])
    return len(set(label))


def twice_at_most(songs: list[int]) -> int:
    """Look at every block."""
    fits = [len(b) for b in _blocks(songs) if max(Counter(b).values()) <= 2]
    return max(fits, default=0)


def clear_drops(scores: list[int], gap: int) -> int:
    """Look at every pair."""
    return sum(older > newer + gap for older, newer in combinations(scores, 2))


def team_sizes(bosses: list[int]) -> list[int]:
    """Let each person count for all bosses above."""
    sizes = [0] * len(bosses)
    for person in range(len(bosses)):
        while person >= 0:
            sizes[person] += 1
            person = bosses[person]
    return sizes


def shows_with_rest(gains: list[int]) -> int:
    """Decide show or no show for each day, from the first day on."""

    @cache
    def best(day: int) -> int:
        if day >= len(gains):
            return 0
        return max(best(day + 1), gains[day] + best(day + 3))

    return best(0)


def till_receipt(text: str) -> int:
    """Let Python calculate."""
    return int(eval(text, {}))


def tool_bench(room: int, tools: list[int]) -> int:
    """Fetch a tool if ``room`` or more other tools were used since its last use."""
    fetched = 0
    for i, tool in enumerate(tools):
        earlier = tools[:i][::-1]
        since = earlier.index(tool) if tool in earlier else len(earlier)
        fetched += tool not in earlier or len(set(earlier[:since])) >= room
    return fetched


def equal_ribbons(rolls: list[int], pieces: int) -> int:
    """Try every length."""
    lengths = range(1, max(rolls) + 1)
    return max((x for x in lengths if sum(roll // x for roll in rolls) >= pieces), default=0)


def islands_and_bridges(n: int, links: list[list[int]]) -> list[int]:
    """Count the groups anew after each bridge."""
    return [_groups(n, links[: i + 1]) for i in range(len(links))]


def orchard_paths(orchard: list[str]) -> int:
    """Count the paths backwards from the goal with exact numbers."""

    @cache
    def paths(row: int, col: int) -> int:
        if row < 0 or col < 0 or orchard[row][col] == "T":
            return 0
        return 1 if row == col == 0 else paths(row - 1, col) + paths(row, col - 1)

    return paths(len(orchard) - 1, len(orchard[0]) - 1) % 1000003


def minus_two_coins(n: int) -> str:
    """Try all sets of coins."""
    for choice in count():
        bits = f"{choice:b}"
        if sum((-2) ** i for i, bit in enumerate(reversed(bits)) if bit == "1") == n:
            return bits
    raise AssertionError("not reached")


def sign_repair_cost(old: str, new: str, add: int, drop: int, swap: int) -> int:
    """Decide letter by letter from the front."""

    @cache
    def cost(i: int, j: int) -> int:
        if i == len(old):
            return (len(new) - j) * add
        if j == len(new):
            return (len(old) - i) * drop
        change = 0 if old[i] == new[j] else swap
        return min(cost(i + 1, j + 1) + change, cost(i, j + 1) + add, cost(i + 1, j) + drop)

    return cost(0, 0)


def loudest_moments(loudness: list[int]) -> int:
    """Look at every clip."""
    return sum(max(clip) for clip in _blocks(loudness, shortest=2)) % (10**9 + 7)


def courier_dispatch(cost: list[list[int]]) -> int:
    """Try every choice of couriers."""
    totals = []
    for chosen in permutations(cost, len(cost[0])):
        prices = [row[parcel] for parcel, row in enumerate(chosen)]
        if min(prices) >= 0:
            totals.append(sum(prices))
    return min(totals, default=-1)


def restless_numbers(n: int) -> int:
    """Look at every number."""
    return sum(all(a != b for a, b in pairwise(s)) for s in map(str, range(1, n + 1)))


def wallpaper_stamp(text: str) -> list[int]:
    """Try every pattern length for every beginning."""
    return [
        next(p for p in range(1, n + 1) if (text[:p] * n)[:n] == text[:n])
        for n in range(1, len(text) + 1)
    ]


def fragile_cables(n: int, cables: list[list[int]]) -> list[int]:
    """Pull out each cable and count the groups."""
    whole = _groups(n, cables)
    rest = [cables[:i] + cables[i + 1 :] for i in range(len(cables))]
    return [i for i, fewer in enumerate(rest) if _groups(n, fewer) > whole]


# The largest input, in characters, that each slow function gets.
LIMITS: dict[Callable[..., Any], int] = {
    twice_at_most: 200,
    clear_drops: 60_000,
    team_sizes: 60_000,
    shows_with_rest: 400,
    till_receipt: 20_000,
    tool_bench: 60_000,
    equal_ribbons: 60,
    islands_and_bridges: 400,
    orchard_paths: 600,
    minus_two_coins: 4,
    sign_repair_cost: 100,
    loudest_moments: 300,
    courier_dispatch: 120,
    restless_numbers: 5,
    wallpaper_stamp: 60,
    fragile_cables: 300,
}


@pytest.mark.parametrize("solve", LIMITS, ids=lambda solve: solve.__name__)
def test_expected_outputs_agree_with_a_slow_function(
    solve: Callable[..., Any], small_tests: Callable[[str, int], list[dict[str, str]]]
) -> None:
    """The reference and the slow function give the same values on small inputs."""
    for test in small_tests(solve.__name__, LIMITS[solve]):
        arguments = [json.loads(line) for line in test["input"].split("\n")]
        assert solve(*arguments) == json.loads(test["output"]), test["input"]
