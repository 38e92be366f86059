"""Which problems a search learns from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lcbgrid.config.base import validate
from lcbgrid.config.optimize_spec import OptimizeSpec
from lcbgrid.config.problem_spec import DatasetSpec
from lcbgrid.core.errors import ConfigError, DataError, UserError
from lcbgrid.problems.store import PreparedProblems
from lcbgrid.stages.search_problems import prepare_search, search_dataset, search_splits


def dataset(**settings: Any) -> DatasetSpec:
    given = {"name": "embedded", "source": "embedded", "split": "test", **settings}
    return validate(DatasetSpec, given, where="test")


EMBEDDED = dataset()


def test_a_search_takes_the_first_problems_of_each_split() -> None:
    whole = search_splits(EMBEDDED, OptimizeSpec())
    assert (len(whole.train), len(whole.validation), len(whole.test)) == (24, 16, 24)
    some = search_splits(EMBEDDED, OptimizeSpec(n_train=5, n_validation=3))
    assert some.train == whole.train[:5]
    assert some.validation == whole.validation[:3]
    assert some.test == whole.test


def test_asking_for_all_that_there_is_is_fine_and_for_more_is_not() -> None:
    assert len(search_splits(EMBEDDED, OptimizeSpec(n_train=24, n_validation=16)).train) == 24
    with pytest.raises(ConfigError, match=r"optimize.n_train: .* has 24 train problems"):
        search_splits(EMBEDDED, OptimizeSpec(n_train=25))
    with pytest.raises(ConfigError, match=r"optimize.n_validation: .* 16 validation problems"):
        search_splits(EMBEDDED, OptimizeSpec(n_validation=17))


def test_filters_of_the_grid_choose_no_problem_of_a_search(tmp_path: Path) -> None:
    filtered = dataset(filters={"limit": 1, "difficulty": ["hard"]}, expect_count=1)
    chosen = search_dataset(filtered, OptimizeSpec(n_train=3, n_validation=2))
    assert chosen == search_dataset(EMBEDDED, OptimizeSpec(n_train=3, n_validation=2))
    manifest = prepare_search(filtered, OptimizeSpec(n_train=3, n_validation=2), tmp_path / "p")
    assert manifest.n_problems == 5


def test_no_test_problem_lies_in_the_folder_of_a_search(tmp_path: Path) -> None:
    folder = tmp_path / "p"
    prepare_search(EMBEDDED, OptimizeSpec(), folder)
    tests = search_splits(EMBEDDED, OptimizeSpec()).test
    store = PreparedProblems(folder)
    assert not {problem.question_id for problem in store.problems()} & set(tests)
    assert store.splits.test == ()
    text = (folder / "problems.jsonl").read_text()
    assert not [question_id for question_id in tests if question_id in text]
    names = "".join(path.name for path in (folder / "tests").iterdir())
    assert not [question_id for question_id in tests if question_id in names]


def test_rows_of_the_hub_are_those_that_the_splits_were_drawn_from() -> None:
    hub = dataset(name="lcb", source="hub", release="release_v1")
    chosen = search_dataset(hub, OptimizeSpec())
    assert (chosen.release, chosen.split) == ("release_v6", "all")
    assert chosen.expect_count == 200


def test_without_a_split_file_it_says_what_to_do(tmp_path: Path) -> None:
    mine = dataset(name="mine", source="local", files=["rows.jsonl"])
    with pytest.raises(ConfigError, match=r"name a split file in dataset\.splits_file"):
        search_splits(mine, OptimizeSpec(n_train=4))
    with pytest.raises((ConfigError, DataError), match=r"nowhere\.json"):
        search_splits(mine.model_copy(update={"splits_file": "nowhere.json"}), OptimizeSpec())


def test_an_id_of_the_split_file_that_no_row_has_is_named(tmp_path: Path) -> None:
    splits = tmp_path / "splits.json"
    known = search_splits(EMBEDDED, OptimizeSpec())
    lists = {"train": ["typo"], "validation": known.validation, "test": known.test}
    splits.write_text(json.dumps(lists))
    wrong = EMBEDDED.model_copy(update={"splits_file": str(splits)})
    with pytest.raises(UserError, match="typo"):
        prepare_search(wrong, OptimizeSpec(), tmp_path / "p")
    assert not (tmp_path / "p").exists()
