"""The isolation tiers: how a sandbox of each kind is started."""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from lcbgrid.config.judge_spec import Tier
from lcbgrid.core.errors import SandboxError
from lcbgrid.judge import bubblewrap, namespaces
from lcbgrid.judge.interpreter import Interpreter, find_interpreter
from lcbgrid.judge.limits import (
    FILE_SIZE_MB,
    INT_DIGITS,
    MAX_PROCESSES,
    MIB,
    RECURSION_LIMIT,
    STACK_MB,
)
from lcbgrid.judge.sandbox import Sandbox, SandboxLostError
from lcbgrid.judge.users import next_uid

_INTERPRETER_OPTIONS = ("-S", "-s", "-P", "-B", "-X", "utf8")
_BOOT = "import sys; sys.path.insert(0, {place!r}); from inside.start import main; main()"
_INFO_S = 30.0


def launch(tier: Tier, *, numpy: bool) -> Sandbox:
    """Start a sandbox and wait until it is ready; this is the probe, too.

    Raises:
        SandboxError: This tier does not work here; the message says why and what to do.
    """
    return _LAUNCHERS[tier](numpy=numpy)


def _launch_bwrap(*, numpy: bool) -> Sandbox:
    tool = bubblewrap.find_bwrap()
    interpreter = find_interpreter()
    uid = next_uid() if os.geteuid() == 0 else None
    config = _namespace_config(interpreter, numpy=numpy, uid=uid)
    info_read, info_write = os.pipe2(os.O_CLOEXEC)
    try:
        options = bubblewrap.bwrap_arguments(
            interpreter, as_root=uid is not None, info_fd=info_write
        )
        command = [str(tool), *options, "--"]
        with _started(command, interpreter, config, bubblewrap.CODE_PLACE, (info_write,)) as start:
            process, control, log = start
            os.close(info_write)
            info_write = -1
            sandbox = Sandbox("bwrap", process, control, _first_pidfd(info_read))
            _finish_start(sandbox, log, tool)
            return sandbox
    finally:
        os.close(info_read)
        if info_write >= 0:
            os.close(info_write)


def _launch_userns(*, numpy: bool) -> Sandbox:
    interpreter = find_interpreter()
    uid = next_uid() if os.geteuid() == 0 else None
    config = _namespace_config(interpreter, numpy=numpy, uid=uid)
    info_read, info_write = os.pipe2(os.O_CLOEXEC)

    def through_namespaces(command: list[str]) -> list[str]:
        plan = namespaces.plan(interpreter, command, as_root=uid is not None, info_fd=info_write)
        boot = namespaces.BOOT.format(place=str(bubblewrap.INSIDE.parent))
        return [command[0], *_INTERPRETER_OPTIONS, "-c", boot, json.dumps(plan)]

    try:
        place = bubblewrap.CODE_PLACE
        with _started([], interpreter, config, place, (info_write,), {}, through_namespaces) as s:
            process, control, log = s
            os.close(info_write)
            info_write = -1
            sandbox = Sandbox("userns", process, control, _first_pidfd(info_read))
            _finish_start(sandbox, log, interpreter.executable)
            return sandbox
    finally:
        os.close(info_read)
        if info_write >= 0:
            os.close(info_write)


def _namespace_config(interpreter: Interpreter, *, numpy: bool, uid: int | None) -> dict[str, Any]:
    """Return the server's configuration in a sandbox with a root of its own."""
    return _server_config(interpreter, numpy=numpy, uid=uid) | {
        "own_namespace": True,
        "scratch_folders": [bubblewrap.SCRATCH, bubblewrap.SHARED_MEMORY],
        "module_path": [*interpreter.module_path, bubblewrap.PACKAGE_PLACE],
    }


def _launch_rlimits(*, numpy: bool) -> Sandbox:
    folders: list[str] = []
    try:
        for prefix in ("lcbgrid-box-", "lcbgrid-packages-"):
            folders.append(tempfile.mkdtemp(prefix=prefix))
        return _start_in_folders(*folders, numpy=numpy)
    except BaseException:
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)
        raise


def _start_in_folders(scratch: str, links: str, *, numpy: bool) -> Sandbox:
    interpreter = find_interpreter()
    uid = next_uid() if os.geteuid() == 0 else None
    os.chmod(scratch, 0o777 if uid is not None else 0o700)
    os.chmod(links, 0o755)  # noqa: S103 - other users read it
    config = _server_config(interpreter, numpy=numpy, uid=uid)
    config |= {
        "own_namespace": False,
        "scratch_folders": [scratch],
        "module_path": interpreter.module_path,
        "packages": {name: str(place) for name, place in interpreter.packages.items()},
        "package_links": links,
        # Counted over all processes of the user: ours alone only if the user is.
        "processes": MAX_PROCESSES if uid is not None else MAX_PROCESSES + _tasks_of_user(),
    }
    environment = bubblewrap.program_environment(scratch)
    place = str(bubblewrap.INSIDE.parent)
    with _started([], interpreter, config, place, (), environment) as (process, control, log):
        pidfd = os.pidfd_open(process.pid)
        sandbox = Sandbox("rlimits", process, control, pidfd, folders=(scratch, links))
        _finish_start(sandbox, log, interpreter.executable)
        return sandbox


def _server_config(interpreter: Interpreter, *, numpy: bool, uid: int | None) -> dict[str, Any]:
    return {
        "numpy": numpy and interpreter.has_numpy,
        "uid": uid,
        "package_links": None,
        "stack_bytes": STACK_MB * MIB,
        "file_bytes": FILE_SIZE_MB * MIB,
        "processes": MAX_PROCESSES,
        "recursion_limit": RECURSION_LIMIT,
        "int_digits": INT_DIGITS,
    }


@contextlib.contextmanager
def _started(
    prefix: list[str],
    interpreter: Interpreter,
    config: dict[str, Any],
    code_place: str,
    pass_fds: tuple[int, ...],
    environment: dict[str, str] | None = None,
    wrap: Callable[[list[str]], list[str]] = list,
) -> Iterator[tuple[subprocess.Popen[bytes], socket.socket, int]]:
    """Start the server; yield process, channel and the descriptor of its error text."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    log = os.memfd_create("log", os.MFD_CLOEXEC)
    try:
        config = config | {"control_fd": theirs.fileno()}
        command = [*prefix, str(interpreter.executable), *_INTERPRETER_OPTIONS]
        command += ["-c", _BOOT.format(place=code_place), json.dumps(config)]
        process = subprocess.Popen(
            wrap(command),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=(theirs.fileno(), *pass_fds),
            env=environment or {},
            cwd="/",
            start_new_session=True,
        )
    except OSError as error:
        ours.close()
        os.close(log)
        message = f"the sandbox cannot be started: {error.strerror}"
        raise SandboxError(
            message, where=(prefix or command)[0], remedy=bubblewrap.REMEDIES
        ) from error
    finally:
        theirs.close()
    try:
        yield process, ours, log
    finally:
        os.close(log)


def _finish_start(sandbox: Sandbox, log: int, tool: Path) -> None:
    try:
        sandbox.say_hello()
    except (SandboxLostError, OSError) as error:
        sandbox.close()
        said = os.pread(log, 2000, 0).decode("utf-8", "replace").strip() or str(error)
        message = f"the {sandbox.tier} sandbox does not work here: {said}"
        raise SandboxError(message, where=tool, remedy=bubblewrap.REMEDIES) from None


def _first_pidfd(info: int) -> int | None:
    """Return a descriptor of the sandbox's first process, which bwrap tells us the pid of."""
    text = b""
    deadline = time.monotonic() + _INFO_S
    poll = select.poll()
    poll.register(info, select.POLLIN)
    while time.monotonic() < deadline and poll.poll((deadline - time.monotonic()) * 1000):
        part = os.read(info, 4096)
        text += part
        with contextlib.suppress(ValueError, KeyError, ProcessLookupError):
            return os.pidfd_open(json.loads(text)["child-pid"])
        if not part:
            break
    return None


def _tasks_of_user() -> int:
    """Return how many threads this user runs on the whole machine."""
    count, me = 0, os.geteuid()
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if entry.stat().st_uid == me:
                    count += len(os.listdir(f"/proc/{entry.name}/task"))
    return count


_LAUNCHERS: dict[Tier, Callable[..., Sandbox]] = {
    "bwrap": _launch_bwrap,
    "userns": _launch_userns,
    "rlimits": _launch_rlimits,
}
