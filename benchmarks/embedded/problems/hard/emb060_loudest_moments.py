"""Sum of maxima over all blocks of two or more."""

from random import Random

META = {
    "question_id": "emb060_loudest_moments",
    "title": "Loudest Moments",
    "difficulty": "hard",
    "mode": "functional",
    "contest_id": "emb_round_04",
    "contest_date": "2025-04-04T00:00:00",
}

STATEMENT = """\
A microphone stores the loudness of each second. A clip is a block of at least two seconds
in a row. The peak of a clip is its greatest loudness. Return the sum of the peaks of all
possible clips, modulo 10^9 + 7.

Constraints
The list has at most 3500 integers between 0 and 10^9.
"""

SIGNATURE = "def peakSum(self, loudness: List[int]) -> int:"

PUBLIC = [[[3, 1, 2]], [[5]]]


def generate(rng: Random) -> list[list[object]]:
    """Return the hidden argument lists; the last one is the large one."""
    lists = [[], [0], [4, 4], [1, 2], [2, 1], [7, 7, 7], [1, 2, 3, 4], [4, 3, 2, 1], [2, 5, 2, 5]]
    lists += [[10**9, 10**9, 10**9 - 1, 10**9]]
    lists += [[rng.randint(0, 6) for _ in range(size)] for size in (8, 15, 30)]
    lists.append([rng.randint(999_990_000, 10**9) for _ in range(3500)])
    return [[loudness] for loudness in lists]


REFERENCE = """\
class Solution:
    def peakSum(self, loudness: List[int]) -> int:
        total = 0
        ending_here = 0
        stack = []
        for value in loudness:
            length = 1
            while stack and stack[-1][0] <= value:
                smaller, count = stack.pop()
                ending_here -= smaller * count
                length += count
            stack.append((value, length))
            ending_here += value * length
            total += ending_here - value
        return total % (10 ** 9 + 7)
"""

WRONG = [
    """\
# Fault: equal values are both taken as the peak of the same clip.
class Solution:
    def peakSum(self, loudness: List[int]) -> int:
        n = len(loudness)
        left, right = [-1] * n, [n] * n
        for reach, order in ((left, range(n)), (right, range(n - 1, -1, -1))):
            stack = []
            for i in order:
                while stack and loudness[stack[-1]] <= loudness[i]:
                    stack.pop()
                if stack:
                    reach[i] = stack[-1]
                stack.append(i)
        total = sum(v * ((i - left[i]) * (right[i] - i) - 1) for i, v in enumerate(loudness))
        return total % (10 ** 9 + 7)
""",
    """\
# Fault: single seconds are counted as clips too.
class Solution:
    def peakSum(self, loudness: List[int]) -> int:
        total = 0
        ending_here = 0
        stack = []
        for value in loudness:
            length = 1
            while stack and stack[-1][0] <= value:
                smaller, count = stack.pop()
                ending_here -= smaller * count
                length += count
            stack.append((value, length))
            ending_here += value * length
            total += ending_here
        return total % (10 ** 9 + 7)
""",
]
