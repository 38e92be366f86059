"""Means over the grid; each says how many cells it covers, as a gap makes it another mean."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from lcbgrid.analysis.axes import SETTING_AXES, key_of, order_of
from lcbgrid.analysis.intervals import Interval, bootstrap, choose, wilson
from lcbgrid.analysis.provenance import PROVENANCE_KEYS
from lcbgrid.analysis.score import mean
from lcbgrid.config.main_spec import AnalysisSpec

_MEANS = (
    "extracted_pass_at_1",
    "easy_pass_at_1",
    "medium_pass_at_1",
    "hard_pass_at_1",
    "tests_passed_share",
    "truncated_share",
    "communication_parse_rate",
    "tokens_per_attempt",
    "calls_per_attempt",
)
_SUMS = (
    "n_infra_errors",
    "n_data_errors",
    "prompt_tokens",
    "completion_tokens",
    "total_tokens",
    "n_llm_calls",
    "n_tool_calls",
    "cost_usd",
)

Shares = Mapping[str, float | None]


class ScoredCell(NamedTuple):
    """A row of the cells frame with the share of right answers of each problem."""

    row: Mapping[str, Any]
    shares: Shares
    one_answer: bool


def setting_rows(
    cells: Iterable[ScoredCell], ks: Iterable[int], spec: AnalysisSpec
) -> list[dict[str, Any]]:
    """Return one row a setting (a cell without its seed), averaged over its seeds."""
    groups: dict[Any, list[ScoredCell]] = defaultdict(list)
    for cell in cells:
        groups[key_of(cell.row, SETTING_AXES)].append(cell)
    rows = [_setting_row(group, tuple(ks), spec) for group in groups.values()]
    return sorted(rows, key=lambda row: order_of(row, SETTING_AXES))


def margin_rows(settings: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return means over models (one row a team) and over topologies (one row a model)."""
    rows = []
    for over, away in (("model", ("model",)), ("topology", ("topology", "team_size"))):
        names = tuple(name for name in SETTING_AXES if name not in away)
        groups: dict[Any, list[Mapping[str, Any]]] = defaultdict(list)
        for setting in settings:
            groups[key_of(setting, names)].append(setting)
        found = [_margin_row(group, over, names) for group in groups.values()]
        rows += sorted(found, key=lambda row: order_of(row, SETTING_AXES))
    return rows


def covers(n_covered: int, n_all: int) -> str:
    """Return how many of the cells a mean covers, as text."""
    return f"{n_covered} of {n_all}"


def _setting_row(
    group: list[ScoredCell], ks: tuple[int, ...], spec: AnalysisSpec
) -> dict[str, Any]:
    group = sorted(group, key=lambda cell: order_of(cell.row))
    scored = [cell for cell in group if cell.row["state"] == "finished"]
    rows = [cell.row for cell in scored]
    result: dict[str, Any] = {name: group[0].row[name] for name in SETTING_AXES}
    result |= {
        "n_cells": len(group),
        "n_covered": len(scored),
        "covers": covers(len(scored), len(group)),
        "seeds": " ".join(str(row["seed"]) for row in rows) or None,
        "simulated": any(cell.row["simulated"] for cell in group) if group else None,
        **_state(group, scored),
    }
    if not scored:
        return result
    values = [row["pass_at_1"] for row in rows]
    shown = _interval(scored, mean(values), spec)
    result |= {
        "pass_at_1": mean(values),
        "pass_at_1_low": shown.low,
        "pass_at_1_high": shown.high,
        "interval": shown.method,
        "confidence": spec.confidence,
        "seed_sd": statistics.stdev(values) if len(values) > 1 else None,
        "undefined": _joined(row.get("undefined") for row in rows),
    }
    result |= {name: _mean_if_all(rows, name) for name in _MEANS}
    result |= {f"pass_at_{k}": _mean_if_all(rows, f"pass_at_{k}") for k in ks if k > 1}
    result |= {name: _sum_if_all(rows, name) for name in _SUMS}
    result |= {name: _common(rows, name) for name in PROVENANCE_KEYS if name != "dataset"}
    return result


def _state(group: list[ScoredCell], scored: list[ScoredCell]) -> dict[str, Any]:
    if scored:
        return {"state": "finished", "reason": None}
    states = sorted({cell.row["state"] for cell in group})
    return {
        "state": states[0] if len(states) == 1 else "unfinished",
        "reason": _joined(cell.row["reason"] for cell in group),
    }


def _interval(scored: list[ScoredCell], value: float, spec: AnalysisSpec) -> Interval:
    ids = sorted(set().union(*(cell.shares.keys() for cell in scored)))
    columns = [[cell.shares.get(question_id) for question_id in ids] for cell in scored]
    return choose(
        wilson_interval=wilson(value, len(ids), spec.confidence),
        bootstrap_interval=bootstrap(columns, spec),
        one_answer=len(scored) == 1 and scored[0].one_answer,
    )


def _margin_row(
    group: list[Mapping[str, Any]], over: str, names: tuple[str, ...]
) -> dict[str, Any]:
    values = [row["pass_at_1"] for row in group if row["state"] == "finished"]
    return {
        **dict.fromkeys(SETTING_AXES),
        **{name: group[0][name] for name in names},
        "over": over,
        "n_settings": len(group),
        "n_covered": len(values),
        "covers": covers(len(values), len(group)),
        "pass_at_1": mean(values) if values else None,
        "simulated": any(row["simulated"] for row in group),
    }


def _mean_if_all(rows: list[Mapping[str, Any]], name: str) -> float | None:
    values = [row.get(name) for row in rows]
    known = [value for value in values if value is not None]
    return mean(known) if len(known) == len(values) else None


def _sum_if_all(rows: list[Mapping[str, Any]], name: str) -> Any:
    values = [row.get(name) for row in rows]
    return None if any(value is None for value in values) else sum(v for v in values if v)


def _common(rows: list[Mapping[str, Any]], name: str) -> Any:
    """Return the value that all rows share; ``None`` (shown as not stated) if they differ."""
    values = {row.get(name) for row in rows}
    return values.pop() if len(values) == 1 else None


def _joined(texts: Iterable[str | None]) -> str | None:
    return "; ".join(sorted({text for text in texts if text})) or None
