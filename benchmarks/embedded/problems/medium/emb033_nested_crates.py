"""Validate three bracket kinds and report the depth."""

from random import Random

META = {
    "question_id": "emb033_nested_crates",
    "title": "Nested Crates",
    "difficulty": "medium",
    "mode": "stdin",
    "contest_id": "emb_round_01",
    "contest_date": "2025-01-25T00:00:00",
}

STATEMENT = """\
A packing list shows three kinds of crates: "(" opens and ")" closes a wooden crate, "[" and
"]" do the same for metal crates, "{" and "}" for paper crates. Small letters are goods. A
list is valid if every crate is closed by its own kind, the crate opened last is closed
first, and no crate stays open.

Print the greatest number of crates that are open at the same moment, or -1 if the list is
not valid.

Input
One line without spaces, the packing list.

Output
One integer.

Constraints
The line has between 1 and 10000 characters.
"""

PUBLIC = ["a(b[c]d)\n", "(a]\n", "xyz\n"]


def _valid(rng: Random, pairs: int) -> str:
    text = ""
    stack: list[str] = []
    while pairs or stack:
        if pairs and (not stack or rng.random() < 0.55):
            kind = rng.choice(["()", "[]", "{}"])
            text, pairs = text + kind[0], pairs - 1
            stack.append(kind[1])
        else:
            text += stack.pop()
        text += "ab" if rng.random() < 0.1 else ""
    return text


def generate(rng: Random) -> list[str]:
    """Return the hidden stdin texts; the last one is the large one."""
    texts = ["()", ")", "((", "([)]", "{}[]()", "(()", "())", "a", "{[()]}", "[a{b}(c)]"]
    texts += [_valid(rng, size) for size in (5, 20, 60)]
    texts.append(_valid(rng, 50) + "}")
    texts.append(_valid(rng, 4000))
    return [text + "\n" for text in texts]


REFERENCE = """\
def solve(text):
    opener = {")": "(", "]": "[", "}": "{"}
    stack = []
    best = 0
    for char in text:
        if char in "([{":
            stack.append(char)
            best = max(best, len(stack))
        elif char in opener:
            if not stack or stack.pop() != opener[char]:
                return -1
    return -1 if stack else best


print(solve(input().strip()))
"""

WRONG = [
    """\
# Fault: only the number of open crates is tracked, not their kinds.
depth = best = 0
valid = True
for char in input().strip():
    if char in "([{":
        depth += 1
        best = max(best, depth)
    elif char in ")]}":
        depth -= 1
        valid = valid and depth >= 0
print(best if valid and depth == 0 else -1)
""",
    """\
# Fault: crates that stay open at the end are accepted.
def solve(text):
    opener = {")": "(", "]": "[", "}": "{"}
    stack = []
    best = 0
    for char in text:
        if char in "([{":
            stack.append(char)
            best = max(best, len(stack))
        elif char in opener:
            if not stack or stack.pop() != opener[char]:
                return -1
    return best


print(solve(input().strip()))
""",
]
