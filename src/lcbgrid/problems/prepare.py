"""Prepare a data set: from a source's rows to the files every later stage reads.

Written are ``problems.jsonl`` (sorted by question id as text, without hidden tests),
``tests/{question_id}.json.gz``, ``splits.json`` and, last, ``manifest.json``; without it the
folder counts as not prepared. All is built in a staging folder first, so a failed run leaves the
last good state untouched. One question's tests are in memory at a time. The same rows give the
same bytes.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

import lcbgrid
from lcbgrid.config.problem_spec import DatasetSpec
from lcbgrid.core.errors import ConfigError, DataError, from_os_error
from lcbgrid.core.files import write_json, write_jsonl
from lcbgrid.core.hashing import sha256_file
from lcbgrid.core.locks import held
from lcbgrid.problems.embedded import embedded_dir
from lcbgrid.problems.filters import RowFilter, check_known_ids, check_not_empty, take
from lcbgrid.problems.manifest import Manifest, counts
from lcbgrid.problems.resources import resource_dir
from lcbgrid.problems.rows import (
    NO_TESTS,
    Broken,
    RawRow,
    Skipped,
    parse_problem,
    parse_suite,
    question_id_of,
    reason_of,
)
from lcbgrid.problems.schema import Problem
from lcbgrid.problems.sources import Source, open_source
from lcbgrid.problems.splits import Splits, read_splits
from lcbgrid.problems.store import (
    MANIFEST_FILE,
    PROBLEMS_FILE,
    SPLITS_FILE,
    TESTS_DIR,
    suite_bytes,
    suite_file_name,
)

_SHOWN_BROKEN = 10
_LCB_SPLITS = "lcb_splits.json"


def prepare(spec: DatasetSpec, out_dir: Path | str) -> Manifest:
    """Prepare the data set ``spec`` describes in ``out_dir``.

    Raises:
        ConfigError: Release, files or split file do not fit.
        DataError: A file or a row is broken (all broken rows are named), or the number of problems
            is not ``expect_count``.
        UserError: An id is unknown, or nothing is left after the filters.
        InfrastructureError: The hub is not reachable, or the disk is full.
    """
    target = Path(out_dir)
    try:
        with held(target.parent / f".{target.name}.lock", what=f"data set {spec.name!r}"):
            staging = target.parent / f".{target.name}.staging"
            shutil.rmtree(staging, ignore_errors=True)  # of a killed run; the lock is ours
            try:
                manifest = _build(spec, staging)
                _publish(staging, target)
            finally:
                shutil.rmtree(staging, ignore_errors=True)
    except OSError as error:
        on_disk = from_os_error(error)
        if on_disk is None:
            raise
        raise on_disk from error
    return manifest


@dataclass(slots=True)
class _Kept:
    """What is remembered of a usable row once its tests are written."""

    problem: Problem
    n_tests: int
    tests_sha256: str


@dataclass(slots=True)
class _Pass:
    """One pass over the rows of a source."""

    filter: RowFilter
    tests_dir: Path
    max_bytes: int
    kept: dict[str, _Kept] = field(default_factory=dict)
    skipped: list[Skipped] = field(default_factory=list)
    broken: list[Broken] = field(default_factory=list)
    places: dict[str, str] = field(default_factory=dict)
    n_rows: int = 0

    def add(self, raw: RawRow) -> None:
        """Take in one row; its hidden tests are decoded only if it passes the filters."""
        self.n_rows += 1
        question_id = question_id_of(raw.row)
        first_place = self.places.setdefault(question_id, raw.where)
        if not self.filter.accepts_id(question_id):
            return
        try:
            problem = parse_problem(raw.row, max_bytes=self.max_bytes)
            if not self.filter.accepts(problem):
                return
            if first_place != raw.where:
                message = f"question id appears twice, first at {first_place}"
                raise DataError(message)
            suite = parse_suite(raw.row, problem, max_bytes=self.max_bytes)
        except DataError as error:
            self.broken.append(Broken(question_id, raw.where, reason_of(error)))
            return
        if not suite.tests:
            self.skipped.append(Skipped(question_id, NO_TESTS))
            return
        data = suite_bytes(suite)
        (self.tests_dir / suite_file_name(question_id)).write_bytes(data)
        digest = hashlib.sha256(data).hexdigest()
        self.kept[question_id] = _Kept(problem, len(suite.tests), digest)

    def add_unreadable(self, broken: Broken) -> None:
        """Take in a line that is no row."""
        self.n_rows += 1
        self.broken.append(broken)


def _build(spec: DatasetSpec, staging: Path) -> Manifest:
    splits = splits_of(spec)
    split_ids = _split_ids(spec, splits)
    source = open_source(spec)
    tests_dir = staging / TESTS_DIR
    tests_dir.mkdir(parents=True)
    work = _Pass(RowFilter.of(spec.filters, split_ids), tests_dir, spec.max_tests_mb << 20)
    for raw in source.rows(on_unreadable=work.add_unreadable):
        work.add(raw)
    if work.broken and not spec.allow_broken:
        raise _broken_error(spec, work.broken)
    check_known_ids(spec.filters, work.places)
    chosen = take([kept.problem for kept in work.kept.values()], spec.filters)
    check_not_empty(len(chosen), work.n_rows, spec.filters)
    _check_count(spec, chosen)
    _drop_tests(work, {problem.question_id for problem in chosen}, tests_dir)
    write_jsonl(staging / PROBLEMS_FILE, (problem.to_record() for problem in chosen))
    present = {problem.question_id for problem in chosen}
    write_json(staging / SPLITS_FILE, splits.restricted(present).to_record())
    missing = sorted(set(split_ids or ()) - set(work.places))
    manifest = _manifest(spec, source, work, chosen, staging / PROBLEMS_FILE, missing)
    write_json(staging / MANIFEST_FILE, manifest.to_record())
    return manifest


def splits_of(spec: DatasetSpec) -> Splits:
    """Return the splits that belong to the source: a named file, or the one that comes with it."""
    if spec.splits_file is not None:
        return read_splits(Path(spec.splits_file))
    if spec.source == "embedded":
        return read_splits(embedded_dir() / SPLITS_FILE)
    if spec.source == "hub":
        return read_splits(resource_dir("lcb") / _LCB_SPLITS)
    return Splits("no split file was given", (), (), ())


def _split_ids(spec: DatasetSpec, splits: Splits) -> Collection[str] | None:
    if spec.split == "all":
        return None
    ids = splits.ids(spec.split)
    if not ids:
        raise ConfigError(
            f"there is no split {spec.split!r} for this data set",
            where=f"data set {spec.name}",
            remedy="name a file in 'splits_file' or set split: all",
        )
    return ids


def _broken_error(spec: DatasetSpec, broken: list[Broken]) -> DataError:
    shown = [f"{item.where} question {item.question_id}: {item.reason}" for item in broken]
    if len(shown) > _SHOWN_BROKEN:
        shown[_SHOWN_BROKEN:] = [f"and {len(broken) - _SHOWN_BROKEN} more"]
    return DataError(
        f"{len(broken)} broken row{'s' if len(broken) > 1 else ''}: " + "; ".join(shown),
        where=f"data set {spec.name}",
        remedy="mend them, or set allow_broken: true to leave them out",
    )


def _check_count(spec: DatasetSpec, chosen: list[Problem]) -> None:
    if spec.expect_count is None or len(chosen) == spec.expect_count:
        return
    span = f"{len(chosen)}, {chosen[0].question_id} to {chosen[-1].question_id}"
    raise DataError(
        f"expect_count says {spec.expect_count} problems",
        where=f"data set {spec.name}",
        value=span,
        remedy="check release and window, or correct expect_count",
    )


def _drop_tests(work: _Pass, wanted: set[str], tests_dir: Path) -> None:
    for question_id in work.kept.keys() - wanted:
        (tests_dir / suite_file_name(question_id)).unlink()


def _manifest(
    spec: DatasetSpec,
    source: Source,
    work: _Pass,
    chosen: list[Problem],
    problems_file: Path,
    missing: list[str],
) -> Manifest:
    kept = [work.kept[problem.question_id] for problem in chosen]
    digest = hashlib.sha256()
    for item in kept:
        digest.update(f"{item.problem.question_id} {item.tests_sha256}\n".encode())
    return Manifest(
        name=spec.name,
        source=source.kind,
        hub_dataset=source.dataset,
        hub_revision=source.revision,
        release=source.release,
        split=spec.split,
        start_date=spec.filters.start_date,
        end_date=spec.filters.end_date,
        filters=spec.filters.model_dump(mode="json"),
        files=[file.describe() for file in source.files],
        n_rows=work.n_rows,
        n_problems=len(chosen),
        n_tests=sum(item.n_tests for item in kept),
        n_public_only=sum(item.n_tests == len(item.problem.public_tests) for item in kept),
        first_id=chosen[0].question_id,
        last_id=chosen[-1].question_id,
        by_difficulty=counts(chosen, "difficulty"),
        by_platform=counts(chosen, "platform"),
        by_mode=counts(chosen, "mode"),
        problems_sha256=sha256_file(problems_file),
        tests_sha256=digest.hexdigest(),
        missing_from_split=missing,
        skipped=sorted(work.skipped, key=lambda item: item.question_id),
        broken=sorted(work.broken, key=lambda item: (item.question_id, item.where)),
        code_version=lcbgrid.__version__,
    )


def _publish(staging: Path, target: Path) -> None:
    """Move the built files into place; the manifest goes first and comes back last."""
    target.mkdir(parents=True, exist_ok=True)
    (target / MANIFEST_FILE).unlink(missing_ok=True)
    shutil.rmtree(target / TESTS_DIR, ignore_errors=True)
    for name in (TESTS_DIR, PROBLEMS_FILE, SPLITS_FILE, MANIFEST_FILE):
        (staging / name).replace(target / name)
