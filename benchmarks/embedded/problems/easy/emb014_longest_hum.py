"""Longest run of one repeated letter."""

from random import Random

META = {
    "question_id": "emb014_longest_hum",
    "title": "Longest Hum",
    "difficulty": "easy",
    "mode": "stdin",
    "contest_id": "emb_round_02",
    "contest_date": "2025-02-07T00:00:00",
}

STATEMENT = """\
A bee writes its song as small letters. A hum is a piece of the song in which one letter is
repeated without a break. Print the length of the longest hum.

Input
One word of small English letters.

Output
One integer, the length of the longest hum.

Constraints
The word has between 1 and 5000 letters.
"""

PUBLIC = ["abbbcc\n", "xyz\n"]


def generate(rng: Random) -> list[str]:
    """Return the hidden stdin texts; the last one is the large one."""
    words = ["a", "aa", "ab", "aab", "abb", "abab", "zzzzz", "aabbbaa", "abcccc"]
    words += ["".join(rng.choices("ab", k=size)) for size in (12, 30)]
    words.append("".join(rng.choices("abc", k=4970)) + "d" * 30)
    return [word + "\n" for word in words]


REFERENCE = """\
word = input().strip()
best = 0
run = 0
previous = ""
for letter in word:
    if letter == previous:
        run += 1
    else:
        run = 1
        previous = letter
    best = max(best, run)
print(best)
"""

WRONG = [
    """\
# Fault: a run that reaches the end of the word is not compared.
word = input().strip()
best = 1
run = 1
for i in range(1, len(word)):
    if word[i] == word[i - 1]:
        run += 1
    else:
        best = max(best, run)
        run = 1
print(best)
""",
    """\
# Fault: counts all copies of a letter, even when they are apart.
word = input().strip()
print(max(word.count(letter) for letter in set(word)))
""",
]
