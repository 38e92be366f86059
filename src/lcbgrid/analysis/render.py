"""Tables as CSV, Markdown, LaTeX, HTML and plain text, each escaped in its own way."""

from __future__ import annotations

import csv
import html
import io
import textwrap
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final

from lcbgrid.analysis.table import MISSING, Table
from lcbgrid.core.files import write_text

_LATEX: Final = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "_": r"\_",
    "%": r"\%",
    "&": r"\&",
    "#": r"\#",
    "$": r"\$",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    MISSING: "--",
    "\N{MINUS SIGN}": r"\textminus{}",
    "\N{HORIZONTAL ELLIPSIS}": r"\dots{}",
}
_MARKDOWN: Final = frozenset("\\`*_<>#|~&")
_TERMINAL_COLUMNS: Final = 100


def write_table(table: Table, folder: Path | str, kinds: Iterable[str]) -> list[Path]:
    """Write a table as ``<name>.<kind>`` for each kind of csv, md, tex; return the paths."""
    written = []
    for kind in kinds:
        target = Path(folder) / f"{table.name}.{kind}"
        write_text(target, _RENDERERS[kind](table))
        written.append(target)
    return written


def render_csv(table: Table) -> str:
    """Return the values of a table as CSV: all digits, a missing value as nothing."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(table.data_columns)
    for row in table.rows:
        writer.writerow(_csv_value(row.get(name)) for name in table.data_columns)
    return buffer.getvalue()


def render_markdown(table: Table) -> str:
    """Return a table as Markdown with its title above and its footnotes below."""
    rules = ["---:" if column.is_number else "---" for column in table.columns]
    lines = [f"**{escape_markdown(table.title)}**", ""]
    lines.append(_markdown_row([escape_markdown(header) for header in table.headers]))
    lines.append(_markdown_row(rules))
    lines += [_markdown_row([escape_markdown(cell) for cell in row]) for row in table.cells()]
    lines.append("")
    lines += [f"- {escape_markdown(note)}" for note in table.notes]
    return "\n".join(lines) + "\n"


def render_latex(table: Table) -> str:
    """Return a table as LaTeX for the packages booktabs and threeparttable."""
    kinds = "".join("r" if column.is_number else "l" for column in table.columns)
    lines = [
        "% Needs \\usepackage{booktabs,threeparttable} and \\usepackage[T1]{fontenc}.",
        "\\begin{table}",
        "\\centering",
        "\\begin{threeparttable}",
        f"\\caption{{{escape_latex(table.title)}}}",
        f"\\begin{{tabular}}{{{kinds}}}",
        "\\toprule",
        _latex_row(table.headers),
        "\\midrule",
        *(_latex_row(row) for row in table.cells()),
        "\\bottomrule",
        "\\end{tabular}",
        "\\begin{tablenotes}\\footnotesize",
        *(f"\\item {escape_latex(note)}" for note in table.notes),
        "\\end{tablenotes}",
        "\\end{threeparttable}",
        "\\end{table}",
    ]
    return "\n".join(lines) + "\n"


def render_text(table: Table) -> str:
    """Return a table in plain columns for a terminal, footnotes below."""
    cells = [table.headers, *table.cells()]
    widths = [max(len(row[i]) for row in cells) for i in range(len(table.columns))]
    rule = "  ".join("-" * width for width in widths)
    lines = [table.title, "", _text_row(table, table.headers, widths), rule]
    lines += [_text_row(table, row, widths) for row in table.cells()]
    lines.append("")
    for note in table.notes:
        lines += textwrap.wrap(
            note, _TERMINAL_COLUMNS, initial_indent="  ", subsequent_indent="    "
        )
    return "\n".join(lines) + "\n"


def render_html(table: Table) -> str:
    """Return a table as an HTML fragment with its footnotes."""
    classes = ["number" if column.is_number else "text" for column in table.columns]
    lines = ["<table>", f"<caption>{html.escape(table.title)}</caption>", "<thead><tr>"]
    lines += _html_cells("th", table.headers, classes)
    lines.append("</tr></thead>")
    lines.append("<tbody>")
    for row in table.cells():
        lines += ["<tr>", *_html_cells("td", row, classes), "</tr>"]
    lines += ["</tbody>", "</table>", '<ul class="notes">']
    lines += [f"<li>{html.escape(note)}</li>" for note in table.notes]
    lines.append("</ul>")
    return "\n".join(lines) + "\n"


def escape_latex(text: str) -> str:
    """Return text that LaTeX prints as it is; control characters and line ends become spaces."""
    escaped = "".join(_LATEX.get(char, char) for char in _one_line(text))
    if escaped.lstrip().startswith(("[", "*")):  # after a line end these would be its argument
        escaped = "{}" + escaped
    return escaped


def escape_markdown(text: str) -> str:
    """Return text that Markdown shows as it is."""
    special = _MARKDOWN | set("[]") if "](" in text or "][" in text else _MARKDOWN
    return "".join(f"\\{char}" if char in special else char for char in _one_line(text))


def _one_line(text: str) -> str:
    return "".join(char if char.isprintable() else " " for char in text)


def _markdown_row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _latex_row(cells: Sequence[str]) -> str:
    return " & ".join(escape_latex(cell) for cell in cells) + r" \\"


def _text_row(table: Table, cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = [
        cell.rjust(width) if column.is_number else cell.ljust(width)
        for cell, width, column in zip(cells, widths, table.columns, strict=True)
    ]
    return "  ".join(padded).rstrip()


def _html_cells(tag: str, cells: Sequence[str], classes: Sequence[str]) -> list[str]:
    return [
        f'<{tag} class="{kind}">{html.escape(cell)}</{tag}>'
        for cell, kind in zip(cells, classes, strict=True)
    ]


def _csv_value(value: object) -> str:
    return "" if value is None else str(value)


_RENDERERS: Final[dict[str, Callable[[Table], str]]] = {
    "csv": render_csv,
    "md": render_markdown,
    "tex": render_latex,
}
