"""The program's own process: walls first, then the program, then an ordinary Python exit."""

from __future__ import annotations

import ast
import atexit
import contextlib
import gc
import io
import json
import marshal
import os
import random
import resource
import signal
import sys
import threading
from types import CodeType, ModuleType
from typing import Any, NoReturn

from . import jobs, kernel, plain, purity, rewrite

REPORT_FD = 198
PHASE_FD = 199
MAIN_FILE = "main.py"
STREAMS = ("stdin", "stdout", "stderr")
_ENOUGH_TEXT = 2000
_LONG_SOURCE_BYTES = 1 << 17
_SMALL_HEAP_BLOCKS = 1_000_000


def _frame(payload: bytes) -> bytes:
    return b"%d\n%b" % (len(payload), payload)


# Made beforehand: when it is needed there may be no memory to make it.
_OUT_OF_MEMORY = _frame(b'{"kind":"error","type":"MemoryError","text":"","line":0}')


def confine(job: jobs.Job, walls: dict[str, Any]) -> None:
    """Give up everything the program must not have. Raises if one wall cannot be built."""
    os.setsid()
    if walls["fence_fd"] is not None:
        kernel.enter_fence(walls["fence_fd"])
    os.chdir(walls["scratch"])
    os.umask(0o022)
    fds = job.fds
    null = walls["null_fd"]
    data = fds["data"] if job.kind == "stdin" else null
    for source, target in ((data, 0), (fds.get("stdout", null), 1), (fds.get("stderr", null), 2)):
        os.dup2(source, target)
    os.dup2(fds["report"], REPORT_FD)
    os.dup2(walls["phase_fd"], PHASE_FD)
    # Descriptors that the job still needs go down to 3 and up; everything else is closed.
    keep = 3
    for name in ("source", "code", "data"):
        if name in fds and not (name == "data" and job.kind == "stdin"):
            keep = _move_down(fds, name, keep)
    os.closerange(keep, REPORT_FD)
    _set_limits(job, walls)
    uid = walls["uid"]
    if uid is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    kernel.set_dumpable(True)


def _move_down(fds: dict[str, int], name: str, keep: int) -> int:
    """Put a descriptor at number ``keep``, moving whoever of ours sits there out of the way."""
    if fds[name] != keep:
        for other, number in fds.items():
            if number == keep:
                fds[other] = os.dup(number)
        os.dup2(fds[name], keep)
        fds[name] = keep
    return keep + 1


def _set_limits(job: jobs.Job, walls: dict[str, Any]) -> None:
    # A second net in whole seconds below the server's own clock: loading and calling each have
    # their time, and a second is added for rounding.
    cpu_s = int(2 * job.total_s) + 2
    limits = {
        resource.RLIMIT_CPU: (cpu_s, cpu_s + 1),
        resource.RLIMIT_FSIZE: (walls["file_bytes"],) * 2,
        resource.RLIMIT_NOFILE: (256, 256),
        resource.RLIMIT_CORE: (0, 0),
        resource.RLIMIT_NPROC: (walls["processes"],) * 2,
    }
    if job.memory_bytes:
        limits[resource.RLIMIT_AS] = (walls["loaded_bytes"] + job.memory_bytes,) * 2
    for name, value in limits.items():
        hard = resource.getrlimit(name)[1]
        if hard != resource.RLIM_INFINITY:
            value = (min(value[0], hard), min(value[1], hard))
        resource.setrlimit(name, value)


def compile_source(job: jobs.Job) -> NoReturn:
    """Compile hostile text away from the server and leave the code object's bytes in a file."""
    source = _read_all(job.fds["source"])
    try:
        wanted: Any = source
        if job.shape.startswith("official"):
            wanted = rewrite.shaped(source, job.shape)
        code = compile(wanted, MAIN_FILE, "exec", dont_inherit=True)
        os.pwrite(job.fds["code"], marshal.dumps(code), 0)
        if job.shape == "batch" and len(source) < _LONG_SOURCE_BYTES:
            with contextlib.suppress(Exception):
                tell("compiled", keeps_nothing=purity.keeps_nothing(ast.parse(source)))
    except MemoryError:
        os._exit(_tell_memory_error())
    except BaseException as error:
        tell_error(error)
        os._exit(1)
    os._exit(0)


def run_program(job: jobs.Job, module: ModuleType, prepared: dict[str, Any]) -> NoReturn:
    """Run the source as ``__main__`` and leave as Python would.

    ``prepared`` is what the module's names were before; both are used as they are, because
    copying a table of names touches every object in it, and each page of a forked child that is
    touched costs a page fault.
    """
    code = load_code(job.fds)
    start()
    status = _execute(code, module.__dict__, job.show_errors)
    code = None
    os._exit(_leave(module.__dict__, prepared, status))


def call_function(job: jobs.Job, module: ModuleType, prepared: dict[str, Any]) -> NoReturn:
    """Load the source under a name of its own, call the function, send the result as data."""
    argument_text = _read_all(job.fds["data"]).decode("utf-8", "surrogatepass")
    os.close(job.fds["data"])
    code = load_code(job.fds)
    # Not "__main__": code behind a main guard is a test of the author's, not part of the solution.
    module.__dict__["__name__"] = "solution"
    sys.modules["solution"] = module
    start()
    try:
        arguments = [json.loads(line) for line in argument_text.split("\n")]
        exec(code, module.__dict__)  # noqa: S102 - what this process is for
        os.write(PHASE_FD, b"L")
        function = find(job.function, module.__dict__, prepared)
        result = plain.dumps(function(*arguments))
    except MemoryError:
        os._exit(_tell_memory_error())
    except BaseException as error:
        tell_error(error)
        os._exit(1)
    send(b'{"kind":"result","value":' + result + b"}")
    os._exit(0)


def find(name: str, namespace: dict[str, Any], prepared: dict[str, Any]) -> Any:
    """Return the function to call: the class's method, else the program's own function."""
    solution = namespace.get("Solution")
    if solution is not None and hasattr(solution, name):
        return getattr(solution(), name)
    found = namespace.get(name)
    # A prepared name (there is a `count`, a `copy`, ...) is not the program's own function.
    if found is None or found is prepared.get(name):
        raise LookupError(f"neither Solution.{name} nor {name} is defined")
    return found


def start() -> None:
    """Say that the walls stand and the program comes next."""
    # Forking gives `random` a new seed; one seed for everybody makes verdicts repeatable.
    random.seed(0)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.enable()
    os.write(PHASE_FD, b"S")


def setup_failed(error: BaseException) -> None:
    """Say why the walls could not be built; the missing "S" tells that no program ran."""
    tell_error(error)


def _execute(code: CodeType, namespace: dict[str, Any], show_errors: bool) -> int:
    try:
        exec(code, namespace)  # noqa: S102 - what this process is for
    except SystemExit as leaving:
        return _exit_status(leaving.code)
    except MemoryError as error:
        status = _tell_memory_error()
        _print_error(error, show_errors)
        return status
    except BaseException as error:
        tell_error(error)
        _print_error(error, show_errors)
        return 1
    return 0


def _exit_status(code: object) -> int:
    if code is None:
        return 0
    if isinstance(code, int):
        return int.__index__(code) & 0xFF
    with contextlib.suppress(BaseException):
        sys.stderr.write(f"{code}\n")
    return 1


def _print_error(error: BaseException, show: bool) -> None:
    # Nobody reads the error stream of a judged test, so the text is made only if the program
    # brought a hook of its own, or if a tool asked for it.
    if not show and sys.excepthook is sys.__excepthook__:
        return
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_globals is globals():
        trace = trace.tb_next  # the wrapper's own frames are no business of the program's
    with contextlib.suppress(BaseException):
        sys.excepthook(type(error), error.with_traceback(trace), trace)


def _leave(namespace: dict[str, Any], prepared: dict[str, Any], status: int) -> int:
    """Do what Python does at exit: wait for threads, run exit handlers, flush."""
    try:
        threading._shutdown()  # type: ignore[attr-defined]
    except BaseException as error:
        _print_error(error, show=True)
    atexit._run_exitfuncs()
    status = _flush((sys.stdout, sys.stderr), status)
    _let_go(namespace, prepared)
    return _flush((sys.__stdout__, sys.__stderr__), status)


def _flush(streams: tuple[Any, ...], status: int) -> int:
    for stream in streams:
        try:
            if stream is not None and not getattr(stream, "closed", False):
                stream.flush()
        except BaseException:
            status = status or 120  # Python's own status for a failed last flush
    return status


def _let_go(namespace: dict[str, Any], prepared: dict[str, Any]) -> None:
    """Drop the program's globals, so that its open files are flushed and ``__del__`` runs.

    On a big heap this takes long and changes no answer; there only open files are flushed.
    """
    own = _own_names(namespace, prepared)
    if sys.getallocatedblocks() > _SMALL_HEAP_BLOCKS:
        for name in own:
            if isinstance(namespace[name], io.IOBase):
                with contextlib.suppress(BaseException):
                    namespace[name].flush()
        return
    for name in own:
        namespace[name] = None
    gc.collect()


def _own_names(namespace: dict[str, Any], prepared: dict[str, Any]) -> list[str]:
    """Return the program's names: those that were added last, and replaced streams."""
    own = [name for name in STREAMS if namespace.get(name) is not prepared[name]]
    for name in reversed(namespace):
        if name in prepared:
            break
        own.append(name)
    return own


def load_code(fds: dict[str, int]) -> Any:
    """Return the compiled program."""
    data = _read_all(fds["code"])
    os.close(fds["code"])
    return marshal.loads(data)  # noqa: S302 - in the process that has no more to lose


def _read_all(descriptor: int) -> bytes:
    size = os.fstat(descriptor).st_size
    parts, position = [], 0
    while position < size:
        part = os.pread(descriptor, size - position, position)
        if not part:
            break
        parts.append(part)
        position += len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _tell_memory_error() -> int:
    with contextlib.suppress(OSError):
        os.write(REPORT_FD, _OUT_OF_MEMORY)
    return 1


def tell_error(error: BaseException) -> None:
    """Report an exception, or at least that memory is gone."""
    try:
        tell("error", **described(error))
    except MemoryError:
        _tell_memory_error()


def described(error: BaseException) -> dict[str, Any]:
    """Return the fields of a report about an exception."""
    return {"type": type(error).__name__, "text": _text_of(error), "line": _line_of(error)}


def tell(kind: str, **fields: Any) -> None:
    """Send a frame of that kind."""
    send(json.dumps({"kind": kind, **fields}).encode("ascii"))


def send(payload: bytes) -> None:
    """Send a frame on the wrapper's own descriptor."""
    data = _frame(payload)
    try:
        while data:
            data = data[os.write(REPORT_FD, data) :]
    except OSError:
        return  # the program closed our descriptor: its own loss


def _text_of(error: BaseException) -> str:
    try:
        return str(error.msg if isinstance(error, SyntaxError) else error)[:_ENOUGH_TEXT]
    except BaseException:
        return ""


def _line_of(error: BaseException) -> int:
    """Return the last line of the program on the way to the error, 0 if there is none."""
    if isinstance(error, SyntaxError):
        return error.lineno or 0
    line, trace = 0, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == MAIN_FILE:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
