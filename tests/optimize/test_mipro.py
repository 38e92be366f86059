"""MIPRO: demo sets, grounded instructions, charges, and whether it finds anything."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

import pytest

from lcbgrid.models.simulate.landscape import Landscape
from lcbgrid.optimize.demos import DemoSet
from lcbgrid.optimize.interface import Job
from lcbgrid.optimize.landscape_cell import LandscapeWorld
from lcbgrid.optimize.mipro_search import Combinations
from lcbgrid.optimize.texts import compact, with_demos
from lcbgrid.optimize.trials import MemoryTrials
from lcbgrid.teams.bundle import PromptBundle

from .fakes import ROLES, ScriptedWorld, gain, run, small_landscape, trace

PROFILES = ("reference", "improved")


@pytest.mark.parametrize("profile", PROFILES)
def test_no_budget_is_overspent(profile: str) -> None:
    landscape = small_landscape()
    for budget in range(1, 61):
        found = run("mipro", LandscapeWorld(landscape), budget, profile=profile)
        assert found.budget.charged <= budget
        assert found.budget.closed
        grid = [row.rollout_grid for row in found.curve() if row.rollout_grid is not None]
        assert grid == [*range(0, budget, 10), budget]


@pytest.mark.parametrize("profile", PROFILES)
def test_a_seed_decides_everything(profile: str) -> None:
    landscape = small_landscape()
    first, again, other = (
        run("mipro", LandscapeWorld(landscape), 70, profile=profile, seed=seed)
        for seed in (0, 0, 1)
    )
    assert trace(first) == trace(again)
    assert trace(first) != trace(other)


@pytest.mark.parametrize("reply", ["", "```", "\ud800", "COMPLETE"])
def test_malformed_replies_leave_the_seed_texts(reply: str) -> None:
    world = ScriptedWorld(small_landscape(null=True), lambda prompt: reply)
    found = run("mipro", world, 60)
    assert found.status == "completed"


def test_reference_makes_three_whole_trials_after_the_seed() -> None:
    found = run("mipro", LandscapeWorld(small_landscape()), 200, profile="reference")
    assert found.outcome.stop_reason == "num_trials_complete"
    whole = [event["rows"] for event in found.outcome.events]
    assert whole == [10, 10, 10, 10]
    bootstrap = sum(rollout.phase.endswith("mipro") for rollout in found.rollouts) - 40
    assert 5 <= bootstrap <= 24


def test_improved_repeats_no_combination_and_curtails() -> None:
    trials = MemoryTrials()
    found = run("mipro", LandscapeWorld(small_landscape()), 150, trials=trials)
    tried = [tuple(event["params"].values()) for event in found.outcome.events]
    assert len(set(tried)) == len(tried) > 4
    assert not any(tried[0])
    assert any(event["curtailed"] for event in found.outcome.events)
    assert trials.keys[0] == "0/combination"


def test_the_seed_wins_ties() -> None:
    found = run("mipro", LandscapeWorld(small_landscape(null=True)), 100)
    assert found.outcome.incumbent.prompts == small_landscape(null=True).seed_bundle()


def test_demos_are_rendered_into_the_text() -> None:
    text = with_demos("Do it.", [{"task": {"statement": "x" * 3000}}])
    assert text.startswith("Do it.\n\n# Worked examples\n")
    assert len(text) < 1500
    assert with_demos("Do it.", []) == "Do it."
    assert len(compact({str(n): n for n in range(20)})) == 12
    assert compact([1, 2, 3, 4, 5, 6, 7]) == [1, 2, 3, 4, 5, 6]


def test_it_finds_better_bundles() -> None:
    gains = []
    for seed in range(100, 105):
        landscape = Landscape.generate(seed, ROLES)
        gains.append(gain(landscape, run("mipro", LandscapeWorld(landscape), 200)))
    assert sum(gained > 0 for gained in gains) >= 3


def test_a_kept_study_draws_what_a_new_one_of_the_same_trials_would() -> None:
    texts = {role: ["x", "y", "z"] for role in ROLES}
    bundle = PromptBundle(dict.fromkeys(ROLES, "x"))

    def combinations() -> Combinations:
        runner: Any = SimpleNamespace(role_order=ROLES, seed_bundle=bundle)
        instructions: Any = SimpleNamespace(texts=texts)
        sets = [DemoSet(), DemoSet(), DemoSet()]
        job = Job("mipro", "cell", 0, 100)
        return Combinations(job, runner, MemoryTrials(), [], instructions, sets, bundle)

    kept, chance = combinations(), random.Random(1)
    drawn = set()
    for number in range(14):
        chosen = {name: chance.randrange(3) for name in kept.params()}
        kept.finished.append((chosen, chance.random()))
        fresh = combinations()
        fresh.finished = list(kept.finished)
        sampled = kept._sampled(number, startup=1)
        assert sampled == fresh._sampled(number, startup=1)
        drawn.add(tuple(sampled.values()))
    assert len(drawn) > 3
