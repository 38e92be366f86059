"""Bad input and a failing world: one clear line, the documented exit status, nothing lost."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from grids import BIN, Grid

from lcbgrid.config.model_spec import SimulateSpec
from lcbgrid.models.simulate.server import serve_in_thread

CELL = "embedded/code_generation/direct/r1-freeform/identity/sim/seed0"
CONFIG = {
    "dataset": {"filters": {"limit": 5}},
    "grid": {"topologies": ["direct"], "models": ["sim"]},
    "run": {"n_samples": 2},
}
QUICK = {"max_attempts": 2, "first_wait_s": 0.01, "max_wait_s": 0.02, "timeout_s": 5.0}


def endpoint(base_url: str, **changes: Any) -> dict[str, Any]:
    """A model at an address."""
    spec = {"provider": "openai", "model_id": "m", "base_url": base_url, "retry": QUICK}
    return spec | changes


def bare(folder: Path, config: dict[str, Any] = CONFIG) -> Grid:
    """A folder with a configuration, nothing prepared."""
    grid = Grid(folder, config=config)
    for name in ("teams.yaml", "prompts"):
        (folder / "config" / name).symlink_to(Path(__file__).parents[2] / "config" / name)
    return grid


def make(folder: Path, model: dict[str, Any], config: dict[str, Any] = CONFIG) -> Grid:
    """A folder with a configuration and prepared problems."""
    grid = bare(folder, config)
    grid.write("config/models.yaml", {"models": {"sim": model}})
    assert grid.lcbgrid("problems", "prepare").returncode == 0
    return grid


@pytest.fixture
def server() -> Iterator[str]:
    with serve_in_thread(SimulateSpec(), model_ids=["m"], api_key="sk-rightright") as url:
        yield url


def stats(url: str) -> dict[str, Any]:
    """What the server has seen."""
    with urllib.request.urlopen(url.removesuffix("/v1") + "/stats") as reply:
        return json.load(reply)


def last_line(done: subprocess.CompletedProcess[str]) -> str:
    """The last line on stderr; there is never a traceback."""
    assert "Traceback" not in done.stderr, done.stderr
    return done.stderr.strip().splitlines()[-1]


def test_unreachable_endpoint(tmp_path: Path) -> None:
    grid = make(tmp_path / "g", endpoint("http://127.0.0.1:9/v1"))
    done = grid.lcbgrid("run", "--cell", CELL)
    assert done.returncode == 3
    assert "127.0.0.1:9" in last_line(done)
    assert not (grid.folder / "results/runs").exists()


def test_wrong_key_is_said_once_and_shown_nowhere(tmp_path: Path, server: str) -> None:
    grid = make(tmp_path / "g", endpoint(server))
    done = grid.lcbgrid("run", "--cell", CELL, OPENAI_API_KEY="sk-wrongwrong")
    assert done.returncode == 3
    assert "OPENAI_API_KEY" in last_line(done)
    for path in grid.folder.rglob("*"):
        if path.is_file():
            assert b"wrongwrong" not in path.read_bytes(), path
    assert "wrongwrong" not in done.stderr + done.stdout


def test_wrong_model_name(tmp_path: Path, server: str) -> None:
    grid = make(tmp_path / "g", endpoint(server, model_id="nobody"))
    done = grid.lcbgrid("run", "--cell", CELL, OPENAI_API_KEY="sk-rightright")
    assert done.returncode == 3
    assert "nobody" in last_line(done)


def test_r34_always_429_leaves_the_cell_unfinished(tmp_path: Path) -> None:
    limited = SimulateSpec(fault_rate=1.0, faults=("rate_limit",), retry_after_s=0.0)
    with serve_in_thread(limited, model_ids=["m"]) as url:
        grid = make(tmp_path / "g", endpoint(url))
        done = grid.lcbgrid("run", "--cell", CELL)
    assert done.returncode == 3
    line = last_line(done)
    assert "unfinished" in line
    assert "429" in line
    assert "run the same command again" in line
    assert not (grid.folder / "results/runs").exists()


def test_an_endpoint_that_fails_for_one_problem(tmp_path: Path) -> None:
    """It is infra_error, in no denominator, and counted beside the score."""
    script = tmp_path / "script.jsonl"
    script.write_text(
        json.dumps({"match": "Mira keeps her beads", "replies": [{"status": 500}]}) + "\n"
    )
    with serve_in_thread(SimulateSpec(skill=9.0), model_ids=["m"], script=script) as url:
        config = CONFIG | {"run": {"n_samples": 1}}
        grid = make(tmp_path / "g", endpoint(url), config)
        done = grid.lcbgrid("run", "--cell", CELL)
        assert done.returncode == 0, done.stderr
        assert "1 lost to the endpoint" in done.stdout
    assert grid.lcbgrid("judge", "run", "--cell", CELL).returncode == 0
    assert grid.lcbgrid("score", "--cell", CELL).returncode == 0
    score = json.loads((grid.folder / f"results/scores/{CELL}/score.json").read_text())
    assert score["n_problems_scored"] == 4
    assert [lost["question_id"] for lost in score["lost"]["infra_error"]] == ["emb001_bead_piles"]
    assert score["pass_at_k"]["1"]["value"] == 1.0


def test_r49_a_kill_at_seven_of_ten_leaves_three_requests(tmp_path: Path) -> None:
    import time

    with serve_in_thread(SimulateSpec(latency_ms=250.0), model_ids=["m"]) as url:
        grid = make(tmp_path / "g", endpoint(url, max_concurrency=1))
        process = subprocess.Popen(
            [BIN / "lcbgrid", "run", "--cell", CELL], cwd=grid.folder, stderr=subprocess.DEVNULL
        )
        journal = grid.folder / "results/.work" / CELL / "transcript.jsonl"
        while not journal.exists() or journal.read_bytes().count(b"\n") < 7:
            assert process.poll() is None
            time.sleep(0.005)
        process.kill()
        process.wait()
        finished = journal.read_bytes().count(b"\n")
        before = stats(url)["requests"]
        assert grid.lcbgrid("run", "--cell", CELL).returncode == 0
        asked = stats(url)["requests"] - before
    assert asked == 10 - finished
    assert finished in (7, 8)


def test_r40_samples_differ_and_come_back_without_a_request(tmp_path: Path) -> None:
    with serve_in_thread(SimulateSpec(), model_ids=["m"]) as url:
        grid = make(tmp_path / "g", endpoint(url))
        assert grid.lcbgrid("run", "--cell", CELL).returncode == 0
        first = (grid.folder / f"results/runs/{CELL}/predictions.jsonl").read_bytes()
        count = stats(url)["requests"]
        assert grid.lcbgrid("run", "--cell", CELL).returncode == 0
        assert stats(url)["requests"] == count
    assert (grid.folder / f"results/runs/{CELL}/predictions.jsonl").read_bytes() == first


def test_damaged_problem_files(tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"question_id": "q1"}\n{"question_id": "q2", "quest')
    config = CONFIG | {"dataset": {"name": "mine", "source": "local", "files": [str(rows)]}}
    grid = bare(tmp_path / "g", config)
    done = grid.lcbgrid("problems", "prepare")
    assert done.returncode == 2
    line = last_line(done)
    assert "q1" in line
    assert "line 2" in line or ":2" in line
    assert not (grid.folder / "results/problems/mine").exists()
    done = grid.lcbgrid("problems", "check", str(rows))
    assert done.returncode == 1


def test_not_prepared_names_the_command(tmp_path: Path) -> None:
    grid = bare(tmp_path / "g")
    done = grid.lcbgrid("run", "--cell", CELL)
    assert done.returncode == 3
    assert "lcbgrid problems prepare" in last_line(done)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "--cell", CELL.replace("sim", "simm")], "no such cell in the grid"),
        (["run"], "--cell"),
        (["config", "check", "nowhere.yaml"], "nowhere.yaml: cannot read it"),
        (["judge", "cases", "nowhere.jsonl"], "nowhere.jsonl"),
        (["problems", "check", "nowhere.jsonl"], "nowhere.jsonl"),
        (["model", "fetch", "gpt"], "no such model"),
        (["nonsense"], "nonsense"),
    ],
)
def test_mistakes_on_the_command_line(tmp_path: Path, arguments: list[str], words: str) -> None:
    grid = bare(tmp_path / "g")
    done = grid.lcbgrid(*arguments)
    assert done.returncode == 2, done.stderr
    assert words in last_line(done)


def test_a_full_disk_is_said_and_nothing_is_lost(tmp_path: Path, server: str) -> None:
    """The file size limit stands for a full disk: the same failed write, without being root."""
    grid = make(tmp_path / "g", endpoint(server, max_concurrency=1))
    environment = os.environ | {"OPENAI_API_KEY": "sk-rightright"}

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (9_000, 9_000))

    done = subprocess.run(
        [BIN / "lcbgrid", "run", "--cell", CELL],
        cwd=grid.folder,
        env=environment,
        preexec_fn=limit,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3, done.stderr
    assert "cannot read or write" in last_line(done)
    journal = grid.folder / "results/.work" / CELL / "transcript.jsonl"
    kept = sum(line.endswith(b"\n") for line in journal.read_bytes().splitlines(keepends=True))
    before = stats(server)["requests"]
    assert kept >= 1
    assert grid.lcbgrid("run", "--cell", CELL, OPENAI_API_KEY="sk-rightright").returncode == 0
    assert stats(server)["requests"] - before == 10 - kept


def test_r19_a_sandbox_tool_that_is_not_allowed_is_named(tmp_path: Path, server: str) -> None:
    grid = make(tmp_path / "g", endpoint(server))
    assert grid.lcbgrid("run", "--cell", CELL, OPENAI_API_KEY="sk-rightright").returncode == 0
    stub = tmp_path / "bin" / "bwrap"
    stub.parent.mkdir()
    stub.write_text("#!/bin/sh\necho 'setting up uid map: Permission denied' >&2\nexit 1\n")
    stub.chmod(0o755)
    path = f"{stub.parent}{os.pathsep}{os.environ['PATH']}"
    done = grid.lcbgrid("judge", "run", "--cell", CELL, PATH=path)
    assert done.returncode == 3
    assert "uid map: Permission denied" in last_line(done)
    assert "rlimits" in last_line(done)
    case = {"id": "a", "mode": "stdin", "fn_name": None, "code": "print(1)", "expect": "pass"}
    cases = tmp_path / "cases.jsonl"
    cases.write_text(json.dumps(case | {"tests": [{"input": "", "output": "1\n"}]}) + "\n")
    done = grid.lcbgrid("judge", "cases", str(cases), PATH=path)
    assert done.returncode == 3
    done = grid.lcbgrid("judge", "cases", str(cases), "--sandbox", "rlimits", PATH=path)
    assert (done.returncode, done.stdout.strip()) == (0, "matched 1 of 1")
