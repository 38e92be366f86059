"""The comparison on landscapes: known methods, exact gains, and its command."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from lcbgrid.cli.main import main
from lcbgrid.config.base import validate
from lcbgrid.config.effective import read_yaml
from lcbgrid.config.team_spec import TeamsFile
from lcbgrid.core.errors import EXIT_USER, ConfigError
from lcbgrid.optimize.compare import Found, Setting, compare, lineup, method_row, run_one, table
from lcbgrid.optimize.curve import Observation
from lcbgrid.optimize.interface import (
    Job,
    Outcome,
    Reflection,
    Row,
    Runner,
    Trials,
    register,
)
from lcbgrid.teams.bundle import PromptBundle

from .optimize_helpers import ROLES, SPLITS

SETTING = Setting(budget=40, roles=ROLES, team_size=2, splits=SPLITS)


@register("destroyer")
class Destroyer:
    """Proposes texts without any use; the gate must refuse them."""

    async def optimize(
        self,
        job: Job,
        runner: Runner,
        reflection: Reflection,
        trials: Trials,
        train: Sequence[Row],
        validation: Sequence[Row],
    ) -> Outcome:
        bundle = PromptBundle(dict.fromkeys(runner.role_order, "nothing"))
        batch = await runner.run_batch(validation, bundle, phase="d", iteration=0)
        trials.trial("d", bundle=bundle, params={}, value=sum(batch.scores))
        seen = (
            Observation(0, runner.seed_bundle.full_digest, "initial"),
            Observation(5, bundle.exec_digest, "child"),
        )
        return Outcome(bundle, "native_return", seen)


def test_identity_gains_nothing_and_a_bad_bundle_is_not_deployed() -> None:
    rows = asyncio.run(compare(["identity", "destroyer"], range(4), SETTING))
    identity, destroyer = rows
    assert (identity.beats_share, identity.median_gain_pp, identity.median_tokens) == (0, 0, 0)
    assert identity.curve == ((0, 0.0), (10, 0.0), (20, 0.0), (30, 0.0), (40, 0.0))
    assert destroyer.worse_share == destroyer.median_gain_pp == 0
    assert destroyer.median_rollouts == 5
    assert destroyer.curve[0] == (0, 0.0)
    assert destroyer.curve[-1][1] < -10


def test_a_search_finds_gains_and_repeats_itself() -> None:
    splits = {"train": 20, "validation": 40, "test": 20}
    setting = replace(SETTING, budget=200, splits=splits)
    first = asyncio.run(compare(["random_rewrites"], range(4), setting))
    assert first == asyncio.run(compare(["random_rewrites"], range(4), setting))
    assert first[0].median_rollouts == 200
    assert first[0].median_reflection_calls > 0
    assert first[0].beats_share > first[0].worse_share
    other = asyncio.run(compare(["random_rewrites"], range(4), replace(setting, optimizer_seed=1)))
    assert other != first


def test_the_gain_is_the_exact_one() -> None:
    landscape = SETTING.landscape(1)
    found = asyncio.run(run_one("destroyer", landscape, SETTING))
    texts = dict.fromkeys(ROLES, "nothing")
    before = landscape.true_mean(landscape.seed_bundle(), "test")
    exact = 100 * (landscape.true_mean(texts, "test") - before)
    assert found.incumbent_gain_pp == pytest.approx(exact)
    assert found.fallback_reason == "validation_regression"
    assert found.gain_pp == 0


def test_nothing_is_gained_where_no_text_matters() -> None:
    rows = asyncio.run(compare(["random_rewrites"], range(3), replace(SETTING, null=True)))
    assert rows[0].beats_share == rows[0].worse_share == 0


def test_unknown_names_and_empty_comparisons_are_refused(repository: Path) -> None:
    with pytest.raises(ConfigError, match="no such optimizer"):
        asyncio.run(compare(["nonsense"], range(1), SETTING))
    with pytest.raises(ConfigError, match="needs a landscape"):
        method_row("identity", [], 10)
    path = repository / "config/teams.yaml"
    teams = validate(TeamsFile, read_yaml(path), where=path).teams
    assert lineup(teams, "sequential") == (("analyzer", "coder", "tester", "debugger"), 4)
    assert lineup(teams, "decentralized") == (("debater",), 4)
    assert lineup(teams, "single") == (("solver",), 1)
    with pytest.raises(ConfigError, match="did you mean 'sequential'"):
        lineup(teams, "sequental")


def test_the_command_ends_with_a_line_for_machines(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["optimize", "compare", "--methods", "identity", "--landscapes", "2"]
    teams = ["--teams-file", str(repository / "config/teams.yaml")]
    assert main([*arguments, *teams, "--budget", "15", "--topology", "decentralized"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[0] == "method"
    assert lines[1].split()[0] == "identity"
    summary = json.loads(lines[-1])
    assert summary["rows"][0]["beats_share"] == 0
    assert [point[0] for point in summary["rows"][0]["curve"]] == [0, 10, 15]
    assert main([*arguments, *teams, "--topology", "nonsense"]) == EXIT_USER


def test_the_table_is_aligned() -> None:
    rows = asyncio.run(compare(["identity", "destroyer"], range(2), SETTING))
    assert len({len(line) for line in table(rows).splitlines()}) == 1


def test_a_gain_is_reached_when_the_incumbent_first_has_it_and_is_deployed() -> None:
    found = Found(1, 5.0, 5.0, None, 40, 1, 1, (), ((0, 0.0), (20, 3.0), (30, 5.0)))
    assert [found.reached(gain) for gain in (0.0, 3.0, 4.0, 5.0, 6.0)] == [0, 20, 30, 30, None]
    assert replace(found, fallback_reason="validation_tie").reached(3.0) is None
    one = asyncio.run(run_one("random_rewrites", SETTING.landscape(1), SETTING))
    assert one.steps[0] == (0, 0.0)
    assert one.steps[-1][1] == pytest.approx(one.incumbent_gain_pp)
