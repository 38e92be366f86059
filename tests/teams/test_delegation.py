"""The manager's tools, its note, and its stop word."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from helpers import F, text
from lineup_helpers import RIGHT, block, team

from lcbgrid.models.types import ToolCall
from lcbgrid.scenarios.extract import extract
from lcbgrid.teams.delegation import (
    delegate_schema,
    manager_note,
    parse_instructions,
    stops,
    without_stop_word,
)
from lcbgrid.teams.tools import BadArguments


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (f"{block(RIGHT)}\nTERMINATE", True),
        (f"{block(RIGHT)}\n\n  **TERMINATE**  \n\n", True),
        (f"TERMINATE\n{block(RIGHT)}", True),
        ("TERMINATE", True),
        (f"{F}python\n{RIGHT}\nTERMINATE", True),  # the fence was never closed
        ("I shall write TERMINATE when it is done.", False),
        ("TERMINATE: not yet", False),
        ("terminate", False),
        (f"{F}\nTERMINATE\n{F}", False),
        (f'{F}python\ns = """\nTERMINATE\n"""\nprint(s)\n{F}', False),
        (f"{F}python\nTERMINATE\nprint(1)", False),
        ("", False),
    ],
)
def test_the_stop_word_counts_alone_on_a_line_outside_code(message: str, expected: bool) -> None:
    assert stops(message) is expected


@pytest.mark.parametrize(
    "message",
    [
        f"{block(RIGHT)}\nTERMINATE",
        f"{F}python\n{RIGHT}\nTERMINATE",
        f"{RIGHT}\nTERMINATE",
        f"<think>TERMINATE\n{F}</think>{block(RIGHT)}\nTERMINATE\n",
        f"{RIGHT}\n{F}\nTERMINATE",
    ],
)
def test_the_stop_word_is_no_part_of_the_program(message: str) -> None:
    assert extract(without_stop_word(text(message)).text).code == RIGHT


def test_the_stop_word_inside_a_program_stays() -> None:
    code = 'word = """\nTERMINATE\n"""\nprint(word)'
    reply = text(f"{block(code)}\nTERMINATE")
    assert extract(without_stop_word(reply).text).code == code
    same = text(block(code))
    assert without_stop_word(same) is same


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ('"do it"', "JSON object"),
        ("", "'instructions' must be given"),
        ("{}", "'instructions' must be given"),
        ('{"instructions": "  "}', "'instructions' must be given"),
        ('{"instructions": ["a"]}', "as text"),
        ('{"instructions": "a", "code": "b"}', "unknown argument 'code'"),
    ],
)
def test_bad_instructions_are_named(raw: str, words: str) -> None:
    with pytest.raises(BadArguments, match=words):
        parse_instructions(ToolCall("c", "delegate_to_coder_worker", raw))


def test_good_instructions_come_back() -> None:
    call = ToolCall("c", "delegate_to_coder_worker", '{"instructions": " {x} do it\\n"}')
    assert parse_instructions(call) == "{x} do it"


@pytest.mark.parametrize(
    ("size", "words"),
    [(2, "one worker, the only one"), (4, "three workers"), (8, "seven"), (10, "nine workers")],
)
def test_the_note_names_the_workers_that_there_are(size: int, words: str) -> None:
    spec = team("centralized")
    lineup = spec.lineup(size)
    note = manager_note({role.name: role for role in lineup[1:]})
    assert words in note
    for role in spec.roles:
        if not role.name.startswith("manager"):
            assert (f"- {role.name}: {role.duty}" in note) is (role in lineup)


def test_a_manager_without_workers_only_hears_how_to_finish() -> None:
    assert "delegate_to" not in manager_note({})
    assert "TERMINATE" in manager_note({})


def test_a_tool_says_what_its_worker_is_for() -> None:
    coder = next(role for role in team("centralized").roles if role.name == "coder_worker")
    function = delegate_schema("coder_worker", coder)["function"]
    assert function["name"] == "delegate_to_coder_worker"
    assert coder.duty in function["description"]
    assert function["parameters"]["required"] == ["instructions"]
