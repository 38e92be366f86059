"""One interface over three sources of rows: the hub data set, local files, the embedded set."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcbgrid.config.problem_spec import DatasetSpec
from lcbgrid.core.errors import ConfigError, DataError, UserError
from lcbgrid.core.hashing import sha256_file
from lcbgrid.problems.embedded import embedded_problems
from lcbgrid.problems.hub import pinned, shard_path
from lcbgrid.problems.readers import read_rows
from lcbgrid.problems.releases import HUB_DATASET, HUB_REVISION, release_shards
from lcbgrid.problems.rows import COLUMNS, Broken, RawRow

if TYPE_CHECKING:
    from datasets import IterableDataset

__all__ = ["RawRow", "Source", "SourceFile", "iter_rows", "open_source", "streaming_dataset"]


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file of a source: where it is and what it was checked against.

    ``expected_rows`` is ``None`` where no count is published.
    """

    path: Path
    sha256: str
    expected_rows: int | None

    def describe(self) -> dict[str, Any]:
        """Return name and sum; no path of this machine."""
        return {"file": self.path.name, "sha256": self.sha256}


@dataclass(frozen=True, slots=True)
class Source:
    """Checked files, and where they are from."""

    kind: str
    files: tuple[SourceFile, ...]
    dataset: str | None = None
    revision: str | None = None
    release: str | None = None

    def rows(self, on_unreadable: Callable[[Broken], None] | None = None) -> Iterator[RawRow]:
        """Yield the rows in stored order, one in memory at a time.

        Args:
            on_unreadable: Called with each line that is no row; without it such a line raises.

        Raises:
            DataError: A line is no row, or a file has not the published number of rows.
        """
        for file in self.files:
            count = 0
            for entry in read_rows(file.path):
                count += 1
                if isinstance(entry, RawRow):
                    yield entry
                elif on_unreadable is None:
                    raise DataError(
                        entry.reason, where=file.path, remedy="mend the file or get it again"
                    )
                else:
                    on_unreadable(entry)
            if file.expected_rows is not None and count != file.expected_rows:
                message = f"{file.expected_rows} rows are expected here"
                raise DataError(message, where=file.path, value=count)


def open_source(spec: DatasetSpec) -> Source:
    """Find the files of a source and check their sums; hub shards are downloaded if need be.

    Raises:
        ConfigError: The release or the file list is wrong.
        DataError: A file has another SHA-256 than stated; names the file.
        InfrastructureError: A shard is neither cached nor reachable.
    """
    if spec.source == "hub":
        shards = pinned(release_shards(spec.release))
        files = tuple(_checked(shard_path(shard), shard.sha256, shard.rows) for shard in shards)
        return Source("hub", files, HUB_DATASET, HUB_REVISION, spec.release)
    if spec.source == "local":
        return Source("local", _local_files(spec))
    return Source("embedded", (_checked(embedded_problems(), None, None),))


def iter_rows(
    spec: DatasetSpec, *, on_unreadable: Callable[[Broken], None] | None = None
) -> Iterator[RawRow]:
    """Open the source of ``spec`` and yield its rows (see ``Source.rows``)."""
    yield from open_source(spec).rows(on_unreadable)


def streaming_dataset(spec: DatasetSpec) -> IterableDataset:
    """Return the checked rows as a streaming ``datasets`` object, for notebooks and other tools.

    The rows come from our reader: the library's own JSON reader takes ``contest_date`` for a time
    stamp, and when text is asked for it writes that stamp in another spelling.
    """
    from datasets import Features, IterableDataset, Value

    open_source(spec)  # mistakes show here and not at the first row
    features = Features({column: Value("string") for column in COLUMNS})
    return IterableDataset.from_generator(_text_rows, features=features, gen_kwargs={"spec": spec})


def _text_rows(spec: DatasetSpec) -> Iterator[dict[str, object]]:
    for raw in iter_rows(spec):
        yield {column: raw.row.get(column) for column in COLUMNS}


def _local_files(spec: DatasetSpec) -> tuple[SourceFile, ...]:
    where = f"data set {spec.name}"
    if not spec.files:
        raise ConfigError("source: local needs files", where=where, remedy="list them in 'files'")
    if spec.sha256 and len(spec.sha256) != len(spec.files):
        message = "'sha256' must be empty or have one entry a file"
        counts = f"{len(spec.sha256)} sums for {len(spec.files)} files"
        raise ConfigError(message, where=where, value=counts)
    sums: tuple[str | None, ...] = spec.sha256 or (None,) * len(spec.files)
    return tuple(
        _checked(Path(name), expected, None)
        for name, expected in zip(spec.files, sums, strict=True)
    )


def _checked(path: Path, expected: str | None, rows: int | None) -> SourceFile:
    try:
        actual = sha256_file(path)
    except FileNotFoundError:
        raise UserError("no such file", where=path) from None
    except OSError as error:
        raise UserError(f"cannot be read ({error.strerror})", where=path) from None
    if expected is not None and actual != expected.lower():
        raise DataError(
            f"SHA-256 is not the expected {expected.lower()}",
            where=path,
            value=actual,
            remedy="the file was changed or damaged; get it again",
        )
    return SourceFile(path, actual, rows)
