"""One sandbox seen from outside: send a program in, read what comes out, never trust it."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import select
import signal
import socket
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lcbgrid.judge.inside.scratch import wipe
from lcbgrid.judge.inside.watch import HARD_WALL_EXTRA_S, HARD_WALL_FACTOR
from lcbgrid.judge.job import EndedBy, Job, Report
from lcbgrid.judge.limits import MIB

_READ_ONLY_SEALS = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE
_READ_BYTES = 1 << 16
_PIPE_BYTES = 1 << 20
_HELLO_S = 60.0
_CONTENDED_SHARE = 0.05
_EXCERPT_BYTES = 1 << 16
_SERVER_MARGIN_S = 3.0


class SandboxLostError(Exception):
    """The sandbox died or broke its protocol; says nothing about the program."""


class _Stream:
    """The read end of one of the program's pipes, and what came out of it so far."""

    def __init__(self, cap_bytes: int) -> None:
        self.read_end, self.write_end = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(self.read_end, False)
        with contextlib.suppress(OSError):  # there is a limit for all pipes of a user
            # A program must not wait for us to read while others have all cores.
            fcntl.fcntl(self.write_end, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        self.kept = bytearray()
        self.cut = False
        self.open = True
        self._cap_bytes = cap_bytes

    def read(self) -> bool:
        """Take what is there; return whether there may be more."""
        try:
            data = os.read(self.read_end, _READ_BYTES)
        except BlockingIOError:
            return False
        if not data:
            self.open = False
            return False
        room = self._cap_bytes - len(self.kept)
        self.kept += data[:room] if len(data) > room else data
        self.cut = self.cut or len(data) > room
        return True

    def result(self, *, whole: bool) -> bytes:
        """Return what was kept; of a stream over its cap the start is enough, usually."""
        return bytes(self.kept if whole or not self.cut else self.kept[:_EXCERPT_BYTES])

    def close_write_end(self) -> None:
        if self.write_end >= 0:
            os.close(self.write_end)
            self.write_end = -1

    def close(self) -> None:
        self.close_write_end()
        os.close(self.read_end)


@dataclass(slots=True)
class Sandbox:
    """A running sandbox; used by one thread at a time.

    Attributes:
        tier: Name of the isolation tier.
        process: The process that was started (bwrap, or the server itself).
        control: Our end of the channel to the server.
        server_pidfd: The server, for the case that it no longer answers.
        hello: The server's first message.
        folders: Folders on this machine to remove at the end.
    """

    tier: str
    process: subprocess.Popen[bytes]
    control: socket.socket
    server_pidfd: int | None
    hello: Mapping[str, Any] = field(default_factory=dict)
    folders: Sequence[str] = ()
    usable: bool = True

    def say_hello(self) -> None:
        """Wait until the server is ready.

        Raises:
            SandboxLostError: It died first, or took too long.
        """
        poll = select.poll()
        poll.register(self.control, select.POLLIN)
        if not poll.poll(_HELLO_S * 1000):
            message = f"no answer within {_HELLO_S:.0f} s"
            raise SandboxLostError(message)
        self.hello = self._receive()

    def run(self, job: Job) -> Report:
        """Do one job and return what became of it.

        Raises:
            SandboxLostError: The sandbox is gone; this one must not be used again.
        """
        self.usable = False  # until its answer has come: nobody may read another job's answer
        streams = {"report": _Stream(job.report_cap_bytes)}
        if job.stdout_cap_bytes:
            streams["stdout"] = _Stream(job.stdout_cap_bytes)
        if job.stderr_cap_bytes:
            streams["stderr"] = _Stream(job.stderr_cap_bytes)
        try:
            self._send(job, streams)
            reply, ended_by = self._follow(job, streams)
            for name, stream in streams.items():
                while stream.open and stream.read():
                    if name == "report" and job.consume is not None:
                        job.consume(stream.kept)
                    if stream.cut and not job.keep_going:
                        break
            return self._report(job, reply, ended_by, streams)
        except (OSError, ValueError, KeyError) as error:
            message = f"{type(error).__name__}: {error}"
            raise SandboxLostError(message) from error
        finally:
            for stream in streams.values():
                stream.close()

    def _send(self, job: Job, streams: Mapping[str, _Stream]) -> None:
        source = "source" if job.kind == "compile" else "data"
        files = {source: _memory_file([job.data] if job.parts is None else _framed(job.parts))}
        if job.kind == "compile":
            files["code"] = os.memfd_create("code", os.MFD_CLOEXEC)
        try:
            fds = files | {name: stream.write_end for name, stream in streams.items()}
            header = job.header() | {
                "fds": list(fds),
                "memory_bytes": job.limits.memory_mb * MIB,
            }
            socket.send_fds(self.control, [json.dumps(header).encode()], list(fds.values()))
        finally:
            for descriptor in files.values():
                os.close(descriptor)
        for stream in streams.values():
            stream.close_write_end()

    def _follow(
        self, job: Job, streams: Mapping[str, _Stream]
    ) -> tuple[dict[str, Any] | None, EndedBy | None]:
        """Read all channels until the server has answered or a limit of ours is crossed."""
        # Loading and calling may each take their time, and each gets the server's hard limit.
        time_s = job.total_s or job.limits.time_s
        longest_s = 2 * (time_s * HARD_WALL_FACTOR + HARD_WALL_EXTRA_S)
        deadline = time.monotonic() + longest_s + _SERVER_MARGIN_S
        by_fd = {stream.read_end: stream for stream in streams.values()}
        poll = select.poll()
        poll.register(self.control, select.POLLIN)
        for descriptor in by_fd:
            poll.register(descriptor, select.POLLIN)
        ended_by: EndedBy | None = None
        while True:
            left_s = deadline - time.monotonic()
            if left_s <= 0:
                self.kill()
                return None, "sandbox"
            for descriptor, _ in poll.poll(left_s * 1000):
                stream = by_fd.get(descriptor)
                if stream is None:
                    return self._receive(), ended_by
                stream.read()
                over = stream.cut and not job.keep_going
                enough = stream is streams["report"] and _is_enough(job, stream)
                if not stream.open or over:
                    poll.unregister(descriptor)
                if (over or enough) and ended_by is None:
                    ended_by = "enough" if enough else "output"
                    self.control.send(b'{"kind":"stop"}')
                    deadline = min(deadline, time.monotonic() + 10 + _SERVER_MARGIN_S)

    def _receive(self) -> dict[str, Any]:
        packet = self.control.recv(1 << 16)
        if not packet:
            message = "the sandbox hung up"
            raise SandboxLostError(message)
        reply: dict[str, Any] = json.loads(packet)
        return reply

    def _report(
        self,
        job: Job,
        reply: dict[str, Any] | None,
        ended_by: EndedBy | None,
        streams: Mapping[str, _Stream],
    ) -> Report:
        kept = {name: stream.result(whole=job.keep_going) for name, stream in streams.items()}
        cut = frozenset(name for name, stream in streams.items() if stream.cut)
        if reply is None:
            return Report(None, None, "sandbox", False, False, 0.0, 0.0, None, **kept, cut=cut)
        told = ended_by in (None, "enough") and reply["ended_by"] in (None, "asked")
        if not reply["started"] and told:  # it said why, before any of the program ran
            message = f"the walls could not be built: {kept['report'][:300]!r}"
            raise SandboxLostError(message)
        self.usable = bool(reply["clean"])  # else something was left that one wipe cannot remove
        status = reply["status"]
        killed = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
        return Report(
            exit_code=os.WEXITSTATUS(status) if os.WIFEXITED(status) else None,
            signal_name=None if killed is None else _signal_name(killed),
            ended_by=ended_by or _ended_by(reply["ended_by"], killed),
            loading=job.kind == "call" and not reply["loaded"],
            contended=self._was_contended(reply["delay_s"], reply["wall_s"]),
            wall_s=reply["wall_s"],
            cpu_s=reply["cpu_s"],
            memory_mb=reply["peak_kb"] / 1024,
            **kept,
            cut=cut,
        )

    def _was_contended(self, delay_s: float, wall_s: float) -> bool:
        if self.hello.get("counts_waiting"):
            return delay_s > _CONTENDED_SHARE * wall_s
        return os.getloadavg()[0] > len(os.sched_getaffinity(0))

    def kill(self) -> None:
        """End the sandbox at once; everything in it dies with its first process."""
        self.usable = False
        if self.server_pidfd is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                signal.pidfd_send_signal(self.server_pidfd, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()

    def close(self) -> None:
        """Hang up, wait for the end, and give everything back; safe to call twice."""
        self.usable = False
        self.control.close()
        try:
            self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.kill()
            self.process.wait(timeout=30)
        if self.server_pidfd is not None:
            os.close(self.server_pidfd)
            self.server_pidfd = None
        for folder in self.folders:
            wipe(folder, most=None)
            with contextlib.suppress(OSError):
                os.rmdir(folder)
        self.folders = ()


def _ended_by(by_server: str | None, killed: int | None) -> EndedBy | None:
    if by_server == "cpu" or killed == signal.SIGXCPU:
        return "cpu"
    if by_server == "wall":
        return "wall"
    return "memory" if by_server == "memory" else None


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _is_enough(job: Job, stream: _Stream) -> bool:
    """Hand over what the wrapper has sent so far."""
    return job.consume is not None and job.consume(stream.kept)


def _framed(parts: Iterable[bytes]) -> Iterable[bytes]:
    for part in parts:
        yield b"%d\n" % len(part)
        yield part


def _memory_file(pieces: Iterable[bytes]) -> int:
    """Return a descriptor from which the pieces can be read, at its start."""
    descriptor = os.memfd_create("data", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    for piece in pieces:
        view = memoryview(piece)
        while view:
            view = view[os.write(descriptor, view) :]
    os.lseek(descriptor, 0, os.SEEK_SET)
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, _READ_ONLY_SEALS)
    return descriptor
