"""``python -m optimizers.protocol.run``: options, output, phases, resuming, failures."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from job_server import (
    RecordingApp,
    failing,
    is_wish,
    job_arguments,
    lasting,
    served,
    write_model,
)

from lcbgrid.cli.protocol import main, runtime
from lcbgrid.config.model_spec import SimulateSpec
from lcbgrid.core import locks
from lcbgrid.core.errors import ConfigError
from lcbgrid.models import transcript as transcripts
from lcbgrid.models.simulate.answer import Answer
from lcbgrid.models.types import ToolCall
from lcbgrid.problems.embedded import embedded_dir

Start = Callable[..., int]
SLOW = pytest.mark.slow
TEAMS = ("independent", "sequential", "centralized", "decentralized")
QUICK_CELLS = [("sequential", "structured_soft"), ("centralized", "freeform")]
CELLS = [("direct", "freeform"), ("single", "freeform")] + [
    (team, form) for team in TEAMS for form in ("freeform", "structured_soft")
]


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache folder; problems are prepared once."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def _here(folder: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LCBGRID_CACHE", str(cache))
    for name in ("TASK_ENDPOINTS", "REFLECTION_MODEL_BASE_URL", "REFLECTION_MODEL_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    write_model(folder)


@pytest.fixture
def app() -> Iterator[RecordingApp]:
    with served() as running:
        yield running


def start(out: str, *more: str, at: str = "", **changes: Any) -> int:
    """Run a small job in this process."""
    environment = dict(changes.pop("environment", {}))
    if at:
        environment["TASK_ENDPOINTS"] = at
    return main(job_arguments(out, *more, **changes), environment)


def process(out: str, *more: str, at: str, **changes: Any) -> subprocess.Popen[str]:
    """Start a small job in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "optimizers.protocol.run", *job_arguments(out, *more, **changes)],
        env=os.environ | {"TASK_ENDPOINTS": at},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


# what is asked for


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        (("single", None, None, None), ("single", 1, "freeform")),
        (("sequential", None, None, None), ("sequential", 4, "freeform")),
        (("centralized_r8", None, None, None), ("centralized", 8, "freeform")),
        (("centralized_r8", None, 8, None), ("centralized", 8, "freeform")),
        (("sequential_crewai", None, None, None), ("sequential_crewai", 4, "freeform")),
        (("sequential", "crewai", None, None), ("sequential_crewai", 4, "freeform")),
        (("sequential_langgraph", None, 2, None), ("sequential", 2, "freeform")),
        (
            ("independent_communications_structured_soft", None, None, None),
            ("independent", 4, "structured_soft"),
        ),
        (("decentralized", None, 10, "semi_structured"), ("decentralized", 10, "semi_structured")),
    ],
)
def test_a_runtime_key_is_a_topology_with_options(asked: Any, found: Any) -> None:
    assert runtime(*asked) == found


@pytest.mark.parametrize(
    "asked",
    [
        ("centralized_r8", None, 4, None),
        ("sequential_crewai", "autogen", None, None),
        ("independent_communications_structured_soft", None, None, "freeform"),
        ("single", None, 4, None),
        ("single", None, None, "structured_soft"),
        ("sequential_r", None, None, None),
        ("sequential_rx", None, None, None),
    ],
)
def test_a_key_and_an_option_may_not_contradict(asked: Any) -> None:
    with pytest.raises(ConfigError):
        runtime(*asked)


@pytest.mark.parametrize(
    ("options", "changes", "words"),
    [
        (["--budget", "0"], {}, "budget"),
        (["--budget", "601"], {}, "budget"),
        (["--seed", "3"], {}, "--seed"),
        (["--phase", "tst"], {}, "--phase"),
        (["--team-size", "3"], {"topology": "sequential"}, "it offers 2, 4, 8, 10"),
        (["--team-size", "4"], {}, "--team-size contradicts --topology single"),
        ([], {"topology": "centralised"}, "did you mean 'centralized'"),
        ([], {"method": "mippro"}, "did you mean 'mipro'"),
        (["--without", "curtailmint"], {}, "did you mean 'curtailment'"),
        (["--n-train", "25"], {}, "has 24 train problems"),
        (["--n-validation", "17"], {}, "has 16 validation problems"),
        (["--n-test", "25"], {}, "has 24 test problems"),
        (["--n-test", "0"], {}, "at least 1"),
        (["--communication", "structured"], {}, "--communication"),
        (["--reflection-model", "mm"], {}, "did you mean 'm'"),
        (["--task-endpoints", "127.0.0.1:8000"], {}, "http://"),
        (["--task-endpoints", "http://"], {}, "names no host"),
        (["--task-endpoints", "http://[::1"], {}, "names no host"),
        (["--task-endpoints", "http://a:99999/v1"], {}, "names no host"),
        (["--task-endpoints", " , "], {}, "no address in it"),
        (["--out", "config/models.yaml"], {}, "a job needs a folder"),
        (["--out", "config/models.yaml/x"], {}, "config/models.yaml"),
        (["--quiett"], {}, "unrecognized arguments"),
    ],
)
def test_mistakes_are_one_line_and_status_2(
    options: list[str], changes: dict[str, str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert start("job", *options, **changes) == 2
    said = capsys.readouterr()
    assert not said.out
    assert said.err.startswith("error: ")
    assert said.err.count("\n") == 1
    assert words in said.err
    assert not Path("job").exists()


def test_a_password_in_an_address_is_not_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert start("job", at="http://user:hunter2hunter2@host:0/v1") == 2
    assert "hunter2" not in capsys.readouterr().err


def test_a_cell_that_was_never_published_has_to_be_asked_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments = [text for text in job_arguments("job") if text != "--allow-any-cell"]
    assert main(arguments, {}) == 2
    assert "add --allow-any-cell" in capsys.readouterr().err


# what is told


def test_stdout_is_one_json_line_and_a_finished_job_tells_it_again(
    app: RecordingApp, capsys: pytest.CaptureFixture[str]
) -> None:
    assert start("job", at=app.url) == 0
    said = capsys.readouterr()
    assert said.out.count("\n") == 1
    told = json.loads(said.out)
    assert told["status"] == "completed"
    assert 0 < told["charged"] <= 14
    assert told["in_grid"] is False
    assert told["out"] == "job"
    before, asked = lasting(Path("job")), len(app.bodies)
    for more in ((), ("--phase", "all"), ("--phase", "test")):
        assert start("job", *more, at=app.url) == 0
        assert json.loads(capsys.readouterr().out) == told
    assert len(app.bodies) == asked
    assert lasting(Path("job")) == before


def test_progress_is_told_every_ten_rollouts(
    app: RecordingApp, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ("--budget", "60", "--n-train", "24", "--n-validation", "16")
    assert start("job", *options, at=app.url) == 0
    said = capsys.readouterr()
    charged = json.loads(said.out)["charged"]
    counts = [int(line.split()[1]) for line in said.err.splitlines() if "rollouts" in line]
    assert counts == list(range(10, charged + 1, 10))


def test_quiet_says_nothing_but_the_summary(
    app: RecordingApp, capsys: pytest.CaptureFixture[str]
) -> None:
    assert start("job", "--quiet", at=app.url, method="identity") == 0
    said = capsys.readouterr()
    assert not said.err
    assert json.loads(said.out)["fallback_reason"] is not None


# phases, endpoints, sharing


def test_phases_one_by_one_give_the_same_bytes(
    app: RecordingApp, capsys: pytest.CaptureFixture[str]
) -> None:
    assert start("whole", at=app.url, topology="sequential") == 0
    asked = app.seen
    app.bodies.clear()
    assert start("parts", "--phase", "test", at=app.url, topology="sequential") == 2
    assert "run the phase optimize first" in capsys.readouterr().err
    for phase in ("optimize", "validate", "test"):
        assert start("parts", "--phase", phase, at=app.url, topology="sequential") == 0
    assert lasting(Path("parts")) == lasting(Path("whole"))
    assert app.seen == asked


def test_several_endpoints_are_asked_in_turn_and_decide_nothing(
    app: RecordingApp, folder: Path
) -> None:
    assert start("one", at=app.url) == 0
    with served() as first, served() as second:
        assert start("two", at=f"{first.url}, {second.url}") == 0
        assert len(first.bodies) + len(second.bodies) == len(app.bodies)
        assert first.seen | second.seen == app.seen
        assert min(len(first.bodies), len(second.bodies)) > len(app.bodies) / 4
    assert lasting(folder / "one") == lasting(folder / "two")


def test_the_reflection_model_has_an_endpoint_of_its_own(app: RecordingApp) -> None:
    with served(api_key="sk-reflection-key") as writer:
        named = {"REFLECTION_MODEL_BASE_URL": writer.url, "REFLECTION_MODEL_ID": "big"}
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("REFLECTION_MODEL_API_KEY", "sk-reflection-key")
            named["REFLECTION_MODEL_API_KEY"] = "sk-reflection-key"
            assert start("job", at=app.url, environment=named) == 0
        assert len(writer.bodies) > 3
        assert {body["model"] for body in writer.bodies} == {"big"}
        assert writer.wishes == writer.bodies
    assert not app.wishes
    assert {body["model"] for body in app.bodies} == {"m"}


def test_another_name_of_the_reflection_model_is_another_job(
    app: RecordingApp, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with served() as writer:
        named = {"REFLECTION_MODEL_BASE_URL": writer.url, "REFLECTION_MODEL_ID": "big"}
        assert start("job", at=app.url, environment=named) == 0
        identity = json.loads((folder / "job/job.json").read_text())["identity"]
        assert identity["reflection_model"] == "reflection (big)"
        assert start("job", at=app.url, environment=named | {"REFLECTION_MODEL_ID": "other"}) == 2
    assert "another" in capsys.readouterr().err


def test_a_reflection_address_that_is_none_is_refused(app: RecordingApp) -> None:
    assert start("job", at=app.url, environment={"REFLECTION_MODEL_BASE_URL": "foo"}) == 2


def test_methods_share_the_evaluations_of_the_prompts_as_written(
    app: RecordingApp, folder: Path
) -> None:
    cache = ("--evaluation-cache", "shared")
    assert start("first", *cache, at=app.url, method="identity") == 0
    evaluated = app.seen
    app.bodies.clear()
    assert start("second", *cache, at=app.url) == 0
    assert evaluated
    assert not evaluated & app.seen
    assert start("alone", at=app.url) == 0
    assert lasting(folder / "second") == lasting(folder / "alone")


@pytest.mark.parametrize(
    ("topology", "communication"),
    [pytest.param(*cell, marks=() if cell in QUICK_CELLS else SLOW) for cell in CELLS],
)
def test_calls_in_flight_change_no_byte(topology: str, communication: str, folder: Path) -> None:
    """Answers come after different times, so members and rows overtake each other."""
    found = []
    for name, calls in (("one", 1), ("many", 16)):
        write_model(folder, max_concurrency=calls)
        with served(SimulateSpec(latency_ms=1.0)) as running:
            options = ("--communication", communication, "--phase", "optimize", "--quiet")
            assert start(name, *options, at=running.url, topology=topology) == 0
        found.append(lasting(folder / name))
    assert found[0]["optimization/records.jsonl"]
    assert found[0] == found[1]


# being interrupted


@pytest.mark.parametrize(
    ("number", "topology"),
    [
        (signal.SIGKILL, "sequential"),
        (signal.SIGINT, "direct"),
        pytest.param(signal.SIGTERM, "direct", marks=SLOW),
    ],
)
def test_an_interrupted_job_goes_on_where_it_was(number: int, topology: str, folder: Path) -> None:
    with served() as calm:
        assert start("calm", at=calm.url, topology=topology) == 0
    write_model(folder, max_concurrency=2)
    with served(SimulateSpec(latency_ms=20.0)) as app:
        running = process("job", at=app.url, topology=topology)
        journal = folder / "job" / "optimization" / "rollouts.jsonl"
        while lines(journal) < 5:
            assert running.poll() is None, running.communicate()
            time.sleep(0.01)
        running.send_signal(number)
        out, err = running.communicate(timeout=60)
        assert not out
        if number != signal.SIGKILL:
            assert running.returncode == 130
            assert "run the same command again" in err.splitlines()[-1]
            assert "Traceback" not in err
        assert not (folder / "job" / "optimization.json").exists()
        write_model(folder)  # more at a time
        assert start("job", at=app.url, topology=topology) == 0
        assert app.seen == calm.seen
        assert len(app.bodies) <= len(calm.bodies) + 2  # those in flight
    assert lasting(folder / "job") == lasting(folder / "calm")


@pytest.mark.parametrize(
    "topology",
    [
        "independent",
        *(pytest.param(name, marks=SLOW) for name in ("direct", "single", *TEAMS[1:])),
    ],
)
def test_an_endpoint_that_dies_seals_nothing(
    topology: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Members that were lost must not be taken for an observation, whatever the team."""
    with served() as calm:
        assert start("calm", at=calm.url, topology=topology) == 0
    for share in (0.3, 0.45):  # in the search, and behind it or near its end
        dead = int(share * len(calm.bodies))

        def hook(body: dict[str, Any], number: int, dead: int = dead) -> Any:
            return failing(503) if number >= dead else None

        with served(hook=hook) as dying:
            assert start("job", at=dying.url, topology=topology) == 3
        last = capsys.readouterr().err.splitlines()[-1]
        assert last.startswith("error: ")
        assert "503" in last
        assert not (folder / "job" / "result.json").exists()
    with served() as app:
        assert start("job", at=app.url, topology=topology) == 0
    assert lasting(folder / "job") == lasting(folder / "calm")


def test_one_of_two_endpoints_that_nobody_serves_ends_the_job(
    app: RecordingApp, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert start("job", at=f"{app.url},http://127.0.0.1:9/v1") == 3
    assert "cannot reach http://127.0.0.1:9/v1" in capsys.readouterr().err
    assert not list(folder.glob("job/optimization.json"))
    assert start("job", at=app.url) == 0


def test_a_server_that_refuses_every_request_is_a_setting_not_a_bad_prompt(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuses(body: dict[str, Any], number: int) -> Any:
        return failing(400, "tools need another option of the server")

    with served(hook=refuses) as app:
        assert start("job", at=app.url) == 3
    assert "tools need another option" in capsys.readouterr().err
    assert not list(folder.glob("job/optimization.json"))

    def refuses_wishes(body: dict[str, Any], number: int) -> Any:
        return failing(400, "max_tokens is too large") if is_wish(body) else None

    with served(hook=refuses_wishes) as app:
        assert start("job", at=app.url) == 3
    assert "max_tokens is too large" in capsys.readouterr().err
    assert not list(folder.glob("job/optimization.json"))


def test_one_row_that_is_refused_is_lost_and_the_seed_deployed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Spec. 6.6: infrastructure_invalid_optimization; however early the refusal comes."""
    first: list[str] = []

    def refuses(body: dict[str, Any], number: int) -> Any:
        if is_wish(body):
            return None
        first[:] = first or [body["messages"][1]["content"]]
        return failing(400, "no") if body["messages"][1]["content"] == first[0] else None

    with served(SimulateSpec(latency_ms=50.0), hook=refuses) as app:
        assert start("job", at=app.url) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["status"] == "infrastructure_invalid"
    assert told["fallback_reason"] == "infrastructure_invalid_optimization"
    assert told["selected_candidate"] == "seed"


# secrets


def test_a_key_reaches_no_file_no_log_and_no_message(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "qwertz-0815-abcdef"  # looks like no key that we know
    monkeypatch.setenv("MY_OWN_VARIABLE", secret)
    write_model(folder, api_key_env="MY_OWN_VARIABLE")

    def echoes(body: dict[str, Any], number: int) -> Any:
        return failing(400, f"bad key {secret}") if number % 7 == 0 and not is_wish(body) else None

    with served(hook=echoes, api_key=secret) as app:
        assert start("job", "--log-level", "DEBUG", at=app.url) == 0
    monkeypatch.setenv("MY_OWN_VARIABLE", "wrong" + secret)
    with served(api_key=secret) as app:
        assert start("other", "--log-level", "DEBUG", at=app.url) == 3
    said = capsys.readouterr()
    assert "MY_OWN_VARIABLE" in said.err
    assert "bad key ***" in (folder / "job/optimization/rollouts.jsonl").read_text()
    assert secret not in said.out + said.err
    for path in folder.rglob("*"):
        if path.is_file():
            assert secret.encode() not in path.read_bytes(), path


# folders


def test_another_jobs_folder_is_refused(
    app: RecordingApp, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert start("job", at=app.url) == 0
    before = lasting(folder / "job")
    for more in (("--seed", "1"), ("--budget", "15"), ("--n-train", "5")):
        assert start("job", *more, at=app.url) == 2
        assert "belongs to another job" in capsys.readouterr().err
    assert start("job", at=app.url, method="identity") == 2
    assert lasting(folder / "job") == before


def test_two_processes_do_not_work_in_one_folder(
    app: RecordingApp,
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(transcripts, "LOCK_WAIT_S", 0.0)
    for name in ("transcript.jsonl.lock", "job.lock"):
        with locks.held(folder / "job" / name, what="it"):
            assert start("job", at=app.url) == 3
        assert f"in use by a live process, pid {os.getpid()}" in capsys.readouterr().err
    assert not app.bodies
    assert start("job", at=app.url) == 0


def test_problems_that_changed_are_prepared_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = folder / "embedded"
    shutil.copytree(embedded_dir(), own)
    monkeypatch.setenv("LCBGRID_EMBEDDED_DIR", str(own))
    rows = (own / "problems.jsonl").read_text()
    assert "Mira keeps her beads" in rows
    only = ("--phase", "optimize", "--budget", "5")
    with served() as app:
        assert start("before", *only, at=app.url, method="mipro") == 0
        assert "Mira keeps her beads" in str(app.bodies)
    (own / "problems.jsonl").write_text(rows.replace("Mira keeps", "Moira keeps"))
    with served() as app:
        assert start("after", *only, at=app.url, method="mipro") == 0
        assert "Moira keeps her beads" in str(app.bodies)
        assert start("before", *only, at=app.url, method="mipro") == 2  # it was another job


def test_a_full_disk_decides_nothing(app: RecordingApp, folder: Path) -> None:
    """A limit of the size of files stands for it: the transcript is the first to meet it."""
    assert start("calm", at=app.url) == 0
    limit = (folder / "calm" / "transcript.jsonl").stat().st_size // 4
    done = subprocess.run(
        [sys.executable, "-m", "optimizers.protocol.run", *job_arguments("job")],
        env=os.environ | {"TASK_ENDPOINTS": app.url},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 3, done.stderr
    assert "the file size limit is reached" in done.stderr.splitlines()[-1]
    assert not done.stdout
    assert not (folder / "job" / "optimization.json").exists()
    app.bodies.clear()
    assert start("job", at=app.url) == 0
    assert lasting(folder / "job") == lasting(folder / "calm")


@pytest.mark.parametrize(
    "name", ["job.json", "optimization.json", "selection.json", "result.json"]
)
def test_an_artifact_that_was_changed_by_hand_is_noticed(
    name: str, app: RecordingApp, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert start("job", at=app.url, method="identity") == 0
    path = folder / "job" / name
    path.write_text(path.read_text().replace('"seed', '"sead', 1))
    capsys.readouterr()
    assert start("job", at=app.url, method="identity") == 2
    assert "changed" in capsys.readouterr().err


# what the reflection model may answer


ANSWERS = (
    Answer(""),
    Answer(None),
    Answer(None, tool_calls=(ToolCall("1", "python_exec", "{}"),)),
    Answer("\ud800\x00 ``` {}{}{ <think> </think>"),
    Answer("<think>only thoughts", finish_reason="length"),
    Answer("x" * 40_000),
    Answer("```\n```"),
)


@pytest.mark.parametrize("method", ["mipro", "gepa", "mamut_gepa"])
def test_whatever_the_reflection_model_says_the_job_ends_well(
    method: str, capsys: pytest.CaptureFixture[str]
) -> None:
    said: set[int] = set()

    def hook(body: dict[str, Any], number: int) -> Answer | None:
        if not is_wish(body):
            return None
        said.add(number % len(ANSWERS))
        return ANSWERS[number % len(ANSWERS)]

    weak = SimulateSpec(skill=-4.0)  # what fails is reflected upon
    with served(weak, hook=hook) as app:
        assert start("job", "--budget", "30", at=app.url, method=method) == 0
    assert len(said) > 2
    assert json.loads(capsys.readouterr().out)["status"] == "completed"
