"""Count vowels in either case."""

from random import Random

META = {
    "question_id": "emb004_open_mouth_letters",
    "title": "Open-Mouth Letters",
    "difficulty": "easy",
    "mode": "stdin",
    "contest_id": "emb_round_04",
    "contest_date": "2025-04-07T00:00:00",
}

STATEMENT = """\
A singer practises the letters a, e, i, o and u. Count how many of these letters the
given word has. Small and capital letters both count.

Input
One word made of English letters.

Output
One integer, the number of letters to practise.

Constraints
The word has between 1 and 5000 letters.
"""

PUBLIC = ["Aurora\n", "fly\n"]


def generate(rng: Random) -> list[str]:
    """Return the hidden stdin texts; the last one is the large one."""
    words = ["a", "b", "E", "sky", "ruru", "OUI", "banana", "Umbrella", "rhythm", "AEIOUaeiou"]
    words += ["".join(rng.choices("abcdefgiouAEIOUXYZ", k=size)) for size in (15, 40, 5000)]
    return [word + "\n" for word in words]


REFERENCE = """\
word = input().strip().lower()
count = 0
for letter in word:
    if letter in "aeiou":
        count += 1
print(count)
"""

WRONG = [
    """\
# Fault: capital letters are not counted.
word = input().strip()
print(sum(letter in "aeiou" for letter in word))
""",
    """\
# Fault: the letter u is missing from the list.
word = input().strip().lower()
print(sum(letter in "aeio" for letter in word))
""",
]
