"""A job in its folder: the same bytes however it is run, and no test row too early."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import optuna
import pytest
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend

from lcbgrid.core import locks
from lcbgrid.core.errors import BusyError, ConfigError, EndpointError
from lcbgrid.optimize import cell as cells
from lcbgrid.optimize import journal as journals
from lcbgrid.optimize.cell import Cell, searched_and_gate
from lcbgrid.optimize.curve import Observation
from lcbgrid.optimize.errors import ArtifactError, ContractError
from lcbgrid.optimize.failures import failure_kind
from lcbgrid.optimize.interface import Job, Outcome, register
from lcbgrid.optimize.job import Options, Phase, run_job
from lcbgrid.optimize.landscape_cell import LandscapeWorld, landscape_cell
from lcbgrid.optimize.rows import row_id
from lcbgrid.teams.bundle import PromptBundle

from .optimize_helpers import SPLITS, sealed_bytes, small_world


class Killed(BaseException):
    """Stands for ``kill -9``: nothing of ours catches it."""


def done(
    folder: Path,
    world: LandscapeWorld,
    method: str = "random_rewrites",
    *,
    budget: int = 40,
    phase: Phase = "all",
    options: Options | None = None,
    **more: Any,
) -> dict[str, Any]:
    cell = landscape_cell(world)
    job = cell.job(method, 0, budget, **more)
    return asyncio.run(run_job(folder, job, cell, phase=phase, options=options or Options()))


def test_a_job_ends_with_a_paired_result(tmp_path: Path) -> None:
    world = small_world()
    result = done(tmp_path, world)
    assert result["status"] == "completed"
    assert result["optimization"]["budget"]["charged"] == 40
    assert len(result["test"]["example_ids"]) == SPLITS["test"]
    before, after = result["test"]["baseline_mean"], result["test"]["deployed_mean"]
    assert result["delta_pp"] == pytest.approx(100 * (after - before))
    assert not result["selection"]["test_exposed"]
    curve = [
        json.loads(line)
        for line in (tmp_path / "optimization/learning_curve.jsonl").read_text().splitlines()
    ]
    grid = [row["rollout_grid"] for row in curve if row["rollout_grid"] is not None]
    assert grid == [0, 10, 20, 30, 40]
    assert result["optimization"]["usage"]["reflection"]["model_calls"] > 0
    storage = JournalStorage(JournalFileBackend(str(tmp_path / "optimization/study.log")))
    study = optuna.load_study(study_name=result["job_id"], storage=storage)
    assert study.user_attrs["stop_reason"] == "budget"
    assert study.trials[1].user_attrs["key"] == "1"


def test_a_finished_job_is_not_run_again(tmp_path: Path) -> None:
    result = done(tmp_path, small_world())
    whole = sealed_bytes(tmp_path)
    world = small_world()
    assert done(tmp_path, world) == result
    assert not world.rollouts
    assert sealed_bytes(tmp_path) == whole


@pytest.mark.parametrize("profile", ["improved", "reference"])
def test_the_bytes_do_not_tell_how_many_rollouts_were_under_way(
    profile: Any, tmp_path: Path
) -> None:
    alone, crowded = small_world(), small_world(latency_s=0.001)
    done(tmp_path / "1", alone, profile=profile, options=Options(max_in_flight=1))
    done(tmp_path / "16", crowded, profile=profile, options=Options(max_in_flight=16))
    assert (alone.in_flight, crowded.in_flight) == (1, SPLITS["validation"])
    assert sealed_bytes(tmp_path / "1") == sealed_bytes(tmp_path / "16")


def test_a_kill_at_every_line_of_every_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole_world = small_world()
    done(tmp_path / "whole", whole_world, budget=14)
    whole = sealed_bytes(tmp_path / "whole")
    add = journals.CallJournal.add
    for line in range(1, 10_000):
        written = 0

        def dying(self: Any, key: Any, answer: Any, line: int = line) -> dict[str, Any]:
            nonlocal written
            kept = add(self, key, answer)
            written += 1
            if written == line:
                raise Killed
            return kept

        folder, world = tmp_path / str(line), small_world()
        monkeypatch.setattr(journals.CallJournal, "add", dying)
        try:
            done(folder, world, budget=14, options=Options(max_in_flight=1))
        except Killed:
            monkeypatch.setattr(journals.CallJournal, "add", add)
            done(folder, world, budget=14)
        else:
            break
        assert sealed_bytes(folder) == whole
        assert sorted(world.rollouts) == sorted(whole_world.rollouts)
    assert line > 14 + 2 * SPLITS["validation"] + SPLITS["test"]


def test_test_rows_are_opened_after_the_selection_is_sealed(tmp_path: Path) -> None:
    world = small_world()
    test_ids = set(landscape_cell(world).test_ids)
    with pytest.raises(ConfigError, match="run the phase optimize first"):
        done(tmp_path, world, phase="test")
    done(tmp_path, world, phase="optimize")
    with pytest.raises(ConfigError, match="run the phase validate first"):
        done(tmp_path, world, phase="test")
    done(tmp_path, world, phase="validate")
    assert not test_ids & set(world.rollouts)
    done(tmp_path, world, phase="test")
    assert test_ids <= set(world.rollouts)


def test_a_search_does_not_see_the_rows_of_the_gate(tmp_path: Path) -> None:
    world = small_world()
    cell = landscape_cell(world)
    searched, gate = searched_and_gate(cell.job("m", 0, 9), cell)
    assert [len(searched), len(gate)] == [5, 5]
    assert {*map(row_id, searched), *map(row_id, gate)} == set(
        world.landscape.splits["validation"]
    )
    for job in (
        cell.job("m", 0, 9, profile="reference"),
        cell.job("m", 0, 9, switches={"held_out_gate": False}),
    ):
        assert searched_and_gate(job, cell) == (list(cell.validation), list(cell.validation))
    envelope = done(tmp_path, world, phase="optimize")
    assert not set(envelope["gate_ids"]) & set(world.rollouts)


def test_a_lost_row_deploys_the_seed_with_a_closed_ledger(tmp_path: Path) -> None:
    world = small_world(fault=lambda row, seed: row.startswith("train"))
    result = done(tmp_path, world)
    assert result["status"] == "infrastructure_invalid"
    assert result["selection"]["fallback_reason"] == "infrastructure_invalid_optimization"
    budget = result["optimization"]["budget"]
    assert budget["reserved"] == 0
    assert budget["infrastructure_failures"] == 6
    assert result["delta_pp"] == 0
    again = small_world()
    assert done(tmp_path, again) == result
    assert not again.rollouts


def test_a_row_lost_in_the_test_makes_the_result_invalid(tmp_path: Path) -> None:
    lost = small_world().landscape.splits["test"][0]
    result = done(tmp_path, small_world(fault=lambda row, seed: row == lost))
    assert result["delta_pp"] is None
    assert not result["test"]["valid_for_aggregation"]
    assert "infrastructure_failure" in result["test"]["deployed_statuses"]


def test_folders_and_artifacts_of_others_are_refused(tmp_path: Path) -> None:
    world = small_world()
    done(tmp_path, world)
    with pytest.raises(ConfigError, match="another job"):
        done(tmp_path, world, budget=41)
    with pytest.raises(ContractError, match="another cell"):
        asyncio.run(run_job(tmp_path, Job("identity", "x", 0, 9), landscape_cell(world)))
    with locks.held(tmp_path / "job.lock", what="the job"), pytest.raises(BusyError):
        done(tmp_path, world)
    path = tmp_path / "selection.json"
    path.write_text(path.read_text().replace('"test_exposed":false', '"test_exposed":true'))
    with pytest.raises(ArtifactError, match="not what was sealed"):
        done(tmp_path, world)


def test_jobs_share_evaluations_through_a_common_folder(tmp_path: Path) -> None:
    shared = Options(evaluations=tmp_path / "shared")
    first, second = small_world(), small_world()
    one = done(tmp_path / "a", first, "identity", options=shared)
    two = done(tmp_path / "b", second, "identity", budget=9, options=shared)
    assert len(first.rollouts) == SPLITS["validation"] + SPLITS["test"]
    assert not second.rollouts
    assert one["test"]["baseline_evaluation"] == two["test"]["baseline_evaluation"]
    assert sealed_bytes(tmp_path / "a" / "evaluations") == sealed_bytes(
        tmp_path / "b" / "evaluations"
    )


def test_cells_refuse_splits_that_overlap() -> None:
    cell: Cell = landscape_cell(small_world())
    with pytest.raises(ContractError, match="disjoint"):
        Cell(
            **{
                name: getattr(cell, name)
                for name in Cell.__dataclass_fields__
                if name not in ("validation",)
            },
            validation=cell.train,
        )


def test_a_search_that_breaks_says_why_and_goes_on_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is sealed, what was paid for is kept; the note goes when the search ends well."""
    whole_world, world = small_world(), small_world()
    done(tmp_path / "whole", whole_world)
    execute = LandscapeWorld.execute

    async def breaking(self: LandscapeWorld, *call: Any) -> Any:
        if len(self.rollouts) == 15:
            raise KeyError("/home/somebody/secret")
        return await execute(self, *call)

    monkeypatch.setattr(LandscapeWorld, "execute", breaking)
    with pytest.raises(KeyError):
        done(tmp_path / "job", world, options=Options(max_in_flight=1))
    note = json.loads((tmp_path / "job/failure.json").read_text())
    assert note["failure_kind"] == "program_failure"
    assert note["error_type"] == "KeyError"
    assert "somebody" not in note["error"]
    assert not (tmp_path / "job/optimization.json").exists()
    monkeypatch.setattr(LandscapeWorld, "execute", execute)
    done(tmp_path / "job", world)
    assert sealed_bytes(tmp_path / "job") == sealed_bytes(tmp_path / "whole")
    assert sorted(world.rollouts) == sorted(whole_world.rollouts)


def test_kinds_of_failure() -> None:
    assert failure_kind(EndpointError("gone")) == "infrastructure_invalid"
    assert failure_kind(OSError(28, "full")) == "infrastructure_invalid"
    assert failure_kind(ContractError("broken")) == "contract_failure"
    assert failure_kind(ValueError("nonsense")) == "contract_failure"
    assert failure_kind(KeyError("bug")) == "program_failure"


def test_another_version_of_a_library_is_another_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cells, "version", lambda name: "1.0")
    done(tmp_path, small_world(), "gepa", budget=12, phase="optimize")
    monkeypatch.setattr(cells, "version", lambda name: "2.0")
    with pytest.raises(ConfigError, match="another version of gepa"):
        done(tmp_path, small_world(), "gepa", budget=12)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (None, "gives an Outcome back"),
        ({"observations": ()}, "starts at charge 0"),
        ({"metadata": {"a": float("nan")}}, "JSON has no such number"),
        ({"events": ({"a": {1, 2}},)}, "JSON has no such type"),
        ({"spent": 50}, "a charge is between"),
        ({"material": {"test_ids": ["test-0001"]}}, "must not carry test material"),
    ],
)
def test_nonsense_from_a_method_is_refused_and_seals_nothing(
    given: Any, said: str, tmp_path: Path
) -> None:
    class Nonsense:
        async def optimize(self, job: Job, runner: Any, *_: Any) -> Any:
            if given is None:
                return None
            seed = runner.seed_bundle
            observations = [Observation(0, seed.full_digest, "initial")]
            if "spent" in given:
                observations.append(Observation(given["spent"], seed.full_digest, "step"))
            bundle = PromptBundle(seed.prompts, given.get("material", {}))
            more = {name: given[name] for name in ("metadata", "events") if name in given}
            return Outcome(bundle, "end", given.get("observations", tuple(observations)), **more)

    register("nonsense")(Nonsense)
    with pytest.raises(ContractError, match=said):
        done(tmp_path, small_world(), "nonsense", budget=20)
    note = json.loads((tmp_path / "failure.json").read_text())
    assert note["failure_kind"] == "contract_failure"
    assert not (tmp_path / "optimization.json").exists()
