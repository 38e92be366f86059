"""``results/all``: what a grid produced, with checksums; the last file of a run.

Two runs of the same configuration that answered the same give the same bytes. Products that hold
measured times differ by nature: they are named without a checksum.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from lcbgrid import __version__
from lcbgrid.analysis.records import read_object
from lcbgrid.core.errors import DataError
from lcbgrid.core.files import write_json
from lcbgrid.core.hashing import sha256_file

MANIFEST_SCHEMA_VERSION: Final = 1


def write_manifest(
    target: Path | str,
    *,
    root: Path | str,
    products: Iterable[Path | str],
    measured: Iterable[Path | str] = (),
    config_sha256: str,
) -> dict[str, Any]:
    """Write the manifest and return it.

    Args:
        target: The file, ``results/all``.
        root: Folder that the paths in the manifest start from.
        products: Files whose bytes the configuration and the answers decide.
        measured: Files that hold times; listed only.
        config_sha256: Digest of the effective configuration.

    Raises:
        DataError: A product is missing, or lies outside ``root``.
    """
    root = Path(root)
    hashed = {_relative(path, root): sha256_file(path) for path in map(Path, products)}
    manifest = {
        "schema_version": MANIFEST_SCHEMA_VERSION,
        "lcbgrid": __version__,
        "config_sha256": config_sha256,
        "products": [{"path": path, "sha256": hashed[path]} for path in sorted(hashed)],
        "measured": sorted({_relative(Path(path), root) for path in measured}),
    }
    write_json(target, manifest)
    return manifest


def check_manifest(manifest: Path | str, root: Path | str) -> list[str]:
    """Compare products with a manifest.

    Returns:
        One line a difference: a product that is missing or has other bytes.
    """
    differences = []
    for product in read_object(manifest).get("products", []):
        path = Path(root) / product["path"]
        if not path.is_file():
            differences.append(f"{product['path']}: missing")
        elif sha256_file(path) != product["sha256"]:
            differences.append(f"{product['path']}: other bytes than when the grid was finished")
    return differences


def _relative(path: Path, root: Path) -> str:
    if not path.is_file():
        raise DataError("a product is missing", where=path, remedy="run the grid again")
    try:
        return path.resolve().relative_to(root.resolve()).as_posix()
    except ValueError:
        raise DataError(
            "a product lies outside the folder of the grid", where=path, value=str(root)
        ) from None
