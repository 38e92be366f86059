"""Folders of single optimizer jobs as paired observations.

Every ``job.json`` of ours below the given folders is a job, finished or not. Files are sealed; one
that was changed or cut off is an error that names it, never a gap in a table. Copies of one sealed
job count once. Optimizers specification, sections 6.8, 6.10 and 7.
"""

from __future__ import annotations

import json
import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from lcbgrid.analysis.paired import GROUP_AXES, CurvePoint, Group, Search
from lcbgrid.core.errors import ConfigError
from lcbgrid.optimize.canonical import content_hash
from lcbgrid.optimize.cells import REQUIRED_SEEDS, SeedResult
from lcbgrid.optimize.errors import ArtifactError
from lcbgrid.optimize.job import ENVELOPE, JOB, RESULT, SCHEMA, SELECTION, TEST
from lcbgrid.optimize.published import nonconformances
from lcbgrid.optimize.sealed import SealedFolder

_SEARCHING: Final = "searching"
_PHASES: Final = (
    (RESULT, "finished"),
    (TEST, "tested"),
    (SELECTION, "selected"),
    (ENVELOPE, "searched"),
)
_SIMULATED: Final = ("simulated", "landscape")  # names of models that are none


@dataclass(frozen=True, slots=True)
class JobFolder:
    """What lies in the folder of a job.

    Attributes:
        folder: Where it is.
        job: Content of ``job.json``.
        envelope: Content of ``optimization.json``, if the search has ended.
        result: Content of ``result.json``, if the job is finished.
        phase: What it has reached: searching, searched, selected, tested, finished.
    """

    folder: Path
    job: Mapping[str, Any]
    envelope: Mapping[str, Any] | None
    result: Mapping[str, Any] | None
    phase: str

    @property
    def content(self) -> str:
        """Digest of what it holds; two copies of one job have the same."""
        return content_hash([self.job, self.envelope, self.result, self.phase])


@dataclass(frozen=True, slots=True)
class Jobs:
    """The jobs below some folders.

    Attributes:
        groups: Those that count.
        found: How many different jobs there are.
        finished: How many of them have a result.
        copies: Folders that repeat another one.
        left_out: Jobs that do not conform: job_id, method, seed, reasons; sorted.
    """

    groups: tuple[Group, ...]
    found: int
    finished: int
    copies: int
    left_out: tuple[dict[str, Any], ...]


def read_jobs(roots: Iterable[Path | str], *, include_nonconformant: bool = False) -> Jobs:
    """Read every job below some folders.

    Args:
        roots: The folders.
        include_nonconformant: Also count jobs outside of the published grid and protocol.

    Raises:
        ConfigError: A folder is not there, or no job lies below any of them.
        ArtifactError: A sealed file was changed or damaged; names it.
    """
    places = [Path(root) for root in roots]
    for place in places:
        if not place.is_dir():
            raise ConfigError("there is no such folder", where=place)
    read = [read_job(folder) for folder in _folders(places)]
    if not read:
        raise ConfigError(
            "there is no optimizer job below it",
            where=", ".join(map(str, places)),
            remedy="give the folders that were --out of python -m optimizers.protocol.run",
        )
    kept, copies = _without_copies(read)
    left_out, counted = [], []
    for item in kept:
        reasons = nonconformances(item.job)
        if reasons and not include_nonconformant:
            left_out.append(_left_out(item, reasons))
        else:
            counted.append(item)
    return Jobs(
        groups=tuple(_groups(counted)),
        found=len(kept),
        finished=sum(item.result is not None for item in kept),
        copies=copies,
        left_out=tuple(sorted(left_out, key=lambda row: (row["job_id"], row["method"]))),
    )


def read_job(folder: Path) -> JobFolder:
    """Read and check the sealed files of a job.

    Raises:
        ArtifactError: One was changed or damaged, is missing, or is of another job.
    """
    job = sealed(folder, JOB)
    try:
        _check_job(folder, job)
        envelope = sealed(folder, ENVELOPE) if (folder / ENVELOPE).is_file() else None
        result = sealed(folder, RESULT) if (folder / RESULT).is_file() else None
        for name, content in ((ENVELOPE, envelope), (RESULT, result)):
            if content is not None and content["job_id"] != job["job_id"]:
                raise ArtifactError("the artifact is of another job", where=folder / name)
        if result is not None and result["identity"] != job["identity"]:
            raise ArtifactError("the result is of another job", where=folder / RESULT)
        phases = (name for file, name in _PHASES if (folder / file).is_file())
        item = JobFolder(folder, job, envelope, result, next(phases, _SEARCHING))
        search_of(item)
        axes_of_job(job)
        nonconformances(job)
    except (KeyError, TypeError) as error:
        raise ArtifactError(
            f"a field is missing or of another kind: {error}", where=folder
        ) from None
    return item


def spending_of(item: JobFolder) -> dict[str, Any]:
    """Return what a search spent and its learning curve, as fields of ``Search``."""
    envelope = item.envelope or {}
    budget, usage = envelope.get("budget") or {}, envelope.get("usage") or {}
    return {
        "job_id": item.job["job_id"],
        "charged": budget.get("charged"),
        "task_tokens": _tokens(usage, ("task", "judge")),
        "reflection_tokens": _tokens(usage, ("reflection",)),
        "stop_reason": envelope.get("stop_reason"),
        "curve": curve_of(envelope),
    }


def search_of(item: JobFolder) -> Search:
    """Return a job as a paired observation."""
    more = spending_of(item)
    seed = item.job["identity"]["optimizer_seed"]
    if item.result is None:
        kind = (item.envelope or {}).get("failure_kind")
        why = f"unfinished:{item.phase}" + (f":{kind}" if kind else "")
        return Search(SeedResult(seed, {}, {}, invalid_reason=why), fallback_known=False, **more)
    test = item.result["test"]
    ids = test["example_ids"]
    answers = len(ids)
    return Search(
        SeedResult(
            seed,
            _scores(item, "baseline_scores"),
            _scores(item, "deployed_scores"),
            fallback_reason=test["fallback_reason"],
        ),
        baseline_tokens=test["usage"]["baseline"]["total_tokens"] / answers if answers else None,
        deployed_tokens=test["usage"]["deployed"]["total_tokens"] / answers if answers else None,
        **more,
    )


def curve_of(envelope: Mapping[str, Any]) -> tuple[CurvePoint, ...]:
    """Return the learning curve of a search at 0, 10, …, budget rollouts.

    A state that repeats the incumbent without a score keeps the score that it had.
    """
    points: list[CurvePoint] = []
    bundle: str = ""
    score: float | None = None
    for row in envelope.get("learning_curve") or ():
        told = row["native_observed_score"]
        if told is not None or row["bundle_hash"] != bundle:
            bundle, score = row["bundle_hash"], told
        if row["rollout_grid"] is not None:
            after = row["post_stop_carried_forward"]
            points.append(CurvePoint(row["rollout_grid"], score, after, bundle))
    return tuple(points)


def axes_of_job(job: Mapping[str, Any]) -> dict[str, Any]:
    """Return the axes of the group that a job belongs to."""
    identity, names = job["identity"], job["condition"]["names"]
    axes: dict[str, Any] = {name: names.get(name) for name in GROUP_AXES}
    changed = [f"{'' if on else 'no '}{name}" for name, on in sorted(identity["switches"].items())]
    return axes | {
        "method": identity["method"],
        "budget": identity["budget"],
        "profile": identity["profile"],
        "without": ", ".join(changed) or None,
        "reflection_model": identity["reflection_model"],
        "window": identity["window"],
        "versions": _versions(identity.get("versions") or {}),
        "condition_id": identity["condition_id"],
    }


def _versions(versions: Mapping[str, Any]) -> str | None:
    return ", ".join(f"{name} {number}" for name, number in sorted(versions.items())) or None


def is_simulated(job: Mapping[str, Any]) -> bool:
    """Return whether no real model answered in a job."""
    names = job["condition"]["names"]
    said = names.get("simulated")
    known = names.get("model_id", names.get("model"))
    return bool(said) if said is not None else known in _SIMULATED


def _folders(roots: Sequence[Path]) -> Iterator[Path]:
    """Yield every folder with a job of ours, each once, in an order that no listing decides."""
    seen = set()
    for root in roots:
        for place, below, names in os.walk(root, onerror=_refuse):
            below.sort()
            folder = Path(place)
            if JOB in names and (real := folder.resolve()) not in seen:
                seen.add(real)
                if _is_ours(folder / JOB):
                    yield folder
            elif RESULT in names and JOB not in names and _is_ours(folder / RESULT):
                raise ArtifactError(
                    f"{JOB} is not beside it",
                    where=folder / RESULT,
                    remedy="copy the whole folder of the job",
                )


def _refuse(error: OSError) -> None:
    raise error


def _is_ours(path: Path) -> bool:
    """Return whether a file is one of a job; one that cannot be read as JSON may be."""
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return True
    return isinstance(content, dict) and content.get("schema") == SCHEMA


def sealed(folder: Path, name: str) -> dict[str, Any]:
    """Return the content of a sealed file; an error names its place.

    Raises:
        ArtifactError: It is missing, damaged or was changed.
    """
    try:
        return SealedFolder(folder).read(name)
    except ArtifactError as error:
        raise ArtifactError(
            error.what, where=folder / name, value=error.value, remedy=error.remedy
        ) from None


def _check_job(folder: Path, job: Mapping[str, Any]) -> None:
    identity = job["identity"]
    if identity["condition_id"] != content_hash(job["condition"]):
        raise ArtifactError("its condition is not the one it names", where=folder / JOB)
    if not content_hash(identity).startswith(job["job_id"]):
        raise ArtifactError("its identity is not the one it names", where=folder / JOB)
    if type(identity["optimizer_seed"]) is not int:
        raise ArtifactError("its seed is no whole number", where=folder / JOB)


def _scores(item: JobFolder, name: str) -> dict[str, float | None]:
    assert item.result is not None
    test = item.result["test"]
    ids, scores = test["example_ids"], test[name]
    if len(ids) != len(scores) or len(set(ids)) < len(ids):
        raise ArtifactError(f"{name} do not belong to its problems", where=item.folder / RESULT)
    return dict(zip(ids, scores, strict=True))


def _tokens(usage: Mapping[str, Any], parts: Sequence[str]) -> int | None:
    found = [usage[part]["total_tokens"] for part in parts if usage.get(part)]
    return sum(found) if found else None


def _without_copies(read: Sequence[JobFolder]) -> tuple[list[JobFolder], int]:
    """Keep one folder of each job and content; an unfinished copy gives way to a finished one."""
    by_job: dict[str, dict[str, JobFolder]] = defaultdict(dict)
    for item in read:
        by_job[item.job["job_id"]].setdefault(item.content, item)
    kept = []
    for _, found in sorted(by_job.items()):
        finished = {key: item for key, item in found.items() if item.result is not None}
        furthest = max(_rank(item.phase) for item in found.values())
        own = finished or {k: v for k, v in found.items() if _rank(v.phase) == furthest}
        kept += [own[key] for key in sorted(own)]
    return kept, len(read) - len(kept)


def _rank(phase: str) -> int:
    names = [name for _, name in _PHASES]
    return -names.index(phase) if phase in names else -len(names)


def _left_out(item: JobFolder, reasons: Sequence[str]) -> dict[str, Any]:
    identity = item.job["identity"]
    return {
        "job_id": item.job["job_id"],
        "method": identity["method"],
        "seed": identity["optimizer_seed"],
        "reasons": list(reasons),
    }


def _groups(jobs: Iterable[JobFolder]) -> Iterator[Group]:
    by_axes: dict[tuple[Any, ...], list[JobFolder]] = defaultdict(list)
    for item in jobs:
        axes = axes_of_job(item.job)
        by_axes[tuple(axes[name] for name in GROUP_AXES)].append(item)
    for members in by_axes.values():
        yield Group(
            axes=axes_of_job(members[0].job),
            searches=tuple(search_of(item) for item in members),
            required=REQUIRED_SEEDS,
            simulated=is_simulated(members[0].job),
        )


def why_left_out(jobs: Jobs) -> list[str]:
    """Return each reason with how many jobs it left out, most frequent first."""
    times = Counter(reason for row in jobs.left_out for reason in row["reasons"])
    ordered = sorted(times.items(), key=lambda item: (-item[1], item[0]))
    return [f"{reason} ({n})" for reason, n in ordered]
