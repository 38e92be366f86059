"""Batches: records of one shape, resume, what is lost, the report, the built-in problems."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from lcbgrid.analysis.batch_report import batch_report, row_line
from lcbgrid.config.judge_spec import JudgeSpec
from lcbgrid.config.problem_spec import DatasetSpec, FilterSpec
from lcbgrid.core.errors import BusyError, ConfigError, InfrastructureError
from lcbgrid.core.locks import held
from lcbgrid.judge.judge import Judge
from lcbgrid.problems.rows import Loaded, RawRow, read_row
from lcbgrid.stages import variables
from lcbgrid.stages.batch import Batch, outcomes_of, run_batch
from lcbgrid.stages.batch_records import COMMUNICATION_KEYS, USAGE_KEYS
from lcbgrid.stages.demo import ROWS
from lcbgrid.stages.one_cell import Choices, one_cell
from lcbgrid.teams.communication.measure import measure

TOPOLOGIES = ("direct", "single", "independent", "sequential", "centralized", "decentralized")
KEYS = {
    *("id", "problem", "starter_code", "predicted_code", "pass", "total", "pass_rate", "em"),
    *("verdict", "difficulty", "platform", "winner", "raw", "by_stage", "agents", "n_turns"),
    *COMMUNICATION_KEYS,
    *("latency_s", "status", "error"),
    *USAGE_KEYS,
}


def batch(
    folder: Path,
    topology: str = "single",
    *,
    limit: int = 2,
    communication: str = "freeform",
    simulate: Mapping[str, Any] | None = None,
    environment: Mapping[str, str] | None = None,
) -> Batch:
    """Return a batch of a team of two on the first embedded problems."""
    simulate = simulate or {"skill": 3.0}
    sim = {"provider": "simulated", "model_id": "sim", "simulate": dict(simulate)}
    (folder / "config").mkdir(exist_ok=True)
    (folder / "config" / "models.yaml").write_text(json.dumps({"models": {"sim": sim}}))
    dataset = DatasetSpec(filters=FilterSpec(limit=limit))
    choices = Choices(topology, 2, communication, "sim", dataset)
    return Batch(*one_cell(choices, environment or {}), folder / "work")


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_records_have_one_shape(topology: str, tmp_path: Path) -> None:
    found = run_batch(batch(tmp_path, topology))
    assert [record["id"] for record in found] == ["emb001_bead_piles", "emb002_backward_sign"]
    for record in found:
        assert set(record) == KEYS
        assert record["em"] == 1.0, record
        assert record["pass"] == record["total"] == 14
        assert record["pass_rate"] == 1.0
        assert record["total_tokens"] > 0
        assert record["latency_s"] >= 0
        assert record["predicted_code"] in record["raw"]
        assert record["communication_format"] == "freeform"
        for agent in record["agents"]:
            assert set(agent) == {"agent", "role", "status", "has_code", "code"}
            assert agent["has_code"] == (agent["code"] is not None)
    stages = ["coder", "debugger"] if topology == "sequential" else []
    assert list(found[0]["by_stage"]) == stages


@pytest.mark.parametrize("topology", TOPOLOGIES[2:])
def test_communication_is_measured(topology: str, tmp_path: Path) -> None:
    run = batch(tmp_path, topology, communication="semi_structured", limit=1)
    (record,) = run_batch(run)
    assert set(record) == KEYS
    assert record["communication_format"] == "semi_structured"
    assert record["communication_report_total"] >= 1


def test_communication_fields_are_those_that_are_measured() -> None:
    assert set(measure("freeform", [("coder", "text")])) == set(COMMUNICATION_KEYS)


def journal(run: Batch) -> bytes:
    return (run.layout.work(run.cell) / "transcript.jsonl").read_bytes()


def test_a_batch_goes_on_where_it_stopped_and_starts_over_when_asked(tmp_path: Path) -> None:
    first = run_batch(batch(tmp_path, limit=1))
    run = batch(tmp_path, limit=2)
    more = run_batch(run)
    assert more[0] == first[0]
    kept = journal(run)
    assert run_batch(run) == more
    assert journal(run) == kept  # nothing was asked again
    again = run_batch(run, fresh=True)
    assert [r["predicted_code"] for r in again] == [r["predicted_code"] for r in more]
    assert journal(run) != kept  # measured times differ: it was asked again


def test_two_batches_do_not_share_a_folder(tmp_path: Path) -> None:
    run = batch(tmp_path)
    with held(run.work / "batch.lock", what="it"), pytest.raises(BusyError):
        run_batch(run)


def test_what_was_lost_has_no_score(tmp_path: Path) -> None:
    rules = [
        {"match": "Mira keeps", "replies": [{"status": 400, "text": "no"}]},
        {"match": "shop sign", "replies": ["I cannot."]},
    ]
    script = tmp_path / "script.jsonl"
    script.write_text("".join(json.dumps(rule) + "\n" for rule in rules))
    simulate = {"script": str(script), "skill": 9.0}
    lost, no_code, right = run_batch(batch(tmp_path, limit=3, simulate=simulate))
    assert (lost["status"], lost["em"], lost["pass"]) == ("infra_error", None, None)
    assert lost["error"]
    assert set(lost) == KEYS
    assert (no_code["status"], no_code["em"], no_code["pass"]) == ("no_code", 0.0, 0)
    assert (no_code["pass_rate"], no_code["total"]) == (0.0, 14)
    assert right["em"] == 1.0
    report = batch_report("x", [lost, no_code, right], 1.0)
    assert report[2] == "n=3 n_extracted=1 n_lost=1"
    assert report[3] == "pass@1 EM=0.500 (extracted only: 1.000)"


def test_all_lost_is_an_error_and_no_score(tmp_path: Path) -> None:
    script = tmp_path / "script.jsonl"
    script.write_text('{"match": "", "replies": [{"status": 400, "text": "no"}]}\n')
    with pytest.raises(InfrastructureError, match="2 of 2 answers were lost"):
        run_batch(batch(tmp_path, simulate={"script": str(script)}))


def line(em: float | None, difficulty: str | None, code: str | None = "x") -> dict[str, Any]:
    scores = {"em": em, "pass": 1, "total": 2, "verdict": "v", "latency_s": 0.5}
    return {"id": "q", "difficulty": difficulty, "predicted_code": code, **scores}


def test_the_report_says_all_means() -> None:
    rows = [
        line(1.0, "easy"),
        line(0.0, "hard"),
        line(0.0, "easy", None),
        line(None, None, None),
    ]
    assert batch_report("team/LCB", rows, 12.34) == [
        "",
        "=== team/LCB complete ===",
        "n=4 n_extracted=2 n_lost=1",
        "pass@1 EM=0.333 (extracted only: 0.500)",
        "",
        "  easy n=2 EM=0.500",
        "  hard n=1 EM=0.000",
        "   unk n=1 EM=undefined",
        "total_s=12.3",
    ]
    marks = [row_line(1, 4, row).split()[2] for row in rows]
    assert marks == ["✓", "✗", "?", "!"]


SOLUTIONS = {
    "demo_bus": "n = int(input())\nnow = most = 0\nfor _ in range(n):\n"
    "    off, on = map(int, input().split())\n    now += on - off\n    most = max(most, now)\n"
    "print(most)\n",
    "demo_calm": "class Solution:\n"
    "    def longestCalm(self, waves: List[int], limit: int) -> int:\n"
    "        run = best = 0\n        for wave in waves:\n"
    "            run = run + 1 if wave <= limit else 0\n            best = max(best, run)\n"
    "        return best\n",
}
WRONG = {
    "demo_bus": "n = int(input())\nprint(max(int(input().split()[1]) for _ in range(n)))",
    "demo_calm": "class Solution:\n    def longestCalm(self, waves, limit):\n"
    "        return sum(wave <= limit for wave in waves)",
}


def test_the_built_in_problems_can_be_solved_and_missed() -> None:
    modes = []
    with Judge(JudgeSpec(), workers=1) as judge:
        for number, row in enumerate(ROWS, start=1):
            loaded = read_row(RawRow(dict(row), "demo", number))
            assert isinstance(loaded, Loaded)
            assert loaded.public_only  # so that the demo may show what went wrong
            modes.append(loaded.problem.mode)
            name = loaded.problem.question_id
            assert judge.judge(SOLUTIONS[name], loaded.suite).passed
            assert judge.judge(WRONG[name], loaded.suite).status == "wrong_answer"
    assert modes == ["stdin", "functional"]


def test_outcomes_are_those_of_every_test(tmp_path: Path) -> None:
    run = batch(tmp_path, limit=1)
    run_batch(run)
    (outcomes,) = outcomes_of(run).values()
    assert [test["status"] for test in outcomes] == ["passed"] * 14


def test_variables_change_the_team(tmp_path: Path) -> None:
    said = {
        "LCB_TOOL_TIMEOUT_S": "3",
        "LCB_TOOL_OUTPUT_CHAR_BUDGET": "500",
        "LCB_INDEPENDENT_ROW_TIMEOUT_S": "60",
        "DECENTRALIZED_N_ROUNDS": "3",
    }
    alone = batch(tmp_path, "independent", environment=said).effective.teams["independent"]
    assert (alone.tool_time_s, alone.tool_output_chars) == (3.0, 500)
    assert (alone.max_time_s_per_problem, alone.rounds) == (60.0, 2)
    debate = batch(tmp_path, "decentralized", environment=said).effective.teams["decentralized"]
    assert (debate.max_time_s_per_problem, debate.rounds) == (None, 3)


def test_replies_of_the_embedded_model_are_short_unless_asked() -> None:
    choices = Choices("direct", 1, "freeform", "qwen-coder-0.5b", DatasetSpec())
    for said, tokens in (({}, 400), ({"TASK_MODEL_MAX_TOKENS": "900"}, 900)):
        effective, cell = one_cell(choices, said)
        assert effective.sampling(cell.model).max_tokens == tokens


@pytest.mark.parametrize(
    ("topology", "fixed", "said", "size"),
    [
        ("independent", None, {}, 4),
        ("independent", None, {"INDEPENDENT_N_AGENTS": "8"}, 8),
        ("decentralized_agents_sdk", None, {"DECENTRALIZED_N_AGENTS": "2"}, 2),
        ("decentralized", 2, {"DECENTRALIZED_N_AGENTS": "2", "INDEPENDENT_N_AGENTS": "8"}, 2),
        ("sequential", None, {"INDEPENDENT_N_AGENTS": "8"}, 4),
        ("sequential", 10, {}, 10),
    ],
)
def test_the_team_size(topology: str, fixed: int | None, said: dict[str, str], size: int) -> None:
    assert variables.team_size(topology, fixed, said) == size


def test_variables_must_make_sense() -> None:
    with pytest.raises(ConfigError, match="contradicts"):
        variables.team_size("decentralized", 4, {"DECENTRALIZED_N_AGENTS": "2"})
    with pytest.raises(ConfigError, match="whole number"):
        variables.team_size("independent", None, {"INDEPENDENT_N_AGENTS": "four"})
    assert variables.log_level({"LOG_LEVEL": "debug"}) == "DEBUG"
    assert variables.log_level({}) == "INFO"
    assert variables.request_seed({"REQUEST_SEED": " 5 "}) == 5
    assert variables.model_name({"MODEL_ID": "m"})[0] == "endpoint"
