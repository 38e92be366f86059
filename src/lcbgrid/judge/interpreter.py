"""Which files of this machine a sandboxed Python needs, and nothing more."""

from __future__ import annotations

import importlib.util
import os
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

PROGRAM_PACKAGES = ("numpy", "sortedcontainers")
"""Third-party packages a program may import, where they are installed."""

_SYSTEM_PREFIXES = (Path("/usr"), Path("/usr/local"))
_SYSTEM_LIBRARIES = ("/usr/lib", "/usr/lib64", "/usr/local/lib", "/lib", "/lib64")
_SYSTEM_FILES = ("/etc/ld.so.cache", "/usr/share/zoneinfo")


@dataclass(frozen=True, slots=True)
class Interpreter:
    """The base interpreter of this process and what has to be readable for it.

    Attributes:
        executable: Real path of the interpreter.
        library: Folder of the standard library.
        prefix_library: Folder with the interpreter's own libraries if it is no system Python.
        packages: Folders of third-party packages, by their name in the sandbox.
    """

    executable: Path
    library: Path
    prefix_library: Path | None
    packages: dict[str, Path]

    @property
    def module_path(self) -> list[str]:
        """Entries of ``sys.path`` for the standard library."""
        return [str(self.library), str(self.library / "lib-dynload")]

    @property
    def has_numpy(self) -> bool:
        """Whether programs can import numpy."""
        return "numpy" in self.packages


def find_interpreter() -> Interpreter:
    """Describe the interpreter under this one's virtual environment, if there is one."""
    executable = Path(getattr(sys, "_base_executable", None) or sys.executable).resolve()
    prefix = Path(sys.base_prefix).resolve()
    library = Path(os.__file__).resolve().parent
    return Interpreter(
        executable=executable,
        library=library,
        prefix_library=None if prefix in _SYSTEM_PREFIXES else prefix / sys.platlibdir,
        packages=_find_packages(),
    )


def system_paths() -> list[Path]:
    """Return the folders and files of the operating system that are there and are needed."""
    return [Path(name) for name in (*_SYSTEM_LIBRARIES, *_SYSTEM_FILES) if os.path.lexists(name)]


def _find_packages() -> dict[str, Path]:
    found: dict[str, Path] = {}
    for name in PROGRAM_PACKAGES:
        spec = importlib.util.find_spec(name)
        if spec is None or not spec.submodule_search_locations:
            continue
        folder = Path(spec.submodule_search_locations[0])
        found[name] = folder
        libraries = folder.with_name(f"{name}.libs")  # shared libraries beside a wheel's package
        if libraries.is_dir():
            found[libraries.name] = libraries
    return found


def site_packages(interpreter: Interpreter) -> Path | None:
    """Return the base interpreter's own folder of packages, which programs shall not see."""
    name = Path(sysconfig.get_path("purelib")).name
    folder = interpreter.library / name
    return folder if folder.is_dir() else None
