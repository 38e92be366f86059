"""Sum of the digits of a long number."""

from random import Random

META = {
    "question_id": "emb007_door_code_sum",
    "title": "Door Code Sum",
    "difficulty": "easy",
    "mode": "stdin",
    "contest_id": "emb_round_07",
    "contest_date": "2025-07-28T00:00:00",
}

STATEMENT = """\
A door opens when you type the sum of the digits of its code. Print that sum.

Input
One line of digits, the code. It may start with zeros.

Output
One integer, the sum of all digits.

Constraints
The code has between 1 and 3000 digits.
"""

PUBLIC = ["4071\n", "9\n"]


def generate(rng: Random) -> list[str]:
    """Return the hidden stdin texts; the last one is the large one."""
    codes = ["0", "10", "99", "0005", "1111", "987654321", "5050", "0000"]
    codes += ["".join(rng.choices("0123456789", k=size)) for size in (6, 12, 25, 3000)]
    return [code + "\n" for code in codes]


REFERENCE = """\
code = input().strip()
print(sum(int(digit) for digit in code))
"""

WRONG = [
    """\
# Fault: keeps adding until one digit is left.
code = input().strip()
while len(code) > 1:
    code = str(sum(int(digit) for digit in code))
print(code)
""",
    """\
# Fault: forgets the last digit.
code = input().strip()
print(sum(int(digit) for digit in code[:-1]))
""",
]
