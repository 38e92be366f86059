"""A table as data: columns that know how to show a value, rows of plain values, footnotes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

MISSING: Final = "\N{EN DASH}"

Row = Mapping[str, Any]


@dataclass(frozen=True)
class TableColumn:
    """One column of a table for people.

    Args:
        header: What stands above it.
        show: Makes the cell's text from the whole row.
        is_number: True to align right.
    """

    header: str
    show: Callable[[Row], str]
    is_number: bool = True


@dataclass(frozen=True)
class Table:
    """A table for people and the same data for programs.

    Args:
        name: File name without ending.
        title: One line above the table.
        columns: Columns for people.
        rows: Plain values.
        notes: Footnotes, one sentence each.
        data_columns: Names of the values that the CSV file holds, in order.
    """

    name: str
    title: str
    columns: tuple[TableColumn, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...]
    data_columns: tuple[str, ...]

    def cells(self) -> list[list[str]]:
        """Return the texts of all rows."""
        return [[column.show(row) for column in self.columns] for row in self.rows]

    @property
    def headers(self) -> list[str]:
        """Return the texts above the columns."""
        return [column.header for column in self.columns]


def text(name: str) -> Callable[[Row], str]:
    """Show a value as it is."""
    return lambda row: MISSING if row.get(name) is None else str(row[name])


def model_text(row: Row) -> str:
    """Show the model of a row, and that it is simulated; nothing simulated goes unmarked."""
    name = row.get("model")
    if not row.get("simulated"):
        return MISSING if name is None else str(name)
    return f"{MISSING} (partly simulated)" if name is None else f"{name} (simulated)"


def share(name: str) -> Callable[[Row], str]:
    """Show a share with three decimals."""
    return lambda row: MISSING if row.get(name) is None else f"{row[name]:.3f}"


def percent(name: str) -> Callable[[Row], str]:
    """Show a share in per cent with one decimal."""
    return lambda row: MISSING if row.get(name) is None else f"{100 * row[name]:.1f}"


def number(name: str, decimals: int = 0) -> Callable[[Row], str]:
    """Show a number with thousands separated and a fixed number of decimals."""
    return lambda row: MISSING if row.get(name) is None else f"{row[name]:,.{decimals}f}"


def signed(value: float, decimals: int = 1) -> str:
    """Show a number with its sign, and a true minus.

    Examples:
        >>> signed(12.5), signed(-4.16), signed(-0.01)
        ('+12.5', '−4.2', '0.0')
    """
    rounded = round(value, decimals) + 0.0
    sign = "+" if rounded > 0 else "\N{MINUS SIGN}" if rounded < 0 else ""
    return f"{sign}{abs(rounded):.{decimals}f}"


def p_text(value: float | None) -> str:
    """Show a p-value with three decimals, a small one as a bound.

    Examples:
        >>> p_text(0.0312), p_text(0.00001), p_text(1.0)
        ('0.031', '<0.001', '1.000')
    """
    if value is None:
        return MISSING
    return "<0.001" if value < 0.0005 else f"{value:.3f}"
