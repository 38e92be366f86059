"""Methods on simulated landscapes, where the truth about what they deploy is known.

A comparison runs the whole protocol up to the selection, in memory. In place of the test it takes
the exact expected score on the test rows, so its only noise is the search's own.
"""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lcbgrid.config.team_spec import TeamSpec
from lcbgrid.core.errors import ConfigError, nearest
from lcbgrid.models.simulate.landscape import SPLITS, Landscape
from lcbgrid.optimize.cell import Cell, searched_and_gate
from lcbgrid.optimize.curve import grid_of
from lcbgrid.optimize.evaluation import run_evaluation
from lcbgrid.optimize.gate import decide
from lcbgrid.optimize.interface import Job, Profile, method
from lcbgrid.optimize.landscape_cell import LandscapeWorld, landscape_cell
from lcbgrid.optimize.records import RunRecord
from lcbgrid.optimize.rows import row_id
from lcbgrid.optimize.search import Searched, search
from lcbgrid.optimize.selection import Selection
from lcbgrid.optimize.trials import MemoryTrials
from lcbgrid.teams.bundle import PromptBundle

TEAM_SIZE = 4
_EQUAL = 1e-12


@dataclass(frozen=True, slots=True)
class Setting:
    """What is the same for all methods of a comparison.

    Attributes:
        budget: Rollouts of a search.
        profile: Reference or improved.
        optimizer_seed: 0, 1 or 2.
        switches: Single improvements turned on or off.
        topology: Name of the team, for the cell's identity.
        roles: Its roles, in order, each once.
        team_size: Its members, for the cost.
        null: Landscapes on which no text matters.
        coupling: See ``Landscape.generate``.
        splits: Rows by split; ``None``: the usual ones.
    """

    budget: int
    profile: Profile = "improved"
    optimizer_seed: int = 0
    switches: Mapping[str, bool] = field(default_factory=dict)
    topology: str = ""
    roles: tuple[str, ...] = ("solver",)
    team_size: int = 1
    null: bool = False
    coupling: float = 1.0
    splits: Mapping[str, int] | None = None

    def landscape(self, seed: int) -> Landscape:
        """Return a landscape."""
        return Landscape.generate(
            seed,
            self.roles,
            null=self.null,
            coupling=self.coupling,
            team_size=self.team_size,
            splits=SPLITS if self.splits is None else self.splits,
        )


@dataclass(frozen=True, slots=True)
class Found:
    """What one search on one landscape came to.

    Attributes:
        landscape: Its seed.
        gain_pp: True gain on test of the deployed bundle over the seed bundle.
        incumbent_gain_pp: The same of the incumbent, deployed or not.
        fallback_reason: Why the seed bundle was deployed, if it was.
        rollouts: Charged.
        reflection_calls: Made.
        tokens: Of the task and the reflection model.
        curve: True gain of the incumbent after 0, 10, … rollouts; ``None`` where the method did
            not say which bundle it held.
        steps: Rollouts and true gain of the incumbent at each state that the method told.
    """

    landscape: int
    gain_pp: float
    incumbent_gain_pp: float
    fallback_reason: str | None
    rollouts: int
    reflection_calls: int
    tokens: int
    curve: tuple[float | None, ...]
    steps: tuple[tuple[int, float], ...] = ()

    def reached(self, gain_pp: float) -> int | None:
        """Return after how many rollouts the incumbent had a gain; ``None``: never, or in vain.

        In vain is a search of which the seed bundle was deployed.
        """
        if self.fallback_reason is not None:
            return None
        return next((spent for spent, gain in self.steps if gain >= gain_pp - _EQUAL), None)


@dataclass(frozen=True, slots=True)
class MethodRow:
    """One row of the table; medians over landscapes.

    Attributes:
        method: Its name.
        landscapes: How many.
        beats_share: Share in which the deployed bundle is better than the seed on test.
        worse_share: Share in which it is worse.
        median_gain_pp: Of the deployed bundle.
        median_rollouts: Charged.
        median_reflection_calls: Made.
        median_tokens: Of the search.
        curve: (rollouts, median true gain of the incumbent).
    """

    method: str
    landscapes: int
    beats_share: float
    worse_share: float
    median_gain_pp: float
    median_rollouts: float
    median_reflection_calls: float
    median_tokens: float
    curve: tuple[tuple[int, float], ...]

    def to_json(self) -> dict[str, Any]:
        """Return the row as a JSON object."""
        return dataclasses.asdict(self)


async def compare(
    methods: Sequence[str],
    seeds: Iterable[int],
    setting: Setting,
    *,
    told: Callable[[str, Found], None] | None = None,
) -> list[MethodRow]:
    """Return one row for each method.

    Args:
        methods: Registered names.
        seeds: Of the landscapes, which all methods share.
        setting: What is the same for all.
        told: Called with each method and what it found on a landscape.

    Raises:
        ConfigError: There is no such method, or no landscape.
    """
    for name in methods:
        method(name)
    found: dict[str, list[Found]] = {name: [] for name in methods}
    for seed in seeds:
        landscape = setting.landscape(seed)
        for name in found:
            one = await run_one(name, landscape, setting)
            found[name].append(one)
            if told is not None:
                told(name, one)
    return [method_row(name, results, setting.budget) for name, results in found.items()]


async def run_one(name: str, landscape: Landscape, setting: Setting) -> Found:
    """Search on a landscape with a method, select, and look up the truth."""
    cell = landscape_cell(LandscapeWorld(landscape), setting.topology)
    job = cell.job(
        name,
        setting.optimizer_seed,
        setting.budget,
        profile=setting.profile,
        switches=setting.switches,
    )
    trials = MemoryTrials()
    searched = await search(job, cell, trials)
    decision = await _decided(job, cell, searched)
    incumbent = searched.outcome.incumbent
    truth = _Truth(landscape, [cell.seed_bundle, incumbent, *trials.bundles.values()])
    gain = 0.0 if searched.forced else truth.gain(incumbent)
    usage = searched.task_usage + searched.reflection_usage
    return Found(
        landscape=landscape.seed,
        gain_pp=gain if decision.selected_candidate == "incumbent" else 0.0,
        incumbent_gain_pp=gain,
        fallback_reason=decision.fallback_reason,
        rollouts=searched.budget.charged,
        reflection_calls=searched.reflection_usage.model_calls,
        tokens=usage.total_tokens,
        curve=truth.curve(searched),
        steps=truth.steps(searched),
    )


async def _decided(job: Job, cell: Cell, searched: Searched) -> Selection:
    """Validate and select as a job does."""
    _, gate = searched_and_gate(job, cell)
    records: list[list[RunRecord]] = []
    for bundle in (cell.seed_bundle, searched.outcome.incumbent):
        if searched.forced and records:
            records.append([])
        else:
            records.append(
                await run_evaluation(
                    cell,
                    bundle,
                    cell.validation,
                    split="validation",
                    optimizer_seed=job.optimizer_seed,
                )
            )
    return decide(records[0], records[1], [row_id(row) for row in gate], forced=searched.forced)


class _Truth:
    """True gains on test, in percentage points, of bundles that a search named."""

    def __init__(self, landscape: Landscape, bundles: Iterable[PromptBundle]) -> None:
        self._landscape = landscape
        self._baseline = landscape.true_mean(landscape.seed_bundle(), "test")
        self._known = {
            digest: bundle
            for bundle in bundles
            for digest in (bundle.full_digest, bundle.exec_digest, bundle.digest)
        }

    def gain(self, bundle: PromptBundle) -> float:
        return 100 * (self._landscape.true_mean(bundle.prompts, "test") - self._baseline)

    def steps(self, searched: Searched) -> tuple[tuple[int, float], ...]:
        told = searched.outcome.observations
        known = [(one.charged, self._known.get(one.bundle_hash)) for one in told]
        return tuple((spent, self.gain(one)) for spent, one in known if one is not None)

    def curve(self, searched: Searched) -> tuple[float | None, ...]:
        gains = []
        for row in searched.curve():
            if row.rollout_grid is not None:
                bundle = self._known.get(row.bundle_hash)
                gains.append(None if bundle is None else self.gain(bundle))
        return tuple(gains)


def method_row(name: str, found: Sequence[Found], budget: int) -> MethodRow:
    """Return the medians of a method.

    Raises:
        ConfigError: There is nothing to take a median of.
    """
    if not found:
        raise ConfigError("a comparison needs a landscape", where="landscapes", value=0)
    curve = []
    for rollouts, gains in zip(
        grid_of(budget), zip(*(one.curve for one in found), strict=True), strict=True
    ):
        known = [gain for gain in gains if gain is not None]
        if known:
            curve.append((rollouts, round(statistics.median(known), 4)))
    return MethodRow(
        method=name,
        landscapes=len(found),
        beats_share=sum(one.gain_pp > _EQUAL for one in found) / len(found),
        worse_share=sum(one.gain_pp < -_EQUAL for one in found) / len(found),
        median_gain_pp=round(statistics.median(one.gain_pp for one in found), 4),
        median_rollouts=statistics.median(one.rollouts for one in found),
        median_reflection_calls=statistics.median(one.reflection_calls for one in found),
        median_tokens=statistics.median(one.tokens for one in found),
        curve=tuple(curve),
    )


def table(rows: Sequence[MethodRow]) -> str:
    """Return the rows as text for people."""
    head = ("method", "beats seed", "worse", "median gain", "rollouts", "reflections", "tokens")
    lines = [
        (
            row.method,
            f"{row.beats_share:.0%}",
            f"{row.worse_share:.0%}",
            f"{row.median_gain_pp:+.1f} pp",
            f"{row.median_rollouts:g}",
            f"{row.median_reflection_calls:g}",
            f"{row.median_tokens:,.0f}",
        )
        for row in rows
    ]
    widths = [max(map(len, column)) for column in zip(head, *lines, strict=True)]
    return "\n".join(
        "  ".join(
            text.rjust(width) if index else text.ljust(width)
            for index, (text, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in (head, *lines)
    )


def lineup(teams: Mapping[str, TeamSpec], topology: str) -> tuple[tuple[str, ...], int]:
    """Return a team's roles, each once, and its size: 4, or its only size.

    Raises:
        ConfigError: There is no such topology.
    """
    if topology not in teams:
        raise ConfigError(
            "no such topology", where="topology", value=topology, remedy=nearest(topology, teams)
        )
    team = teams[topology]
    size = TEAM_SIZE if TEAM_SIZE in team.sizes else team.sizes[0]
    return tuple(dict.fromkeys(role.name for role in team.lineup(size))), size
