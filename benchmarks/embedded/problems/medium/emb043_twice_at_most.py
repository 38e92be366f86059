"""Longest block in which no value occurs three times."""

from random import Random

META = {
    "question_id": "emb043_twice_at_most",
    "title": "Twice at Most",
    "difficulty": "medium",
    "mode": "functional",
    "contest_id": "emb_round_07",
    "contest_date": "2025-07-25T00:00:00",
}

STATEMENT = """\
A radio show plays songs, given by their numbers. Return the length of the longest block of
songs in a row in which no song is played more than twice. For an empty list return 0.

Constraints
The list has at most 4000 integers between 1 and 100000.
"""

SIGNATURE = "def longestBlock(self, songs: List[int]) -> int:"

PUBLIC = [[[1, 2, 1, 1, 3]], [[4, 4]]]


def generate(rng: Random) -> list[list[object]]:
    """Return the hidden argument lists; the last one is the large one."""
    lists = [[], [5], [5, 5, 5], [1, 2, 3], [1, 1, 2, 2, 3, 3], [1, 1, 2, 1, 1, 2, 2]]
    lists += [[7, 8, 7, 8, 7, 8, 9], [2, 2, 2, 1, 1, 1]]
    lists += [[rng.randint(1, 5) for _ in range(size)] for size in (10, 20, 40)]
    lists.append([rng.randint(1, 700) for _ in range(4000)])
    return [[songs] for songs in lists]


REFERENCE = """\
class Solution:
    def longestBlock(self, songs: List[int]) -> int:
        played = defaultdict(int)
        left = best = 0
        for right, song in enumerate(songs):
            played[song] += 1
            while played[song] > 2:
                played[songs[left]] -= 1
                left += 1
            best = max(best, right - left + 1)
        return best
"""

WRONG = [
    """\
# Fault: starts again from nothing when a song is played a third time.
class Solution:
    def longestBlock(self, songs: List[int]) -> int:
        played = defaultdict(int)
        length = best = 0
        for song in songs:
            played[song] += 1
            length += 1
            if played[song] > 2:
                played = defaultdict(int, {song: 1})
                length = 1
            best = max(best, length)
        return best
""",
    """\
# Fault: allows each song only once.
class Solution:
    def longestBlock(self, songs: List[int]) -> int:
        last = {}
        left = best = 0
        for right, song in enumerate(songs):
            left = max(left, last.get(song, -1) + 1)
            last[song] = right
            best = max(best, right - left + 1)
        return best
""",
]
