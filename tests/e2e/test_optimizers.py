"""Grids with optimizers, and what their processes may open and tell a model."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "cli"))
from grids import BIN
from job_server import Body, RecordingApp, failing, is_wish, served
from optimized_grids import CELL, METHODS, ZEBRA, Played, make, texts, zebras_are_right

from lcbgrid.config.model_spec import SimulateSpec
from lcbgrid.config.problem_spec import DatasetSpec
from lcbgrid.core.jsonl import read_jsonl
from lcbgrid.models.simulate.answer import Answer
from lcbgrid.problems.embedded import embedded_dir
from lcbgrid.problems.prepare import prepare
from lcbgrid.problems.splits import Splits, read_splits
from lcbgrid.problems.store import PreparedProblems


@pytest.fixture(scope="module")
def zebra() -> Iterator[RecordingApp]:
    with served(SimulateSpec(skill=9.0), hook=zebras_are_right) as app:
        yield app


@pytest.fixture(scope="module")
def first(zebra: RecordingApp, tmp_path_factory: pytest.TempPathFactory) -> Played:
    """A finished grid; tests must leave it as it is."""
    grid = make(tmp_path_factory.mktemp("first") / "grid", zebra.url)
    grid.run()
    asked = Counter(json.dumps(body, sort_keys=True) for body in zebra.bodies)
    (grid.folder / "asked.json").write_text(json.dumps(asked))
    return Played(grid, zebra)


def planned(output: str, rule: str) -> list[str]:
    """The cells for which a rule would run."""
    blocks = re.findall(rf"^(?:local)?rule {rule}:\n((?:    .*\n)+)", output, re.MULTILINE)
    return sorted(re.findall(r"wildcards: cell=(\S+)", "".join(blocks)))


@pytest.mark.slow
def test_a_cell_runs_with_the_prompts_that_its_search_deploys(first: Played) -> None:
    for method in METHODS:
        cell = CELL.format(method)
        bundle = json.loads(first.path("optimize", cell, "bundle.json").read_text())
        assert bundle["selected_candidate"] == "incumbent"
        assert ZEBRA in json.dumps(bundle["bundle"]["roles"])
        calls = list(read_jsonl(first.path("runs", cell, "transcript.jsonl")))
        assert len(calls) == 3
        assert all(ZEBRA in json.dumps(call["request"]) for call in calls)
    identity = first.path("runs", CELL.format("identity"), "transcript.jsonl").read_text()
    assert ZEBRA not in identity


@pytest.mark.slow
def test_methods_share_the_baseline_and_nothing_is_asked_twice(first: Played) -> None:
    asked = json.loads((first.grid.folder / "asked.json").read_text())
    evaluations = [body for text in asked if (body := json.loads(text))["temperature"] == 0]
    assert {asked[json.dumps(body, sort_keys=True)] for body in evaluations} == {1}
    as_written = [body for body in evaluations if ZEBRA not in texts(body)]
    assert len(as_written) == 6  # the validation problems, once for both methods


@pytest.mark.slow
def test_a_second_run_plans_nothing(first: Played) -> None:
    assert "Nothing to be done" in first.grid.run("-n")


@pytest.mark.slow
def test_another_budget_searches_again_and_leaves_identity_alone(
    first: Played, tmp_path: Path
) -> None:
    played = first.copy(tmp_path / "grid")
    played.configure(optimize={"budget": 20})
    output = played.grid.run("-n", "--quiet", "host")
    searched = sorted(CELL.format(method) for method in METHODS)
    assert planned(output, "optimize") == searched
    assert planned(output, "run") == searched
    assert planned(output, "prepare_search") == []


@pytest.mark.slow
def test_own_test_adds_a_comparison_and_leaves_identity_alone(
    first: Played, tmp_path: Path
) -> None:
    played = first.copy(tmp_path / "grid")
    before = played.grid.mtimes()
    played.configure(optimize={"own_test": True})
    played.grid.run()
    for method in METHODS:
        path = played.path("optimize", CELL.format(method), "result.json")
        result = json.loads(path.read_text())
        is_new = result["selection"]["selected_candidate"] == "incumbent"
        assert result["delta_pp"] == (100.0 if is_new else 0.0)
        assert len(result["test"]["example_ids"]) == 3
    changed = {path for path, stamp in played.grid.mtimes().items() if before.get(path) != stamp}
    assert not {path for path in changed if "identity" in path}


@pytest.mark.slow
def test_a_replay_needs_no_model_and_gives_the_same_bytes(first: Played, tmp_path: Path) -> None:
    again = make(tmp_path / "again", first.app.url)
    first.app.bodies.clear()
    again.run("--config", f"replay_from={first.path()}")
    assert not first.app.bodies
    for method in METHODS:
        for name in (f"optimize/{CELL}/bundle.json", f"runs/{CELL}/predictions.jsonl"):
            path = Path("results", name.format(method))
            assert (again.folder / path).read_bytes() == (first.grid.folder / path).read_bytes()
    assert again.products() == first.grid.products()


@pytest.mark.slow
def test_a_grid_with_optimizers_is_redrawn_without_a_model(first: Played, tmp_path: Path) -> None:
    played = first.copy(tmp_path / "grid")
    wanted = {p.name: p.read_bytes() for p in (played.grid.folder / "figures").iterdir()}
    shutil.rmtree(played.grid.folder / "figures")
    for name in ("aggregate", "scores", "tables", "report", ".work", "problems"):
        shutil.rmtree(played.path(name))
    done = played.grid.lcbgrid("redraw")
    assert done.returncode == 0, done.stderr
    assert {p.name: p.read_bytes() for p in (played.grid.folder / "figures").iterdir()} == wanted
    assert not played.app.bodies


@pytest.mark.slow
def test_calls_of_the_baseline_are_answered_from_its_journal_or_its_published_transcript(
    first: Played, tmp_path: Path
) -> None:
    """The search deploys the prompts as written, so its cell has nothing to ask."""
    identity, cell = CELL.format("identity"), CELL.format("mipro")
    with served(hook=lambda body, number: Answer("nothing") if is_wish(body) else None) as app:
        grid = make(tmp_path / "grid", app.url, grid={"optimizers": ["identity", "mipro"]})
        targets = (f"optimize/{cell}/bundle.json", f"runs/{identity}/predictions.jsonl")
        grid.run("--", *(f"results/{target}" for target in targets))
    bundle = json.loads((grid.folder / "results/optimize" / cell / "bundle.json").read_text())
    assert bundle["selected_candidate"] == "seed"
    runs = grid.folder / "results/runs"
    shutil.rmtree(grid.folder / "results/.work" / identity)  # the server is gone as well
    done = grid.lcbgrid("run", "--cell", cell)
    assert done.returncode == 0, done.stderr
    for name in ("predictions.jsonl", "transcript.jsonl", "timing.jsonl"):
        assert (runs / cell / name).read_bytes() == (runs / identity / name).read_bytes(), name
    shutil.rmtree(runs / identity)
    before = (runs / cell / "predictions.jsonl").read_bytes()
    shutil.copytree(grid.folder / "results", tmp_path / "cached")
    shutil.rmtree(grid.folder / "results/.work" / cell)
    done = grid.lcbgrid("run", "--cell", cell, "--replay-from", str(tmp_path / "cached"))
    assert done.returncode == 0, done.stderr
    assert (runs / cell / "predictions.jsonl").read_bytes() == before


# mistakes in a configuration


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"grid": {"seeds": [0, 3]}}, "has the seeds 0, 1 and 2 only"),
        ({"dataset": {"split": "all"}}, "set it to test"),
        ({"grid": {"optimizers": ["identity", "mirpo"]}}, "did you mean 'mipro'"),
        ({"optimize": {"n_train": 30}}, "has 24 train problems"),
        ({"optimize": {"without": ["curtailmint"]}}, "did you mean 'curtailment'"),
        ({"optimize": {"budget": 601}}, "less than or equal to 600"),
        ({"optimize": {"reflection_model": "sin"}}, "did you mean 'sim'"),
        (
            {"dataset": {"source": "local", "files": ["x.jsonl"], "split": "test"}},
            "name a split file in dataset.splits_file",
        ),
    ],
)
def test_mistakes_are_one_line_that_says_what_to_do(
    changes: dict[str, Any], words: str, tmp_path: Path
) -> None:
    grid = make(tmp_path / "grid", **changes)
    done = grid.lcbgrid("config", "check", "config/config.yaml")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert words in done.stderr


@pytest.mark.slow
def test_the_workflow_says_the_same(tmp_path: Path) -> None:
    grid = make(tmp_path / "grid", optimize={"n_train": 30})
    assert "data set embedded has 24 train problems" in grid.run("-n", expect=1)


# what a search may open and tell

HOOK = """
import os, sys
_log = os.open(os.environ["OPENED"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
_kind = "prepares" if "--multiprocessing-fork" in sys.orig_argv else "works"
def _seen(event, arguments):
    if event == "open" and isinstance(arguments[0], (str, bytes)):
        path = os.path.abspath(os.fsdecode(arguments[0]))
        os.write(_log, f"{_kind} {path}\\n".encode("utf-8", "replace"))
sys.addaudithook(_seen)
"""


class Watched:
    """Runs programs and knows every file that they open, in order."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        (folder / "sitecustomize.py").write_text(HOOK)
        self.log = folder / "opened.txt"
        self.environment = {"PYTHONPATH": str(folder), "OPENED": str(self.log)}

    def opened(self, kind: str = "works") -> list[str]:
        lines = [line.split(" ", 1) for line in self.log.read_text().splitlines()]
        return [path for who, path in lines if who == kind]


def hidden_files(paths: list[str], splits: Splits, *folders: Path) -> list[str]:
    """Those of the files that would show a test problem."""
    raw = [str((embedded_dir() / name).resolve()) for name in ("problems", "solutions")]
    below = [str(folder.resolve()) + os.sep for folder in folders]
    return [
        path
        for path in paths
        if os.path.realpath(path).startswith((*raw, *below))
        or any(question_id in path for question_id in splits.test)
    ]


def embedded_splits() -> Splits:
    return read_splits(embedded_dir() / "splits.json")


@pytest.mark.parametrize("own_test", [False, True])
def test_a_search_opens_no_test_problem(own_test: bool, tmp_path: Path) -> None:
    optimize = {"budget": 12, "own_test": own_test, "first_tests": 2}
    watched = Watched(tmp_path / "hook")
    cell = CELL.format("mipro")
    with served() as app:
        grid = make(tmp_path / "grid", app.url, optimize=optimize)
        for command in (("problems", "prepare"), ("optimize", "prepare")):
            assert grid.lcbgrid(*command).returncode == 0
        done = grid.lcbgrid("optimize", "run", "--cell", cell, **watched.environment)
    assert done.returncode == 0, done.stderr
    splits, results = embedded_splits(), grid.folder / "results"
    paths = watched.opened()
    sealed = next(i for i, path in enumerate(paths) if Path(path).name.startswith(".selection"))
    before = paths if not own_test else paths[:sealed]
    prepared = results / "problems" / "embedded"
    ids_only = {str(prepared / name) for name in ("manifest.json", "splits.json")}
    shown = set(hidden_files(before, splits, results / "problems"))
    assert shown == (ids_only if own_test else set())
    if own_test:  # and behind the selection they are opened
        assert hidden_files(paths[sealed:], splits)
    searched = results / "search_problems" / "embedded"
    assert str(searched / "problems.jsonl") in before
    judged = {path.parent.parent.name for path in map(Path, before) if path.suffix == ".gz"}
    assert judged == {"embedded"}
    assert not watched.opened("prepares")
    found = {problem.question_id for problem in PreparedProblems(searched).problems()}
    assert found == {*splits.train[:6], *splits.validation[:6]}


def test_a_job_of_its_own_opens_no_test_problem_but_prepares_in_another_process(
    tmp_path: Path,
) -> None:
    watched = Watched(tmp_path / "hook")
    options = "--method mipro --dataset embedded --topology direct --model sim --seed 0 --out job"
    sizes = "--budget 12 --n-train 6 --n-validation 6 --first-tests 2 --allow-any-cell"
    cache = {"LCBGRID_CACHE": str(tmp_path / "cache")}
    program = [BIN / "python", "-m", "optimizers.protocol.run"]
    with served() as app:
        grid = make(tmp_path / "grid", app.url)
        for phase in ("optimize", "validate"):
            done = subprocess.run(
                [*program, *options.split(), *sizes.split(), "--phase", phase],
                cwd=grid.folder,
                env=os.environ | watched.environment | cache,
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
            assert done.returncode == 0, done.stderr
    splits = embedded_splits()
    assert hidden_files(watched.opened(), splits) == []
    assert str((embedded_dir() / "problems.jsonl").resolve()) in {
        os.path.realpath(path) for path in watched.opened("prepares")
    }
    names = {Path(path).name for path in watched.opened()}
    assert {f"{question_id}.json.gz" for question_id in splits.train[:3]} & names


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> PreparedProblems:
    """All problems with their tests."""
    folder = tmp_path_factory.mktemp("everything") / "embedded"
    prepare(DatasetSpec(name="embedded", source="embedded", split="all"), folder)
    return PreparedProblems(folder)


def telling(store: PreparedProblems, split: tuple[str, ...]) -> set[str]:
    """Inputs and outputs of hidden tests that nobody could guess or read elsewhere."""
    problems = store.problems()
    public = "\n".join(p.statement + json.dumps(p.to_record()) for p in problems)
    shown = {t.input.strip() for p in problems for t in p.public_tests}
    shown |= {t.output.strip() for p in problems for t in p.public_tests}
    found = set()
    for question_id in split:
        for test in store.suite(question_id).tests:
            found |= {test.input.strip()[:60], test.output.strip()[:60]}
    return {text for text in found - shown if len(text) >= 16 and text not in public}


@pytest.mark.parametrize("method", METHODS)
def test_no_request_of_a_search_tells_a_hidden_test(
    method: str, everything: PreparedProblems, tmp_path: Path
) -> None:
    optimize = {"budget": 60, "n_train": 12, "n_validation": 8}
    with served(SimulateSpec(skill=-1.0)) as app:
        grid = make(tmp_path / "g", app.url, optimize=optimize, grid={"topologies": ["single"]})
        assert grid.lcbgrid("optimize", "prepare").returncode == 0
        cell = CELL.replace("direct", "single").format(method)
        done = grid.lcbgrid("optimize", "run", "--cell", cell)
        assert done.returncode == 0, done.stderr
    splits = embedded_splits()
    kept_apart = telling(everything, (*splits.validation, *splits.test))
    of_train = telling(everything, splits.train)
    assert len(kept_apart) > 50
    assert len(of_train) > 50
    rollouts = "\n".join(texts(body) for body in app.bodies if not is_wish(body))
    wishes = "\n".join(texts(body) for body in app.wishes)
    assert app.wishes
    assert not [text for text in kept_apart if text in rollouts or text in wishes]
    assert not [text for text in of_train if text in rollouts]
    statements = [everything.problem(question_id).statement for question_id in splits.test]
    assert not [text for text in statements if text[:200] in rollouts + wishes]
    feedback = [
        record["record"]["example_id"]
        for record in read_jsonl(
            grid.folder / "results/optimize" / cell / "optimization/records.jsonl"
        )
        if record["record"]["metadata"]["scorer_metadata"].get("feedback")
    ]
    assert feedback
    assert set(feedback) <= set(splits.train)


@pytest.mark.slow
def test_a_grid_whose_endpoint_dies_goes_on_later(tmp_path: Path) -> None:
    """Nothing is published, and no finished call is made again."""
    dead_after = 20

    def dies(body: Body, number: int) -> Any:
        return failing(503) if number > dead_after else zebras_are_right(body, number)

    bundle = f"results/optimize/{CELL.format('mipro')}/bundle.json"
    with served(SimulateSpec(skill=9.0), hook=dies) as app:
        grid = make(tmp_path / "grid", app.url, grid={"optimizers": ["mipro"]})
        output = grid.run("--", bundle, expect=1)
        assert "503" in output
        assert not list((grid.folder / "results/optimize").rglob("*.json"))
        asked = [json.dumps(body, sort_keys=True) for body in app.bodies]
        dead_after = 10_000
        grid.run("--", bundle)
        again = {json.dumps(body, sort_keys=True) for body in app.bodies[len(asked) :]}
        assert not set(asked[:20]) & again
