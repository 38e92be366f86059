"""How good the searches are: gepa, mamut_gepa and mipro on simulated landscapes, in both profiles.

    python benchmarks/perf/optimizer_search.py
    python benchmarks/perf/optimizer_search.py --ablate

No model is asked. Printed are, for each topology and coupling (how far equal seeds make equal
chance):

* for each profile and method the share of landscapes on which the deployed bundle has a higher,
  and a lower, expected score on test than the seed bundle; medians of its gain, of the rollouts,
  of the reflection calls and of the tokens of a search;
* the share of null landscapes, on which no text matters, that end with another bundle than the
  seed's. It is no better and no worse there, so a share above 0 is an error of the decision;
* for gepa and mipro, how many rollouts `improved` needs until its incumbent has the gain that
  `reference` deploys, over those that `reference` needed for it: the median over landscapes. A
  landscape on which `reference` deploys no gain is left out. If `improved` never has that
  gain, or deploys the seed, its ratio counts as infinite. Rollouts before the first
  incumbent count, so both are at least the seed's first validation.

`--ablate` prints what `improved` gains without each single improvement instead.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import statistics
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

from lcbgrid.config.base import validate
from lcbgrid.config.effective import read_yaml
from lcbgrid.config.team_spec import TeamsFile
from lcbgrid.optimize.compare import Found, MethodRow, Setting, lineup, method_row, run_one
from lcbgrid.optimize.improvements import IMPROVEMENTS
from lcbgrid.optimize.interface import Profile

METHODS = ("identity", "gepa", "mamut_gepa", "mipro")
RACED = ("gepa", "mipro")
PROFILES: tuple[Profile, ...] = ("reference", "improved")
TEAMS = Path(__file__).parents[2] / "config/teams.yaml"


def search(method: str, setting: Setting, landscape: int) -> Found:
    """Run one search."""
    return asyncio.run(run_one(method, setting.landscape(landscape), setting))


def searches(
    pool: Executor, method: str, setting: Setting, seeds: Sequence[int], optimizer_seeds: int
) -> list[Found]:
    """Search on all landscapes with all optimizer seeds."""
    found: list[Found] = []
    for number in range(optimizer_seeds):
        work = partial(search, method, replace(setting, optimizer_seed=number))
        found += pool.map(work, seeds)
    return found


def ratio(reference: Found, improved: Found) -> float | None:
    """Return the rollouts of `improved` over those of `reference`; ``None``: nothing to reach."""
    if reference.gain_pp <= 1e-9:
        return None
    needed, spent = reference.reached(reference.gain_pp), improved.reached(reference.gain_pp)
    return math.inf if spent is None or not needed else spent / needed


def line(where: str, profile: str, row: MethodRow, name: str = "") -> str:
    """Return a row of the table."""
    return (
        f"| {where} | {profile} | {name or row.method} | {row.beats_share:.0%} | "
        f"{row.worse_share:.0%} | {row.median_gain_pp:+.1f} | {row.median_rollouts:g} | "
        f"{row.median_reflection_calls:g} | {row.median_tokens:,.0f} |"
    )


HEAD = (
    "| landscapes | profile | method | beats seed | worse | median gain, points | rollouts | "
    "reflections | tokens |\n|---|---|---|---|---|---|---|---|---|"
)


def compared(
    pool: Executor, places: Sequence[tuple[str, Setting]], options: argparse.Namespace
) -> None:
    """Print the table, the ratios and the errors on null landscapes."""
    seeds = range(options.landscape_seed, options.landscape_seed + options.landscapes)
    found: dict[tuple[str, str, str], list[Found]] = {}
    print(HEAD)
    for where, setting in places:
        for profile in PROFILES:
            for method in options.methods:
                of_profile = replace(setting, profile=profile)
                some = searches(pool, method, of_profile, seeds, options.optimizer_seeds)
                found[where, profile, method] = some
                print(line(where, profile, method_row(method, some, setting.budget)), flush=True)
    print("\n| landscapes | method | rollouts, improved / reference | searches | never |")
    print("|---|---|---|---|---|")
    for where, _ in places:
        for method in [name for name in RACED if name in options.methods]:
            pairs = zip(
                found[where, "reference", method], found[where, "improved", method], strict=True
            )
            ratios = [item for item in map(ratio, *zip(*pairs, strict=True)) if item is not None]
            median = f"{statistics.median(ratios):.2f}" if ratios else "–"
            print(f"| {where} | {method} | {median} | {len(ratios)} | {ratios.count(math.inf)} |")
    print("\n| null landscapes | profile | method | another bundle deployed |\n|---|---|---|---|")
    for where, setting in places:
        for profile in PROFILES:
            for method in options.methods:
                null = replace(setting, profile=profile, null=True)
                some = searches(pool, method, null, seeds, options.optimizer_seeds)
                share = sum(one.fallback_reason is None for one in some) / len(some)
                print(f"| {where} | {profile} | {method} | {share:.0%} |", flush=True)


def ablated(
    pool: Executor, places: Sequence[tuple[str, Setting]], options: argparse.Namespace
) -> None:
    """Print what is gained without each improvement."""
    seeds = range(options.landscape_seed, options.landscape_seed + options.landscapes)
    print("| landscapes | method | without | beats seed | mean gain, points | difference |")
    print("|---|---|---|---|---|---|")
    for where, setting in places:
        for method in [name for name in options.methods if name != "identity"]:
            whole = 0.0
            for name in ("", *(n for n, one in IMPROVEMENTS.items() if method in one.methods)):
                without = replace(setting, switches={name: False} if name else {})
                some = searches(pool, method, without, seeds, options.optimizer_seeds)
                mean = statistics.mean(one.gain_pp for one in some)
                whole = mean if not name else whole
                beats = sum(one.gain_pp > 1e-9 for one in some) / len(some)
                print(
                    f"| {where} | {method} | {name or '–'} | {beats:.0%} | {mean:+.1f} | "
                    f"{mean - whole:+.1f} |",
                    flush=True,
                )


def places(options: argparse.Namespace) -> Iterator[tuple[str, Setting]]:
    """Yield a name and a setting for each topology and coupling."""
    teams = validate(TeamsFile, read_yaml(TEAMS), where=TEAMS).teams
    for topology in options.topologies:
        roles, size = lineup(teams, topology)
        for coupling in options.coupling:
            setting = Setting(
                budget=options.budget,
                topology=topology,
                roles=roles,
                team_size=size,
                coupling=coupling,
            )
            yield f"{topology}, {coupling:g}", setting


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="How good the searches are on landscapes.")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS)
    parser.add_argument("--landscapes", type=int, default=20)
    parser.add_argument("--landscape-seed", type=int, default=200)
    parser.add_argument("--budget", type=int, default=200)
    parser.add_argument("--topologies", nargs="+", default=["sequential"])
    parser.add_argument("--coupling", nargs="+", type=float, default=[1.0])
    parser.add_argument("--optimizer-seeds", type=int, default=1, choices=(1, 2, 3))
    parser.add_argument("--ablate", action="store_true")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    with ProcessPoolExecutor(options.workers) as pool:
        (ablated if options.ablate else compared)(pool, list(places(options)), options)


if __name__ == "__main__":
    main()
