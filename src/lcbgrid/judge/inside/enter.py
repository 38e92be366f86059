"""Enter namespaces of one's own and become the server there, without any tool's help.

Started outside by the bare interpreter. Two processes come of it: one that only waits, and the
first one of the new process namespace, which builds a root of what it was told and nothing else,
gives up what it does not need, and starts the server.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import socket
import sys
from collections.abc import Callable
from typing import Any, NoReturn

_NEW_NS, _NEW_CGROUP, _NEW_UTS, _NEW_IPC = 0x20000, 0x2000000, 0x4000000, 0x8000000
_NEW_USER, _NEW_PID, _NEW_NET = 0x10000000, 0x20000000, 0x40000000
_NOSUID, _NODEV, _NOEXEC, _BIND, _REC, _PRIVATE = 2, 4, 8, 4096, 16384, 1 << 18
_DETACH, _AT_FDCWD, _AT_RECURSIVE = 2, -100, 0x8000
_ATTR_RDONLY, _ATTR_NOSUID = 1, 2
_MOUNT_SETATTR = 442
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_PR_SET_PDEATHSIG, _PR_CAPBSET_READ, _PR_CAPBSET_DROP = 1, 23, 24
_MAX_CAPABILITIES = 64
_DEVICES = ("full", "null", "random", "urandom", "zero")
_BASE, _OLD, _NEW = "/tmp", "/old", "/new"  # noqa: S108 - any folder that is everywhere

_libc = ctypes.CDLL(None, use_errno=True)


def main() -> NoReturn:
    """Do all that from the JSON in the last argument."""
    plan = json.loads(sys.argv[1])
    _enter(user=plan["inner_uid"])
    first = os.fork()
    if first == 0:
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        _become_the_server(plan)
    os.write(plan["info_fd"], json.dumps({"child-pid": first}).encode())
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    _, status = os.waitpid(first, 0)
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


def _enter(user: int | None) -> None:
    flags = _NEW_NS | _NEW_CGROUP | _NEW_UTS | _NEW_IPC | _NEW_PID | _NEW_NET
    uid, gid = os.geteuid(), os.getegid()
    _check("unshare", _libc.unshare(flags | (0 if user is None else _NEW_USER)))
    if user is not None:
        for name, text in (
            ("setgroups", "deny"),
            ("uid_map", f"{user} {uid} 1"),
            ("gid_map", f"{user} {gid} 1"),
        ):
            with open(f"/proc/self/{name}", "w") as file:
                file.write(text)


def _become_the_server(plan: dict[str, Any]) -> NoReturn:
    os.umask(0o022)
    socket.sethostname("sandbox")
    _mount("none", "/", "", _REC | _PRIVATE, "")
    _mount("tmpfs", _BASE, "tmpfs", _NOSUID | _NODEV, "mode=0755")
    for name in (_OLD, _NEW):
        os.mkdir(_BASE + name)
    _pivot(_BASE, _BASE + _OLD)
    _mount("tmpfs", _NEW, "tmpfs", _NOSUID | _NODEV, "mode=0755")
    for operation, *arguments in plan["operations"]:
        _OPERATIONS[operation](*arguments)
    _pivot(_NEW, _NEW + _new_folder(_OLD))
    _check("umount", _libc.umount2(_OLD.encode(), _DETACH))
    os.rmdir(_OLD)
    for place in ("/dev", "/"):
        _set_attributes(place, _ATTR_RDONLY, recursive=False)
    if plan["capabilities"] is not None:
        _keep_only(plan["capabilities"])
    os.chdir(plan["folder"])
    os.execve(plan["command"][0], plan["command"], plan["environment"])  # noqa: S606


def _bind(source: str, target: str) -> None:
    place = _NEW + target
    if os.path.isdir(_OLD + source):
        _new_folder(target)
    else:
        _new_folder(os.path.dirname(target))
        os.close(os.open(place, os.O_CREAT | os.O_WRONLY))
    _mount(_OLD + source, place, "", _BIND | _REC, "")
    _set_attributes(place, _ATTR_RDONLY | _ATTR_NOSUID, recursive=True)


def _symlink(target: str, place: str) -> None:
    _new_folder(os.path.dirname(place))
    os.symlink(target, _NEW + place)


def _empty(place: str) -> None:
    """Hide what lies in a folder."""
    _mount("tmpfs", _NEW + place, "tmpfs", _NOSUID | _NODEV, "mode=0755")
    _set_attributes(_NEW + place, _ATTR_RDONLY, recursive=False)


def _writable(place: str, size_bytes: int) -> None:
    _new_folder(place)
    _mount("tmpfs", _NEW + place, "tmpfs", _NOSUID | _NODEV, f"mode=0777,size={size_bytes}")


def _devices(place: str) -> None:
    _new_folder(place)
    _mount("tmpfs", _NEW + place, "tmpfs", _NOSUID, "mode=0755")
    for name in _DEVICES:
        target = f"{_NEW}{place}/{name}"
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY))
        _mount(f"{_OLD}/dev/{name}", target, "", _BIND, "")
    os.symlink("/proc/self/fd", f"{_NEW}{place}/fd")


def _processes(place: str) -> None:
    _new_folder(place)
    _mount("proc", _NEW + place, "proc", _NOSUID | _NODEV | _NOEXEC, "")


_OPERATIONS: dict[str, Callable[..., None]] = {
    "bind": _bind,
    "symlink": _symlink,
    "empty": _empty,
    "writable": _writable,
    "devices": _devices,
    "processes": _processes,
}


def _new_folder(place: str) -> str:
    os.makedirs(_NEW + place, mode=0o755, exist_ok=True)
    return place


def _pivot(root: str, old: str) -> None:
    number = _PIVOT_ROOT[os.uname().machine]
    _check("pivot_root", _libc.syscall(number, root.encode(), old.encode()))
    os.chdir("/")


def _mount(source: str, target: str, kind: str, flags: int, options: str) -> None:
    texts = [text.encode() for text in (source, target, kind)]
    what = f"mount {kind or source} on {target}"
    _check(what, _libc.mount(*texts, ctypes.c_ulong(flags), options.encode()))


def _set_attributes(place: str, attributes: int, *, recursive: bool) -> None:
    wanted = (ctypes.c_uint64 * 4)(attributes, 0, 0, 0)
    how = _AT_RECURSIVE if recursive else 0
    size = ctypes.c_size_t(ctypes.sizeof(wanted))
    done = _libc.syscall(_MOUNT_SETATTR, _AT_FDCWD, place.encode(), how, wanted, size)
    _check(f"make {place} read-only", done)


def _keep_only(capabilities: list[int]) -> None:
    for number in range(_MAX_CAPABILITIES):
        if number not in capabilities and _libc.prctl(_PR_CAPBSET_READ, number, 0, 0, 0) == 1:
            _check("drop a capability", _libc.prctl(_PR_CAPBSET_DROP, number, 0, 0, 0))


def _check(what: str, result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
