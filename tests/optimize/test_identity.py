"""Identity: no charge, no call, and the seed's own result."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from lcbgrid.core.errors import ConfigError
from lcbgrid.optimize.interface import method
from lcbgrid.optimize.job import run_job
from lcbgrid.optimize.landscape_cell import landscape_cell
from lcbgrid.optimize.search import search
from lcbgrid.optimize.trials import MemoryTrials

from .optimize_helpers import small_world


def test_no_budget_is_touched() -> None:
    cell = landscape_cell(small_world())
    for budget in range(1, 61):
        found = asyncio.run(search(cell.job("identity", 0, budget), cell, MemoryTrials()))
        assert found.budget.charged == 0
        assert found.budget.closed
        assert found.outcome.incumbent == cell.seed_bundle
        assert found.outcome.stop_reason == "identity_no_search"
        curve = found.curve()
        assert [row.rollout_grid for row in curve] == [*range(0, budget, 10), budget]
        assert {row.charged_rollouts for row in curve} == {0}
        assert found.asked == found.executed == 0


def test_the_result_is_the_seeds_with_a_tie(tmp_path: Path) -> None:
    cell = landscape_cell(small_world())
    result = asyncio.run(run_job(tmp_path, cell.job("identity", 1, 1), cell))
    assert result["selection"]["fallback_reason"] == "validation_tie"
    assert result["delta_pp"] == 0
    assert result["test"]["baseline_scores"] == result["test"]["deployed_scores"]


def test_unknown_methods_are_refused() -> None:
    with pytest.raises(ConfigError, match="did you mean 'identity'"):
        method("identty")
