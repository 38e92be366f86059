"""The role texts of the teams: short, true at every size, and only about tools that a role has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lcbgrid.models.simulate.writer import wants_prompt
from lcbgrid.scenarios.code_generation import CONTRACT_HEADING

SEQUENTIAL: dict[int, tuple[str, ...]] = {
    2: ("coder", "debugger"),
    4: ("analyzer", "coder", "tester", "debugger"),
    8: (
        *("requirements_parser", "analyzer", "algorithm_designer", "coder"),
        *("edge_case_thinker", "tester", "debugger", "code_reviewer"),
    ),
    10: (
        *("requirements_parser", "analyzer", "algorithm_designer", "coder"),
        *("complexity_analyzer", "edge_case_thinker", "tester", "debugger"),
        *("optimizer", "code_reviewer"),
    ),
}
_FOUR = ("manager", "analyzer_worker", "coder_worker", "tester_worker")
_MORE = ("design_worker", "edge_case_worker", "debug_worker", "review_worker")
CENTRALIZED: dict[int, tuple[str, ...]] = {
    2: ("manager", "coder_worker"),
    4: _FOUR,
    8: ("manager_r8", *_FOUR[1:], *_MORE),
    10: ("manager_r10", *_FOUR[1:], *_MORE, "complexity_analyzer_worker", "optimizer_worker"),
}
SEQUENTIAL_WITH_TOOL = {"tester", "debugger", "optimizer"}

# (topology, role) -> has python_exec
ROLES: dict[tuple[str, str], bool] = {
    ("independent", "coder"): True,
    ("decentralized", "debater"): True,
    **{
        ("sequential", role): role in SEQUENTIAL_WITH_TOOL
        for stages in SEQUENTIAL.values()
        for role in stages
    },
    **{("centralized", role): True for team in CENTRALIZED.values() for role in team},
}
TOPOLOGIES = sorted({topology for topology, _ in ROLES})
MANAGERS = {size: team[0] for size, team in CENTRALIZED.items()}
WORKERS = sorted({role for team in CENTRALIZED.values() for role in team[1:]})

_COMPLEXITY = ("TIME_COMPLEXITY:", "SPACE_COMPLEXITY:", "BOTTLENECK:")
MARKERS: dict[tuple[str, str], tuple[str, ...]] = {
    ("sequential", "requirements_parser"): (
        *("MODE:", "INPUT_FORMAT:", "OUTPUT_FORMAT:"),
        *("CONSTRAINTS:", "OBVIOUS_EDGE_CASES:"),
    ),
    ("sequential", "complexity_analyzer"): _COMPLEXITY,
    ("centralized", "complexity_analyzer_worker"): _COMPLEXITY,
    ("centralized", "debug_worker"): ("ROOT_CAUSE:", "FIXED_CODE:"),
}
# Roles that hand on a report or a plan; a program of theirs could be taken for the answer.
NO_PROGRAM = (
    *("requirements_parser", "analyzer", "algorithm_designer"),
    *("complexity_analyzer", "edge_case_thinker", "tester"),
)
# Roles that end with a program and may get no contract that asks for it.
OWN_BLOCK = [
    *[("sequential", role) for role in ("coder", "optimizer")],
    *[("centralized", role) for role in ("debug_worker", "optimizer_worker", "tester_worker")],
]
ANSWERING = [
    *[("independent", "coder"), ("decentralized", "debater"), *OWN_BLOCK],
    *[("sequential", role) for role in ("debugger", "code_reviewer")],
    *[("centralized", role) for role in ("manager", "manager_r8", "manager_r10", "coder_worker")],
]
# It speaks of costs only, and those do not depend on how a program is called.
WITHOUT_MODE = ("sequential", "complexity_analyzer")
# The words with which a text would name the stage or worker that has this role.
NAMED: dict[str, str] = {
    "requirements_parser": r"pars(?:er|ing)",
    "analyzer": r"analy[sz]ers?|analysts?",
    "algorithm_designer": r"designers?",
    "coder": r"coders?",
    "complexity_analyzer": r"complexity (?:analy|worker|stage)\w*",
    "edge_case_thinker": r"edge.case (?:thinker|worker|stage)s?|thinkers?",
    "tester": r"testers?",
    "debugger": r"debuggers?",
    "optimizer": r"optimi[sz]ers?",
    "code_reviewer": r"reviewers?",
}
# Worker -> the words with which a manager's text speaks of its work.
WORK: dict[str, str] = {
    "analyzer_worker": r"analysis",
    "coder_worker": r"coding",
    "tester_worker": r"testing",
    "design_worker": r"designs?",
    "edge_case_worker": r"edge cases",
    "debug_worker": r"debugg\w+",
    "review_worker": r"review",
    "complexity_analyzer_worker": r"complexity",
    "optimizer_worker": r"optimi[sz]\w+",
}
UNTRUE = (
    r"hidden tests?|private|secret|graded",
    r"best[ -]of",
    r"isolat\w*|only see what|cannot see the conversation",
    r"timeout_s|keeps? state|persistent|notebook",
    r"internet|shell|files?|pip|numpy",
    r"first stage|last stage|final stage|previous stage|next stage",
    r"(?:two|three|four|seven|eight|nine|ten|\d+) (?:stages|agents|workers|peers|replicas|coders)",
    r"your team of|TERMINATE",
)

each_role = pytest.mark.parametrize(("topology", "role"), sorted(ROLES))


@pytest.fixture(scope="session")
def prompts(repository: Path) -> dict[tuple[str, str], str]:
    """Every role text, as it is in its file."""
    folder = repository / "config" / "prompts"
    return {
        (topology, path.stem): path.read_bytes().decode("utf-8")
        for topology in TOPOLOGIES
        for path in (folder / topology).iterdir()
    }


def _has(pattern: str, text: str) -> bool:
    return bool(re.search(rf"\b(?:{pattern})\b", text, re.IGNORECASE))


def test_there_is_one_file_a_role_and_no_other(repository: Path) -> None:
    folder = repository / "config" / "prompts"
    found = {
        f"{topology}/{path.name}"
        for topology in TOPOLOGIES
        for path in (folder / topology).iterdir()
    }
    assert found == {f"{topology}/{role}.md" for topology, role in ROLES}


@each_role
def test_a_text_is_short_plain_text(
    prompts: dict[tuple[str, str], str], topology: str, role: str
) -> None:
    text = prompts[topology, role]
    assert text.strip()
    assert text.endswith("\n")
    assert text == text.strip() + "\n"
    assert text.isascii()
    assert not re.search(r"[\r\t]|[ ]\n|\n\n\n", text)
    assert 50 <= len(text.split()) <= 200


@each_role
def test_a_text_holds_no_placeholder_and_no_contract(
    prompts: dict[tuple[str, str], str], topology: str, role: str
) -> None:
    text = prompts[topology, role]
    assert not re.search(r"[{}<>]|TODO|YOUR CODE|PROBLEM:", text)
    assert CONTRACT_HEADING not in text
    assert not any(line.strip().startswith("```") for line in text.splitlines()), "no open block"


@each_role
def test_a_text_names_the_tool_if_and_only_if_the_role_has_it(
    prompts: dict[tuple[str, str], str], topology: str, role: str
) -> None:
    text = prompts[topology, role]
    if not ROLES[topology, role]:
        assert not _has(r"python_exec|tools?|runs?|ran|running|execut\w+|call it|time it", text)
        assert "stdin`" not in text
        return
    assert "python_exec" in text
    assert "`code`" in text
    assert "`stdin`" in text
    assert _has(r"fresh process|nothing is kept", text)
    named = set(re.findall(r"\b(?:tools? |with )([a-z]+_[a-z_]+)", text))
    assert named <= {"python_exec"}
    assert "delegate_to" not in text, "the code names these tools, for the workers that exist"


@each_role
def test_a_text_says_nothing_untrue(
    prompts: dict[tuple[str, str], str], topology: str, role: str
) -> None:
    text = prompts[topology, role]
    assert [claim for claim in UNTRUE if _has(claim, text)] == []


@each_role
def test_a_text_covers_both_ways_to_call_a_program(
    prompts: dict[tuple[str, str], str], topology: str, role: str
) -> None:
    if (topology, role) == WITHOUT_MODE:
        return
    text = prompts[topology, role]
    assert "standard input" in text
    assert "class Solution" in text


@pytest.mark.parametrize(("key", "markers"), sorted(MARKERS.items()))
def test_markers_stand_at_line_starts_in_order(
    prompts: dict[tuple[str, str], str], key: tuple[str, str], markers: tuple[str, ...]
) -> None:
    found = re.findall(r"^([A-Z][A-Z_]+:)", prompts[key], re.MULTILINE)
    assert tuple(found) == markers


def test_a_review_ends_with_one_of_two_words(prompts: dict[tuple[str, str], str]) -> None:
    last = prompts["centralized", "review_worker"].splitlines()[-1]
    assert "last line" in last
    assert "APPROVE" in last
    assert "SUGGEST_CHANGES" in last


@pytest.mark.parametrize("role", NO_PROGRAM)
def test_stages_that_report_write_no_program(
    prompts: dict[tuple[str, str], str], role: str
) -> None:
    text = prompts["sequential", role]
    assert "```" not in text
    assert _has(
        r"write no code|writes? no program|not into a program|not change it|not repeat", text
    )


@pytest.mark.parametrize(("topology", "role"), OWN_BLOCK)
def test_roles_without_a_contract_ask_for_a_python_block(
    prompts: dict[tuple[str, str], str], topology: str, role: str
) -> None:
    assert "```python" in prompts[topology, role].strip().splitlines()[-1]


@pytest.mark.parametrize(("topology", "role"), ANSWERING)
def test_the_last_lines_of_answering_roles_speak_of_the_program(
    prompts: dict[tuple[str, str], str], topology: str, role: str
) -> None:
    last = prompts[topology, role].strip().splitlines()[-1]
    assert _has(r"(?:complete|whole) program|repeat the program", last)


@pytest.mark.parametrize("role", sorted({r for s in SEQUENTIAL.values() for r in s}))
def test_a_stage_names_no_other_stage(prompts: dict[tuple[str, str], str], role: str) -> None:
    text = prompts["sequential", role]
    assert [name for name, words in NAMED.items() if _has(words, text)] == []


@pytest.mark.parametrize("role", sorted({r for s in SEQUENTIAL.values() for r in s}))
def test_a_stage_speaks_of_earlier_texts_as_far_as_there_are_any(
    prompts: dict[tuple[str, str], str], role: str
) -> None:
    text = prompts["sequential", role]
    first = [stages[0] == role for stages in SEQUENTIAL.values() if role in stages]
    if all(first):
        assert not _has("earlier", text)
    elif any(first):
        assert "If the message holds texts of earlier stages" in text
    else:
        assert "earlier stages" in text


@pytest.mark.parametrize("role", WORKERS)
def test_a_worker_serves_the_manager_and_counts_on_no_other_worker(
    prompts: dict[tuple[str, str], str], role: str
) -> None:
    text = prompts["centralized", role]
    assert _has("a manager", text)
    assert not _has("workers?|stages?|peers?", text)
    assert [name for name, words in NAMED.items() if _has(words, text)] == []


@pytest.mark.parametrize("manager", sorted(set(MANAGERS.values())))
def test_a_manager_speaks_only_of_work_that_its_workers_do(
    prompts: dict[tuple[str, str], str], manager: str
) -> None:
    text = prompts["centralized", manager]
    teams = [set(team[1:]) for team in CENTRALIZED.values() if team[0] == manager]
    spoken = {worker for worker, words in WORK.items() if _has(words, text)}
    assert "Your workers, listed below" in text
    assert not _has(r"\w+_worker", text)
    if len(teams) > 1:
        assert spoken == set(), "it must fit each of its sizes"
    else:
        assert spoken == teams[0]


@each_role
def test_the_simulated_model_takes_no_text_for_a_wish_for_a_prompt(
    prompts: dict[tuple[str, str], str], topology: str, role: str
) -> None:
    assert not wants_prompt([prompts[topology, role]])
