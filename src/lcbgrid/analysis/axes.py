"""The axes of a grid as result files know them, and the order in which people read them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lcbgrid.core.errors import DataError

AXES = (
    "dataset",
    "scenario",
    "topology",
    "team_size",
    "communication",
    "optimizer",
    "model",
    "seed",
)
SETTING_AXES = AXES[:-1]
"""The axes without the seed: what is compared; seeds only repeat it."""

WHOLE_NUMBER_AXES = ("team_size", "seed")

_FIRST = {
    "topology": (
        "direct",
        "single",
        "independent",
        "sequential",
        "centralized",
        "decentralized",
    ),
    "optimizer": ("identity", "none"),
    "difficulty": ("easy", "medium", "hard"),
}

Key = tuple[Any, ...]


def axes_of(cell: Mapping[str, Any], *, where: object = None) -> dict[str, Any]:
    """Return the axes of a cell as plain data, checked.

    Strings stay strings: a model named ``"7"`` is never turned into a number.

    Raises:
        DataError: An axis is missing or of the wrong kind.
    """
    result: dict[str, Any] = {}
    for axis in AXES:
        if axis not in cell:
            raise DataError(f"the cell has no {axis!r}", where=where, remedy="run the cell again")
        value = cell[axis]
        kind = int if axis in WHOLE_NUMBER_AXES else str
        if value is not None and (not isinstance(value, kind) or isinstance(value, bool)):
            raise DataError(f"axis {axis!r} must be {kind.__name__}", where=where, value=value)
        result[axis] = value
    return result


def key_of(axes: Mapping[str, Any], names: tuple[str, ...] = AXES) -> Key:
    """Return the values of some axes as a key for dictionaries."""
    return tuple(axes[name] for name in names)


def order_of(axes: Mapping[str, Any], names: tuple[str, ...] = AXES) -> Key:
    """Return a sort key: known topologies from simple to complex, the rest by name."""
    return tuple(value_order(name, axes[name]) for name in names)


def value_order(name: str, value: Any) -> Key:
    """Return the sort key of one value of one axis; a missing value comes last."""
    if value is None:
        return (3, "")
    first = _FIRST.get(name, ())
    if value in first:
        return (0, first.index(value))
    return (1, value) if isinstance(value, int) else (2, str(value))


def label_of(axes: Mapping[str, Any]) -> str:
    """Return a short name of a cell for messages."""
    return "/".join("-" if axes[name] is None else str(axes[name]) for name in AXES)
