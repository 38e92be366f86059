"""The study: what Optuna reads of it, and what a kill leaves."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lcbgrid.optimize.errors import ContractError
from lcbgrid.optimize.interface import Trials
from lcbgrid.optimize.sealed import SealedFolder
from lcbgrid.optimize.trials import STUDY_FILE, MemoryTrials, StudyTrials
from lcbgrid.teams.bundle import PromptBundle

SEED = PromptBundle({"coder": "write", "critic": "doubt"})


def child(number: int) -> PromptBundle:
    return PromptBundle({**SEED.prompts, "coder": f"write {number}"})


def fill(trials: Trials) -> list[int]:
    return [
        trials.trial("seed", bundle=SEED, params={}, value=None, attributes={"kind": "seed"}),
        trials.trial(
            "1/child",
            bundle=child(1),
            params={"parent": 0, "component": 1},
            value=0.5,
            scores=[1, 0],
        ),
        trials.trial(
            "2/child",
            bundle=child(2),
            params={"parent": 7, "component": 0},
            value=0.25,
            scores=[0, 0, 1],
            state="pruned",
            attributes={"parents": [1], "note": "\ud800 \u2028"},
        ),
        trials.trial("3/child", bundle=child(3), params={"parent": 1}, value=None, state="fail"),
    ]


def test_optuna_reads_what_was_recorded(tmp_path: Path) -> None:
    trials = StudyTrials(tmp_path, "job", {"method": "gepa", "seed": 0})
    assert fill(trials) == [0, 1, 2, 3]
    import optuna
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    storage = JournalStorage(JournalFileBackend(str(tmp_path / STUDY_FILE)))
    study = optuna.load_study(study_name="job", storage=storage)
    seed, best, pruned, failed = study.trials
    assert [trial.state.name for trial in study.trials] == ["PRUNED", "COMPLETE", "PRUNED", "FAIL"]
    assert study.best_trial.number == best.number == 1
    assert study.user_attrs == {"method": "gepa", "seed": 0}
    assert seed.user_attrs["kind"] == "seed"
    assert seed.user_attrs["outcome"] == "complete"
    assert best.params == {"parent": 0, "component": 1}
    assert best.intermediate_values == {0: 1.0, 1: 0.0}
    assert pruned.user_attrs["value_estimate"] == 0.25
    assert pruned.user_attrs["parents"] == [1]
    assert failed.params == {"parent": 1}
    kept = SealedFolder(tmp_path).read(f"bundle-{best.user_attrs['bundle']}.json")
    assert kept["roles"]["coder"] == "write 1"
    assert "write 1" not in (tmp_path / STUDY_FILE).read_text()


@pytest.mark.parametrize("stored", [True, False])
def test_a_key_is_recorded_once_and_must_not_differ(stored: bool, tmp_path: Path) -> None:
    trials = StudyTrials(tmp_path, "job") if stored else MemoryTrials()
    fill(trials)
    again = StudyTrials(tmp_path, "job") if stored else trials
    assert fill(again) == [0, 1, 2, 3]
    assert again.keys == ["seed", "1/child", "2/child", "3/child"]
    usual: dict[str, Any] = {"bundle": child(1), "params": {"parent": 0, "component": 1}}
    usual |= {"value": 0.5, "scores": [1, 0]}
    assert again.trial("1/child", **usual) == 1
    changes: list[dict[str, Any]] = [{"value": 0.6}, {"scores": [0, 1]}, {"params": {}}]
    for change in [*changes, {"bundle": child(9)}]:
        with pytest.raises(ContractError, match="another content"):
            again.trial("1/child", **{**usual, **change})
    with pytest.raises(ContractError, match="uses this name"):
        again.trial("9", **usual, attributes={"fingerprint": "x"})


def test_a_kill_at_every_line_leaves_a_study_that_goes_on(tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    fill(StudyTrials(whole, "job", {"a": 1}))
    lines = (whole / STUDY_FILE).read_bytes().splitlines(keepends=True)
    for kept in range(len(lines) + 1):
        folder = tmp_path / f"cut{kept}"
        shutil.copytree(whole, folder)
        torn = b"".join(lines[kept : kept + 1])[:-5]
        (folder / STUDY_FILE).write_bytes(b"".join(lines[:kept]) + torn)
        trials = StudyTrials(folder, "job", {"a": 1})
        assert fill(trials) == [0, 1, 2, 3]
        assert len(trials.study.trials) == 4
        assert trials.study.user_attrs == {"a": 1}


def test_a_lock_left_by_a_dead_process_does_not_block(tmp_path: Path) -> None:
    os.symlink("gone", tmp_path / f"{STUDY_FILE}.lock")  # what Optuna's own lock would leave
    assert fill(StudyTrials(tmp_path, "job")) == [0, 1, 2, 3]


def test_optuna_is_imported_for_a_study_only() -> None:
    code = (
        "import sys; from lcbgrid.optimize.trials import MemoryTrials; MemoryTrials(); "
        "sys.exit('optuna' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
