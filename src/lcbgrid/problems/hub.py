"""Find the shards of the hub data set: a stand-in folder, the hub's cache, or a download.

Newer versions of ``datasets`` refuse the data set's loader script, so the shards are fetched as
plain files at a pinned revision. Without a network and without a cached copy this fails at once
and says what to do instead; the hub library by itself would retry for half a minute.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from lcbgrid.core.errors import DataError, InfrastructureError, from_os_error
from lcbgrid.problems.releases import HUB_DATASET, HUB_REVISION, Shard

HUB_DIR_ENV = "LCBGRID_HUB_DIR"
"""Folder with the shard files, used in place of the hub (air-gapped machines, tests)."""

SHARDS_FILE = "shards.json"
"""In a stand-in folder: ``{file: {"sha256": …, "rows": …}}`` in place of the pinned values."""

_PROBE_TIMEOUT_S = 5.0
_REMEDY = (
    f"connect once and run it again, or put the file in a folder named by {HUB_DIR_ENV}, "
    "or set source: local with files, or source: embedded"
)


class HubError(InfrastructureError):
    """The hub, or the folder that stands in for it, does not give a file."""


def hub_dir() -> Path | None:
    """Return the stand-in folder, if one is set."""
    value = os.environ.get(HUB_DIR_ENV)
    return Path(value) if value else None


def pinned(shards: tuple[Shard, ...]) -> tuple[Shard, ...]:
    """Return the shards with the sums and counts to check them by.

    These are the published ones, unless a stand-in folder brings its own ``shards.json``.
    """
    folder = hub_dir()
    listing = folder / SHARDS_FILE if folder else None
    if listing is None or not listing.is_file():
        return shards
    from lcbgrid.problems.resources import read_json_object

    stated = read_json_object(listing)
    return tuple(_restated(shard, stated.get(shard.file), listing) for shard in shards)


def _restated(shard: Shard, entry: Any, listing: Path) -> Shard:
    sound = (
        isinstance(entry, dict)
        and isinstance(entry.get("sha256"), str)
        and isinstance(entry.get("rows"), int)
    )
    if not sound:
        message = f"{shard.file} has no entry with sha256 and rows"
        raise DataError(message, where=listing)
    return replace(shard, sha256=entry["sha256"], rows=entry["rows"])


def shard_path(shard: Shard) -> Path:
    """Return the local path of a shard, downloading it if need be; its sum is checked elsewhere.

    Raises:
        HubError: It is neither here nor reachable.
    """
    folder = hub_dir()
    if folder is not None:
        path = folder / shard.file
        if not path.is_file():
            message = f"the folder named by {HUB_DIR_ENV} does not hold {shard.file}"
            raise HubError(message, where=folder, remedy="put the file there")
        return path
    return _cached(shard) or _download(shard)


def _cached(shard: Shard) -> Path | None:
    from huggingface_hub import try_to_load_from_cache

    found = try_to_load_from_cache(
        HUB_DATASET, shard.file, revision=HUB_REVISION, repo_type="dataset"
    )
    return Path(found) if isinstance(found, str) else None


def _download(shard: Shard) -> Path:
    import huggingface_hub as hub

    url = hub.hf_hub_url(HUB_DATASET, shard.file, repo_type="dataset", revision=HUB_REVISION)
    try:
        hub.get_hf_file_metadata(url, timeout=_PROBE_TIMEOUT_S)  # one request, no retries
        return Path(
            hub.hf_hub_download(
                HUB_DATASET, shard.file, repo_type="dataset", revision=HUB_REVISION
            )
        )
    except Exception as error:  # the hub library lets many transport errors through
        on_disk = from_os_error(error) if isinstance(error, OSError) else None
        if on_disk is not None:
            raise on_disk from error
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        message = f"{shard.file} of {HUB_DATASET} is not cached and the hub cannot be used"
        raise HubError(f"{message} ({reason})", remedy=_REMEDY) from error
