"""The optimize stage: publishing whole or not at all, its bundle, its own test, replays."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "cli"))
from job_server import QUICK, RecordingApp, is_wish, lasting, served

from lcbgrid.config.effective import Effective, resolve
from lcbgrid.config.grid import Cell
from lcbgrid.core.errors import ConfigError, DataError, InfrastructureError
from lcbgrid.core.jsonl import read_jsonl
from lcbgrid.models.simulate.answer import Answer
from lcbgrid.optimize.sealed import SealedFolder
from lcbgrid.problems.embedded import embedded_dir
from lcbgrid.problems.prepare import prepare
from lcbgrid.stages import optimize as stage
from lcbgrid.stages.optimize import deployed_bundle, optimize_cell, prepare_search_problems
from lcbgrid.stages.paths import Layout
from lcbgrid.stages.run import run_cell
from lcbgrid.teams.bundle import PromptBundle

REPOSITORY = Path(__file__).resolve().parents[2]
NEW = "Write Python. Answer like a zebra."


def zebras(body: dict[str, Any], number: int) -> Answer | None:
    """The new prompt is right, the old one never is."""
    if is_wish(body):
        return Answer(f"```\n{NEW}\n```")
    return None if NEW in str(body["messages"]) else Answer("```python\nprint('no')\n```")


class Stage:
    """A grid of one topology in a folder, without Snakemake."""

    def __init__(self, folder: Path, url: str, **optimize: Any) -> None:
        self.folder, self.url = folder, url
        self.layout = Layout(folder / "results")
        self.effective = self.configured(**optimize)
        prepare_search_problems(self.effective, self.layout)
        prepare(self.effective.config.dataset, self.layout.problems("embedded"))

    def configured(self, dataset: dict[str, Any] | None = None, **optimize: Any) -> Effective:
        model = {"provider": "openai", "model_id": "m", "base_url": self.url, "retry": QUICK}
        self.folder.mkdir(exist_ok=True)
        (self.folder / "models.yaml").write_text(json.dumps({"models": {"m": model}}))
        sizes = {"budget": 14, "n_train": 4, "n_validation": 4, "first_tests": 1}
        config = {
            "dataset": {"split": "test", "filters": {"limit": 2}, **(dataset or {})},
            "grid": {
                "topologies": ["direct"],
                "models": ["m"],
                "optimizers": ["identity", "mipro"],
            },
            "optimize": {**sizes, **optimize},
        }
        return resolve(
            config,
            folders=(self.folder, REPOSITORY / "config"),
            where="test",
            environment={},
        )

    def cell(self, optimizer: str = "mipro") -> Cell:
        return next(cell for cell in self.effective.cells if cell.optimizer == optimizer)

    @property
    def target(self) -> Path:
        return self.layout.optimized(self.cell())

    @property
    def bundle(self) -> Path:
        return self.layout.bundle(self.cell())

    def run(self, **options: Any) -> str:
        return optimize_cell(self.effective, self.cell(), self.layout, **options)

    def seed(self) -> PromptBundle:
        return PromptBundle(self.effective.role_prompts(self.cell()))


@pytest.fixture(scope="module")
def app() -> Iterator[RecordingApp]:
    with served(hook=zebras) as running:
        yield running


@pytest.fixture(scope="module")
def first(app: RecordingApp, tmp_path_factory: pytest.TempPathFactory) -> Stage:
    """A finished search; tests must leave it as it is."""
    done = Stage(tmp_path_factory.mktemp("first") / "grid", app.url)
    told = done.run()
    assert "deploys new prompts" in told
    assert "validation +" in told
    return done


@pytest.fixture
def copy(first: Stage, app: RecordingApp, tmp_path: Path) -> Stage:
    """A copy of the finished search to break."""
    shutil.copytree(first.folder, tmp_path / "grid")
    again = object.__new__(Stage)
    again.folder, again.url = tmp_path / "grid", first.url
    again.layout, again.effective = Layout(again.folder / "results"), first.effective
    app.bodies.clear()
    return again


def test_a_finished_search_is_published_again_without_a_call(
    copy: Stage, app: RecordingApp
) -> None:
    before = lasting(copy.target)
    shutil.rmtree(copy.target)
    copy.run()
    assert lasting(copy.target) == before
    assert not app.bodies


@pytest.mark.parametrize("step", ["copytree", "rmtree", "rename", "publish", "write"])
def test_publishing_can_be_interrupted_at_each_step(
    step: str, copy: Stage, app: RecordingApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, target = lasting(copy.target), copy.target
    places = {
        "copytree": (stage.shutil, "copytree"),
        "rmtree": (stage.shutil, "rmtree"),
        "rename": (Path, "rename"),
        "publish": (stage.Transcript, "publish"),
        "write": (SealedFolder, "write"),
    }
    owner, name = places[step]
    real = getattr(owner, name)

    def killed(*arguments: Any, **options: Any) -> Any:
        if step == "rmtree" and arguments[0] != target:
            return real(*arguments, **options)
        if step == "write" and arguments[1] != "bundle.json":
            return real(*arguments, **options)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(owner, name, killed)
        with pytest.raises(KeyboardInterrupt):
            copy.run()
    assert not copy.bundle.exists()  # nothing runs with a half of a search
    copy.run()
    assert lasting(copy.target) == before
    assert not app.bodies
    assert [path.name for path in target.parent.iterdir()] == [target.name]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda text: text.replace("zebra", "horse"), "not what was sealed"),
        (lambda text: text[: len(text) // 2], "not JSON"),
        (lambda text: "[]", "not a JSON object"),
        (lambda text: "{}", "no seal"),
    ],
)
def test_a_bundle_that_was_changed_by_hand_is_refused(
    change: Any, words: str, copy: Stage
) -> None:
    copy.bundle.write_text(change(copy.bundle.read_text()))
    with pytest.raises(DataError, match=words):
        run_cell(copy.effective, copy.cell(), copy.layout)
    assert not copy.layout.run(copy.cell()).exists()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"cell": "another"}, "another cell's prompts"),
        ({"bundle": {"roles": {"solvr": "x"}, "demos": [], "metadata": {}}}, "roles differ"),
        ({"bundle": {"roles": {}, "demos": [], "metadata": {}}}, "at least one role"),
        ({"bundle": {"roles": {"solver": " "}, "demos": [], "metadata": {}}}, "blank"),
        ({"bundle": {}}, "has the keys"),
    ],
)
def test_a_sealed_bundle_must_fit_its_cell(
    changes: dict[str, Any], words: str, copy: Stage
) -> None:
    store = SealedFolder(copy.target)
    store.write("bundle.json", {**store.read("bundle.json"), **changes}, replace=True)
    with pytest.raises(DataError, match=words) as caught:
        deployed_bundle(copy.bundle, copy.cell(), copy.seed())
    assert "run the rule that makes it again" in str(caught.value)
    copy.run()  # and that mends it
    assert deployed_bundle(copy.bundle, copy.cell(), copy.seed()).prompts["solver"].startswith(NEW)


def test_a_cell_that_was_not_searched_says_so(copy: Stage) -> None:
    copy.bundle.unlink()
    with pytest.raises(DataError, match="not been optimized yet"):
        run_cell(copy.effective, copy.cell(), copy.layout)
    with pytest.raises(ConfigError, match="as written"):
        optimize_cell(copy.effective, copy.cell("identity"), copy.layout)


def test_own_test_goes_on_in_the_same_search(copy: Stage, app: RecordingApp) -> None:
    copy.effective = copy.configured(own_test=True, n_train=4)
    # another limit of the grid is another list of test problems, and so another condition
    whole = {"filters": {}}
    copy.effective = copy.configured(own_test=True, dataset=whole)
    prepare(copy.effective.config.dataset, copy.layout.problems("embedded"))
    copy.run()
    assert {body["temperature"] for body in app.bodies} == {0}
    assert len(app.bodies) == 2 * 24
    result = json.loads((copy.target / "result.json").read_text())
    assert result["delta_pp"] > 0
    assert len(result["test"]["example_ids"]) == 24


def test_a_replay_answers_everything_from_the_published_transcripts(
    copy: Stage, app: RecordingApp, tmp_path: Path
) -> None:
    again = object.__new__(Stage)
    again.folder, again.url = tmp_path / "again", copy.url
    again.layout, again.effective = Layout(again.folder / "results"), copy.effective
    for name in ("problems", "search_problems"):
        shutil.copytree(copy.layout.results / name, again.layout.results / name)
    shutil.rmtree(copy.layout.all_work)
    again.run(replay_from=copy.layout.results)
    assert not app.bodies
    assert lasting(again.target) == lasting(copy.target)
    name = "transcript.jsonl"
    assert (again.target / name).read_bytes() == (copy.target / name).read_bytes()
    (copy.target / name).unlink()
    with pytest.raises(DataError, match="no transcript to replay from"):
        again.run(replay_from=copy.layout.results)


def mine(folder: Path, url: str, addition: str = "", **optimize: Any) -> Stage:
    """A grid on rows of the user: ours, with something more in the first train statement."""
    rows, splits = folder / "rows.jsonl", embedded_dir() / "splits.json"
    train = json.loads(splits.read_text())["train"][0]
    with open(rows, "w") as out:
        for row in read_jsonl(embedded_dir() / "problems.jsonl"):
            more = addition if row["question_id"] == train else ""
            row["question_content"] += more
            out.write(json.dumps(row) + "\n")
    own = Stage.__new__(Stage)
    own.folder, own.url = folder / "grid", url
    own.layout = Layout(own.folder / "results")
    given = {"name": "mine", "source": "local", "files": [str(rows)], "splits_file": str(splits)}
    own.effective = own.configured(dataset=given, **optimize)
    prepare_search_problems(own.effective, own.layout)
    return own


def test_a_statement_and_a_prompt_far_beyond_the_window(tmp_path: Path) -> None:
    """The window is smaller than the longest reply that is asked for at first."""
    with served(context_tokens=20_000) as small:
        own = mine(tmp_path, small.url, "\n\nlorem ipsum" * 200_000)
        own.run()
        assert small.stats()["overflow"] > 3
    envelope = json.loads((own.target / "optimization.json").read_text())
    assert envelope["status"] == "completed"
    calls = list(read_jsonl(own.target / "optimization" / "reflection_calls.jsonl"))
    assert calls
    assert not any(call["empty"] for call in calls)
    records = list(read_jsonl(own.target / "optimization" / "records.jsonl"))
    assert {record["record"]["metadata"]["answer_status"] for record in records} >= {
        "context_limit"
    }


def test_other_problems_are_another_search(app: RecordingApp, tmp_path: Path) -> None:
    """A file of the user changes between two runs: nothing of the old one is taken."""
    done = mine(tmp_path, app.url)
    done.run()
    before, asked = lasting(done.target), len(app.bodies)
    done = mine(tmp_path, app.url, "\n\nTake care.")
    done.run()
    assert any("Take care." in str(body["messages"]) for body in app.bodies[asked:])
    assert lasting(done.target).keys() != before.keys() or lasting(done.target) != before
    job = json.loads((done.target / "job.json").read_text())
    assert json.loads(before["job.json"])["job_id"] != job["job_id"]


def test_a_search_that_is_not_prepared_names_the_command(copy: Stage) -> None:
    shutil.rmtree(copy.layout.search_problems("embedded"))
    with pytest.raises((DataError, InfrastructureError), match="not prepared"):
        copy.run()
