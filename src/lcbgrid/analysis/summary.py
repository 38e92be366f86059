"""The summary of optimizer jobs as one JSON object, for programs."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any, Final

from lcbgrid.analysis.columns_gains import SEED_COLUMNS
from lcbgrid.analysis.frames import records_of
from lcbgrid.analysis.gains import GainFrames, Rules
from lcbgrid.analysis.job_folders import Jobs
from lcbgrid.analysis.paired import CONDITION_AXES, GROUP_AXES, SETUP_AXES
from lcbgrid.optimize.cell import PROTOCOL
from lcbgrid.optimize.cells import REQUIRED_SEEDS

SCHEMA: Final = "lcbgrid-optimizer-summary/v1"


def summary(
    frames: GainFrames, jobs: Jobs, rules: Rules, *, include_nonconformant: bool
) -> dict[str, Any]:
    """Return the summary: how it was made, the jobs, a record a cell, and the tests.

    It names jobs by their ids and no folder, so it is the same wherever they lie.
    """
    seeds: dict[tuple[Any, ...], list[dict[str, Any]]] = defaultdict(list)
    own = [column.name for column in SEED_COLUMNS if column.name not in (*GROUP_AXES, "simulated")]
    for row in records_of(frames.gain_seeds):
        key = tuple(row[name] for name in GROUP_AXES)
        seeds[key].append({name: row[name] for name in own})
    cells = [
        {
            **_known(row),
            "reasons": row["reasons"].split("; ") if row["reasons"] else [],
            "per_seed": seeds[tuple(row[name] for name in GROUP_AXES)],
        }
        for row in records_of(frames.gains)
    ]
    return {
        "schema": SCHEMA,
        "protocol": PROTOCOL,
        "rules": {
            "bootstrap": rules.replicates,
            "bootstrap_seed": rules.seed,
            "confidence": 0.95,
            "family": rules.family,
            "include_nonconformant": include_nonconformant,
            "permutations": rules.resamples,
            "required_seeds": list(REQUIRED_SEEDS),
        },
        "jobs": {
            "found": jobs.found,
            "finished": jobs.finished,
            "copies": jobs.copies,
            "left_out": list(jobs.left_out),
        },
        "cells": cells,
        "tests": [_test(row) for row in records_of(frames.gain_tests)],
    }


def _known(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row without the axes that nothing is known about."""
    axes = (*CONDITION_AXES, *SETUP_AXES)
    return {key: value for key, value in row.items() if key not in axes or value is not None}


def _test(row: dict[str, Any]) -> dict[str, Any]:
    effects = row["effects_pp"]
    return {**_known(row), "effects_pp": None if effects is None else json.loads(effects)}
