"""Paired observations of prompt optimizers, whatever they come from.

A *search* is one optimizer with one seed in one condition: scores of the prompts as written and of
those deployed, on the same problems. A *group* is what one row of the table of gains stands for:
the searches of all seeds. Two feeders make them: ``job_folders`` from the folders of single jobs,
``grid_gains`` from the cells of a grid. Optimizers specification, section 7.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from lcbgrid.analysis.axes import value_order
from lcbgrid.optimize.cells import SeedResult

CONDITION_AXES: Final = (
    "task",
    "scenario",
    "model",
    "topology",
    "team_size",
    "communication",
    "framework",
)
SHARED_SETUP_AXES: Final = ("budget", "profile", "without", "reflection_model", "window")
"""What methods and topologies of one comparison share."""

SETUP_AXES: Final = (*SHARED_SETUP_AXES, "versions", "condition_id")
GROUP_AXES: Final = (*CONDITION_AXES, *SETUP_AXES, "method")


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """A point of a learning curve: what the incumbent was after so many rollouts.

    Attributes:
        rollouts: Charged, on the grid 0, 10, …, budget.
        score: What the method believed of its incumbent; ``None`` if it said nothing.
        carried_forward: The search had ended before.
        bundle: Digest of the incumbent.
    """

    rollouts: int
    score: float | None
    carried_forward: bool
    bundle: str


@dataclass(frozen=True, slots=True)
class Search:
    """One optimizer with one seed.

    Attributes:
        result: Scores of both prompts by problem, why the seed's were deployed, why the search
            may not be counted.
        job_id: Identity of its job, if it has one.
        charged: Rollouts charged.
        task_tokens: Tokens of the rollouts of the search, sent and received.
        reflection_tokens: Tokens of the model that wrote prompts.
        baseline_tokens: Mean tokens of an answer with the prompts as written.
        deployed_tokens: The same with the prompts deployed.
        stop_reason: Why the search ended.
        fallback_known: Whether ``result.fallback_reason`` is known at all.
        curve: Learning curve.
    """

    result: SeedResult
    job_id: str | None = None
    charged: int | None = None
    task_tokens: int | None = None
    reflection_tokens: int | None = None
    baseline_tokens: float | None = None
    deployed_tokens: float | None = None
    stop_reason: str | None = None
    fallback_known: bool = True
    curve: tuple[CurvePoint, ...] = ()

    @property
    def seed(self) -> int:
        """Seed of the search."""
        return self.result.seed

    @property
    def search_tokens(self) -> int | None:
        """All tokens of the search: task and reflection model; evaluations are not in it."""
        if self.task_tokens is None or self.reflection_tokens is None:
            return None
        return self.task_tokens + self.reflection_tokens


@dataclass(frozen=True, slots=True)
class Group:
    """The searches of one method in one condition with one setup.

    Attributes:
        axes: A value for each of ``GROUP_AXES``; ``None`` where it is not known.
        searches: In any order.
        required: Seeds that must be there exactly once.
        simulated: True if no real model answered.
        left_out: Problems that are in no score, such as those with broken tests.
    """

    axes: Mapping[str, Any]
    searches: Sequence[Search]
    required: Sequence[int]
    simulated: bool = False
    left_out: Sequence[str] = field(default=())

    @property
    def key(self) -> tuple[Any, ...]:
        """The axes as a key."""
        return tuple(self.axes[name] for name in GROUP_AXES)

    @property
    def order(self) -> tuple[Any, ...]:
        """A sort key: known topologies from simple to complex, the rest by name."""
        return tuple(value_order(name, self.axes[name]) for name in GROUP_AXES)


def label(axes: Mapping[str, Any]) -> str:
    """Return a short name of a group for messages and as a label of its p-values."""
    return "/".join("-" if axes[name] is None else str(axes[name]) for name in GROUP_AXES)


def same_axes(axes: Mapping[str, Any], names: Sequence[str]) -> tuple[Any, ...]:
    """Return some axes as a key for dictionaries."""
    return tuple(axes[name] for name in names)


def reason_text(reasons: Sequence[str], n_seeds: int) -> str:
    """Return the reasons of an incomplete cell as words; one that all its seeds share once.

    Examples:
        >>> reason_text(["missing_seed:1", "invalid_seed:2:unfinished:searched"], 3)
        'seed 1 is missing; seed 2: unfinished (searched)'
        >>> reason_text(["invalid_seed:0:not_run", "invalid_seed:1:not_run"], 2)
        'not run'
    """
    own = [reason.split(":", 2) for reason in reasons]
    invalid = {parts[2] for parts in own if parts[0] == "invalid_seed"}
    if len(invalid) == 1 and len(own) == n_seeds and all(p[0] == "invalid_seed" for p in own):
        return _words(invalid.pop())
    return "; ".join(_reason(parts) for parts in own)


def _reason(parts: Sequence[str]) -> str:
    kind, rest = parts[0], parts[1:]
    if kind == "invalid_seed":
        return f"seed {rest[0]}: {_words(rest[1])}"
    named = {"missing_seed": "is missing", "duplicate_seed": "is there twice"}
    if kind in named:
        return f"seed {rest[0]} {named[kind]}"
    if kind == "unexpected_seed":
        return f"seed {rest[0]} was not asked for"
    return "its seeds were on different problems" if kind == "example_ids_differ" else kind


def _words(code: str) -> str:
    name, _, detail = code.partition(":")
    shown = name.replace("_", " ")
    return f"{shown} ({detail.replace('_', ' ').replace(':', ', ')})" if detail else shown
