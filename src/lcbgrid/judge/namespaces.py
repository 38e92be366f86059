"""The tier without a tool: namespaces entered by our own code, with the walls of bubblewrap."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from lcbgrid.judge import bubblewrap
from lcbgrid.judge.interpreter import Interpreter

BOOT = "import sys; sys.path.insert(0, {place!r}); from inside.enter import main; main()"
_CAPABILITIES = {"DAC_OVERRIDE": 1, "FOWNER": 3, "KILL": 5, "SETGID": 6, "SETUID": 7}


def plan(
    interpreter: Interpreter, command: Sequence[str], *, as_root: bool, info_fd: int
) -> Mapping[str, Any]:
    """Return what the process that enters the namespaces has to do.

    Started by root there is no user namespace, for the reason that bubblewrap's tier has.
    """
    operations = [_operation(bind) for bind in bubblewrap.binds(interpreter)]
    operations += [
        ["processes", "/proc"],
        ["devices", "/dev"],
        ["writable", bubblewrap.SHARED_MEMORY, bubblewrap.SHARED_MEMORY_BYTES],
        ["writable", bubblewrap.SCRATCH, bubblewrap.SCRATCH_BYTES],
    ]
    operations += [_operation(link) for link in bubblewrap.temporary_link(interpreter)]
    kept = [_CAPABILITIES[name] for name in bubblewrap.SERVER_CAPABILITIES]
    return {
        "operations": [each for each in operations if each],
        "inner_uid": None if as_root else int(bubblewrap.INNER_UID),
        "capabilities": kept if as_root else None,
        "folder": bubblewrap.SCRATCH,
        "command": list(command),
        "environment": bubblewrap.program_environment(bubblewrap.SCRATCH),
        "info_fd": info_fd,
    }


def _operation(bind: Sequence[str]) -> list[Any]:
    kind, *rest = bind
    names = {"--ro-bind": "bind", "--symlink": "symlink", "--tmpfs": "empty"}
    return [names[kind], *map(os.fspath, rest)] if kind in names else []
