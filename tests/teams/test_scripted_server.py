"""Teams against a server that says what a script tells it: each story has its documented end.

The whole run stage is used, over HTTP, against the strict simulated server.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from lcbgrid.config.effective import load
from lcbgrid.config.model_spec import SimulateSpec
from lcbgrid.models.simulate.server import serve_in_thread
from lcbgrid.problems.embedded import embedded_problems
from lcbgrid.problems.prepare import prepare
from lcbgrid.stages.paths import Layout
from lcbgrid.stages.run import run_cell

REPOSITORY = Path(__file__).resolve().parents[2]
TEAMS = yaml.safe_load((REPOSITORY / "config/teams.yaml").read_text())["teams"]
F = "```"
Reply = str | dict[str, Any]


def program(code: str) -> str:
    return f"{F}python\n{code}\n{F}"


def delegate(worker: str, *instructions: str, text: str | None = None) -> dict[str, Any]:
    """A reply of a manager that gives jobs to one worker."""
    return {
        "text": text,
        "finish_reason": "tool_calls",
        "tool_calls": [
            {"name": f"delegate_to_{worker}", "arguments": {"instructions": text}}
            for text in instructions
        ],
    }


def answer(
    folder: Path, topology: str, size: int, says: Mapping[str, Sequence[Reply]], **run: Any
) -> dict[str, Any]:
    """Run a team on one problem; each role says what its list holds, the last one again."""
    spec = TEAMS[topology]
    prompts = folder / "prompts" / topology
    prompts.mkdir(parents=True)
    for role in spec["roles"]:
        (prompts / f"{role['name']}.md").write_text(f"Role text of {role['name'].upper()}.\n")
    rules = [
        {"match": f"Role text of {role.upper()}.", "replies": list(replies)}
        for role, replies in says.items()
    ]
    script = folder / "script.jsonl"
    script.write_text("".join(json.dumps(rule) + "\n" for rule in rules))
    row = next(
        row
        for row in map(json.loads, embedded_problems().read_text().splitlines())
        if not row["starter_code"]
    )
    (folder / "rows.jsonl").write_text(json.dumps(row) + "\n")
    config = {
        "dataset": {"name": "one", "source": "local", "files": [str(folder / "rows.jsonl")]},
        "grid": {"topologies": [topology], "team_sizes": [size], "models": ["m"]},
        "run": {"sampling": {"temperature": 0.5}} | run,
        "teams_file": str(REPOSITORY / "config/teams.yaml"),
    }
    with serve_in_thread(SimulateSpec(), script=script) as url:
        model = {"provider": "openai", "model_id": "m", "base_url": url, "max_concurrency": 1}
        (folder / "config.yaml").write_text(yaml.safe_dump(config))
        (folder / "models.yaml").write_text(yaml.safe_dump({"models": {"m": model}}))
        effective = load(folder / "config.yaml", {})
        layout = Layout(folder / "results")
        prepare(effective.config.dataset, layout.problems("one"))
        (cell,) = effective.cells
        run_cell(effective, cell, layout)
    (line,) = (layout.run(cell) / "predictions.jsonl").read_text().splitlines()
    return json.loads(line)  # type: ignore[no-any-return]


def test_a_right_coder_and_a_wrong_last_stage(tmp_path: Path) -> None:
    says = {
        "coder": [program("print('right')")],
        "debugger": ["I see a fault.\n" + program("print('wrong')")],
    }
    found = answer(tmp_path, "sequential", 2, says)
    assert (found["predicted_code"], found["winner"]) == ("print('wrong')", 1)
    assert [agent["code"] for agent in found["agents"]] == ["print('right')", "print('wrong')"]


def test_a_right_coder_and_a_last_stage_without_a_program(tmp_path: Path) -> None:
    says = {"coder": [program("print('right')")], "debugger": ["It is wrong, throw it away."]}
    found = answer(tmp_path, "sequential", 2, says)
    assert (found["predicted_code"], found["winner"], found["status"]) == (
        "print('right')",
        0,
        "ok",
    )


def test_a_manager_that_never_stops(tmp_path: Path) -> None:
    says = {
        "manager": [delegate("coder_worker", "again")],
        "coder_worker": [program("print('draft')")],
    }
    found = answer(tmp_path, "centralized", 2, says)
    assert (found["status"], found["predicted_code"]) == ("step_limit", "print('draft')")
    assert found["n_turns"] == 13  # its cap at size 2


def test_a_manager_that_delegates_twice_in_one_turn(tmp_path: Path) -> None:
    says = {
        "manager": [
            delegate("coder_worker", "the first way", "the second way"),
            program("print('final')") + "\nTERMINATE",
        ],
        "coder_worker": [program("print('one')"), program("print('two')")],
    }
    found = answer(tmp_path, "centralized", 2, says)
    assert (found["status"], found["predicted_code"]) == ("ok", "print('final')")
    assert found["agents"][1]["spent"]["n_llm_calls"] == 2  # both jobs were done
    assert found["n_turns"] == 4


def test_a_manager_that_says_the_stop_word_in_prose(tmp_path: Path) -> None:
    says = {
        "manager": [
            delegate("coder_worker", "write it", text="I will TERMINATE when this is done."),
            "I could TERMINATE now, but there is no program yet.",
            program("print('TERMINATE')") + "\nTERMINATE",
        ],
        "coder_worker": ["I need more time."],
    }
    found = answer(tmp_path, "centralized", 2, says)
    assert (found["status"], found["predicted_code"]) == ("ok", "print('TERMINATE')")
    assert found["agents"][0]["spent"]["n_llm_calls"] == 3


@pytest.mark.parametrize(
    ("rounds", "code", "buckets"),
    [
        # the first peer is asked first in each round: its replies are the 1st and the 3rd
        (["a", "b", "b", "b"], "print('b')", [[0, 1]]),
        (["a", "b", "a", "b"], "print('a')", [[0], [1]]),
    ],
)
def test_a_debate(tmp_path: Path, rounds: list[str], code: str, buckets: list[Any]) -> None:
    says = {"debater": [program(f"print('{text}')") for text in rounds]}
    found = answer(tmp_path, "decentralized", 2, says)
    assert (found["predicted_code"], found["winner"]) == (code, 0)
    assert found["vote"]["buckets"] == buckets


def test_a_replica_without_code(tmp_path: Path) -> None:
    says = {"coder": ["I give up.", program("print('mine')")]}
    found = answer(tmp_path, "independent", 2, says)
    assert (found["predicted_code"], found["winner"]) == ("print('mine')", 1)
    assert [agent["status"] for agent in found["agents"]] == ["no_code", "ok"]
