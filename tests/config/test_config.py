"""Configuration: what is refused, with which words, and what a grid expands to."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from lcbgrid.config.base import validate
from lcbgrid.config.effective import Effective, load, resolve
from lcbgrid.config.generated import generated_files
from lcbgrid.config.grid import slug
from lcbgrid.config.judge_spec import functional_memory_mb
from lcbgrid.config.main_spec import Config
from lcbgrid.core.errors import ConfigError

MODELS = """
models:
  m1: {provider: openai, model_id: a}
  m2: {provider: openai, model_id: b, base_url: "http://127.0.0.1:9/v1"}
  org/m-7b: {provider: openai, model_id: c}
  org_m-7b: {provider: openai, model_id: d}
"""
TEAMS = """
teams:
  direct: {builder: direct, roles: [{name: solver, delivers: true}]}
  debate.v1: {builder: direct, sizes: [2, 4], roles: [{name: solver, delivers: true}]}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "models.yaml").write_text(MODELS)
    (tmp_path / "teams.yaml").write_text(TEAMS)
    for team in ("direct", "debate.v1"):
        (tmp_path / "prompts" / team).mkdir(parents=True)
        (tmp_path / "prompts" / team / "solver.md").write_text("Solve it.\n")
    return tmp_path


def expand(folder: Path, environment: dict[str, str] | None = None, **grid: Any) -> Effective:
    return resolve(
        {"grid": {"models": ["m1"]} | grid},
        folders=(folder,),
        where="c.yaml",
        environment=environment or {},
    )


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"datset": {}}, ["unknown key 'datset'", "did you mean 'dataset'?"]),
        ({"grid": {"modles": ["a"]}}, ["'grid.modles'", "did you mean 'models'?"]),
        ({"dataset": {"filters": {"limt": 3}}}, ["'dataset.filters.limt'", "'limit'"]),
        ({"grid": {"exclude": [{"modl": ["x"]}]}}, ["'grid.exclude.0.modl'", "'model'"]),
        ({"grid": {"models": [123]}}, ["'grid.models.0'", "string", "got 123"]),
        ({"grid": {"models": "m1"}}, ["'grid.models'", "list", "got 'm1'"]),
        ({"grid": {"seeds": ["1"]}}, ["'grid.seeds.0'", "integer", "got '1'"]),
        ({"grid": {"seeds": "[1,2]"}}, ["'grid.seeds'", "list", "got '[1,2]'"]),
        ({"judge": {"rules": "strict"}}, ["'judge.rules'", "'real'", "got 'strict'"]),
        ({"judge": {"time_s": 0}}, ["'judge.time_s'", "greater than 0", "got 0"]),
        ({"dataset": {"filters": {"start_date": "yesterday"}}}, ["YYYY-MM-DD", "'yesterday'"]),
        (
            {"run": {"n_samples": 1}, "analysis": {"pass_at": [1, 5]}},
            ["pass@5 needs at least 5 answers a problem", "n_samples is 1"],  # R21
        ),
        ({"grid": {"seeds": [0, 0]}}, ["seeds stands twice"]),
        ({"grid": {"exclude": [{"model": ["nobody"]}]}}, ["exclude names model 'nobody'"]),
        ({"dataset": {"source": "local"}}, ["source 'local' needs 'files'"]),
        (
            {"dataset": {"filters": {"start_date": "2025-02-01", "end_date": "2025-01-01"}}},
            ["end_date 2025-01-01 must be after"],
        ),
        ({"analysis": {"pass_at": [0]}}, ["greater than 0"]),
        ({"schema_version": 2}, ["'schema_version'", "got 2"]),
    ],
)
def test_refused_with_key_value_and_hint(data: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        validate(Config, data, where="c.yaml")
    line = str(caught.value)
    assert line.startswith("c.yaml: ")
    assert "\n" not in line
    for word in words:
        assert word in line
    assert caught.value.exit_status == 2


def test_r45_yaml_types_are_not_guessed_away() -> None:
    """R45: 1_2_3 is the integer 123 in YAML, and that is said, not run."""
    data = yaml.safe_load("grid: {models: [1_2_3]}")
    with pytest.raises(ConfigError, match=r"grid\.models\.0.*got 123"):
        validate(Config, data, where="command line")


def test_r45_dates_may_be_written_without_quotes() -> None:
    data = yaml.safe_load("dataset: {filters: {start_date: 2024-08-01}}")
    assert validate(Config, data, where="c").dataset.filters.start_date == "2024-08-01"


def test_r45_seeds_stay_integers() -> None:
    data = yaml.safe_load("grid: {seeds: [1, 2]}")
    assert validate(Config, data, where="c").grid.seeds == (1, 2)


def test_cells_are_the_product_and_have_readable_paths(folder: Path) -> None:
    cells = expand(
        folder, topologies=["direct", "debate.v1"], team_sizes=[2, 4], seeds=[0, 1]
    ).cells
    assert len(cells) == 2 + 4
    assert cells[0].path == "embedded/code_generation/debate.v1/r2-freeform/identity/m1/seed0"
    assert cells[-1].path == "embedded/code_generation/direct/r1-freeform/identity/m1/seed1"


def test_exclude_drops_and_include_adds(folder: Path) -> None:
    cells = expand(
        folder,
        seeds=[0, 1, 2],
        exclude=[{"seed": [1], "model": ["m1"]}],
        include=[{"model": ["m2"], "seed": [7]}],
    ).cells
    assert [(cell.model, cell.seed) for cell in cells] == [("m1", 0), ("m1", 2), ("m2", 7)]


def test_an_empty_grid_is_refused(folder: Path) -> None:
    with pytest.raises(ConfigError, match="no cells left"):
        expand(folder, exclude=[{}])


def test_a_size_that_is_not_offered_is_refused(folder: Path) -> None:
    with pytest.raises(ConfigError, match="no team size 3; it offers 2, 4"):
        expand(folder, topologies=["debate.v1"], team_sizes=[3])


@pytest.mark.parametrize(
    ("grid", "words"),
    [
        ({"models": ["m3"]}, r"grid.models names an unknown one.*got m3.*known: m1, m2"),
        ({"topologies": ["direkt"]}, "grid.topologies.*direkt.*did you mean 'direct'"),
    ],
)
def test_unknown_names_fail_at_once(folder: Path, grid: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        expand(folder, **grid)


def test_r50_names_that_would_share_a_path_are_refused(folder: Path) -> None:
    with pytest.raises(ConfigError, match=r"share the path.*'org/m-7b' and 'org_m-7b'"):
        expand(folder, models=["org/m-7b", "org_m-7b"])


def test_r50_dots_dashes_and_slashes_make_clean_cells(folder: Path) -> None:
    effective = expand(folder, models=["org/m-7b", "m1"], topologies=["debate.v1"])
    import re

    from lcbgrid.config.grid import path_pattern

    pattern = re.compile(path_pattern(effective.cells))
    assert all(pattern.fullmatch(cell.path) for cell in effective.cells)
    assert not pattern.fullmatch(effective.cells[0].path.replace("debate.v1", "debateXv1"))
    assert {cell.path.split("/")[-2] for cell in effective.cells} == {"org_m-7b", "m1"}


@given(st.text(min_size=1))
def test_a_slug_is_one_safe_folder_name(name: str) -> None:
    assert slug(name) not in ("", ".", "..")
    assert "/" not in slug(name)
    assert not slug(name).startswith(".")


def test_the_digest_of_a_cell_changes_with_its_own_prompt_only(folder: Path) -> None:
    grid = {"topologies": ["direct", "debate.v1"]}
    before = {
        cell.path: expand(folder, **grid).run_digest(cell) for cell in expand(folder, **grid).cells
    }
    (folder / "prompts/direct/solver.md").write_text("Solve it well.\n")
    after_ = expand(folder, **grid)
    after = {cell.path: after_.run_digest(cell) for cell in after_.cells}
    changed = {path.split("/")[2] for path in before if before[path] != after[path]}
    assert changed == {"direct"}


def test_retries_concurrency_and_prices_are_in_no_digest(folder: Path) -> None:
    before = expand(folder)
    text = MODELS.replace(
        "model_id: a}",
        "model_id: a, max_concurrency: 3, retry: {max_attempts: 2},"
        " price_input_usd_per_mtok: 1.0}",
    )
    (folder / "models.yaml").write_text(text)
    after = expand(folder)
    assert before.run_digest(before.cells[0]) == after.run_digest(after.cells[0])


def test_the_environment_names_the_endpoint(folder: Path) -> None:
    url = "http://127.0.0.1:8123/v1"
    effective = expand(folder, {"VLLM_BASE_URL": url}, models=["m1", "m2"])
    assert effective.models["m1"].base_url == url
    assert effective.models["m2"].base_url == "http://127.0.0.1:9/v1"


def test_model_id_from_the_environment(folder: Path) -> None:
    (folder / "models.yaml").write_text("models: {m1: {provider: openai, model_id: env}}")
    assert expand(folder, {"MODEL_ID": "served"}).models["m1"].model_id == "served"
    with pytest.raises(ConfigError, match="MODEL_ID is not set"):
        expand(folder)


def test_what_is_written_beside_results_loads_to_the_same(folder: Path, tmp_path: Path) -> None:
    effective = expand(folder, seeds=[0, 1])
    path = tmp_path / "config.json"
    path.write_text(effective.dump())
    again = load(path)
    assert again.dump() == effective.dump()
    assert [again.run_digest(c) for c in again.cells] == [
        effective.run_digest(c) for c in effective.cells
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("grid: [", "is not YAML"),
        ("run: {}\nrun: {}", "key 'run' stands twice"),
        ("- a", "top level must be a mapping"),
        ("? [a, b]\n: 1", "is not YAML"),
        ("a: 2024-99-99", "is not YAML"),
        ("a: !!int x", "is not YAML"),
        ("[" * 3000, "is not YAML"),
        ("models_file: " + "x" * 5000, "models_file: no such file"),
        ("\ud800".encode("utf-16", "surrogatepass").decode("latin-1") + "\x00", "is not"),
    ],
)
def test_damaged_files_get_one_line(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "c.yaml"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(ConfigError, match=words):
        load(path)


def test_merge_keys_are_ordinary_yaml(tmp_path: Path) -> None:
    from lcbgrid.config.effective import read_yaml

    path = tmp_path / "c.yaml"
    path.write_text("a: &x {n: 1}\nb: {<<: *x, m: 2}\n")
    assert read_yaml(path)["b"] == {"n": 1, "m": 2}


def test_missing_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nowhere\.yaml: cannot read it"):
        load(tmp_path / "nowhere.yaml")
    (tmp_path / "c.yaml").write_text("models_file: mine.yaml")
    with pytest.raises(ConfigError, match=r"models_file: no such file.*got mine\.yaml"):
        load(tmp_path / "c.yaml")


def test_generated_files_are_what_the_code_says(repository: Path) -> None:
    for name, text in generated_files().items():
        path = repository / "config" / name
        assert path.read_text(encoding="utf-8") == text, "run: lcbgrid config generate"


def test_the_generated_default_is_the_default(repository: Path) -> None:
    data = yaml.safe_load((repository / "config/default.yaml").read_text())
    assert validate(Config, data, where="default.yaml") == Config()


def test_schemas_accept_the_committed_files(repository: Path) -> None:
    import jsonschema

    for name in ("config", "models", "teams"):
        schema = json.loads((repository / f"config/schema/{name}.schema.json").read_text())
        data = yaml.safe_load((repository / f"config/{name}.yaml").read_text())
        jsonschema.validate(data, schema)


@pytest.mark.parametrize("name", ["config.yaml", "paper.yaml"])
def test_committed_configurations_are_good(repository: Path, name: str) -> None:
    assert load(repository / "config" / name, {"MODEL_ID": "x"}).cells


def test_functional_memory_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert functional_memory_mb(4096) == 4096
    monkeypatch.setenv("LCB_FUNCTIONAL_MEMORY_BYTES", "0")
    assert functional_memory_mb(4096) == 0
    monkeypatch.setenv("LCB_FUNCTIONAL_MEMORY_BYTES", str(512 * 1024 * 1024))
    assert functional_memory_mb(4096) == 512
    monkeypatch.setenv("LCB_FUNCTIONAL_MEMORY_BYTES", "4G")
    with pytest.raises(ConfigError, match=r"number of bytes.*got 4G"):
        functional_memory_mb(4096)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"base_url": "localhost:8000"}, "must start with http:// or https://"),
        ({"extra_body": {"stream": True}}, "'stream' has a setting of its own"),
        ({"api_key_env": "sk-abcdefgh"}, "api_key_env"),
    ],
)
def test_model_settings_that_cannot_be_are_refused(settings: dict[str, Any], words: str) -> None:
    from lcbgrid.config.model_spec import ModelsFile

    model = {"provider": "openai", "model_id": "m"} | settings
    with pytest.raises(ConfigError, match=words):
        validate(ModelsFile, {"models": {"m": model}}, where="models.yaml")
