"""Records of a batch: one an instance, the same keys for every topology."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lcbgrid.core.jsonl import read_jsonl
from lcbgrid.problems.schema import Problem

STATEMENT_CHARS = 400
RAW_CHARS = 2000
USAGE_KEYS = (
    "prompt_tokens",
    "completion_tokens",
    "total_tokens",
    "n_llm_calls",
    "n_tool_calls",
)
COMMUNICATION_KEYS = (
    "communication_format",
    "communication_parse_ok",
    "communication_all_parse_ok",
    "communication_parse_rate",
    "communication_render_parse_rate",
    "communication_report_ok_count",
    "communication_report_total",
    "communication_required_report_count",
    "communication_missing_roles",
    "communication_parse_errors",
    "communication_infra_error",
    "communication_inflight_handoff_count",
    "communication_inflight_all_parse_ok",
)
_NOT_A_SCORE = ("infra_error", "data_error")


def read_records(
    folder: Path, problems: Mapping[str, Problem], communication: str, *, in_stages: bool
) -> list[dict[str, Any]]:
    """Join predictions, verdicts and times of a cell that was run and judged.

    Args:
        folder: The cell's folder.
        problems: The problems by id.
        communication: The cell's communication format.
        in_stages: Whether each role speaks once, so that texts can be told by role.
    """
    verdicts = {record["question_id"]: record for record in read_jsonl(folder / "verdicts.jsonl")}
    times = _model_times(folder)
    return [
        _record(
            answer,
            problems[answer["question_id"]],
            verdicts[answer["question_id"]],
            times.get(answer["question_id"], {}),
            communication,
            in_stages=in_stages,
        )
        for answer in read_jsonl(folder / "predictions.jsonl")
    ]


def _record(
    answer: Mapping[str, Any],
    problem: Problem,
    verdict: Mapping[str, Any],
    times: Mapping[str, float],
    communication: str,
    *,
    in_stages: bool,
) -> dict[str, Any]:
    agents = answer["agents"]
    measured = answer["communication"] or {"communication_format": communication}
    return {
        "id": problem.question_id,
        "problem": problem.statement[:STATEMENT_CHARS],
        "starter_code": problem.starter_code,
        "predicted_code": answer["predicted_code"],
        **_scores(verdict),
        "difficulty": problem.difficulty,
        "platform": problem.platform,
        "winner": answer["winner"],
        "raw": _deciding_text(agents, answer["winner"])[:RAW_CHARS],
        "by_stage": {a["role"]: a["text"] for a in agents} if in_stages else {},
        "agents": [_agent(agent) for agent in agents],
        "n_turns": answer["n_turns"],
        **{key: measured.get(key) for key in COMMUNICATION_KEYS},
        "latency_s": round(_latency_s(agents, times), 2),
        **{key: answer["usage"][key] for key in USAGE_KEYS},
        "status": answer["status"],
        "error": answer["error"],
    }


def _scores(verdict: Mapping[str, Any]) -> dict[str, Any]:
    """What was lost to the endpoint or the judge has no score; no code fails every test."""
    status = verdict["status"]
    if status in _NOT_A_SCORE:
        scores: dict[str, Any] = {"pass": None, "pass_rate": None, "em": None}
    else:
        rate = verdict.get("pass_rate")
        passed = float(status == "passed")
        scores = {"pass": verdict["n_passed"], "pass_rate": rate, "em": passed}
    return {**scores, "total": verdict["n_total"], "verdict": status}


def _agent(agent: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **{key: agent[key] for key in ("agent", "role", "status", "code")},
        "has_code": agent["code"] is not None,
    }


def _deciding_text(agents: list[dict[str, Any]], winner: int | None) -> str:
    if winner is not None:
        return str(agents[winner]["text"])
    spoke = [agent for agent in agents if agent["code"]] or agents
    return str(spoke[-1]["text"]) if spoke else ""


def _latency_s(agents: list[dict[str, Any]], times: Mapping[str, float]) -> float:
    """Return the model time of the longest line of work.

    Members of one role work side by side, so the slowest counts; others wait for each other.
    """
    side_by_side = len(agents) > 1 and len({agent["role"] for agent in agents}) == 1
    return max(times.values(), default=0.0) if side_by_side else sum(times.values())


def _model_times(folder: Path) -> dict[str, dict[str, float]]:
    """Return question -> agent -> seconds that its model calls took, waits included."""
    measured = {
        line["key"]: line.get("latency_s", 0.0) + line.get("waited_s", 0.0)
        for line in read_jsonl(folder / "timing.jsonl")
    }
    times: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for line in read_jsonl(folder / "transcript.jsonl"):
        if line["kind"] == "call":
            call = line["call"]
            times[call["question_id"]][call["agent"]] += measured.get(line["key"], 0.0)
    return times
