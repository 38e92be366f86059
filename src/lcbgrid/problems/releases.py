"""The releases of LiveCodeBench's code generation data set: six shards and their unions.

Shard sums and row counts are published facts of the data set; the hub revision is the commit that
holds exactly these files. The sums decide: a file with another sum is refused, wherever it came
from.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from lcbgrid.core.errors import ConfigError

HUB_DATASET = "livecodebench/code_generation_lite"
HUB_REVISION = "0fe84c3912ea0c4d4a78037083943e8f0c4dd505"


@dataclass(frozen=True, slots=True)
class Shard:
    """One file of the data set; rows that came with release ``number``."""

    number: int
    file: str
    rows: int
    sha256: str


SHARDS = (
    Shard(
        1, "test.jsonl", 400, "2bd02b38beb48e8c46b5b9987095d999ff38cd8efc255ea5d58974317c48f63f"
    ),
    Shard(
        2, "test2.jsonl", 111, "095df7c5daf15f882c51a9deb84085cff1e073495a5dbcf95015a564d485f3a3"
    ),
    Shard(
        3, "test3.jsonl", 101, "28ed26cc83363ce3f1fe2d5fad9f8393077beb1907b167a31bd3b32f80801b79"
    ),
    Shard(
        4, "test4.jsonl", 101, "d711138ddaebfcf5f8ec6a4283ee677298c0f5c5d374a235af92aaf0584510da"
    ),
    Shard(
        5, "test5.jsonl", 167, "7f77571c2a6df0c2a72a3277650309f67e01e0008e18117e624633df53f81214"
    ),
    Shard(
        6, "test6.jsonl", 175, "bb4c364f71921c4495a6ad15abe1a927350b720009f4933e2e71f8af0f6fd1f5"
    ),
)

_KNOWN = "release_v1 to release_v6, release_latest, v1 to v6 (one file), v1_v3 (a range of files)"


def release_shards(release: str) -> tuple[Shard, ...]:
    """Return the shards of a release tag, in order.

    ``release_vK`` is everything up to shard K, ``release_latest`` is ``release_v6``, ``vK`` is
    shard K alone, ``vI_vJ`` is shards I to J.

    Raises:
        ConfigError: No such release.
    """
    last = len(SHARDS)
    name = f"release_v{last}" if release == "release_latest" else release
    if match := re.fullmatch(r"release_v([1-9])", name):
        first, stop = 1, int(match[1])
    elif match := re.fullmatch(r"v([1-9])(?:_v([1-9]))?", name):
        first, stop = int(match[1]), int(match[2] or match[1])
    else:
        first, stop = 0, 0
    if not 1 <= first <= stop <= last:
        raise ConfigError("unknown release", value=release, remedy=f"known: {_KNOWN}")
    return SHARDS[first - 1 : stop]
