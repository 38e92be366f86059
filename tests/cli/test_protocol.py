"""``python -m optimizers.protocol.run``: options, output, phases, resuming, failures."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from job_server import (
    RecordingApp,
    job_arguments,
    lasting,
    served,
    start,
    write_model,
)

from lcbgrid.cli.protocol import main, runtime
from lcbgrid.config.model_spec import SimulateSpec
from lcbgrid.core.errors import ConfigError

SLOW = pytest.mark.slow
TEAMS = ("independent", "sequential", "centralized", "decentralized")
QUICK_CELLS = [("sequential", "structured_soft"), ("centralized", "freeform")]
CELLS = [("direct", "freeform"), ("single", "freeform")] + [
    (team, form) for team in TEAMS for form in ("freeform", "structured_soft")
]
pytestmark = pytest.mark.usefixtures("small_jobs")


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
