"""Check files of rows, for ``lcbgrid problems check FILE…``."""

from __future__ import annotations

import builtins
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lcbgrid.core.errors import EXIT_DIFFERENCE, EXIT_OK, DataError
from lcbgrid.problems.decode import MAX_TESTS_BYTES, UNKNOWN_ID
from lcbgrid.problems.readers import read_rows
from lcbgrid.problems.rows import Broken, Loaded, RawRow, Skipped, read_row

Print = Callable[[str], object]


def check_files(
    paths: Sequence[Path | str],
    print: Print = builtins.print,
    *,
    max_bytes: int = MAX_TESTS_BYTES,
) -> int:
    """Load every row of the files and say what can be used.

    Printed are one line per row that cannot be used, counts per file and kind, and a last line
    that sums up. A row with public tests only is usable and counted apart.

    Args:
        paths: Files of the hub's schema (.jsonl, .json, .parquet).
        print: Takes one line.
        max_bytes: Cap on the decoded size of a test list.

    Returns:
        Exit status: 0, or 1 if any row is broken.

    Raises:
        UserError: A file does not exist or is of an unknown kind.
    """
    total = _Counts()
    for path in map(Path, paths):
        counts = _check_file(path, print, max_bytes)
        for line in counts.lines(path.name):
            print(line)
        total.add(counts)
    repeated = sum(count > 1 for count in total.ids.values())
    note = f"; {repeated} ids appear in more than one file" if repeated else ""
    files = f"{len(paths)} file{'s' if len(paths) != 1 else ''}"
    print(f"checked {files}: {total.one_line()}{note}")
    return EXIT_DIFFERENCE if total.broken else EXIT_OK


@dataclass(slots=True)
class _Counts:
    usable: int = 0
    skipped: int = 0
    broken: int = 0
    tests: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    platforms: Counter[str] = field(default_factory=Counter)
    difficulties: Counter[str] = field(default_factory=Counter)
    ids: Counter[str] = field(default_factory=Counter)

    def take(self, loaded: Loaded) -> None:
        self.usable += 1
        self.tests += len(loaded.suite.tests)
        self.kinds[loaded.problem.mode] += 1
        self.kinds["public tests only"] += loaded.public_only
        self.platforms[loaded.problem.platform] += 1
        self.difficulties[loaded.problem.difficulty] += 1

    def add(self, other: _Counts) -> None:
        self.usable += other.usable
        self.skipped += other.skipped
        self.broken += other.broken
        self.tests += other.tests
        self.kinds += other.kinds
        self.platforms += other.platforms
        self.difficulties += other.difficulties
        self.ids += other.ids

    def one_line(self) -> str:
        rows = self.usable + self.skipped + self.broken
        return (
            f"{rows} rows, {self.usable} usable "
            f"({_listed(self.kinds, ('functional', 'stdin', 'public tests only'))}), "
            f"{self.skipped} skipped, {self.broken} broken, {self.tests} tests"
        )

    def lines(self, name: str) -> list[str]:
        return [
            f"{name}: {self.one_line()}",
            f"  platform: {_listed(self.platforms, sorted(self.platforms))}",
            f"  difficulty: {_listed(self.difficulties, ('easy', 'medium', 'hard'))}",
        ]


def _listed(counter: Counter[str], names: Sequence[str]) -> str:
    return ", ".join(f"{name} {counter[name]}" for name in names) or "none"


def _check_file(path: Path, print: Print, max_bytes: int) -> _Counts:
    counts = _Counts()
    try:
        for entry in read_rows(path):
            outcome = read_row(entry, max_bytes=max_bytes) if isinstance(entry, RawRow) else entry
            where = f"{entry.file}:{entry.line}" if isinstance(entry, RawRow) else entry.where
            outcome = _unless_repeated(outcome, where, counts)
            if isinstance(outcome, Loaded):
                counts.take(outcome)
            elif isinstance(outcome, Skipped):
                counts.skipped += 1
                print(f"{where}: question {outcome.question_id}: skipped: {outcome.reason}")
            else:
                counts.broken += 1
                print(f"{where}: question {outcome.question_id}: broken: {outcome.reason}")
    except DataError as error:  # the rest of this file cannot be read; others may be sound
        counts.broken += 1
        print(f"{error}: broken")
    return counts


def _unless_repeated(
    outcome: Loaded | Skipped | Broken, where: str, counts: _Counts
) -> Loaded | Skipped | Broken:
    if isinstance(outcome, Loaded):
        question_id = outcome.problem.question_id
    else:
        question_id = outcome.question_id
    if question_id == UNKNOWN_ID:
        return outcome
    if question_id in counts.ids:
        return Broken(question_id, where, "the question id appears twice in this file")
    counts.ids[question_id] = 1
    return outcome
