"""Evaluate +, - and * with the usual precedence."""

from random import Random

META = {
    "question_id": "emb047_till_receipt",
    "title": "Till Receipt",
    "difficulty": "medium",
    "mode": "functional",
    "contest_id": "emb_round_11",
    "contest_date": "2025-11-28T00:00:00",
}

STATEMENT = """\
An old till prints a calculation such as 2+3*4-10. It uses whole numbers without a sign and
the symbols +, - and *. Multiplications are done first; after that, sums and differences are
worked out from left to right. Return the result.

Constraints
The text has between 1 and 10000 characters and no spaces. Each number has at most 4 digits,
and at most 5 numbers are multiplied in a row.
"""

SIGNATURE = "def tillResult(self, text: str) -> int:"

PUBLIC = [["2+3*4-10"], ["42"]]


def _calculation(rng: Random, numbers: int) -> str:
    text, row = str(rng.randint(0, 9999)), 1
    for _ in range(numbers - 1):
        symbol = rng.choice("+-*" if row < 5 else "+-")
        row = row + 1 if symbol == "*" else 1
        text += symbol + str(rng.randint(0, 9999))
    return text


def generate(rng: Random) -> list[list[object]]:
    """Return the hidden argument lists; the last one is the large one."""
    texts = ["0", "7", "1+1", "5-8", "3*4", "1+2*3", "10-2-3", "2*3-4*5", "9-0*9+1", "6*0-1"]
    texts += [_calculation(rng, size) for size in (5, 10, 20, 1900)]
    return [[text] for text in texts]


REFERENCE = """\
class Solution:
    def tillResult(self, text: str) -> int:
        total = 0
        for part in text.replace("-", "+-").split("+"):
            sign = -1 if part.startswith("-") else 1
            product = 1
            for number in part.lstrip("-").split("*"):
                product *= int(number)
            total += sign * product
        return total
"""

WRONG = [
    """\
# Fault: works strictly from left to right, without precedence.
class Solution:
    def tillResult(self, text: str) -> int:
        parts = text.replace("+", " + ").replace("-", " - ").replace("*", " * ").split()
        total = int(parts[0])
        for symbol, number in zip(parts[1::2], parts[2::2]):
            if symbol == "+":
                total += int(number)
            elif symbol == "-":
                total -= int(number)
            else:
                total *= int(number)
        return total
""",
    """\
# Fault: a minus applies to everything on its right.
class Solution:
    def tillResult(self, text: str) -> int:
        result = 0
        for block in reversed(text.split("-")):
            value = sum(prod(map(int, part.split("*"))) for part in block.split("+"))
            result = value - result
        return result
""",
]
