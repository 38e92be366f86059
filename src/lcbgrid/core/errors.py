"""The error tree.

    LcbGridError                  base of everything this package raises on purpose
    |-- UserError                 the user's mistake                        exit status 2
    |   |-- ConfigError           a configuration file or option
    |   `-- DataError             problem rows, tests or result files
    `-- InfrastructureError       the world's failure                       exit status 3
        |-- EndpointError         a model endpoint
        |-- SandboxError          no usable isolation, or a lost sandbox
        |-- WeightsError          model weights missing or with a wrong checksum
        `-- BusyError             another live process holds the lock

Any other exception is a bug of ours: traceback and exit status 70. Commands that check something
and find a difference end with exit status 1 without raising.
"""

from __future__ import annotations

import difflib
import errno
from collections.abc import Iterable

EXIT_OK = 0
EXIT_DIFFERENCE = 1
EXIT_USER = 2
EXIT_INFRASTRUCTURE = 3
EXIT_BUG = 70
EXIT_INTERRUPTED = 130


class LcbGridError(Exception):
    """Base class: one line that says what, where, which value, and what to do.

    Args:
        what: What could not be done, in a few words.
        where: File, key, cell or question it concerns.
        value: The value received (shown with ``repr`` unless it is a string).
        remedy: The next command or the setting that mends it.
    """

    exit_status = EXIT_BUG

    def __init__(
        self,
        what: str,
        *,
        where: object = None,
        value: object = None,
        remedy: str | None = None,
    ) -> None:
        self.what = what
        self.where = where
        self.value = value
        self.remedy = remedy
        super().__init__(self._line())

    def _line(self) -> str:
        line = self.what
        if self.where is not None:
            line = f"{self.where}: {line}"
        if self.value is not None:
            shown = self.value if isinstance(self.value, str) else repr(self.value)
            line = f"{line} (got {shown})"
        if self.remedy:
            line = f"{line}; {self.remedy}"
        return " ".join(line.split())

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle by keyword arguments, so that errors cross process pools."""
        return (_rebuild, (type(self), self.what, self.where, self.value, self.remedy))


def _rebuild(
    kind: type[LcbGridError], what: str, where: object, value: object, remedy: str | None
) -> LcbGridError:
    return kind(what, where=where, value=value, remedy=remedy)


class UserError(LcbGridError):
    """Something the user asked for cannot be; nothing was changed."""

    exit_status = EXIT_USER


class ConfigError(UserError):
    """A configuration file or a command line option is wrong."""


class DataError(UserError):
    """Problem rows, hidden tests or result files cannot be read as what they should be."""


class InfrastructureError(LcbGridError):
    """The world failed (network, disk, sandbox, model); never a score of 0."""

    exit_status = EXIT_INFRASTRUCTURE


class EndpointError(InfrastructureError):
    """A model endpoint cannot be reached or refuses to answer."""


class SandboxError(InfrastructureError):
    """No usable isolation on this machine, or a sandbox was lost."""


class WeightsError(InfrastructureError):
    """Model weights are missing or their checksum is wrong."""


class BusyError(InfrastructureError):
    """Another live process holds the lock of this work."""


_DISK_ERRNOS = {
    errno.ENOSPC: "no space is left on the disk",
    errno.EDQUOT: "the disk quota is used up",
    errno.EROFS: "the file system is read-only",
    errno.EACCES: "permission denied",
    errno.EFBIG: "the file size limit is reached",
    errno.ENOENT: "there is no such file or folder",
    errno.ENOTDIR: "a part of the path is no folder",
    errno.EISDIR: "it is a folder",
    errno.EEXIST: "it is there already and is no folder",
    errno.ENAMETOOLONG: "the name is too long",
}


def from_os_error(error: OSError) -> InfrastructureError | None:
    """Turn a disk error into our own one-line error; ``None`` for other kinds of OSError."""
    if error.errno not in _DISK_ERRNOS:
        return None
    return InfrastructureError(
        f"cannot read or write: {_DISK_ERRNOS[error.errno]}",
        where=error.filename,
        remedy="mend that and run the same command again; finished work is kept",
    )


def nearest(name: str, known: Iterable[str]) -> str:
    """Return ``, did you mean 'x'?`` for the closest known name, or the list of known names."""
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    if close:
        return f"did you mean {close[0]!r}?"
    shown = ", ".join(names[:12]) + (", …" if len(names) > 12 else "")
    return f"known: {shown}" if names else "nothing of this kind is known"
