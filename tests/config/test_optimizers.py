"""Optimizers in a configuration: cells, what decides a search, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lcbgrid.config.effective import Effective, load, resolve
from lcbgrid.config.grid import Cell
from lcbgrid.core.errors import ConfigError

REPOSITORY = Path(__file__).resolve().parents[2]
SIM = {"provider": "simulated", "model_id": "sim", "max_concurrency": 4}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    models = {"sim": SIM, "writer": {**SIM, "model_id": "writer"}}
    (tmp_path / "models.yaml").write_text(json.dumps({"models": models}))
    return tmp_path


def made(folder: Path, **changes: Any) -> Effective:
    grid = {"topologies": ["direct"], "models": ["sim"], "optimizers": ["identity", "mipro"]}
    config: dict[str, Any] = {"dataset": {"split": "test"}, "grid": grid}
    for key, value in changes.items():
        config[key] = {**config.get(key, {}), **value}
    return resolve(config, folders=(folder, REPOSITORY / "config"), where="test", environment={})


def cell(effective: Effective, optimizer: str) -> Cell:
    return next(cell for cell in effective.cells if cell.optimizer == optimizer)


def digests(effective: Effective) -> tuple[str, str, str]:
    """Of the identity cell's run, of the search, and of the optimized cell's run."""
    mipro = cell(effective, "mipro")
    return (
        effective.run_digest(cell(effective, "identity")),
        effective.optimize_digest(mipro),
        effective.run_digest(mipro),
    )


def test_an_optimizer_is_an_axis_and_has_a_baseline(folder: Path) -> None:
    effective = made(folder)
    mipro = cell(effective, "mipro")
    assert mipro.optimizes
    assert not mipro.baseline.optimizes
    assert mipro.baseline == cell(effective, "identity")
    assert "/mipro/" in mipro.path


@pytest.mark.parametrize(
    "optimize",
    [
        {"budget": 100},
        {"profile": "reference"},
        {"without": ["curtailment"]},
        {"reflection_model": "writer"},
        {"reflection_max_tokens": 100},
        {"n_train": 3},
        {"n_validation": 3},
        {"first_tests": 3},
        {"search_temperature": 0.5},
        {"evaluation_temperature": 0.5},
        {"top_p": 0.5},
        {"own_test": True},
        {"window": 5},
    ],
    ids=lambda setting: next(iter(setting)),
)
def test_settings_of_searches_touch_only_optimized_cells(
    optimize: dict[str, Any], folder: Path
) -> None:
    before, after = digests(made(folder)), digests(made(folder, optimize=optimize))
    assert before[0] == after[0]
    assert before[1] != after[1]
    assert before[2] != after[2]


def test_speed_and_patience_decide_nothing(folder: Path) -> None:
    before = digests(made(folder))
    models = {"sim": {**SIM, "max_concurrency": 1, "retry": {"max_attempts": 1}}}
    (folder / "models.yaml").write_text(json.dumps({"models": models}))
    assert digests(made(folder, optimize={"max_in_flight": 2})) == before


def test_filters_choose_test_problems_and_no_search(folder: Path) -> None:
    before, after = digests(made(folder)), digests(made(folder, dataset={"filters": {"limit": 2}}))
    assert before[0] != after[0]
    assert before[1] == after[1]
    own = [
        digests(made(folder, optimize={"own_test": True}, dataset={"filters": {"limit": limit}}))
        for limit in (2, 3)
    ]
    assert own[0][1] != own[1][1]


def test_samples_of_a_run_are_no_matter_of_its_search(folder: Path) -> None:
    before, after = digests(made(folder)), digests(made(folder, run={"n_samples": 3}))
    assert before[1] == after[1]
    assert before[2] != after[2]


def test_the_judge_decides_a_search_but_no_run_as_written(folder: Path) -> None:
    before, after = digests(made(folder)), digests(made(folder, judge={"time_s": 9.0}))
    assert before[0] == after[0]
    assert before[1] != after[1]


def test_what_is_written_beside_the_results_says_the_same(folder: Path) -> None:
    effective = made(folder, optimize={"reflection_model": "writer", "without": ["curtailment"]})
    assert set(effective.models) == {"sim", "writer"}
    path = folder / "config.json"
    path.write_text(effective.dump())
    assert load(path) == effective
    assert digests(load(path)) == digests(effective)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"grid": {"seeds": [0, 3]}}, "seeds 0, 1 and 2 only"),
        ({"dataset": {"split": "all"}}, "set it to test"),
        ({"dataset": {"split": "train"}}, "set it to test"),
        ({"grid": {"optimizers": ["Mipro"]}}, "optimizers"),
        ({"grid": {"optimizers": ["mipro", "mipro"]}}, "stands twice"),
        ({"grid": {"optimizers": ["../x"]}}, "optimizers"),
        ({"optimize": {"budget": 0}}, "budget"),
        ({"optimize": {"budget": 601}}, "budget"),
        ({"optimize": {"n_train": 0}}, "n_train"),
        ({"optimize": {"top_p": 0}}, "top_p"),
        ({"optimize": {"reflection_model": "writr"}}, "did you mean 'writer'"),
        ({"optimize": {"budjet": 5}}, "budjet"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(
    changes: dict[str, Any], words: str, folder: Path
) -> None:
    with pytest.raises(ConfigError, match=words) as caught:
        made(folder, **changes)
    assert "\n" not in str(caught.value)


def test_other_seeds_stay_possible_for_the_prompts_as_written(folder: Path) -> None:
    some = {"seeds": [0, 7], "exclude": [{"optimizer": ["mipro"], "seed": [7]}]}
    cells = made(folder, grid=some).cells
    assert [(c.optimizer, c.seed) for c in cells] == [
        ("identity", 0),
        ("identity", 7),
        ("mipro", 0),
    ]
    more = {"optimizers": ["identity"], "include": [{"optimizer": ["mipro"], "seed": [4]}]}
    with pytest.raises(ConfigError, match="seeds 0, 1 and 2 only"):
        made(folder, grid=more)
    with pytest.raises(ConfigError, match="set it to test"):
        made(folder, grid=more, dataset={"split": "all"})
