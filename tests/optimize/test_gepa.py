"""GEPA: charges, acceptance, stops, malformed replies, and whether it finds anything."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest

from lcbgrid.core.errors import InfrastructureError
from lcbgrid.models.simulate.landscape import Landscape
from lcbgrid.optimize.gepa_adapter import Name
from lcbgrid.optimize.gepa_log import NOISE_AWARE
from lcbgrid.optimize.gepa_rollouts import Bridge, Halt
from lcbgrid.optimize.landscape_cell import LandscapeWorld
from lcbgrid.optimize.reflection import Reply, Request
from lcbgrid.optimize.texts import between_fences, clip
from lcbgrid.optimize.trials import MemoryTrials

from .fakes import ROLES, ScriptedWorld, gain, run, small_landscape, trace

PROFILES = ("reference", "improved")


@pytest.mark.parametrize("profile", PROFILES)
def test_no_budget_is_overspent(profile: str) -> None:
    landscape = small_landscape()
    for budget in range(1, 61):
        found = run("gepa", LandscapeWorld(landscape), budget, profile=profile)
        assert found.status == "completed"
        assert found.budget.charged <= budget
        assert found.budget.closed
        grid = [row.rollout_grid for row in found.curve() if row.rollout_grid is not None]
        assert grid == [*range(0, budget, 10), budget]


@pytest.mark.parametrize("profile", PROFILES)
def test_a_seed_decides_everything(profile: str) -> None:
    landscape = small_landscape()
    first, again, other = (
        run("gepa", LandscapeWorld(landscape), 80, profile=profile, seed=seed)
        for seed in (0, 0, 1)
    )
    assert trace(first) == trace(again)
    assert trace(first) != trace(other)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("reply", ["", "```", "``````", "\ud800", "no fence, no placeholder"])
def test_malformed_replies_never_raise(profile: str, reply: str) -> None:
    world = ScriptedWorld(small_landscape(), lambda prompt: reply)
    found = run("gepa", world, 60, profile=profile)
    assert found.status == "completed"
    assert found.outcome.incumbent.prompts == world.landscape.seed_bundle()


def test_a_lost_placeholder_costs_no_rollout() -> None:
    world = ScriptedWorld(small_landscape(), lambda prompt: "```\nSolve it.\n```")
    trials = MemoryTrials()
    found = run("gepa", world, 60, trials=trials)
    seed = found.outcome.incumbent.exec_digest
    assert {rollout.exec_digest for rollout in found.rollouts} == {seed}
    assert trials.keys == ["0/seed"]
    assert found.outcome.metadata["refused"]
    second = [prompt for prompt in world.prompts if "lost placeholder problem" in prompt]
    assert len(second) * 2 == len(world.prompts)  # each was asked once again, by name


def test_reference_sees_the_score_and_improved_the_reason() -> None:
    for profile, rich in (("reference", False), ("improved", True)):
        world = ScriptedWorld(small_landscape(), lambda prompt: "")
        run("gepa", world, 40, profile=profile)
        assert world.prompts
        assert any("(role " in prompt for prompt in world.prompts) is rich
        assert all("scored" in prompt for prompt in world.prompts)


def test_children_share_the_seeds_of_their_parents() -> None:
    found = run("gepa", LandscapeWorld(small_landscape()), 80)
    seeds: dict[tuple[int, str], set[int]] = {}
    for rollout in found.rollouts:
        if rollout.slot == "train":
            key = (rollout.iteration, rollout.record.example_id)
            seeds.setdefault(key, set()).add(rollout.record.request_seed)
    assert {len(found) for found in seeds.values()} == {1}
    reference = run("gepa", LandscapeWorld(small_landscape()), 80, profile="reference")
    assert all(len(rollout.slot) == 64 for rollout in reference.rollouts)


def test_rejected_children_are_pruned_trials_and_the_seed_wins_ties() -> None:
    landscape = small_landscape(null=True)
    world = ScriptedWorld(landscape, _longer)
    trials = MemoryTrials()
    found = run("gepa", world, 60, trials=trials)
    assert len(trials.keys) > 2
    assert found.outcome.incumbent.prompts == landscape.seed_bundle()
    rejected = [event for event in found.outcome.events if event["event"] == "rejected"]
    assert {event["where"] for event in rejected} == {"minibatch"}


def test_a_better_text_is_accepted() -> None:
    landscape = small_landscape(7)
    best = landscape.best_texts("validation")

    def script(prompt: str) -> str:
        role = next(role for role in ROLES if f"prompt of the role {role}" in prompt)
        return f"```\n{best[role]}\n```"

    for profile in PROFILES:
        found = run("gepa", ScriptedWorld(landscape, script), 150, profile=profile)
        assert gain(landscape, found) > 0.1
        assert found.outcome.observations[-1].bundle_hash == found.outcome.incumbent.full_digest


def test_the_plateau_ends_the_reference() -> None:
    landscape = small_landscape(null=True, coupling=0.0)
    found = run("gepa", ScriptedWorld(landscape, _longer), 600, profile="reference")
    assert found.outcome.stop_reason in ("full_eval_plateau", "max_full_evals")


@pytest.mark.parametrize("name", [NOISE_AWARE, "curtailment", "common_random_numbers"])
def test_each_improvement_can_be_turned_off(name: str) -> None:
    landscape = small_landscape()
    found = run("gepa", LandscapeWorld(landscape), 90, switches={name: False})
    assert found.budget.charged <= 90
    assert trace(found) != trace(run("gepa", LandscapeWorld(landscape), 90)) or name == NOISE_AWARE


def test_a_lost_row_ends_the_search_with_a_closed_ledger() -> None:
    world = LandscapeWorld(small_landscape(), fault=lambda row, seed: row.startswith("train"))
    found = run("gepa", world, 60)
    assert found.status == "infrastructure_invalid"
    assert found.budget.closed


def test_a_lost_reflection_model_ends_the_search() -> None:
    class Gone(LandscapeWorld):
        async def reflect(self, request: Request) -> Reply:
            raise InfrastructureError("gone")

    found = run("gepa", Gone(small_landscape()), 60)
    assert found.status == "infrastructure_invalid"
    assert "gone" in str(found.error)


def test_a_cancelled_search_makes_no_more_calls() -> None:
    async def call() -> None:
        bridge = Bridge()
        bridge.closed = True
        with pytest.raises(Halt, match="cancelled"):
            bridge.call(asyncio.sleep(0))

    asyncio.run(call())


def test_names_hash_alike_in_every_process() -> None:
    code = (
        "from lcbgrid.optimize.gepa_adapter import Name;"
        "print([*map(str, set(map(Name, 'abcdefgh')))])"
    )
    orders = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(orders) == 1
    assert Name("a") == "a"


def test_reading_replies() -> None:
    assert between_fences("so:\n```text\nNew `x`.\n```\nend") == "New `x`."
    assert between_fences("```\na\n```\nb\n```\nc\n```") == "a\n```\nb\n```\nc"
    assert between_fences("  plain ") == "plain"
    assert between_fences("```\ncut") == "cut"
    assert clip("x" * 10, 10) == "x" * 10
    assert clip("a" * 60 + "b" * 60, 10).startswith("a" * 6 + "\n[")


def test_it_finds_better_bundles() -> None:
    gains = []
    for seed in range(100, 105):
        landscape = Landscape.generate(seed, ROLES)
        gains.append(gain(landscape, run("gepa", LandscapeWorld(landscape), 200)))
    assert sum(gained > 0 for gained in gains) >= 3


def _longer(prompt: str) -> str:
    text = prompt.split("```")[1].strip()
    return f"```\n{text}\nTake care.\n```"
