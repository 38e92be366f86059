"""The grid: axes, include and exclude lists, cells, and their paths."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any, Literal

from pydantic import Field, NonNegativeInt, model_validator

from lcbgrid.config.base import StrictModel
from lcbgrid.config.optimize_spec import IDENTITY, OPTIMIZER_SEEDS
from lcbgrid.config.team_spec import TeamSpec
from lcbgrid.core.errors import ConfigError, nearest

SCENARIOS = ("code_generation",)
Communication = Literal["freeform", "semi_structured", "structured_soft"]
COMMUNICATIONS: tuple[Communication, ...] = ("freeform", "semi_structured", "structured_soft")
OptimizerName = Annotated[str, Field(pattern="^[a-z][a-z0-9_]*$")]
AXES = ("scenario", "topology", "team_size", "communication", "optimizer", "model", "seed")

_PLURAL = {
    "scenario": "scenarios",
    "topology": "topologies",
    "team_size": "team_sizes",
    "communication": "communications",
    "optimizer": "optimizers",
    "model": "models",
    "seed": "seeds",
}
_SLUG = re.compile(r"[a-z0-9][a-z0-9._-]*", re.IGNORECASE)


class CellPattern(StrictModel):
    """Some axes with the values they may take; an axis left out means every value."""

    scenario: tuple[str, ...] = Field((), strict=False, description="Scenarios.")
    topology: tuple[str, ...] = Field((), strict=False, description="Topologies.")
    team_size: tuple[int, ...] = Field((), strict=False, description="Team sizes.")
    communication: tuple[str, ...] = Field((), strict=False, description="Communication formats.")
    optimizer: tuple[str, ...] = Field((), strict=False, description="Prompt optimizers.")
    model: tuple[str, ...] = Field((), strict=False, description="Models.")
    seed: tuple[int, ...] = Field((), strict=False, description="Seeds.")

    def matches(self, cell: Cell) -> bool:
        """True if the cell has one of the listed values on every axis that is listed."""
        return all(
            not getattr(self, axis) or getattr(cell, axis) in getattr(self, axis) for axis in AXES
        )


class GridSpec(StrictModel):
    """The axes. Cells are their product, minus ``exclude``, plus ``include``."""

    scenarios: tuple[Literal["code_generation"], ...] = Field(
        ("code_generation",), strict=False, min_length=1, description="What is asked of the team."
    )
    topologies: tuple[str, ...] = Field(
        ("direct",), strict=False, min_length=1, description="Names in the teams file."
    )
    team_sizes: tuple[int, ...] = Field(
        (4,),
        strict=False,
        min_length=1,
        description="Agents in a team; a topology of one fixed size ignores it.",
    )
    communications: tuple[Communication, ...] = Field(
        ("freeform",), strict=False, min_length=1, description="How agents write to each other."
    )
    optimizers: tuple[OptimizerName, ...] = Field(
        (IDENTITY,),
        strict=False,
        min_length=1,
        description="identity: the prompts as written; else a method that tunes them.",
    )
    models: tuple[str, ...] = Field(
        ("qwen-coder-0.5b",), strict=False, min_length=1, description="Names in the models file."
    )
    seeds: tuple[NonNegativeInt, ...] = Field(
        (0,), strict=False, min_length=1, description="Cell seeds."
    )
    exclude: tuple[CellPattern, ...] = Field(
        (),
        strict=False,
        description="Cells to drop: those that match an entry on every axis it lists.",
    )
    include: tuple[CellPattern, ...] = Field(
        (),
        strict=False,
        description="Cells to add: the product of the values listed, other axes as in the grid. "
        "Added after exclude.",
    )

    @model_validator(mode="after")
    def _values_are_used(self) -> GridSpec:
        lists = {axis: getattr(self, _PLURAL[axis]) for axis in AXES}
        for axis, values in lists.items():
            if len(set(values)) < len(values):
                message = f"a value of {_PLURAL[axis]} stands twice"
                raise ValueError(message)
        for pattern in self.exclude:
            for axis, values in lists.items():
                added = {v for entry in self.include for v in getattr(entry, axis)}
                for value in getattr(pattern, axis):
                    if value not in {*values, *added}:
                        message = f"exclude names {axis} {value!r}, which the grid does not have"
                        raise ValueError(message)
        return self


@dataclass(frozen=True, slots=True, order=True)
class Cell:
    """One point of the grid."""

    dataset: str
    scenario: str
    topology: str
    team_size: int
    communication: str
    optimizer: str
    model: str
    seed: int

    @property
    def path(self) -> str:
        """Stable readable path below ``results/runs``; the model's name is a slug."""
        return (
            f"{slug(self.dataset)}/{self.scenario}/{slug(self.topology)}/"
            f"r{self.team_size}-{self.communication}/{self.optimizer}/{slug(self.model)}/"
            f"seed{self.seed}"
        )

    @property
    def optimizes(self) -> bool:
        """Whether prompts are tuned for this cell before it runs."""
        return self.optimizer != IDENTITY

    @property
    def baseline(self) -> Cell:
        """The same cell with the prompts as written."""
        return replace(self, optimizer=IDENTITY)

    def axes(self) -> dict[str, Any]:
        """Return the axes as plain data."""
        return asdict(self)


def slug(name: str) -> str:
    """Return a name that is safe as one folder of a path; ``/`` becomes ``_``."""
    text = re.sub(r"[^A-Za-z0-9._-]+", "_", name)
    return text if _SLUG.fullmatch(text) else "x" + text.lstrip("._-")


def expand(dataset: str, grid: GridSpec, teams: Mapping[str, TeamSpec]) -> list[Cell]:
    """Return the cells of a grid, sorted, without doubles.

    A topology that offers a single size gets that size, and freeform only, whatever the axes say,
    so that it is not run once per size; a team of one has nobody to write to.

    Raises:
        ConfigError: A size that a topology does not offer, two names that would share a path, or
            a grid without cells.
    """
    cells = {
        cell
        for cell in _product(dataset, grid, CellPattern(), teams)
        if not any(pattern.matches(cell) for pattern in grid.exclude)
    }
    for pattern in grid.include:
        cells.update(_product(dataset, grid, pattern, teams))
    if not cells:
        raise ConfigError(
            "the grid has no cells left", where="grid.exclude", remedy="exclude less"
        )
    ordered = sorted(cells)
    _check_seeds(ordered)
    _refuse_clashes(ordered)
    return ordered


def _product(
    dataset: str, grid: GridSpec, pattern: CellPattern, teams: Mapping[str, TeamSpec]
) -> Iterable[Cell]:
    for topology in pattern.topology or grid.topologies:
        team = teams[topology]
        sizes = pattern.team_size or grid.team_sizes
        communications = pattern.communication or grid.communications
        if len(team.sizes) == 1:
            sizes, communications = team.sizes, ("freeform",)
        for size in sizes:
            if size not in team.sizes:
                raise ConfigError(
                    f"topology {topology!r} has no team size {size}",
                    where="grid.team_sizes",
                    remedy=f"it offers {', '.join(map(str, team.sizes))}",
                )
        for scenario, size, communication, optimizer, model, seed in itertools.product(
            pattern.scenario or grid.scenarios,
            sizes,
            communications,
            pattern.optimizer or grid.optimizers,
            pattern.model or grid.models,
            pattern.seed or grid.seeds,
        ):
            yield Cell(dataset, scenario, topology, size, communication, optimizer, model, seed)


def _check_seeds(cells: Iterable[Cell]) -> None:
    for cell in cells:
        if cell.optimizes and cell.seed not in OPTIMIZER_SEEDS:
            raise ConfigError(
                f"optimizer {cell.optimizer!r} has the seeds 0, 1 and 2 only",
                where="grid.seeds",
                value=cell.seed,
                remedy="use these, or exclude the optimizer for other seeds",
            )


def _refuse_clashes(cells: Iterable[Cell]) -> None:
    seen: dict[str, Cell] = {}
    for cell in cells:
        other = seen.setdefault(cell.path, cell)
        if other != cell:
            raise ConfigError(
                f"two cells would share the path {cell.path}: "
                f"{_difference(other, cell)}; rename one of them",
                where="grid",
            )


def _difference(first: Cell, second: Cell) -> str:
    return ", ".join(
        f"{axis} {getattr(first, axis)!r} and {getattr(second, axis)!r}"
        for axis in ("dataset", *AXES)
        if getattr(first, axis) != getattr(second, axis)
    )


def path_pattern(cells: Iterable[Cell]) -> str:
    """Return a regular expression for Snakemake's wildcard that matches cell paths of this grid.

    Made axis by axis, so that it stays short for large grids; a name that no cell uses matches
    nothing, and the target fails at once.
    """
    parts: list[set[str]] = [set() for _ in range(7)]
    for cell in cells:
        for values, value in zip(parts, cell.path.split("/"), strict=True):
            values.add(value)
    return "/".join("(?:" + "|".join(re.escape(v) for v in sorted(p)) + ")" for p in parts)


def find(cells: Iterable[Cell], path: str) -> Cell:
    """Return the cell with this path.

    Raises:
        ConfigError: No such cell; names the nearest one.
    """
    by_path = {cell.path: cell for cell in cells}
    if path not in by_path:
        raise ConfigError("no such cell in the grid", where=path, remedy=nearest(path, by_path))
    return by_path[path]
