"""Tables: content, footnotes, and escapes of each form."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcbgrid.analysis.frames import Frames, write_frames
from lcbgrid.analysis.render import (
    escape_latex,
    escape_markdown,
    render_csv,
    render_html,
    render_latex,
    render_markdown,
    render_text,
)
from lcbgrid.analysis.table import Table, TableColumn, text
from lcbgrid.analysis.tables import main_table, make_tables, problem_table, table_paths

MakeGrid = Callable[..., Frames]
GRID: list[tuple[dict[str, Any], list[str] | None]] = [
    ({"model": "a_b", "seed": 0}, ["+", "-", "n", "t"]),
    ({"model": "a_b", "seed": 1}, ["+", "+", "n", "i"]),
    ({"model": "zero", "seed": 0}, ["-"] * 4),
    ({"model": "zero", "seed": 1}, None),
    ({"model": "gone", "seed": 0}, None),
    ({"model": "gone", "seed": 1}, None),
]
NASTY = r"a_b%&#$~^\{}<b>|`*[x](y)"


def test_main_table_by_hand(make_grid: MakeGrid) -> None:
    table = main_table(make_grid(GRID))
    rows = [dict(zip(table.headers, cells, strict=True)) for cells in table.cells()]
    assert [row["model"] for row in rows] == ["a_b", "gone", "zero"]
    first, gone, zero = rows
    assert first["pass@1"].startswith("0.458 [")
    assert (first["seeds"], first["n"], first["of extracted"]) == ("2 of 2", "1", "0.667")
    assert (first["easy"], first["medium"], first["hard"]) == ("0.750", "0.500", "0.000")
    assert (first["cut %"], first["lost"], first["tokens"], first["calls"]) == (
        "12.5!",
        "1",
        "120",
        "1.0",
    )
    assert gone["pass@1"] == "\N{EN DASH} (not run)"
    assert set(list(gone.values())[6:]) == {"\N{EN DASH}"}
    assert zero["pass@1"].startswith("0.000 [0.000, 0.490]")
    assert zero["seeds"] == "1 of 2"
    notes = "\n".join(table.notes)
    assert "at most 512 tokens a reply" in notes
    assert "More than 2 % of the replies were cut" in notes
    assert "not a zero (not run)" in notes


def test_simulated_rows_are_marked_in_every_table(make_grid: MakeGrid) -> None:
    frames = make_grid([({}, ["+", "-"])], changes={"simulated": True})
    for table in (main_table(frames), problem_table(frames)):
        for render in (render_markdown, render_latex, render_text, render_html):
            assert "model-a (simulated)" in render(table)
    assert ",True," in render_csv(main_table(frames))


def test_problem_table_adds_seeds_up(make_grid: MakeGrid) -> None:
    table = problem_table(make_grid(GRID))
    assert table.headers == ["problem", "difficulty", "platform", "s1", "s2"]
    assert table.cells()[0] == ["q000", "easy", "atcoder", "2/2", "0/1"]
    assert table.cells()[3] == ["q003", "easy", "leetcode", "0/1", "0/1"]
    assert (
        table.notes[0]
        == "s1: embedded, code_generation, direct, 1 agents, freeform, identity, a_b"
    )


def test_csv_holds_all_digits_and_the_context_of_every_row(make_grid: MakeGrid) -> None:
    [first, gone, _] = csv.DictReader(render_csv(main_table(make_grid(GRID))).splitlines())
    assert float(first["pass_at_1"]) == (1 / 4 + 2 / 3) / 2
    assert (first["rules"], first["tier"], first["max_tokens"]) == ("real", "bwrap", "512")
    assert (first["window"], first["n_problems"]) == ("[2025-01-01, 2026-01-01)", "4")
    assert (gone["pass_at_1"], gone["reason"]) == ("", "not run")


def test_text_columns_line_up(make_grid: MakeGrid) -> None:
    lines = render_text(main_table(make_grid(GRID))).splitlines()
    assert lines[3].startswith("--------  --------")
    starts = [match.start() for match in re.finditer(r"(?:^|(?<=  ))-", lines[3])]
    place = starts[lines[2].split().index("pass@1")]
    assert {line[place - 2 : place] for line in lines[2:7]} == {"  "}


def test_tables_are_written_and_are_the_same_bytes(make_grid: MakeGrid, tmp_path: Path) -> None:
    write_frames(make_grid(GRID), tmp_path / "aggregate")
    first = make_tables(tmp_path / "aggregate", tmp_path / "one")
    make_tables(tmp_path / "aggregate", tmp_path / "two")
    assert first == table_paths(tmp_path / "one")
    assert len(first) == 9
    for path in first:
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()


def _one_cell(value: str) -> Table:
    column = TableColumn("h_1", text("x"), is_number=False)
    return Table("t", "title", (column,), ({"x": value},), ("note & more",), ("x",))


@pytest.mark.parametrize(
    ("char", "escaped"),
    [
        ("_", r"\_"),
        ("%", r"\%"),
        ("&", r"\&"),
        ("#", r"\#"),
        ("$", r"\$"),
        ("{", r"\{"),
        ("}", r"\}"),
        ("~", r"\textasciitilde{}"),
        ("^", r"\textasciicircum{}"),
        ("\\", r"\textbackslash{}"),
        ("\n", " "),
        ("\N{MINUS SIGN}", r"\textminus{}"),
        ("[", "{}["),
        ("*", "{}*"),
    ],
)
def test_latex_escapes(char: str, escaped: str) -> None:
    assert escape_latex(char) == escaped
    assert escape_latex(f"a{char}b") == f"a{escaped.removeprefix('{}')}b"


@given(st.text())
def test_latex_leaves_no_special_character_bare(value: str) -> None:
    escaped = escape_latex(value)
    bare = re.sub(r"\\(?:text[a-z]+|dots)\{\}|\\[_%&#${}]|^\{\}(?=\s*[\[*])", "", escaped)
    assert not set(bare) & set("\\{}_%&#$~^")
    assert "\n" not in escaped


@given(st.text(alphabet=st.characters(codec="ascii", categories=["L", "N", "P", "S", "Zs"])))
def test_latex_escapes_can_be_read_back(value: str) -> None:
    names = {
        "textbackslash": "\\",
        "textasciitilde": "~",
        "textasciicircum": "^",
        "textless": "<",
        "textgreater": ">",
        "textbar": "|",
        "textquotedbl": '"',
    }
    escaped = escape_latex(value)
    if re.match(r"\{\}\s*[\[*]", escaped):
        escaped = escaped[2:]
    back = re.sub(
        r"\\(?:(text[a-z]+)\{\}|([_%&#${}]))",
        lambda match: names[match.group(1)] if match.group(1) else match.group(2),
        escaped,
    )
    assert back == value


def test_latex_table_has_one_cell_separator_a_column() -> None:
    body = render_latex(_one_cell(NASTY))
    [row] = [line for line in body.splitlines() if line.startswith("a\\_b")]
    assert row.endswith(r" \\")
    assert not re.search(r"(?<!\\)&", row)
    for line in ("\\toprule", "\\midrule", "\\bottomrule", "\\item note \\& more"):
        assert line in body.splitlines()


@given(st.text())
def test_a_markdown_cell_never_breaks_its_row(value: str) -> None:
    row = render_markdown(_one_cell(value)).split("\n")[4]
    assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) == 2


def test_markdown_shows_names_as_they_are() -> None:
    assert escape_markdown("a_b*`") == r"a\_b\*\`"
    assert escape_markdown("[x](y)") == r"\[x\](y)"
    assert escape_markdown("0.1 [0.0, 0.2]") == "0.1 [0.0, 0.2]"


def test_html_is_escaped() -> None:
    body = render_html(_one_cell('<script>alert("x")</script>&'))
    assert "<script>" not in body
    assert "&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;&amp;" in body
