"""Atomic files: a reader sees the old content or the new, never a torn one."""

from __future__ import annotations

import contextlib
import filecmp
import gzip
import io
import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path


@contextlib.contextmanager
def atomic_path(target: Path | str) -> Iterator[Path]:
    """Yield a temporary path beside ``target`` that replaces it when the block ends well.

    The temporary file lives in the same folder, so the rename is atomic. If the block raises,
    the temporary file is removed and ``target`` stays as it was. It also stays as it was, time
    stamp included, if the new content is the same, so that nothing is remade for it.
    """
    target = Path(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(
        prefix=f".{target.name}.", suffix=".tmp", dir=target.parent
    )
    os.close(descriptor)
    temporary = Path(name)
    try:
        yield temporary
        os.chmod(temporary, 0o644)
        with open(temporary, "rb") as handle:
            os.fsync(handle.fileno())
        if target.is_file() and filecmp.cmp(temporary, target, shallow=False):
            temporary.unlink()
        else:
            os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_bytes(target: Path | str, data: bytes) -> None:
    """Write ``data`` to ``target`` atomically."""
    with atomic_path(target) as temporary:
        temporary.write_bytes(data)


def write_text(target: Path | str, text: str) -> None:
    """Write UTF-8 text with plain line feeds to ``target`` atomically."""
    write_bytes(target, text.encode())


def dump_json(value: object, *, indent: int | None = None) -> str:
    """Return JSON with sorted keys and unescaped text; the one spelling used in all our files."""
    separators = (",", ":") if indent is None else None
    return json.dumps(
        value, sort_keys=True, ensure_ascii=False, indent=indent, separators=separators
    )


def write_json(target: Path | str, value: object) -> None:
    """Write ``value`` as indented JSON with sorted keys and a final line feed, atomically."""
    write_text(target, dump_json(value, indent=2) + "\n")


def write_jsonl(target: Path | str, records: Iterable[object]) -> None:
    """Write one compact JSON object a line, atomically."""
    with (
        atomic_path(target) as temporary,
        open(temporary, "w", encoding="utf-8", newline="\n") as handle,
    ):
        for record in records:
            handle.write(dump_json(record) + "\n")


def gzip_bytes(data: bytes) -> bytes:
    """Compress reproducibly: no name and no time stamp in the header."""
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=buffer, mtime=0, compresslevel=1) as handle:
        handle.write(data)
    return buffer.getvalue()
