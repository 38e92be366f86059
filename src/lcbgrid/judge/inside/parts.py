"""The inputs of several tests in one file, and the answers of several tests in one pipe."""

from __future__ import annotations

import os
from collections.abc import Iterator

_HEADER_BYTES = 24

OUTPUT = b"o"
"""First byte of a frame that holds output as it is; all other frames are JSON."""


def read_parts(descriptor: int) -> Iterator[bytes]:
    """Yield one part after the other; only one of them is in memory at a time."""
    size, position = os.fstat(descriptor).st_size, 0
    while position < size:
        header = os.pread(descriptor, _HEADER_BYTES, position)
        digits = header.partition(b"\n")[0]
        position += len(digits) + 1
        yield _read(descriptor, int(digits), position)
        position += int(digits)


def _read(descriptor: int, size: int, position: int) -> bytes:
    pieces = []
    while size:
        piece = os.pread(descriptor, size, position)
        if not piece:
            break
        pieces.append(piece)
        size -= len(piece)
        position += len(piece)
    return b"".join(pieces)  # nearly always one, and then no copy
