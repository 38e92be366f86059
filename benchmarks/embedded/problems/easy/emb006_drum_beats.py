"""Print a word depending on divisibility by 4 and 6."""

from random import Random

META = {
    "question_id": "emb006_drum_beats",
    "title": "Drum Beats",
    "difficulty": "easy",
    "mode": "stdin",
    "contest_id": "emb_round_06",
    "contest_date": "2025-06-21T00:00:00",
}

STATEMENT = """\
A drummer counts from 1 to n, one number per line. For a number divisible by both 4 and 6
print "jump". Otherwise, if it is divisible by 4 print "clap", and if it is divisible by 6
print "stomp". For any other number print the number itself.

Input
One integer n.

Output
n lines, as described above.

Constraints
n is between 1 and 2000.
"""

PUBLIC = ["6\n", "1\n"]


def generate(rng: Random) -> list[str]:
    """Return the hidden stdin texts; the last one is the large one."""
    sizes = [2, 3, 4, 5, 8, 11, 12, 13, 24, 36, rng.randint(50, 90), 2000]
    return [f"{size}\n" for size in sizes]


REFERENCE = """\
n = int(input())
for i in range(1, n + 1):
    if i % 4 == 0 and i % 6 == 0:
        print("jump")
    elif i % 4 == 0:
        print("clap")
    elif i % 6 == 0:
        print("stomp")
    else:
        print(i)
"""

WRONG = [
    """\
# Fault: the test for both comes last and is never reached.
n = int(input())
for i in range(1, n + 1):
    if i % 4 == 0:
        print("clap")
    elif i % 6 == 0:
        print("stomp")
    elif i % 4 == 0 and i % 6 == 0:
        print("jump")
    else:
        print(i)
""",
    """\
# Fault: uses 24 as the common multiple of 4 and 6.
n = int(input())
for i in range(1, n + 1):
    if i % 24 == 0:
        print("jump")
    elif i % 4 == 0:
        print("clap")
    elif i % 6 == 0:
        print("stomp")
    else:
        print(i)
""",
]
