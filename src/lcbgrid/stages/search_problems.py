"""The problems that optimizers learn from: train and validation, in a folder of their own.

No row of a test problem and no hidden test of one is in that folder, so a search cannot open them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lcbgrid.config.optimize_spec import OptimizeSpec
from lcbgrid.config.problem_spec import DatasetSpec, FilterSpec
from lcbgrid.core.errors import ConfigError
from lcbgrid.problems.manifest import Manifest
from lcbgrid.problems.prepare import prepare, splits_of

SPLITS_RELEASE = "release_v6"  # the rows from which LiveCodeBench's splits were drawn


@dataclass(frozen=True, slots=True)
class SearchSplits:
    """Ids of the problems of a search, in the order of the split file.

    Attributes:
        train: To learn from.
        validation: To decide on.
        test: Kept apart; a search knows their ids only.
    """

    train: tuple[str, ...]
    validation: tuple[str, ...]
    test: tuple[str, ...]


def search_splits(dataset: DatasetSpec, optimize: OptimizeSpec) -> SearchSplits:
    """Return the ids of a search.

    Raises:
        ConfigError: The data set has no splits, or one of them is empty or too small.
    """
    splits = splits_of(dataset)
    asked = {"n_train": len(splits.train), "n_validation": len(splits.validation)}
    for key, there in asked.items():
        wanted = getattr(optimize, key)
        if wanted is not None and wanted > there > 0:
            raise ConfigError(
                f"data set {dataset.name} has {there} {key.removeprefix('n_')} problems",
                where=f"optimize.{key}",
                value=wanted,
                remedy="ask for fewer, or leave it out for all",
            )
    found = SearchSplits(
        train=splits.train[: optimize.n_train],
        validation=splits.validation[: optimize.n_validation],
        test=splits.test,
    )
    for name in ("train", "validation", "test"):
        if not getattr(found, name):
            raise ConfigError(
                f"optimizers need a {name} split, and this data set has none",
                where=f"data set {dataset.name}",
                remedy="name a split file in dataset.splits_file, or use identity alone",
            )
    return found


def search_dataset(dataset: DatasetSpec, optimize: OptimizeSpec) -> DatasetSpec:
    """Return the data set of a search: exactly its train and validation problems.

    The filters of the grid choose the problems that teams are compared on, not those that
    optimizers learn from.
    """
    splits = search_splits(dataset, optimize)
    ids = (*splits.train, *splits.validation)
    changes: dict[str, object] = {
        "split": "all",
        "filters": FilterSpec(ids=ids),
        "expect_count": len(ids),
    }
    if dataset.source == "hub" and dataset.splits_file is None:
        changes["release"] = SPLITS_RELEASE
    return dataset.model_copy(update=changes)


def prepare_search(dataset: DatasetSpec, optimize: OptimizeSpec, folder: Path) -> Manifest:
    """Prepare the problems of a search; see ``problems.prepare.prepare``."""
    return prepare(search_dataset(dataset, optimize), folder)
