"""MAMUT-GEPA: the exact cap, its reflection record, and whether it finds anything."""

from __future__ import annotations

import pytest

from lcbgrid.models.simulate.landscape import Landscape
from lcbgrid.optimize.landscape_cell import LandscapeWorld
from lcbgrid.optimize.methods.mamut_gepa import mamut_style
from lcbgrid.optimize.records import RunRecord, Status, Usage
from lcbgrid.optimize.texts import BEGIN, END, between_marks

from .fakes import ROLES, ScriptedWorld, gain, run, small_landscape, trace

PROFILES = ("reference", "improved")


@pytest.mark.parametrize("profile", PROFILES)
def test_no_budget_is_overspent(profile: str) -> None:
    landscape = small_landscape()
    for budget in range(1, 61):
        found = run("mamut_gepa", LandscapeWorld(landscape), budget, profile=profile)
        assert found.budget.charged <= budget
        assert found.budget.closed
        assert found.outcome.stop_reason == "metric_call_cap"


def test_a_seed_decides_everything() -> None:
    landscape = small_landscape()
    first, again, other = (
        run("mamut_gepa", LandscapeWorld(landscape), 80, seed=seed) for seed in (0, 0, 1)
    )
    assert trace(first) == trace(again)
    assert trace(first) != trace(other)


@pytest.mark.parametrize("reply", ["", BEGIN, f"{BEGIN}\n{END}", "words"])
def test_malformed_replies_never_raise(reply: str) -> None:
    world = ScriptedWorld(small_landscape(), lambda prompt: reply)
    found = run("mamut_gepa", world, 60)
    assert found.status == "completed"
    assert found.outcome.incumbent.prompts == world.landscape.seed_bundle()


def test_reading_replies() -> None:
    assert between_marks(f"{BEGIN}\na\n{END}") == "a"
    assert between_marks("```\nfirst\n```\n```\nlast\n```") == "last"
    assert between_marks(f"x {BEGIN} rest") == "rest"
    assert between_marks("nothing") == ""


def test_a_silent_role_gives_no_record() -> None:
    record = RunRecord(
        cell_id="c",
        example_id="r",
        status=Status.SUCCESS,
        final_output="",
        score=1.0,
        request_seed=1,
        messages=({"source": "coder", "content": "code"}, {"source": "user", "content": "q"}),
        usage=Usage(1),
    )
    style = mamut_style(alone=False, rich=True)
    assert style.record({"id": "r"}, record, "debugger") is None
    assert "code" in str(style.record({"id": "r"}, record, "coder"))
    alone = mamut_style(alone=True, rich=True)
    assert "code" in str(alone.record({"id": "r"}, record, "solver"))


def test_it_finds_better_bundles() -> None:
    gains = []
    for seed in range(100, 105):
        landscape = Landscape.generate(seed, ROLES)
        gains.append(gain(landscape, run("mamut_gepa", LandscapeWorld(landscape), 200)))
    assert sum(gained > 0 for gained in gains) >= 3
