"""Each improvement has a name, does what it says, and can be turned off."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

import pytest

from lcbgrid.cli.main import main
from lcbgrid.core.errors import EXIT_USER, ConfigError
from lcbgrid.models.simulate.landscape import Landscape
from lcbgrid.optimize.estimate import posterior_means
from lcbgrid.optimize.gepa_rollouts import hard_first
from lcbgrid.optimize.improvements import IMPROVEMENTS
from lcbgrid.optimize.interface import METHODS, Job
from lcbgrid.optimize.landscape_cell import LandscapeWorld
from lcbgrid.optimize.search import Searched
from lcbgrid.optimize.trials import MemoryTrials

from .fakes import ROLES, ScriptedWorld, run, small_landscape

LANDSCAPE = Landscape.generate(101, ROLES)


def searched(
    method: str, off: str = "", *, budget: int = 120, **more: Any
) -> tuple[Searched, MemoryTrials]:
    """Search on a landscape, perhaps without an improvement."""
    trials = MemoryTrials()
    world = LandscapeWorld(more.pop("landscape", LANDSCAPE))
    switches = {off: False} if off else {}
    return run(method, world, budget, trials=trials, switches=switches, **more), trials


def changed_roles(trials: MemoryTrials) -> list[int]:
    """Return for each child how many role texts are not the seed's."""
    seed = LANDSCAPE.seed_bundle()
    return [
        sum(bundle.prompts[role] != seed[role] for role in ROLES)
        for key, bundle in trials.bundles.items()
        if not key.startswith("0/")
    ]


def test_unknown_names_are_refused_with_the_nearest(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ConfigError, match="did you mean 'curtailment'"):
        Job("gepa", "cell", 0, 10, switches={"curtailmnt": False})
    teams = ["--teams-file", str(repository / "config/teams.yaml")]
    arguments = ["optimize", "compare", "--methods", "identity", "--landscapes", "1", *teams]
    assert main([*arguments, "--without", "rungz"]) == EXIT_USER
    assert "did you mean 'rungs'" in capsys.readouterr().err
    assert main([*arguments, "--without", "rungs"]) == 0


def test_the_reference_page_lists_exactly_these(repository: Path) -> None:
    page = (repository / "docs/reference/optimizers.md").read_text()
    table = page.split("\n## Improvements\n")[1].split("\n## ")[0]
    named = re.findall(r"^\| `(\w+)` \| ([^|]+) \|", table, re.MULTILINE)
    assert dict(named) == {
        name: "all" if len(one.methods) == 3 else ", ".join(one.methods)
        for name, one in IMPROVEMENTS.items()
    }


def test_every_name_is_asked_for_and_every_method_exists(repository: Path) -> None:
    source = "".join(
        path.read_text()
        for path in (repository / "src/lcbgrid/optimize").rglob("*.py")
        if path.name != "improvements.py"
    )
    assert [name for name in IMPROVEMENTS if f'"{name}"' not in source] == []
    assert {name for one in IMPROVEMENTS.values() for name in one.methods} <= set(METHODS)


def test_joint_rewrites_change_all_roles_of_a_child() -> None:
    assert changed_roles(searched("gepa")[1])[0] == len(ROLES)
    assert changed_roles(searched("gepa", "joint_rewrites")[1])[0] == 1


@pytest.mark.parametrize("method", ["gepa", "mamut_gepa"])
def test_minibatches_hold_known_failures_of_the_parent(method: str) -> None:
    found, _ = searched(method)
    batches = [
        event["minibatch"]
        for event in found.outcome.events
        if event["event"] == "iteration" and event["minibatch"]
    ]
    assert all(len(set(batch)) == 8 for batch in batches)
    train = [item for item in found.rollouts if item.slot == "train"]
    asked = [(item.exec_digest, item.record.example_id) for item in train]
    assert len(set(asked)) == len(asked)  # a row costs a bundle once
    assert any(set(a) & set(b) for a, b in itertools.pairwise(batches))
    plain, _ = searched(method, "failing_rows")
    sizes = {
        len(event["minibatch"]) for event in plain.outcome.events if event["event"] == "iteration"
    }
    assert sizes <= {0, 3}


def test_children_are_made_of_the_best_bundle() -> None:
    def parents_are_best(off: str) -> bool:
        landscape = Landscape.generate(104, ROLES, coupling=0.0)
        found, _ = searched("gepa", off, budget=300, landscape=landscape)
        means: list[float] = []
        right = True
        for event in found.outcome.events:
            if event["event"] == "iteration" and event["minibatch"]:
                known = means[: event["candidates"] - event["accepted"]]
                right = right and event["parent"] == known.index(max(known))
            elif "mean" in event:
                means.append(event["mean"])
        return right

    assert parents_are_best("")
    assert not parents_are_best("best_parent")


def test_validation_begins_where_the_best_fails() -> None:
    rows = [{"id": "a"}, {"id": "b"}, {"id": "c"}]
    assert [row["id"] for row in hard_first(rows, {"a": 1.0, "b": 0.0, "c": 1.0})] == [
        "b",
        "a",
        "c",
    ]

    def second_bundle(off: str) -> list[str]:
        found, _ = searched("mipro", off, budget=80)
        validated = [item for item in found.rollouts if item.slot == "validation"]
        first = validated[0].exec_digest
        seed = {
            item.record.example_id: item.record.score
            for item in validated
            if item.exec_digest == first
        }
        other = next(item.exec_digest for item in validated if item.exec_digest != first)
        ids = [item.record.example_id for item in validated if item.exec_digest == other]
        return [f"{seed[name]:g}" for name in ids]

    assert second_bundle("")[:8] == ["0"] * 8
    assert "1" in second_bundle("hard_rows_first")[:8]


@pytest.mark.parametrize("method", ["gepa", "mipro"])
def test_the_tail_goes_into_paired_retests(method: str) -> None:
    def retests(off: str) -> list[tuple[str, int]]:
        found, _ = searched(method, off, budget=110)
        return [
            (item.exec_digest, item.record.request_seed)
            for item in found.rollouts
            if item.slot == "retest"
        ]

    seen = retests("")
    assert len({digest for digest, _ in seen}) == 2
    assert len(seen) == 2 * len({seed for _, seed in seen})  # each seed by both bundles
    assert retests("tail_retests") == []


def test_a_duplicate_row_in_a_padded_minibatch_costs_once() -> None:
    splits = {"train": 4, "validation": 6, "test": 4}
    landscape = Landscape.generate(3, ROLES, splits=splits)
    for profile in ("reference", "improved"):
        world = LandscapeWorld(landscape)
        found = run("gepa", world, 60, profile=profile)
        assert found.status == "completed"
        assert found.budget.charged <= 60
    world = LandscapeWorld(landscape)
    found = run("gepa", world, 60, profile="reference")
    batches = [
        event["minibatch"] for event in found.outcome.events if event["event"] == "iteration"
    ]
    assert any(len(set(batch)) < len(batch) for batch in batches)


def test_failures_are_told_to_who_writes_instructions() -> None:
    for off, told in (("", True), ("rich_feedback", False)):
        world = ScriptedWorld(small_landscape(), lambda prompt: "")
        run("mipro", world, 60, switches={off: False} if off else {})
        asked = [prompt for prompt in world.prompts if "Write a new instruction" in prompt]
        assert asked
        assert all(("(role " in prompt) is told for prompt in asked)


def test_both_sets_of_examples_are_of_one_walk() -> None:
    for off, nested in (("", True), ("one_walk", False)):
        found, _ = searched("mipro", off)
        none, small, large = found.outcome.metadata["examples"]
        assert (none == [] and large[: len(small)] == small) is nested


def test_more_instructions_and_fresh_ones() -> None:
    def texts(off: str, budget: int) -> int:
        return len(searched("mipro", off, budget=budget)[0].outcome.metadata["tips"]["coder"])

    assert texts("more_instructions", 60) < texts("", 60) <= 5
    assert texts("", 200) > 5 >= texts("fresh_instructions", 200)


def test_trials_of_a_plan_change_all_roles_alike() -> None:
    def first(off: str) -> list[int]:
        found, _ = searched("mipro", off, budget=70)
        return list(found.outcome.events[1]["params"].values())

    assert first("") == [1, 2, 1, 2]
    assert first("planned_trials") != [1, 2, 1, 2]


def test_more_trials_than_three() -> None:
    assert len(searched("mipro", budget=200)[0].outcome.events) > 4
    assert len(searched("mipro", "more_trials", budget=200)[0].outcome.events) == 4


def test_rungs_end_trials_without_a_win() -> None:
    def shortest(off: str) -> int:
        found, _ = searched("mipro", off, budget=200)
        return min(event["rows"] for event in found.outcome.events if event["curtailed"])

    assert shortest("") == 8 < shortest("rungs")


def test_the_incumbent_is_the_best_by_all_its_rollouts() -> None:
    landscape = Landscape.generate(102, ROLES, coupling=0.0)
    aware, _ = searched("mipro", landscape=landscape, budget=250)
    plain, _ = searched("mipro", "noise_aware_incumbent", landscape=landscape, budget=250)
    assert aware.rollouts == plain.rollouts  # the same search, another choice at its end
    assert aware.outcome.incumbent != plain.outcome.incumbent
    means = posterior_means(
        (item.exec_digest, item.record.example_id, item.record.score or 0.0)
        for item in aware.rollouts
        if item.slot in ("validation", "retest")
    )
    chosen, other = (found.outcome.incumbent.exec_digest for found in (aware, plain))
    assert means[chosen].mean >= means[other].mean


@pytest.mark.parametrize("method", ["gepa", "mamut_gepa", "mipro"])
def test_trials_say_what_they_cost_and_what_came_of_them(method: str) -> None:
    kept: list[dict[str, Any]] = []

    class Kept(MemoryTrials):
        def trial(self, key: str, **more: Any) -> int:
            kept.append(more["attributes"])
            return super().trial(key, **more)

    found = run(method, LandscapeWorld(LANDSCAPE), 120, trials=Kept())
    names = {"kind", "parents", "rows", "charged", "ledger_after", "tokens", "accepted"}
    assert all(names | {"incumbent_after"} <= set(one) for one in kept)
    assert [one["ledger_after"] for one in kept] == sorted(one["ledger_after"] for one in kept)
    assert 0 < sum(one["charged"] for one in kept) <= found.budget.charged
    assert all(one["tokens"] > 0 for one in kept)
    assert any(one["accepted"] for one in kept)
