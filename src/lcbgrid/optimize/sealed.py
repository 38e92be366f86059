"""Sealed artifacts: JSON files that carry the hash of their own content.

Optimizers specification, section 6.8. A later phase rests on what an earlier one sealed; a file
that was changed by hand, cut off or swapped is noticed when it is read, not in a figure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lcbgrid.core import files
from lcbgrid.optimize.canonical import canonical_json, content_hash, plain
from lcbgrid.optimize.errors import ArtifactError

SEAL = "sha256"
_PART = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._+\-]*")


def seal(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content with the hash of its canonical JSON under ``sha256``.

    Raises:
        ArtifactError: It has that key already.
    """
    if SEAL in content:
        raise ArtifactError("sealed content cannot have the key of the seal", value=SEAL)
    checked: dict[str, Any] = plain(content)
    return {**checked, SEAL: content_hash(checked)}


def unseal(sealed: Mapping[str, Any], where: object = None) -> dict[str, Any]:
    """Return the content without its seal.

    Args:
        sealed: What ``seal`` gave.
        where: The file, for the message.

    Raises:
        ArtifactError: The seal is missing or belongs to another content.
    """
    content = {key: value for key, value in sealed.items() if key != SEAL}
    if SEAL not in sealed:
        raise ArtifactError("the artifact has no seal", where=where)
    if sealed[SEAL] != content_hash(content):
        raise ArtifactError(
            "the artifact is not what was sealed",
            where=where,
            remedy="it was changed or damaged; remove it and run its phase again",
        )
    return content


class SealedFolder:
    """Sealed artifacts under one folder.

    Args:
        root: The folder; made when the first artifact is written.
    """

    def __init__(self, root: Path | str) -> None:
        self.root = Path(root)

    def path(self, name: str) -> Path:
        """Return where an artifact lies.

        Raises:
            ArtifactError: The name leaves the folder, by itself or through a link.
        """
        parts = name.split("/")
        if not all(_PART.fullmatch(part) for part in parts):
            raise ArtifactError("an artifact's name stays in its folder", value=name)
        path = self.root.joinpath(*parts)
        if not path.resolve().is_relative_to(self.root.resolve()):
            raise ArtifactError("a link leads out of the job's folder", where=name)
        return path

    def exists(self, name: str) -> bool:
        """Return whether there is an artifact of that name."""
        return self.path(name).is_file()

    def write(self, name: str, content: Mapping[str, Any], *, replace: bool = False) -> str:
        """Seal the content and write it atomically; return its hash.

        The writer of a job holds the job's lock; this method takes none.

        Args:
            name: Relative, parts joined by ``/``.
            content: A JSON object.
            replace: An artifact with another content may be replaced.

        Raises:
            ArtifactError: There is one with another content, or the name leaves the folder.
        """
        path = self.path(name)
        sealed = seal(content)
        data = (canonical_json(sealed) + "\n").encode()
        if not replace and path.exists() and path.read_bytes() != data:
            raise ArtifactError("a sealed artifact is there with another content", where=name)
        files.write_bytes(path, data)
        return str(sealed[SEAL])

    def read(self, name: str) -> dict[str, Any]:
        """Return the content of an artifact, after its seal was verified.

        Raises:
            ArtifactError: It is missing, no JSON object, or not what was sealed.
        """
        path = self.path(name)
        try:
            sealed = json.loads(path.read_bytes(), parse_constant=_no_constant)
        except OSError as error:
            raise ArtifactError(f"cannot read it: {error.strerror}", where=name) from None
        except (ValueError, RecursionError) as error:
            raise ArtifactError(f"it is not JSON: {error}", where=name) from None
        if not isinstance(sealed, dict):
            raise ArtifactError("it is not a JSON object", where=name)
        return unseal(sealed, where=name)


def _no_constant(name: str) -> None:
    message = f"{name} is no JSON number"
    raise ValueError(message)
