"""What every team does, whatever its topology, size and communication format.

Each is run as a whole cell against the simulated server, which refuses histories that a strict
server would refuse.
"""

from __future__ import annotations

import json
import shutil
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from lcbgrid.config.effective import Effective, load
from lcbgrid.config.grid import COMMUNICATIONS
from lcbgrid.config.model_spec import SimulateSpec
from lcbgrid.models.simulate.server import serve_in_thread
from lcbgrid.problems.embedded import embedded_problems
from lcbgrid.problems.prepare import prepare
from lcbgrid.stages.paths import Layout
from lcbgrid.stages.run import run_cell

REPOSITORY = Path(__file__).resolve().parents[2]
TEAMS = yaml.safe_load((REPOSITORY / "config/teams.yaml").read_text())["teams"]
SEVERAL = ("independent", "sequential", "centralized", "decentralized")
CASES = [("direct", 1, "freeform"), ("single", 1, "freeform")] + [
    (topology, size, communication)
    for topology in SEVERAL
    for size in TEAMS[topology]["sizes"]
    for communication in COMMUNICATIONS
]
PRODUCTS = ("predictions.jsonl", "transcript.jsonl")


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serve_in_thread(SimulateSpec(seed=5)) as base_url:
        yield base_url


@pytest.fixture(scope="module")
def problems(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two of our own problems, one a mode."""
    rows = [json.loads(line) for line in embedded_problems().read_text().splitlines()]
    functional = next(row for row in rows if row["starter_code"])
    stdin = next(row for row in rows if not row["starter_code"])
    file = tmp_path_factory.mktemp("rows") / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in (functional, stdin)))
    return file


def grid(
    folder: Path, url: str, problems: Path, case: tuple[str, int, str], concurrency: int = 32
) -> Effective:
    """Write a grid of one cell and prepare its problems."""
    topology, size, communication = case
    config = {
        "dataset": {"name": "two", "source": "local", "files": [str(problems)]},
        "grid": {
            "topologies": [topology],
            "team_sizes": [size],
            "communications": [communication],
            "models": ["m"],
        },
        "run": {"sampling": {"temperature": 0.5, "max_tokens": 2000}},
        "teams_file": str(REPOSITORY / "config/teams.yaml"),
        "prompts_dir": str(REPOSITORY / "config/prompts"),
    }
    model = {
        "provider": "openai",
        "model_id": "m",
        "base_url": url,
        "max_concurrency": concurrency,
    }
    folder.mkdir()
    (folder / "config.yaml").write_text(yaml.safe_dump(config))
    (folder / "models.yaml").write_text(yaml.safe_dump({"models": {"m": model}}))
    effective = load(folder / "config.yaml", {})
    prepare(effective.config.dataset, Layout(folder).problems("two"))
    return effective


def run(folder: Path, effective: Effective) -> dict[str, bytes]:
    """Run the cell and return its products."""
    (cell,) = effective.cells
    run_cell(effective, cell, Layout(folder))
    return {name: (Layout(folder).run(cell) / name).read_bytes() for name in PRODUCTS}


def stats(url: str) -> dict[str, int]:
    with urllib.request.urlopen(url.removesuffix("/v1") + "/stats") as reply:
        return json.load(reply)  # type: ignore[no-any-return]


def records(data: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in data.splitlines()]


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(map(str, case)))
def test_contract(case: tuple[str, int, str], tmp_path: Path, url: str, problems: Path) -> None:
    before = stats(url)
    effective = grid(tmp_path / "a", url, problems, case)
    first = run(tmp_path / "a", effective)
    after = stats(url)
    predictions = records(first["predictions.jsonl"])
    calls = [r for r in records(first["transcript.jsonl"]) if r["kind"] == "call"]

    def grown(name: str) -> int:
        return after.get(name, 0) - before.get(name, 0)

    # nothing was refused, and tokens are those that the server counted
    assert [p["status"] for p in predictions if p["status"] == "infra_error"] == []
    assert grown("status 400") == 0
    assert grown("chat") == len(calls) == sum(p["usage"]["n_llm_calls"] for p in predictions)
    for name in ("prompt_tokens", "completion_tokens"):
        assert grown(name) == sum(p["usage"][name] for p in predictions)

    # a record for each agent, in order, whose costs add up; a winner among them
    topology, size, communication = case
    for prediction in predictions:
        agents = prediction["agents"]
        assert len(agents) == size
        assert len({agent["agent"] for agent in agents}) == size
        assert (
            sum(agent["spent"]["total_tokens"] for agent in agents)
            == (prediction["usage"]["total_tokens"])
        )
        if prediction["predicted_code"] is not None:
            assert agents[prediction["winner"]]["code"] == prediction["predicted_code"]
        if topology in SEVERAL:
            assert prediction["communication"]["communication_format"] == communication

    # caps, and seeds of their own
    spec = effective.teams[topology]
    turns = spec.max_turns.get(size, 26) if topology == "centralized" else spec.rounds
    for agent in {call["call"]["agent"] for call in calls}:
        steps = [call["call"]["step"] for call in calls if call["call"]["agent"] == agent]
        assert max(steps) < spec.max_model_calls * turns
    seeds = [call["request"]["seed"] for call in calls]
    assert len(set(seeds)) == len(seeds)

    # one call at a time gives the same bytes
    assert run(tmp_path / "b", grid(tmp_path / "b", url, problems, case, 1)) == first

    # a run that was killed in the middle gives them, too, and asks only for what is missing
    third = grid(tmp_path / "c", url, problems, case)
    (cell,) = third.cells
    source = Layout(tmp_path / "a").work(cell) / "transcript.jsonl"
    lines = source.read_bytes().splitlines(keepends=True)
    kept = lines[: len(lines) // 2]
    journal = Layout(tmp_path / "c").work(cell) / "transcript.jsonl"
    journal.parent.mkdir(parents=True)
    journal.write_bytes(b"".join(kept) + lines[-1][:20])
    asked = stats(url)["chat"]
    assert run(tmp_path / "c", third) == first
    n_kept = sum(json.loads(line)["kind"] == "call" for line in kept)
    assert stats(url)["chat"] - asked == len(calls) - n_kept
    shutil.rmtree(tmp_path / "a")


def test_no_hidden_test_is_in_any_request(tmp_path: Path, url: str, problems: Path) -> None:
    """Searched in the transcripts: every expected output and input of hidden tests."""
    from lcbgrid.problems.store import PreparedProblems

    for number, topology in enumerate(SEVERAL):
        folder = tmp_path / str(number)
        effective = grid(folder, url, problems, (topology, 4, "freeform"))
        transcript = run(folder, effective)["transcript.jsonl"].decode()
        store = PreparedProblems(Layout(folder).problems("two"))
        checked = 0
        for problem in store.problems():
            suite = store.suite(problem.question_id)
            public = {test.input for test in problem.public_tests}
            for test in suite.tests[suite.n_public :]:
                if test.input in public or len(test.input) < 12:
                    continue  # too short to tell from other text
                assert json.dumps(test.input)[1:-1] not in transcript
                checked += 1
        assert checked > 3
