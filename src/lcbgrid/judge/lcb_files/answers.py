"""Checks of answers to problems that have several right ones.

Each function gets the test's input, what the program gave and the stored answer. It returns
``None`` if the answer is right by the problem's statement, else a short reason that never holds
the stored answer. Output texts are read token by token (line breaks and blanks do not matter, as
with the checkers of contest sites) and numbers in plain ASCII digits only. A stored answer that
says that there is no solution, or how good the best one is, is believed.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from lcbgrid.core.errors import DataError

_INTEGER = re.compile(r"-?[0-9]{1,19}", re.ASCII)
_CUBE = 7
_FAR = 100


def any_order(input_text: str, got: Any, expected: Any) -> str | None:
    """The same elements of a list, each as often, in any order."""
    del input_text
    if not isinstance(got, list) or not isinstance(expected, list):
        return "the result is no list"
    if len(got) != len(expected):
        return f"{len(got)} elements instead of {len(expected)}"
    try:
        same = Counter(map(_frozen, got)) == Counter(map(_frozen, expected))
    except (TypeError, RecursionError):
        return "the result holds something that cannot be compared in any order"
    return None if same else "other elements"


def any_order_lines(input_text: str, got: str, expected: str) -> str | None:
    """The same lines, each as often, in any order; blanks at both ends do not matter."""
    del input_text
    same = Counter(_lines(got)) == Counter(_lines(expected))
    return None if same else "other lines, in whatever order"


def permutation(input_text: str, got: str, expected: str) -> str | None:
    """The same tokens, each as often, in any order."""
    del input_text
    same = Counter(got.split()) == Counter(expected.split())
    return None if same else "other tokens, in whatever order"


def sum_of_distinct(input_text: str, got: str, expected: str) -> str | None:
    """Two different positive integers whose sum is the integer that was given."""
    del expected
    (total,) = _given(input_text, 1)
    numbers = _integers(got.split(), 2)
    if numbers is None:
        return "not two integers"
    left, right = numbers
    if left == right or left < 1 or right < 1:
        return "not two different positive integers"
    return None if left + right == total else "the sum is another one"


def digit_other_than_sum(input_text: str, got: str, expected: str) -> str | None:
    """An integer from 0 to 9 that is not the sum of the two integers given."""
    del expected
    left, right = _given(input_text, 2)
    numbers = _integers(got.split(), 1)
    if numbers is None or not 0 <= numbers[0] <= 9:
        return "not an integer from 0 to 9"
    return "it is the sum" if numbers[0] == left + right else None


def three_indices_with_sum(input_text: str, got: str, expected: str) -> str | None:
    """N, X, then A: i < j < k with A_i + A_j + A_k = X, or -1 if the stored answer is -1."""
    n, total, *values = _given(input_text)
    if len(values) != n:
        raise DataError("the input is not N, X and N integers")
    if expected.split() == ["-1"] or got.split() == ["-1"]:
        return None if expected.split() == got.split() else "wrong about there being a solution"
    numbers = _integers(got.split(), 3)
    if numbers is None:
        return "not three integers"
    i, j, k = numbers
    if not 1 <= i < j < k <= n:
        return "not three rising indices"
    found = values[i - 1] + values[j - 1] + values[k - 1]
    return None if found == total else "the sum is another one"


def cycle_of_successors(input_text: str, got: str, expected: str) -> str | None:
    """N, then A: M, then M different vertices, each the successor of the one before, closed."""
    del expected
    n, *successors = _given(input_text)
    if len(successors) != n:
        raise DataError("the input is not N and N integers")
    numbers = _integers(got.split())
    if not numbers or numbers[0] < 2 or len(numbers) != numbers[0] + 1:
        return "not a length from 2 and as many vertices"
    cycle = numbers[1:]
    if len(set(cycle)) != len(cycle) or not all(1 <= vertex <= n for vertex in cycle):
        return "not different vertices"
    closed = zip(cycle, [*cycle[1:], cycle[0]], strict=True)
    if any(successors[vertex - 1] != successor for vertex, successor in closed):
        return "not a cycle of the graph"
    return None


def ranges_sum_zero(input_text: str, got: str, expected: str) -> str | None:
    """N, then N ranges: "Yes" and an integer of each range, sum 0; or "No" as stored."""
    n, *ends = _given(input_text)
    if len(ends) != 2 * n:
        raise DataError("the input is not N and N pairs")
    answer, rest = _decision(got, expected)
    if answer != "Yes":
        return _agreed(answer)
    numbers = _integers(rest, n)
    if numbers is None:
        return "not one integer for each range"
    ranges = zip(ends[::2], ends[1::2], strict=True)
    if any(not low <= x <= high for x, (low, high) in zip(numbers, ranges, strict=True)):
        return "an integer is outside its range"
    return None if sum(numbers) == 0 else "the sum is not 0"


def potions(input_text: str, got: str, expected: str) -> str | None:
    """N events: the stored least number, then 0 or 1 for each potion so that no monster wins."""
    n, *flat = _given(input_text)
    if len(flat) != 2 * n:
        raise DataError("the input is not N and N pairs")
    events = list(zip(flat[::2], flat[1::2], strict=True))
    best, numbers = _integers(expected.split()[:1], 1), _integers(got.split())
    if best is None:
        raise DataError("the stored answer does not start with an integer")
    if not numbers or numbers[0] != best[0]:
        return "another number of potions"
    if best[0] == -1:
        return None if len(numbers) == 1 else "more than -1"
    picks = numbers[1:]
    if len(picks) != sum(kind == 1 for kind, _ in events) or not set(picks) <= {0, 1}:
        return "not 0 or 1 for each potion"
    return _adventure(events, picks, best[0])


def _adventure(events: list[tuple[int, int]], picks: list[int], most: int) -> str | None:
    choices = iter(picks)
    held: Counter[int] = Counter()
    total = 0
    for kind, thing in events:
        change = next(choices) if kind == 1 else -1
        held[thing] += change
        total += change
        if held[thing] < 0:
            return "a monster wins"
        if total > most:
            return "more potions at a time than said"
    return None


def abc_grid(input_text: str, got: str, expected: str) -> str | None:
    """N, R, C: "Yes" and a grid with one A, B, C a row and column, first letters as R and C."""
    size, rows_start, columns_start = input_text.split()
    answer, grid = _decision(got, expected)
    if answer != "Yes":
        return _agreed(answer)
    n = int(size)
    if len(grid) != n or any(len(line) != n or set(line) - set("ABC.") for line in grid):
        return "not a grid of that size and letters"
    columns = ["".join(letters) for letters in zip(*grid, strict=True)]
    starts = [*zip(grid, rows_start, strict=True), *zip(columns, columns_start, strict=True)]
    for line, first in starts:
        letters = line.replace(".", "")
        if sorted(letters) != ["A", "B", "C"]:
            return "a row or column does not hold each letter once"
        if letters[0] != first:
            return "a row or column starts with another letter"
    return None


def three_cubes(input_text: str, got: str, expected: str) -> str | None:
    """V1 V2 V3: "Yes" and three corners of cubes that overlap like that; or "No" as stored."""
    wanted = _given(input_text, 3)
    answer, rest = _decision(got, expected)
    if answer != "Yes":
        return _agreed(answer)
    numbers = _integers(rest, 9)
    if numbers is None or any(abs(number) > _FAR for number in numbers):
        return f"not nine integers up to {_FAR}"
    a, b, c = numbers[:3], numbers[3:6], numbers[6:]
    in_all = _shared(a, b, c)
    in_two = _shared(a, b) + _shared(a, c) + _shared(b, c) - 3 * in_all
    in_one = 3 * _CUBE**3 - 2 * in_two - 3 * in_all
    return None if [in_one, in_two, in_all] == wanted else "other volumes"


def _shared(*corners: list[int]) -> int:
    volume = 1
    for along in zip(*corners, strict=True):
        volume *= max(0, min(along) + _CUBE - max(along))
    return volume


def _decision(got: str, expected: str) -> tuple[str | None, list[str]]:
    """Return the program's "Yes" or "No" if it is the stored one, and the tokens after it."""
    tokens, stored = got.split(), expected.split()
    if not stored or stored[0] not in ("Yes", "No"):
        raise DataError("the stored answer is neither Yes nor No")
    if not tokens or tokens[0] != stored[0] or (tokens[0] == "No" and len(tokens) > 1):
        return None, []
    return tokens[0], tokens[1:]


def _agreed(answer: str | None) -> str | None:
    return None if answer == "No" else "wrong about there being a solution"


def _given(text: str, count: int | None = None) -> list[int]:
    numbers = _integers(text.split(), count)
    if not numbers:
        raise DataError("the input does not hold the integers that the checker needs")
    return numbers


def _integers(tokens: list[str], count: int | None = None) -> list[int] | None:
    if count is not None and len(tokens) != count:
        return None
    if not all(_INTEGER.fullmatch(token) for token in tokens):
        return None
    return [int(token) for token in tokens]


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.strip().split("\n")]


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
