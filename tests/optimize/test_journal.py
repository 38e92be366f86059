"""Journals: what stands in them is answered from them, and they refuse what does not fit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lcbgrid.core.errors import DataError
from lcbgrid.optimize.errors import ContractError
from lcbgrid.optimize.journal import (
    ReflectionJournal,
    ReflectionKey,
    RolloutJournal,
    RolloutKey,
)
from lcbgrid.optimize.records import RunRecord, Status, Usage


def record(row: str = "r1", seed: int = 7, said: str = "done") -> RunRecord:
    return RunRecord(
        cell_id="c",
        example_id=row,
        status=Status.SUCCESS,
        final_output=said,
        score=1,
        request_seed=seed,
        usage=Usage(model_calls=1, input_tokens=3),
        metadata={"scorer_metadata": {"feedback": "right"}},
    )


def key(row: str = "r1", seed: int = 7, **more: int) -> RolloutKey:
    return RolloutKey("d" * 64, row, seed, **more)


def test_a_record_comes_back_as_it_was_given_out(tmp_path: Path) -> None:
    path = tmp_path / "rollouts.jsonl"
    journal = RolloutJournal(path, "job")
    assert journal.record(key()) is None
    given = journal.keep(key(), record(said="half \ud800 \u2028 a line"))
    assert given.final_output == "half \ufffd \u2028 a line"
    journal.close()
    again = RolloutJournal(path, "job")
    assert again.record(key()) == given
    assert again.record(key(attempt=1)) is None
    assert again.record(key(occurrence=1)) is None
    assert len(again) == 1
    again.close()
    again.close()


def test_a_torn_last_line_is_a_call_not_done(tmp_path: Path) -> None:
    path = tmp_path / "rollouts.jsonl"
    journal = RolloutJournal(path, "job")
    journal.keep(key("r1"), record("r1"))
    journal.keep(key("r2"), record("r2"))
    journal.close()
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    torn = RolloutJournal(path, "job")
    assert torn.record(key("r1")) is not None
    assert torn.record(key("r2")) is None
    torn.keep(key("r2"), record("r2"))
    torn.close()
    assert path.read_bytes() == whole


def test_every_cut_of_the_file_can_be_opened(tmp_path: Path) -> None:
    path = tmp_path / "rollouts.jsonl"
    journal = RolloutJournal(path, "job")
    journal.keep(key(), record())
    journal.close()
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        RolloutJournal(path, "job").close()


def test_damage_and_foreign_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "rollouts.jsonl"
    journal = RolloutJournal(path, "job")
    journal.keep(key("r1"), record("r1"))
    journal.keep(key("r2"), record("r2"))
    journal.close()
    whole = path.read_text()
    with pytest.raises(ContractError, match="another job"):
        RolloutJournal(path, "other")
    with pytest.raises(ContractError, match="another job"):
        ReflectionJournal(path, "job")
    path.write_text(whole.replace('"score":1.0', '"score":0.5', 1))
    with pytest.raises(ContractError, match="line 2 was changed"):
        RolloutJournal(path, "job")
    path.write_text(whole + whole.splitlines()[-1] + "\n")
    with pytest.raises(ContractError, match="repeats a key"):
        RolloutJournal(path, "job")
    path.write_text(whole + "{}\n")
    with pytest.raises(ContractError, match="no answer"):
        RolloutJournal(path, "job")
    path.write_text(whole.replace("\n", "\n{\n", 1))
    with pytest.raises(DataError, match="line 2"):
        RolloutJournal(path, "job")


def test_a_record_must_belong_to_its_key() -> None:
    journal = RolloutJournal()
    with pytest.raises(ContractError, match="another row"):
        journal.keep(key("r1"), record("r2"))
    with pytest.raises(ContractError, match="another row"):
        journal.keep(key(seed=8), record(seed=7))
    journal.keep(key(), record())
    with pytest.raises(ContractError, match="already"):
        journal.keep(key(), record())


def test_settled_files_do_not_tell_the_order_of_completion(tmp_path: Path) -> None:
    written = []
    for name, order in (("a", ("r1", "r2")), ("b", ("r2", "r1"))):
        journal = RolloutJournal(tmp_path / name, "job")
        for row in ("r1", "r2"):
            assert journal.record(key(row)) is None
        for row in order:
            journal.keep(key(row), record(row))
        journal.settle()
        journal.close()
        written.append((tmp_path / name).read_bytes())
    assert written[0] == written[1]


def test_a_search_that_goes_another_way_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "reflection.jsonl"
    journal = ReflectionJournal(path, "job")
    journal.add(ReflectionKey("h", 1), {"text": "a"})
    journal.add(ReflectionKey("h", 2), {"text": "b"})
    journal.close()
    again = ReflectionJournal(path, "job")
    assert again.found(ReflectionKey("h", 1)) == {"text": "a"}
    with pytest.raises(ContractError, match="another way: 1 calls"):
        again.settle()
    again.close()
    assert json.loads(path.read_text().splitlines()[0])["identity"] == "job"
