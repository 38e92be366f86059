"""Whole grids on the simulated model: faults, kills, replays, reruns."""

from __future__ import annotations

import json
import random
import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from grids import Grid, wait_until_free

SMALL = {
    "dataset": {"filters": {"limit": 6}},
    "grid": {"topologies": ["direct", "single"], "models": ["sim"], "seeds": [0]},
    "run": {"n_samples": 2},
}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Grid:
    """A small finished grid; tests must leave it as it is."""
    grid = Grid(tmp_path_factory.mktemp("finished") / "grid", config=SMALL)
    grid.run()
    return grid


@pytest.fixture
def copy(finished: Grid, tmp_path: Path) -> Grid:
    """A copy of the finished grid to break."""
    folder = tmp_path / "grid"
    shutil.copytree(finished.folder, folder, copy_function=shutil.copy2)
    grid = object.__new__(Grid)
    grid.folder = folder
    return grid


def test_every_product_is_there_and_has_the_checksum_that_is_listed(finished: Grid) -> None:
    from lcbgrid.analysis.manifest import check_manifest

    assert check_manifest(finished.folder / "results/all", finished.folder) == []
    listed = json.loads(finished.products())
    paths = [product["path"] for product in listed["products"]]
    assert "figures/pass_at_1.pdf" in paths
    assert "results/tables/main.tex" in paths
    assert all("timing" not in path for path in paths)
    assert any("timing" in path for path in listed["measured"])


def test_simulated_results_are_marked(finished: Grid) -> None:
    assert "(simulated)" in (finished.folder / "results/tables/main.md").read_text()
    assert "simulated" in (finished.folder / "results/tables/main.tex").read_text()


def test_nothing_personal_is_in_the_results(finished: Grid) -> None:
    import socket

    for path in (finished.folder / "results").rglob("*"):
        if path.is_file() and "logs" not in path.parts:
            data = path.read_bytes()
            assert str(finished.folder).encode() not in data, path
            assert socket.gethostname().encode() not in data or len(socket.gethostname()) < 4, path


def test_r46_a_finished_grid_plans_nothing(finished: Grid, tmp_path: Path) -> None:
    for seed in ("1", "2", "3"):
        output = finished.run("-n", PYTHONHASHSEED=seed, TMPDIR=str(tmp_path))
        assert "Nothing to be done" in output


def test_a_changed_prompt_runs_exactly_its_cells_again(copy: Grid, repository: Path) -> None:
    shutil.copytree(repository / "config/prompts", copy.folder / "config/prompts")
    assert "Nothing to be done" in copy.run("-n")
    before = copy.mtimes()
    prompt = copy.folder / "config/prompts/single/solver.md"
    prompt.write_text(prompt.read_text() + "\nThink of edge cases.\n")
    copy.run()
    changed = {path for path, stamp in copy.mtimes().items() if before.get(path) != stamp}
    assert {path.split("/")[2] for path in changed} == {"single"}


def test_concurrency_and_retries_run_nothing_again(copy: Grid) -> None:
    before = copy.mtimes()
    text = (copy.folder / "config/models.yaml").read_text()
    (copy.folder / "config/models.yaml").write_text(text.replace("16", "3"))
    copy.run()
    assert copy.mtimes() == before


def test_figures_come_back_from_cached_runs_without_a_model(copy: Grid) -> None:
    wanted = {p.name: p.read_bytes() for p in (copy.folder / "figures").iterdir()}
    shutil.rmtree(copy.folder / "figures")
    for name in ("aggregate", "scores", "tables", "report", ".work", "problems"):
        shutil.rmtree(copy.folder / "results" / name)
    copy.write("config/models.yaml", {"models": {"sim": _unreachable()}})
    copy.run("--", "figures")
    assert {p.name: p.read_bytes() for p in (copy.folder / "figures").iterdir()} == wanted


def test_replay_gives_the_same_bytes_without_a_model(copy: Grid, tmp_path: Path) -> None:
    again = Grid(tmp_path / "again", config=SMALL)
    again.run("--config", f"replay_from={copy.folder / 'results'}")
    assert again.products() == copy.products()
    timing = "runs/embedded/code_generation/direct/r1-freeform/identity/sim/seed0/timing.jsonl"
    assert (again.folder / "results" / timing).read_bytes() == (
        copy.folder / "results" / timing
    ).read_bytes()


def test_replay_fails_on_a_call_that_was_never_made(copy: Grid, tmp_path: Path) -> None:
    more = SMALL | {"run": {"n_samples": 3}}
    again = Grid(tmp_path / "again", config=more)
    output = again.run("--config", f"replay_from={copy.folder / 'results'}", expect=1)
    assert "sample" in output or "#2" in output
    assert not (again.folder / "results/all").exists()


def test_a_grid_cannot_replay_from_the_folder_that_it_writes(copy: Grid) -> None:
    before = copy.mtimes()
    output = copy.run("--config", "replay_from=results", "--forcerun", "run", expect=1)
    assert "cannot replay from the folder that it writes" in output
    assert copy.mtimes() == before


def test_keys_that_stand_twice_are_refused_by_the_workflow_too(copy: Grid) -> None:
    with open(copy.folder / "config/config.yaml", "a") as out:
        out.write("run: {n_samples: 2}\n")
    assert "stands twice" in copy.run("-n", expect=1)


def test_changed_tests_are_judged_again(tmp_path: Path) -> None:
    from lcbgrid.problems.embedded import embedded_problems

    row = json.loads(embedded_problems().read_text().splitlines()[0])
    rows = tmp_path / "rows.jsonl"
    rows.write_text(json.dumps(row) + "\n")
    config = {
        "dataset": {"name": "mine", "source": "local", "files": [str(rows)]},
        "grid": {"topologies": ["direct"], "models": ["sim"]},
    }
    grid = Grid(tmp_path / "grid", config=config, simulate={"skill": 9.0})
    grid.run()
    verdicts = next((grid.folder / "results/runs").rglob("verdicts.jsonl"))
    assert json.loads(verdicts.read_text())["status"] == "passed"
    impossible = [{"input": "1\n2\n", "output": "no\n", "testtype": "stdin"}]
    rows.write_text(json.dumps(row | {"private_test_cases": json.dumps(impossible)}) + "\n")
    grid.run()
    assert json.loads(verdicts.read_text())["status"] == "wrong_answer"


def test_a_second_run_beside_a_live_one_is_refused_by_name(tmp_path: Path) -> None:
    """R48: the owner is named; nothing has to be unlocked after a kill."""
    slow = {"latency_ms": 1500.0}
    grid = Grid(tmp_path / "grid", config=SMALL, simulate=slow, model={"max_concurrency": 1})
    live = grid.start()
    try:
        lock = grid.folder / ".snakemake/lcbgrid.lock"
        while not (lock.exists() and lock.read_text().strip()):
            assert live.poll() is None
        output = grid.run(expect=1)
        assert f"in use by a live process, pid {live.pid}" in output
    finally:
        import os
        import signal

        os.killpg(live.pid, signal.SIGKILL)
        live.communicate()
    assert "Building DAG" in grid.run("-n")


@pytest.mark.parametrize("target", ["results/runs/embedded/typo/predictions.jsonl", "results/al"])
def test_r50_a_wrong_name_fails_at_once(finished: Grid, target: str) -> None:
    output = finished.run("-n", "--", target, expect=1)
    assert "MissingRuleException" in output


@pytest.mark.slow
def test_r51_a_thousand_cells_are_about_two_thousand_jobs(tmp_path: Path) -> None:
    """R51: cells are jobs, not samples. benchmarks/perf/startup.py shows the time and memory."""
    models = {f"m{number}": {"provider": "simulated", "model_id": "m"} for number in range(50)}
    grid = Grid(
        tmp_path / "grid",
        config={
            "grid": {
                "topologies": ["direct", "single"],
                "models": list(models),
                "seeds": list(range(10)),
            }
        },
    )
    grid.write("config/models.yaml", {"models": models})
    output = grid.run("-n")
    total = next(line for line in output.splitlines() if line.startswith("total"))
    assert 2000 < int(total.split()[1]) < 2100


@pytest.mark.slow
def test_interrupted_and_faulty_equals_undisturbed(tmp_path: Path) -> None:
    """20 % faults of every kind, five kills: the same results/all as without any of it."""
    config = {
        "dataset": {"filters": {"limit": 24}},
        "grid": {"topologies": ["direct", "single"], "models": ["sim"], "seeds": [0, 1]},
        "run": {"n_samples": 5},
    }
    behaviour = {"latency_ms": 60.0, "overflow_rate": 0.03, "fault_timeout_s": 1.0}
    calm = Grid(tmp_path / "calm", config=config, simulate=behaviour)
    calm.run()
    faulty = Grid(tmp_path / "faulty", config=config, simulate=behaviour | {"fault_rate": 0.2})
    kills, rng = 0, random.Random(5)
    for attempt in range(12):
        if kills == 5:
            break
        kills += faulty.kill_after(rng.uniform(4.0, 7.0), only_snakemake=attempt % 2 == 0)
    assert kills == 5, "the grid finished before it could be killed five times"
    faulty.run()
    wait_until_free(faulty.folder)
    calm_all, faulty_all = json.loads(calm.products()), json.loads(faulty.products())
    config_file = "results/config.json"  # holds fault_rate itself
    for listed in (calm_all, faulty_all):
        listed.pop("config_sha256")
        listed["products"] = [p for p in listed["products"] if p["path"] != config_file]
    assert faulty_all == calm_all


def _unreachable() -> dict[str, object]:
    return {"provider": "openai", "model_id": "m", "base_url": "http://127.0.0.1:9/v1"}
