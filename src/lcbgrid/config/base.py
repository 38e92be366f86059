"""The strict base model: unknown keys are refused with the nearest right name."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from lcbgrid.core.errors import ConfigError, nearest


class StrictModel(BaseModel):
    """Immutable, strictly typed, and closed: a typo never passes silently."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, protected_namespaces=())


Model = TypeVar("Model", bound=StrictModel)


def validate(kind: type[Model], data: Any, *, where: Path | str) -> Model:
    """Validate plain data against a model.

    Raises:
        ConfigError: One line that names file, key, value received and what would be right.
    """
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        raise ConfigError(_one_line(kind, error), where=where) from None


def _one_line(kind: type[StrictModel], error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    key = ".".join(str(part) for part in first["loc"]) or "(top level)"
    if first["type"] == "extra_forbidden":
        known = _fields_at(kind, first["loc"][:-1])
        line = f"unknown key {key!r}; {nearest(str(first['loc'][-1]), known)}"
    elif first["type"] == "missing":
        line = f"key {key!r} is missing"
    else:
        message = str(first["msg"]).removeprefix("Value error, ").replace("tuple", "list")
        line = f"key {key!r}: {message}"
        if not isinstance(first["input"], dict):
            line += f" (got {first['input']!r})"
    more = error.error_count() - 1
    return line + (f"; {more} more problem{'s' if more > 1 else ''} in this file" if more else "")


def _fields_at(kind: type[BaseModel], path: tuple[int | str, ...]) -> list[str]:
    """Return the field names of the model that stands at ``path`` inside ``kind``."""
    current: Any = kind
    for part in path:
        if not isinstance(part, str):
            continue
        field = getattr(current, "model_fields", {}).get(part)
        found = _model_in(field.annotation) if field else None
        if found is None:
            continue  # a mapping key or a union tag: the model stays the same
        current = found
    return sorted(getattr(current, "model_fields", {}))


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for argument in getattr(annotation, "__args__", ()):
        found = _model_in(argument)
        if found is not None:
            return found
    return None
