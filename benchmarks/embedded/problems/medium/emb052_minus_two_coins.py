"""Write an integer in base minus two."""

from random import Random

META = {
    "question_id": "emb052_minus_two_coins",
    "title": "Minus-Two Coins",
    "difficulty": "medium",
    "mode": "functional",
    "contest_id": "emb_round_04",
    "contest_date": "2025-04-18T00:00:00",
}

STATEMENT = """\
In a strange land the coins are worth 1, -2, 4, -8, 16, ...: each coin is worth minus two
times the coin before it. There is one coin of each kind. Every whole number can be paid in
exactly one way. Return how n is paid as a text of 0 and 1: the last character stands for
the coin 1, the one before it for the coin -2, and so on. There are no zeros at the front,
except that n = 0 is written as "0".

Constraints
n is between -10^15 and 10^15.
"""

SIGNATURE = "def payNumber(self, n: int) -> str:"

PUBLIC = [[6], [-1]]


def generate(rng: Random) -> list[list[object]]:
    """Return the hidden argument lists; the last one is the large one."""
    numbers = [0, 1, 2, 3, 4, 5, -2, -3, -10, 100, rng.randint(1000, 9999), -rng.randint(1, 99)]
    numbers += [-(10**15), 10**15 - rng.randint(1, 10**6)]
    return [[number] for number in numbers]


REFERENCE = """\
class Solution:
    def payNumber(self, n: int) -> str:
        if n == 0:
            return "0"
        digits = ""
        while n != 0:
            bit = n % 2
            digits = str(bit) + digits
            n = (n - bit) // -2
        return digits
"""

WRONG = [
    """\
# Fault: writes the absolute value in the common base two.
class Solution:
    def payNumber(self, n: int) -> str:
        return bin(abs(n))[2:]
""",
    """\
# Fault: forgot the number 0, which gives an empty text.
class Solution:
    def payNumber(self, n: int) -> str:
        digits = ""
        while n != 0:
            digits = str(n % 2) + digits
            n = -(n // 2)
        return digits
""",
]
