"""Files that come with the package: the embedded set, the LiveCodeBench id lists.

In a source checkout they lie in ``benchmarks/``; a wheel carries them as ``lcbgrid/_data/``.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from lcbgrid.core.errors import DataError, InfrastructureError

_PACKAGE = Path(__file__).resolve().parents[1]


def resource_dir(name: str, env: str | None = None) -> Path:
    """Return the folder ``benchmarks/{name}`` of the checkout, or its copy in the wheel.

    Args:
        name: Folder name.
        env: Environment variable that overrides it.

    Raises:
        InfrastructureError: There is no such folder.
    """
    override = os.environ.get(env) if env else None
    if override:
        candidates = [Path(override)]
    else:
        candidates = [_PACKAGE.parents[1] / "benchmarks" / name, _PACKAGE / "_data" / name]
    for candidate in candidates:
        if candidate.is_dir():
            return candidate
    raise InfrastructureError(
        f"the folder of {name!r} that belongs to the package is missing",
        where=override and f"{env}={override}",
        remedy="install the package again" if not override else "mend or unset the variable",
    )


def read_json_object(path: Path) -> dict[str, Any]:
    """Read a JSON file that holds an object.

    Raises:
        DataError: It is missing, no JSON, or something else than an object.
    """
    try:
        value = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise DataError("no such file", where=path) from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"not JSON ({error})", where=path) from None
    if not isinstance(value, dict):
        raise DataError("not a JSON object", where=path, value=type(value).__name__)
    return value
