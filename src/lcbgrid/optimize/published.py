"""Which cells and jobs belong to the published grid (optimizers specification, 3.10 and 6.10)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lcbgrid.optimize.cell import PROTOCOL

TASK = "lcb"
BUDGET = 600
SPLIT_SIZES = {"train": 150, "validation": 50, "test": 50}
SIZES = (2, 4, 8, 10)
TEAMS = ("independent", "sequential", "centralized", "decentralized")
ON_TEAMS_ALONE = frozenset({"mapro", "maspo", "hivemind", "mamut_gepa", "maspob", "tavo"})


def foreign_cell(
    *,
    method: str,
    task: str,
    topology: str,
    team_size: int | None,
    communication: str | None,
) -> str | None:
    """Return what takes a cell out of the published grid, if anything does."""
    base, _, framework = topology.partition("_")
    if task != TASK:
        return f"its data set is {task}, not {TASK}"
    if base not in ("single", *TEAMS):
        return f"topology {topology}"
    if base == "single" and method in ON_TEAMS_ALONE:
        return f"{method} runs on teams, not on single"
    if base != "single" and team_size not in SIZES:
        return f"team size {team_size}"
    if framework and (communication != "freeform" or team_size not in (1, 4)):
        return f"{framework} runs teams of four that write freely"
    return None


def nonconformances(job: Mapping[str, Any]) -> list[str]:
    """Return why a job may not be counted beside published ones; empty if it may.

    Args:
        job: The content of its ``job.json``.
    """
    identity, condition = job["identity"], job["condition"]
    names = condition["names"]
    reasons = []
    if identity["protocol"] != PROTOCOL:
        reasons.append(f"protocol {identity['protocol']}")
    if identity["budget"] != BUDGET:
        reasons.append(f"budget {identity['budget']}, not {BUDGET}")
    if identity["switches"]:
        changed = ", ".join(f"{k} {'on' if v else 'off'}" for k, v in identity["switches"].items())
        reasons.append(f"{changed} in profile {identity['profile']}")
    why = foreign_cell(
        method=identity["method"],
        task=str(names.get("task")),
        topology=str(names.get("topology")),
        team_size=names.get("team_size"),
        communication=names.get("communication"),
    )
    if why:
        reasons.append(why)
    elif job["split_sizes"] != SPLIT_SIZES:
        sizes = ", ".join(f"{job['split_sizes'].get(name)} {name}" for name in SPLIT_SIZES)
        reasons.append(f"splits cut to {sizes}")
    return reasons
