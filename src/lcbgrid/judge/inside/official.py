"""Runs a program the way the official runner does: one process, stand-ins for the streams.

What is imitated are the runner's observable habits (judge specification, sections 5 and 9), in a
process that holds no expected output: every test's answer goes out and is compared by the judge.
"""

from __future__ import annotations

import builtins
import functools
import io
import json
import math
import os
import resource
import shutil
import signal
import subprocess
import sys
from types import FrameType, ModuleType
from typing import Any, NoReturn

from . import child, jobs, parts, plain, rewrite

_STACK_BYTES = 8 << 20
_GONE_FROM_OS = (
    "chdir", "chmod", "chown", "chroot", "fchdir", "fchmod", "fchown", "fork", "forkpty",
    "getcwd", "kill", "killpg", "lchflags", "lchmod", "lchown", "putenv", "remove", "removedirs",
    "rename", "renames", "replace", "rmdir", "setuid", "system", "truncate", "unlink",
)  # fmt: skip
_GONE_FROM_SHUTIL = ("chown", "move", "rmtree")
_NO_IMPORT = ("ipdb", "joblib", "psutil", "resource", "tkinter")


class TimeIsUpError(Exception):
    """Raised in the program by the alarm; the program may catch it, as officially."""


class InputStandIn:
    """Stands for the input stream; its methods do not share one position.

    What a program does not ask for is not made: of a long text each form costs time and memory.
    """

    def __init__(self, text: str) -> None:
        self._text = text

    @functools.cached_property
    def buffer(self) -> BytesStandIn:
        """The byte stream below."""
        return BytesStandIn(self._text.encode("utf-8", "surrogatepass"))

    @functools.cached_property
    def _stream(self) -> io.StringIO:
        return io.StringIO(self._text)

    def read(self, *_: object) -> str:
        """Give all of it, every time."""
        return self._text

    def readline(self, *limit: int) -> str:
        """Give the next line."""
        return self._stream.readline(*limit)

    def readlines(self, *_: object) -> list[str]:
        """Give all lines without their ends, every time."""
        return self._text.split("\n")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class BytesStandIn:
    """Stands for the byte stream below the input stream."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._stream = io.BytesIO(data)

    def read(self, *_: object) -> bytes:
        """Give all of it, every time."""
        return self._data

    def readline(self, *_: object) -> bytes:
        """Give the first line, every time."""
        return self._data.partition(b"\n")[0] + b"\n"

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class OutputStandIn(io.StringIO):
    """Collects output; has no descriptor, no byte stream, and cannot be closed."""

    def close(self) -> None:
        """Refuse.

        Raises:
            TypeError: Always.
        """
        message = "this stream cannot be closed"
        raise TypeError(message)


def run(job: jobs.Job, module: ModuleType) -> NoReturn:
    """Run all tests of a program in one process below this one; report each one's answer.

    The process in between is the parent that the program sees: it knows nothing, and if the
    program ends it, the program has lost its judge, as officially.
    """
    runner = os.fork()
    if runner == 0:
        _run(job, module)
    _, status = os.waitpid(runner, 0)
    os._exit(1 if status else 0)


def _run(job: jobs.Job, module: ModuleType) -> NoReturn:
    hard = resource.getrlimit(resource.RLIMIT_STACK)[1]
    resource.setrlimit(resource.RLIMIT_STACK, (_STACK_BYTES, hard))
    namespace = module.__dict__
    namespace["__name__"] = "solution"
    sys.modules["solution"] = module
    inputs = os.dup(job.fds["data"])
    code = child.load_code(job.fds)
    seconds = max(1, math.ceil(job.time_s))
    signal.signal(signal.SIGALRM, _time_is_up)
    child.start()
    _take_away()
    try:
        signal.alarm(seconds)
        try:
            exec(code, namespace)  # noqa: S102 - what this process is for
            target = _target(job, module)
        finally:
            signal.alarm(0)
    except Exception as error:
        child.tell("error", loading=True, **child.described(error))
        os._exit(0)
    for part in parts.read_parts(inputs):
        if job.function:
            _one_call(target, part, seconds)
        else:
            _one_input(target, part, seconds)
    os._exit(0)


def _target(job: jobs.Job, module: ModuleType) -> Any:
    owner: Any = module
    if job.has_solution_class:
        owner = module.Solution if not job.function else module.Solution()
    return getattr(owner, job.function or rewrite.ENTRY)


def _one_input(target: Any, part: bytes, seconds: int) -> None:
    text = part.decode("utf-8", "surrogatepass")
    loaded: Any = sys.__stdin__
    lines = (line for whole in (text,) for line in whole.split("\n"))  # split when first asked
    # Programs that took the stream's name at load time hold the real one, with these methods.
    loaded.readline = lambda *_: next(lines)
    loaded.readlines = lambda *_: text.split("\n")
    loaded.read = lambda *_: text
    caught = OutputStandIn()
    sys.stdin = InputStandIn(text)
    sys.stdout = caught
    try:
        signal.alarm(seconds)
        try:
            target()
        except SystemExit:
            pass
        finally:
            signal.alarm(0)
            sys.stdout = sys.__stdout__
    except Exception as error:
        _failed(error)
    child.send(parts.OUTPUT + caught.getvalue().encode("utf-8", "surrogatepass"))


def _one_call(target: Any, part: bytes, seconds: int) -> None:
    arguments = [json.loads(line) for line in part.decode("utf-8", "surrogatepass").split("\n")]
    try:
        signal.alarm(seconds)
        try:
            result = target(*arguments)
        finally:
            signal.alarm(0)
        tagged = plain.dumps(result, only_outermost_tuple=True)
    except Exception as error:
        _failed(error)
    child.send(b'{"kind":"result","value":' + tagged + b"}")


def _failed(error: Exception) -> NoReturn:
    """Report a failed test; the official runner would not go on, either."""
    if isinstance(error, TimeIsUpError):
        child.tell("time")
    else:
        child.tell("error", **child.described(error))
    os._exit(0)


def _time_is_up(_number: int, _frame: FrameType | None) -> NoReturn:
    message = "alarm"
    raise TimeIsUpError(message)


def _take_away() -> None:
    """Replace what the official runner replaces by nothing."""
    for name in _GONE_FROM_OS:
        setattr(os, name, None)
    for name in _GONE_FROM_SHUTIL:
        setattr(shutil, name, None)
    setattr(subprocess, "Popen", None)  # noqa: B010 - a type checker would object
    for name in ("help", "quit"):
        setattr(builtins, name, None)
    for name in _NO_IMPORT:
        sys.modules[name] = None  # type: ignore[assignment]
