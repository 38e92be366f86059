"""The ready-made runners: modules, options, variables, exit statuses, what they print."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import runpy
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lcbgrid.cli import runner as runners
from lcbgrid.cli.runner import Runner
from lcbgrid.cli.runner_options import _parser, dataset_of, parse_options
from lcbgrid.core.errors import ConfigError, UserError
from lcbgrid.core.hashing import sha256_file
from lcbgrid.core.jsonl import read_jsonl
from lcbgrid.stages.demo import ROWS

Play = Callable[..., int]
SOURCE = Path(__file__).resolve().parents[2] / "src"
PACKAGES = ("topologies", "teamsizes", "communications")
MODULES = sorted(
    ".".join(path.relative_to(SOURCE).with_suffix("").parts)
    for package in PACKAGES
    for path in (SOURCE / package).rglob("*.py")
    if path.name != "__init__.py"
)
EMBEDDED = ("--batch", "--dataset", "embedded")
RIGHT = {
    "Fullest": "n = int(input())\nnow = most = 0\nfor _ in range(n):\n"
    "    off, on = map(int, input().split())\n    now += on - off\n    most = max(most, now)\n"
    "print(most)",
    "buoy": "class Solution:\n    def longestCalm(self, waves, limit):\n        return 0",
}


def records(path: Path) -> list[dict[str, Any]]:
    return list(read_jsonl(path))


def test_all_runners_are_there() -> None:
    teams = ("centralized", "decentralized", "independent", "sequential")
    wanted = {f"teamsizes.{team}.lcb.lcb_r{size}" for team in teams for size in (2, 4, 8, 10)}
    formats = ("freeform", "semi_structured", "structured_soft")
    wanted |= {f"communications.{team}.lcb.lcb_{name}" for team in teams for name in formats}
    wanted |= {f"topologies.{team}.lcb.langgraph_lcb" for team in ("single", "independent")}
    for team, framework in (
        ("sequential", "crewai"),
        ("centralized", "autogen"),
        ("decentralized", "agents_sdk"),
    ):
        wanted.add(f"topologies.{team}.langgraph.lcb.langgraph_lcb")
        wanted.add(f"topologies.{team}.{framework}.lcb.{framework}_lcb")
    assert wanted == set(MODULES)


@pytest.mark.parametrize("module", MODULES)
def test_a_module_only_names_its_team(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Runner] = []

    def note(topology: str, **fixed: Any) -> None:
        asked.append(Runner(topology, **fixed))

    monkeypatch.setattr(runners, "run", note)
    runpy.run_module(module, run_name="__main__")
    (found,) = asked
    assert found.module == module
    text = (SOURCE / (module.replace(".", "/") + ".py")).read_text()
    assert len([line for line in text.splitlines() if line]) <= 4


def test_communication_runners_have_teams_of_four(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Runner] = []

    def note(runner: Runner, arguments: list[str]) -> int:
        asked.append(runner)
        return 0

    monkeypatch.setattr(runners, "main", note)
    with pytest.raises(SystemExit):
        runners.run("sequential", communication="semi_structured")
    assert asked == [Runner("sequential", 4, "semi_structured")]


@pytest.mark.parametrize(
    ("runner", "out"),
    [
        (Runner("single"), "lcb_single_langgraph/predictions.jsonl"),
        (Runner("sequential"), "lcb_sequential_langgraph/predictions.jsonl"),
        (Runner("sequential_crewai"), "lcb_sequential_crewai/predictions.jsonl"),
        (Runner("decentralized_agents_sdk"), "lcb_decentralized_agents_sdk/predictions.jsonl"),
        (Runner("centralized", 8), "lcb_centralized_r8/predictions.jsonl"),
        (
            Runner("centralized", 4, "freeform"),
            "communications_baseline/centralized_lcb_freeform/results.jsonl",
        ),
    ],
)
def test_default_files_are_the_documented_ones(runner: Runner, out: str) -> None:
    assert runner.default_out == Path("results") / out


@pytest.mark.parametrize(
    "arguments",
    [
        ["--limit", "3"],
        ["--offset", "0"],
        ["--only", "a"],
        ["--difficulty", "easy"],
        ["--platform", "atcoder"],
        ["--dataset", "embedded"],
        ["--split", "test"],
        ["--out-dir", "x"],
        ["--out", "x"],
        ["--resume"],
        ["--fresh"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_an_option_for_batches_is_not_ignored_without_one(
    arguments: list[str], play: Play, capsys: pytest.CaptureFixture[str]
) -> None:
    assert play(*arguments) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"error: {arguments[0]} is for batches, and --batch is missing")
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--lim", "3"], "unrecognized arguments: --lim 3"),
        (["--limit", "x"], "--limit: invalid int value: 'x'"),
        ([*EMBEDDED, "--limit", "0"], "greater than or equal to 1"),
        ([*EMBEDDED, "--offset", "-1"], "greater than or equal to 0"),
        (["--concurrency", "0"], "--concurrency: must be at least 1"),
        (["--seed", "-1"], "--seed: must be at least 0"),
        ([*EMBEDDED, "--resume", "--fresh"], "not allowed with"),
        ([*EMBEDDED, "--difficulty", "trivial"], "invalid choice"),
        ([*EMBEDDED, "--only", "emb001_bead_pile"], "did you mean 'emb001_bead_piles'?"),
        ([*EMBEDDED, "--platform", "leetcode"], "platform=leetcode"),
        (["--batch", "--dataset", "none.jsonl"], "no such data set and no such file"),
    ],
)
def test_bad_options_end_in_one_line_and_status_2(
    arguments: list[str], words: str, play: Play, capsys: pytest.CaptureFixture[str]
) -> None:
    assert play(*arguments) == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("error: ")
    assert words in last


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        ({"LOG_LEVEL": "LOUD"}, "LOG_LEVEL is unknown (got LOUD)"),
        ({"REQUEST_SEED": "x"}, "REQUEST_SEED must be a whole number"),
        ({"TASK_MODEL_TEMPERATURE": "hot"}, "TASK_MODEL_TEMPERATURE must be a number"),
        ({"TASK_MODEL_TOP_P": "3"}, "key 'top_p'"),
        ({"TASK_MODEL_MAX_TOKENS": "0"}, "key 'max_tokens'"),
        ({"LCB_TOOL_TIMEOUT_S": "60"}, "key 'tool_time_s'"),
        ({"LCB_TOOL_OUTPUT_CHAR_BUDGET": "1"}, "key 'tool_output_chars'"),
    ],
)
def test_bad_variables_end_in_status_2(
    environment: dict[str, str], words: str, play: Play, capsys: pytest.CaptureFixture[str]
) -> None:
    assert play(**environment) == 2
    assert words in capsys.readouterr().err.splitlines()[-1]


def test_a_variable_may_not_contradict_the_runner(
    play: Play, capsys: pytest.CaptureFixture[str]
) -> None:
    variables = {"INDEPENDENT_N_AGENTS": "4"}
    assert play(topology="independent", size=2, **variables) == 2
    said = capsys.readouterr().err
    assert "INDEPENDENT_N_AGENTS contradicts this runner, whose teams have 2 agents" in said


def test_a_size_that_is_not_offered_is_refused(
    play: Play, capsys: pytest.CaptureFixture[str]
) -> None:
    assert play(topology="independent", INDEPENDENT_N_AGENTS="3") == 2
    assert "it offers 2, 4, 8, 10" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("topology", "package"),
    [
        ("sequential_crewai", "crewai"),
        ("centralized_autogen", "autogen_agentchat"),
        ("decentralized_agents_sdk", "agents"),
    ],
)
def test_a_missing_framework_is_one_line_that_says_how_to_install_it(
    topology: str, package: str, play: Play, capsys: pytest.CaptureFixture[str]
) -> None:
    if importlib.util.find_spec(package):
        pytest.skip(f"{package} is installed")
    assert play(topology=topology) == 2
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 2  # the model, the error
    assert said[1].startswith("error: this team needs the package")
    assert "pip install" in said[1]


def test_an_unknown_model_is_refused(play: Play, capsys: pytest.CaptureFixture[str]) -> None:
    assert play(model="simm") == 2
    assert "did you mean 'sim'?" in capsys.readouterr().err


def test_without_a_model_one_is_chosen_and_said(
    play: Play, capsys: pytest.CaptureFixture[str]
) -> None:
    play(model="")
    assert "model: qwen-coder-0.5b (the quick start's" in capsys.readouterr().err
    play(model="", VLLM_BASE_URL="http://127.0.0.1:9/v1")
    assert "model: endpoint (VLLM_BASE_URL is set)" in capsys.readouterr().err


def choose(*arguments: str) -> Any:
    options = parse_options(["--batch", *arguments], prog="x", about="x")
    return dataset_of(options, frozenset({"1873_A", "2727"}))


def test_livecodebench_means_the_evaluation_problems() -> None:
    usual = choose("--limit", "50", "--difficulty", "easy", "--platform", "leetcode")
    assert (usual.source, usual.split, usual.release) == ("hub", "test", "release_v1")
    assert usual.filters.limit == 50
    assert usual.filters.difficulty == ("easy",)
    assert usual.filters.platform == ("leetcode",)
    some = choose("--only", "2727", "1873_A", "--only", "2727", "--limit", "1", "--offset", "1")
    assert some.split == "test"
    assert some.filters.ids == ("2727", "1873_A", "2727")
    assert (some.filters.limit, some.filters.offset) == (None, 1)
    other = choose("--only", "abc301_a")
    assert (other.split, other.release) == ("all", "release_v6")
    train = choose("--split", "train")
    assert (train.split, train.release) == ("train", "release_v6")


def test_other_data_sets_are_taken_whole(tmp_path: Path) -> None:
    assert choose("--dataset", "embedded").split == "all"
    rows = tmp_path / "my rows.jsonl"
    rows.write_text("")
    mine = choose("--dataset", str(rows))
    assert (mine.name, mine.source, mine.files) == ("my_rows", "local", (str(rows),))
    with pytest.raises(ConfigError, match="no such data set"):
        choose("--dataset", str(tmp_path))
    with pytest.raises(UserError, match="--batch is missing"):
        parse_options(["--only", "a"], prog="x", about="x")


def test_without_the_hub_nothing_else_is_run(
    play: Play,
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LCBGRID_HUB_DIR", str(folder))  # it does not hold the file
    assert play("--batch", "--limit", "1") == 3
    said = capsys.readouterr()
    assert "LiveCodeBench cannot be had" in said.err
    assert "--dataset embedded" in said.err
    assert not said.out
    assert not list(folder.rglob("predictions.jsonl"))


def test_livecodebench_from_a_folder_in_place_of_the_hub(
    play: Play,
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hub = folder / "hub"
    hub.mkdir()
    rows = [dict(ROWS[0], question_id=name) for name in ("1873_A", "abc301_a")]
    shard = hub / "test.jsonl"
    shard.write_text("".join(json.dumps(row) + "\n" for row in rows))
    stated = {"test.jsonl": {"sha256": sha256_file(shard), "rows": 2}}
    (hub / "shards.json").write_text(json.dumps(stated))
    monkeypatch.setenv("LCBGRID_HUB_DIR", str(hub))
    assert play("--batch", "--limit", "50") == 0
    said = capsys.readouterr()
    assert "=== single/LCB (simulated model) complete ===" in said.out
    assert "50 problems are asked for, 1 are there" in said.err
    out = folder / "results/lcb_single_langgraph/predictions.jsonl"
    before = records(out)
    assert [record["id"] for record in before] == ["1873_A"]  # the other is no evaluation id
    shard.unlink()  # what was prepared from the pinned files is not read again
    assert play("--batch", "--limit", "50") == 0
    assert records(out) == before


def test_a_lost_endpoint_is_status_3(
    play: Play, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = {"provider": "openai", "model_id": "m", "base_url": "http://127.0.0.1:9/v1"}
    quick = model | {"retry": {"max_attempts": 1}}
    (folder / "config" / "models.yaml").write_text(json.dumps({"models": {"gone": quick}}))
    assert play(*EMBEDDED, "--limit", "2", model="gone") == 3
    assert not capsys.readouterr().out
    assert not list(folder.rglob("predictions.jsonl"))


@pytest.mark.parametrize(
    ("bundle", "words"),
    [
        ('{"solvr": "x"}', "did you mean 'solver'?"),
        ('{"solver": " "}', "is no text, or empty"),
        ('{"solver": 1}', "is no text, or empty"),
        ("{}", "it names no role"),
        ("[]", "not a JSON object"),
    ],
)
def test_a_bundle_must_fit_the_team(
    bundle: str, words: str, play: Play, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "bundle.json").write_text(bundle)
    assert play("--bundle", "bundle.json") == 2
    assert words in capsys.readouterr().err


def test_a_bundle_and_the_variables_reach_the_requests(play: Play, folder: Path) -> None:
    (folder / "bundle.json").write_text('{"solver": "Think of a heron."}')
    variables = {
        "TASK_MODEL_TEMPERATURE": "0.5",
        "TASK_MODEL_TOP_P": "0.75",
        "TASK_MODEL_MAX_TOKENS": "321",
        "REQUEST_SEED": "7",
    }
    arguments = ("--limit", "1", "--bundle", "bundle.json", "--concurrency", "2", "--out", "p")
    assert play(*EMBEDDED, *arguments, **variables) == 0
    (path,) = (folder / ".work" / "runs").rglob("transcript.jsonl")
    assert "seed7" in path.parts
    calls = [record["request"] for record in read_jsonl(path) if record["kind"] == "call"]
    assert calls
    for text in map(json.dumps, calls):
        assert "Think of a heron." in text
        for wanted in ('"temperature": 0.5', '"top_p": 0.75', '"max_tokens": 321'):
            assert wanted in text
    config = json.loads((folder / ".work" / "config.json").read_text())
    assert config["models"]["sim"]["max_concurrency"] == 2


def test_files_go_where_they_are_asked_to(play: Play, folder: Path) -> None:
    only = ("--only", "emb001_bead_piles", "emb003_warmest_reading", "--limit", "1")
    assert play(*EMBEDDED, *only, "--out-dir", "some/where") == 0
    found = records(folder / "some/where/predictions.jsonl")
    assert [r["id"] for r in found] == ["emb001_bead_piles", "emb003_warmest_reading"]
    assert play(*EMBEDDED, *only, "--offset", "1", "--out-dir", "other", "--out", "o.jsonl") == 0
    assert [r["id"] for r in records(folder / "o.jsonl")] == ["emb003_warmest_reading"]
    assert not (folder / "other").exists()


def test_the_report(play: Play, capsys: pytest.CaptureFixture[str]) -> None:
    assert play(*EMBEDDED, "--limit", "2") == 0
    said = capsys.readouterr()
    lines = said.out.splitlines()
    assert lines[1:5] == [
        "=== single/embedded (simulated model) complete ===",
        "n=2 n_extracted=2",
        "pass@1 EM=1.000 (extracted only: 1.000)",
        "",
    ]
    assert lines[5] == "  easy n=2 EM=1.000"
    assert lines[6].startswith("total_s=")
    assert "[2/2] emb002_backward_sign   ✓ em=1 pass=14/14" in said.err


def script(folder: Path) -> None:
    """Let the simulated model know the two built-in problems."""
    rules = [
        {"match": word, "replies": [f"Here:\n```python\n{code}\n```"]}
        for word, code in (("A bus starts", RIGHT["Fullest"]), ("A buoy", RIGHT["buoy"]))
    ]
    (folder / "script.jsonl").write_text("".join(json.dumps(rule) + "\n" for rule in rules))
    sim = {"provider": "simulated", "model_id": "sim"}
    sim["simulate"] = {"script": str(folder / "script.jsonl")}  # type: ignore[assignment]
    (folder / "config" / "models.yaml").write_text(json.dumps({"models": {"sim": sim}}))


def test_the_demo_shows_programs_and_tests(
    play: Play, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script(folder)
    assert play() == 0
    out = capsys.readouterr().out
    assert RIGHT["Fullest"] in out
    assert RIGHT["buoy"] in out
    assert "passed 4 of 4 tests (passed)" in out
    assert "test 1: wrong_answer" in out
    assert "test 2: passed" in out
    assert "passed 1 of 3 tests (wrong_answer)" in out
    assert sorted(path.name for path in folder.iterdir()) == ["config", "script.jsonl"]


def start(folder: Path, module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", module, "--model", "sim", *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_two_modules_as_a_user_starts_them(folder: Path) -> None:
    done = start(folder, "teamsizes.sequential.lcb.lcb_r2", *EMBEDDED, "--limit", "2")
    assert done.returncode == 0, done.stderr
    assert "=== sequential/embedded (N=2, simulated model) complete ===" in done.stdout
    assert len(records(folder / "results/lcb_sequential_r2/predictions.jsonl")) == 2
    script(folder)
    done = start(folder, "topologies.single.lcb.langgraph_lcb")
    assert done.returncode == 0, done.stderr
    assert "passed 4 of 4 tests" in done.stdout


def test_the_guide_names_runners_and_options_that_exist() -> None:
    text = (SOURCE.parent / "docs/guide/runners.md").read_text()
    commands = re.findall(r"^python -m (\S+)(.*)$", text, re.MULTILINE)
    assert commands
    for module, rest in commands:
        assert module in MODULES
        parse_options(shlex.split(rest, comments=True), prog=module, about="")
    listed = set(re.findall(r"`(--[a-z-]+)", text.split("## Options")[1].split("\n## ")[0]))
    actions = _parser("x", "")._actions
    known = {name for action in actions for name in action.option_strings}
    assert listed == known - {"-h", "--help"}


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys, runpy\n"
        "sys.argv[1:] = ['--help']\n"
        "try:\n    runpy.run_module('topologies.single.lcb.langgraph_lcb', run_name='__main__')\n"
        "except SystemExit as end:\n    assert not end.code\n"
        "print([n for n in ('pandas', 'langgraph', 'datasets', 'numpy') if n in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
