"""The fork server: one request at a time, one forked child a request, everything wiped after.

It stays single-threaded and never runs, compiles or unpickles anything that came from a program.
Requests are JSON packets on a Unix socket, with the descriptors that they name.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import itertools
import json
import os
import resource
import signal
import socket
import sys
import threading
import time
from types import ModuleType
from typing import Any, NoReturn

from . import batch, child, jobs, kernel, names, official, reap, scratch, watch

_MAX_PACKET_BYTES = 1 << 16
_MAX_FDS = 8
_FIRST_FOLDER_FD = 200  # above the descriptors that a child closes
_THREAD_STACK_BYTES = 8 << 20


def serve(config: dict[str, Any]) -> NoReturn:
    """Build the walls that the server itself needs, say hello, and serve."""
    # As first process of its namespace the server is deaf to all signals but those that it
    # handles; Python handles this one. Each child gets the usual handler back.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    server = Server(config)
    if not config["own_namespace"]:
        kernel.adopt_orphans()
    filtered = kernel.refuse_dangerous_calls()
    kernel.set_dumpable(False)
    gc.collect()
    gc.freeze()
    gc.disable()
    server.loop(filtered)


class Server:
    """State of the fork server; everything a child inherits is prepared here."""

    def __init__(self, config: dict[str, Any]) -> None:
        self._folders: list[str] = config["scratch_folders"]
        self._control = socket.socket(fileno=config["control_fd"])
        self._control.set_inheritable(False)
        phase_read, phase_write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._code_fd: int | None = None
        sys.path[:] = [self._folders[0], *_module_path(config)]
        sys.argv[:] = ["main.py"]
        self._module = _prepare_interpreter(config, names.prepared_names())
        self._prepared = dict(self._module.__dict__)
        # Without a namespace or a user of its own, a program could signal all of its user's. Each
        # gets a fence inside the server's, so the server can end all of it, and only that.
        fence = kernel.signal_fence() if _shares_its_user(config) else None
        if fence is not None:
            kernel.enter_fence(fence)
        self._tree = reap.Tree(config["own_namespace"], config["uid"], fence is not None)
        self._watch = watch.Watch(
            self._control.fileno(), phase_read, self._tree.pids, _resident_bytes()
        )
        self._walls = {
            "uid": config["uid"],
            "scratch": self._folders[0],
            "null_fd": os.open("/dev/null", os.O_RDWR | os.O_CLOEXEC),
            "phase_fd": phase_write,
            "file_bytes": config["file_bytes"],
            "processes": config["processes"],
            "loaded_bytes": _mapped_bytes(),
            "fence_fd": fence,
        }
        self._phase_read = phase_read

    def loop(self, filtered: bool) -> NoReturn:
        """Answer requests; leave when the judge closes its end."""
        self._answer(
            {
                "filtered": filtered,
                "counts_waiting": os.path.exists("/proc/self/schedstat"),
                "python": sys.version.split()[0],
            }
        )
        while True:
            packet, fds, _, _ = socket.recv_fds(self._control, _MAX_PACKET_BYTES, _MAX_FDS)
            if not packet:
                os._exit(0)
            header = json.loads(packet)
            if header["kind"] == "stop":  # came too late: the program had ended by itself
                continue
            self._answer(self._handle(header, dict(zip(header["fds"], fds, strict=True))))

    def _answer(self, reply: dict[str, Any]) -> None:
        try:
            self._control.send(json.dumps(reply).encode("ascii"))
        except (BrokenPipeError, ConnectionResetError):
            os._exit(0)

    def _handle(self, header: dict[str, Any], fds: dict[str, int]) -> dict[str, Any]:
        try:
            if header["kind"] == "compile":
                if self._code_fd is not None:
                    os.close(self._code_fd)
                self._code_fd = os.dup(fds["code"])
            else:
                assert self._code_fd is not None, "nothing was compiled"
                fds["code"] = os.dup(self._code_fd)
            return self._run(jobs.Job(header, fds))
        finally:
            for descriptor in fds.values():
                os.close(descriptor)

    def _run(self, job: jobs.Job) -> dict[str, Any]:
        started = time.monotonic()
        first = os.fork()
        if first == 0:
            self._be_the_child(job)
        ended_by, usage = self._watch.wait(first, started, job)
        status, cpu_s, peak_kb, nothing_left = self._tree.end(first)
        stages = self._watch.stages + self._drain_phase()
        if ended_by is None and job.kind != "compile":
            usage.cpu_s = cpu_s
            ended_by = self._watch.late_check(usage, b"L" in stages, job)
        clean = nothing_left and self._wipe()
        return {
            "status": status,
            "ended_by": ended_by,
            "started": b"S" in stages or job.kind == "compile",
            "loaded": b"L" in stages,
            "wall_s": usage.wall_s,
            "cpu_s": cpu_s,
            "delay_s": usage.delay_s,
            "peak_kb": max(0, peak_kb - self._watch.loaded_resident_bytes // 1024),
            "clean": clean,
        }

    def _be_the_child(self, job: jobs.Job) -> NoReturn:
        try:
            child.confine(job, self._walls)
            if job.kind == "compile":
                child.compile_source(job)
            if job.kind == "official":
                official.run(job, self._module)
            if job.kind == "batch":
                batch.run(job, self._prepared)
            if job.kind == "call":
                child.call_function(job, self._module, self._prepared)
            child.run_program(job, self._module, self._prepared)
        except BaseException as error:
            child.setup_failed(error)
        finally:
            os._exit(1)

    def _drain_phase(self) -> bytes:
        with contextlib.suppress(BlockingIOError):
            return os.read(self._phase_read, 1 << 16)[:16]
        return b""

    def _wipe(self) -> bool:
        left = [folder for folder in self._folders if not scratch.wipe(folder)]
        return not left


def _module_path(config: dict[str, Any]) -> list[str]:
    """Return the entries of ``sys.path``, readable for the user that programs run as.

    Outside a sandbox of its own the interpreter may lie where that user cannot go (below another
    user's home). Descriptors that stay open lead past the folders above.
    """
    folders: list[str] = config["module_path"]
    links = config["package_links"]
    if links is None:
        return folders
    numbers = itertools.count(_FIRST_FOLDER_FD)
    hidden = config["uid"] is not None
    if hidden:
        reachable = {folder: _keep_open(folder, next(numbers)) for folder in folders}
        for module in list(sys.modules.values()):
            place = getattr(module, "__path__", None)
            if isinstance(place, list):
                module.__path__ = [_moved(entry, reachable) for entry in place]
        folders = list(reachable.values())
    for name, folder in config["packages"].items():
        target = _keep_open(folder, next(numbers)) if hidden else folder
        os.symlink(target, os.path.join(links, name))
    return [*folders, links]


def _shares_its_user(config: dict[str, Any]) -> bool:
    return config["uid"] is None and not config["own_namespace"]


def _keep_open(folder: str, number: int) -> str:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    os.dup2(descriptor, number)
    os.close(descriptor)
    return f"/proc/self/fd/{number}"


def _moved(entry: str, reachable: dict[str, str]) -> str:
    for folder, name in reachable.items():
        if entry.startswith(folder + "/"):
            return name + entry[len(folder) :]
    return entry


def _prepare_interpreter(config: dict[str, Any], names: dict[str, Any]) -> ModuleType:
    """Set the limits of the language, the streams, and the module that programs run in."""
    import site

    site.setquit()
    site.setcopyright()
    site.sethelper()
    if config["numpy"]:
        # One seed for everybody: a verdict must not depend on luck (docs/design/judge.md).
        importlib.import_module("numpy").random.seed(0)
    sys.setrecursionlimit(config["recursion_limit"])
    sys.set_int_max_str_digits(config["int_digits"])
    # Without this every thread would reserve as much as the main stack may have.
    threading.stack_size(_THREAD_STACK_BYTES)
    _open_streams()
    for name in [name for name in os.environ if name.startswith("PYTHON")]:
        del os.environ[name]
    module = ModuleType("__main__")
    module.__dict__.update(names | {name: getattr(sys, name) for name in child.STREAMS})
    module.__dict__["__builtins__"] = importlib.import_module("builtins")
    module.__dict__["__file__"] = os.path.join(config["scratch_folders"][0], "main.py")
    sys.modules["__main__"] = module
    return module


def _open_streams() -> None:
    """Make the three text streams once, on descriptors of the kind that children will get."""
    empty = os.memfd_create("stdin")
    read_end, write_end = os.pipe()
    for source, target in ((empty, 0), (write_end, 1), (write_end, 2)):
        os.dup2(source, target)
    for descriptor in (empty, read_end, write_end):
        os.close(descriptor)
    for number, name, mode, buffering, errors in (
        (0, "stdin", "r", -1, "surrogateescape"),
        (1, "stdout", "w", -1, "surrogateescape"),
        (2, "stderr", "w", 1, "backslashreplace"),
    ):
        stream = open(  # noqa: SIM115 - stays open
            number, mode, buffering, encoding="utf-8", errors=errors, closefd=False
        )
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def _mapped_bytes() -> int:
    with open("/proc/self/statm", "rb") as statm:
        return int(statm.read().split()[0]) * resource.getpagesize()


def _resident_bytes() -> int:
    """Return what a child holds that does nothing: not all of the server's memory is copied."""
    idle = os.fork()
    if idle == 0:
        os._exit(0)
    return os.wait4(idle, 0)[2].ru_maxrss * 1024
