"""Folders of optimizer jobs with hand-made scores, sealed as a job seals them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lcbgrid.optimize.canonical import content_hash
from lcbgrid.optimize.cell import PROTOCOL
from lcbgrid.optimize.job import ENVELOPE, JOB, RESULT, SCHEMA, SELECTION, TEST
from lcbgrid.optimize.sealed import SealedFolder

SCORES = {"+": 1.0, "-": 0.0, "h": 0.5, "?": None}
PHASES = ("searching", "searched", "selected", "tested", "finished")


def condition(topology: str = "sequential", **names: Any) -> dict[str, Any]:
    """Return a condition of the published grid, or one with other names."""
    team = {"topology": topology, "team_size": 1 if topology == "single" else 4}
    said = {"task": "lcb", "scenario": "code_generation", "framework": topology, "model": "m"}
    said |= {"communication": "freeform", "model_id": "model-x"}
    return {
        "protocol": PROTOCOL,
        "names": {**said, **team, **names},
        "seed_bundle": "0" * 64,
        "split": "1" * 64,
        "paired_seeds": "paired/v1",
    }


def write_job(
    folder: Path,
    base: str,
    deployed: str,
    *,
    method: str = "gepa",
    seed: int = 0,
    phase: str = "finished",
    topology: str = "sequential",
    fallback: str | None = None,
    names: Mapping[str, Any] | None = None,
    identity: Mapping[str, Any] | None = None,
    envelope: Mapping[str, Any] | None = None,
    sizes: Mapping[str, int] | None = None,
    first: int = 0,
    tokens: tuple[int, int] = (900, 100),
) -> Path:
    """Write a job that has reached a phase.

    ``base`` and ``deployed`` hold a mark a problem: + right, - wrong, h half, ? no record.
    Problems are named from ``first`` on.
    """
    store = SealedFolder(folder)
    where = condition(topology, **(names or {}))
    who = {
        "protocol": PROTOCOL,
        "method": method,
        "condition_id": content_hash(where),
        "reflection_model": "writer",
        "optimizer_seed": seed,
        "budget": 600,
        "profile": "improved",
        "switches": {},
        "window": 4,
        **(identity or {}),
    }
    job_id = content_hash(who)[:24]
    common = {"schema": SCHEMA, "job_id": job_id}
    job = {
        **common,
        "identity": who,
        "condition": where,
        "condition_id": who["condition_id"],
        "cell_id": who["condition_id"][:24],
        "split_sizes": dict(sizes or {"train": 150, "validation": 50, "test": 50}),
    }
    store.write(JOB, job)
    reached = PHASES.index(phase)
    search = {
        "status": "completed",
        "failure_kind": None,
        "stop_reason": "budget",
        "error": None,
        "budget": {"charged": 30},
        "usage": {
            "task": {"total_tokens": tokens[0]},
            "judge": {"total_tokens": 0},
            "reflection": {"total_tokens": tokens[1]},
        },
        **(envelope or {}),
    }
    if reached >= 1:
        store.write(ENVELOPE, {**common, **search, "learning_curve": curve(seed)})
    selection = {**common, "selection_id": "s", "fallback_reason": fallback}
    if reached >= 2:
        store.write(SELECTION, selection)
    test = {
        "selection_id": "s",
        "fallback_reason": fallback,
        "example_ids": [f"q{first + index:02d}" for index in range(len(base))],
        "baseline_scores": [SCORES[mark] for mark in base],
        "deployed_scores": [SCORES[mark] for mark in deployed],
        "usage": {
            "baseline": {"total_tokens": 10 * len(base)},
            "deployed": {"total_tokens": 15 * len(base)},
        },
    }
    if reached >= 3:
        store.write(TEST, test)
    if reached >= 4:
        result = {**common, "identity": who, "optimization": search, "test": test}
        store.write(RESULT, {**result, "selection": selection})
    return folder


def curve(seed: int) -> list[dict[str, Any]]:
    """Return a learning curve: 0.25 at first, 0.5 from 12 rollouts on, the end at 20 of 30."""
    points = [(0, 0, 0.25, "a"), (10, 10, 0.25, "a"), (None, 12, 0.5 + seed / 10, "b")]
    points += [(20, 20, None, "b"), (30, 20, None, "b")]
    return [
        {
            "rollout_grid": grid,
            "charged_rollouts": charged,
            "native_observed_score": score,
            "post_stop_carried_forward": grid == 30,
            "bundle_hash": bundle,
        }
        for grid, charged, score, bundle in points
    ]


def write_cell(
    root: Path, base: str, deployed: tuple[str, str, str], *, name: str = "c", **more: Any
) -> None:
    """Write the three jobs of a cell."""
    for seed, marks in enumerate(deployed):
        write_job(root / name / str(seed), base, marks, seed=seed, **more)
