"""Where files of a grid are; the only place that knows the layout of ``results/``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lcbgrid.config.grid import Cell, slug


@dataclass(frozen=True, slots=True)
class Layout:
    """The folders below one results folder.

    Stages append to journals in ``.work``, which the workflow never deletes, and publish whole
    files by rename when they end well.
    """

    results: Path

    @property
    def effective_config(self) -> Path:
        """The configuration that jobs read."""
        return self.results / "config.json"

    def problems(self, dataset: str) -> Path:
        """Prepared problems of a data set."""
        return self.results / "problems" / slug(dataset)

    def search_problems(self, dataset: str) -> Path:
        """Prepared train and validation problems, from which optimizers learn."""
        return self.results / "search_problems" / slug(dataset)

    def optimized(self, cell: Cell) -> Path:
        """Published search of a cell: its sealed artifacts, its transcript, its bundle."""
        return self.results / "optimize" / cell.path

    def bundle(self, cell: Cell) -> Path:
        """The prompts that a cell's search deploys."""
        return self.optimized(cell) / "bundle.json"

    @property
    def searches(self) -> Path:
        """Searches in progress, by the identity of their jobs; no cell's path starts so."""
        return self.all_work / ".optimize"

    @property
    def runs(self) -> Path:
        """The folder of all published runs."""
        return self.results / "runs"

    def run(self, cell: Cell) -> Path:
        """Published predictions, transcript and verdicts of a cell."""
        return self.runs / cell.path

    def score(self, cell: Cell) -> Path:
        """Score file of a cell."""
        return self.results / "scores" / cell.path / "score.json"

    def score_timing(self, cell: Cell) -> Path:
        """Measured times of a cell, apart from its scores since no two runs agree on them."""
        return self.results / "scores" / cell.path / "timing.json"

    @property
    def all_work(self) -> Path:
        """Journals of all cells in progress."""
        return self.results / ".work"

    @property
    def verdict_index(self) -> Path:
        """Where in which cell's journal a verdict is; no cell's path starts with a dot."""
        return self.all_work / ".verdicts"

    def work(self, cell: Cell) -> Path:
        """Journals of a cell in progress."""
        return self.all_work / cell.path
