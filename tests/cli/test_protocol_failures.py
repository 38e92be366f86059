"""``python -m optimizers.protocol.run``: kills, lost endpoints, secrets, useless replies."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
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
    lines,
    process,
    served,
    start,
    write_model,
)

from lcbgrid.config.model_spec import SimulateSpec
from lcbgrid.core import locks
from lcbgrid.models import transcript as transcripts
from lcbgrid.models.simulate.answer import Answer
from lcbgrid.models.types import ToolCall
from lcbgrid.problems.embedded import embedded_dir

SLOW = pytest.mark.slow
TEAMS = ("independent", "sequential", "centralized", "decentralized")
pytestmark = pytest.mark.usefixtures("small_jobs")


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
