"""Wipe what a program left in its scratch folders."""

from __future__ import annotations

import itertools
import os
import stat
from collections.abc import Iterator

_ENOUGH_FILES = 20_000


def wipe(folder: str, most: int | None = _ENOUGH_FILES) -> bool:
    """Remove everything below ``folder``; return whether it is empty now.

    Never follows a symbolic link, and needs no recursion however deep the folders are. Gives up
    on more than ``most`` files: a sandbox is then thrown away as a whole, which frees them at
    once.
    """
    try:
        if os.stat(folder).st_uid == os.geteuid() != 0:
            os.chmod(folder, 0o700)  # the program runs as the same user and may have locked it
        root = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        return _empty(root, most)
    except OSError:
        return False
    finally:
        os.close(root)


def _empty(root: int, most: int | None) -> bool:
    """Empty a folder level by level: folders inside a folder are first moved up beside it."""
    counted = itertools.count(1)
    while names := _some_names(root):
        for name in names:
            if most is not None and next(counted) > most:
                return False
            if _is_folder(name, root):
                _move_folders_up(name, root, counted)
            else:
                os.unlink(name, dir_fd=root)
    return True


def _move_folders_up(name: str, root: int, counted: Iterator[int]) -> None:
    """Remove a folder of ``root``; what it holds is removed, or becomes its neighbour."""
    os.chmod(name, 0o700, dir_fd=root)
    inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=root)
    try:
        while names := _some_names(inner):
            for each in names:
                if _is_folder(each, inner):
                    os.chmod(each, 0o700, dir_fd=inner)
                    new_name = f".wiped-{next(counted)}"
                    os.rename(each, new_name, src_dir_fd=inner, dst_dir_fd=root)
                else:
                    os.unlink(each, dir_fd=inner)
    finally:
        os.close(inner)
    os.rmdir(name, dir_fd=root)


def _some_names(folder: int) -> list[str]:
    """Return up to a thousand names, so that a million files do not fill our own memory."""
    with os.scandir(folder) as entries:
        return [entry.name for entry in itertools.islice(entries, 1000)]


def _is_folder(name: str, parent: int) -> bool:
    return stat.S_ISDIR(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode)
