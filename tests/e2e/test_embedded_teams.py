"""Every topology with a real model, which says things that a simulated one never would."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import yaml

from lcbgrid.config.effective import resolve
from lcbgrid.problems.prepare import prepare
from lcbgrid.stages.paths import Layout
from lcbgrid.stages.run import run_cell

REPOSITORY = Path(__file__).resolve().parents[2]
TOPOLOGIES = ["independent", "sequential", "centralized", "decentralized"]


@pytest.mark.slow
@pytest.mark.embedded
@pytest.mark.timeout(1500)
@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_a_real_model_runs_the_topology(topology: str, tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp", reason="the extra 'embedded' is not installed")
    for name in ("models.yaml", "prompts"):
        target = tmp_path / name
        source = REPOSITORY / "config" / name
        shutil.copytree(source, target) if source.is_dir() else shutil.copy(source, target)
    teams = yaml.safe_load((REPOSITORY / "config/teams.yaml").read_text())["teams"]
    teams[topology] |= {"max_model_calls": 2}  # minutes matter here
    if topology == "centralized":
        teams[topology] |= {"max_turns": {2: 4}}
    (tmp_path / "teams.yaml").write_text(yaml.safe_dump({"teams": {topology: teams[topology]}}))
    config = {
        "dataset": {"name": "one", "split": "test", "filters": {"limit": 1}},
        "grid": {"topologies": [topology], "team_sizes": [2], "models": ["qwen-coder-0.5b"]},
        "run": {"sampling": {"temperature": 0.2, "max_tokens": 40}},
    }
    effective = resolve(config, folders=(tmp_path,), where="test", environment={})
    layout = Layout(tmp_path / "results")
    prepare(effective.config.dataset, layout.problems("one"))
    (cell,) = effective.cells
    summary = run_cell(effective, cell, layout)
    assert (summary.n_answers, summary.n_infra_errors) == (1, 0)
    (line,) = (layout.run(cell) / "predictions.jsonl").read_text().splitlines()
    answer = json.loads(line)
    assert len(answer["agents"]) == 2
    assert answer["agents"][0]["spent"]["n_llm_calls"] > 0
    assert answer["usage"]["completion_tokens"] > 0
