"""Count numbers without equal neighbouring digits."""

from random import Random

META = {
    "question_id": "emb062_restless_numbers",
    "title": "Restless Numbers",
    "difficulty": "hard",
    "mode": "functional",
    "contest_id": "emb_round_08",
    "contest_date": "2025-08-18T00:00:00",
}

STATEMENT = """\
A positive whole number is restless if no two neighbouring digits of its usual decimal form
are equal. For example, 7, 121 and 2025 are restless, but 100 and 3445 are not. Return how
many of the numbers from 1 to n are restless.

Constraints
n is between 1 and 10^17.
"""

SIGNATURE = "def countRestless(self, n: int) -> int:"

PUBLIC = [[15], [9]]


def generate(rng: Random) -> list[list[object]]:
    """Return the hidden argument lists; the last one is the large one."""
    numbers = [1, 10, 11, 12, 99, 100, 101, 110, 121, 1000, 9898, 2211]
    numbers += [rng.randint(10**size, 10 ** (size + 1)) for size in (3, 6, 9)]
    numbers += [98_989_898_989_898_989, 10**17]
    return [[number] for number in numbers]


REFERENCE = """\
class Solution:
    def countRestless(self, n: int) -> int:
        digits = str(n)
        size = len(digits)
        total = sum(9 ** length for length in range(1, size))
        previous = -1
        for i, char in enumerate(digits):
            digit = int(char)
            smaller = digit - (1 if i == 0 else 0)
            if 0 <= previous < digit:
                smaller -= 1
            total += smaller * 9 ** (size - i - 1)
            if digit == previous:
                return total
            previous = digit
        return total + 1
"""

WRONG = [
    """\
# Fault: n itself is never counted.
class Solution:
    def countRestless(self, n: int) -> int:
        digits = str(n)
        size = len(digits)
        total = sum(9 ** length for length in range(1, size))
        previous = -1
        for i, char in enumerate(digits):
            digit = int(char)
            smaller = digit - (1 if i == 0 else 0)
            if 0 <= previous < digit:
                smaller -= 1
            total += smaller * 9 ** (size - i - 1)
            if digit == previous:
                break
            previous = digit
        return total
""",
    """\
# Fault: goes on after the digits of n already repeat.
class Solution:
    def countRestless(self, n: int) -> int:
        digits = str(n)
        size = len(digits)
        total = sum(9 ** length for length in range(1, size))
        previous = -1
        for i, char in enumerate(digits):
            digit = int(char)
            smaller = digit - (1 if i == 0 else 0)
            if 0 <= previous < digit:
                smaller -= 1
            total += smaller * 9 ** (size - i - 1)
            previous = digit
        return total + 1
""",
]
