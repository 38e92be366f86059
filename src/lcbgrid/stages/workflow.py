"""What the Snakefile needs: cells, inputs, digests, the lock; no logic is left in the rules."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from lcbgrid.config.effective import Effective, read_yaml, resolve
from lcbgrid.config.grid import Cell, find, path_pattern, slug
from lcbgrid.core import locks
from lcbgrid.core.errors import ConfigError
from lcbgrid.core.files import write_text
from lcbgrid.core.hashing import sha256_json
from lcbgrid.judge.errata import load_errata
from lcbgrid.judge.verdict import JUDGE_VERSION
from lcbgrid.stages.paths import Layout

REPLAY_VARIABLE = "LCBGRID_REPLAY_FROM"  # how jobs learn of it; it is in no file and no digest
LOCK = Path(".snakemake") / "lcbgrid.lock"


class Workflow:
    """The grid of one Snakemake run.

    Args:
        config: Snakemake's configuration: file and command line, merged.
        source_dir: Folder of the Snakefile; its ``config`` folder is searched last.
    """

    def __init__(self, config: Mapping[str, Any], source_dir: Path) -> None:
        self.effective: Effective = resolve(
            _plain(dict(config)),
            folders=(Path("config"), Path(), source_dir / "config"),
            where="configuration",
        )
        self._cells = {cell.path: cell for cell in self.effective.cells}
        if any(cell.optimizes for cell in self._cells.values()):
            from lcbgrid.stages.optimize import check_searches

            check_searches(self.effective)
        self.cell_pattern = path_pattern(self._cells.values())
        self.dataset = slug(self.effective.config.dataset.name)
        self.layout = Layout(Path("results"))
        self._lock: int | None = None
        source = self.effective.config.replay_from
        if source:
            _check_replay(Path(source), self.layout.results)
            os.environ[REPLAY_VARIABLE] = source

    @property
    def cell_paths(self) -> list[str]:
        """Paths of all cells, in order."""
        return list(self._cells)

    @property
    def data_files(self) -> list[str]:
        """Files of the user that the problems come from."""
        dataset = self.effective.config.dataset
        files = list(dataset.files) if dataset.source == "local" else []
        return files + ([dataset.splits_file] if dataset.splits_file else [])

    def cell(self, path: str) -> Cell:
        """Return the cell of a path; refuses a path that the grid does not have."""
        return self._cells.get(path) or find(self._cells.values(), path)

    def run_digest(self, wildcards: Any) -> str:
        """Digest that changes exactly when the cell must be run again."""
        return self.effective.run_digest(self.cell(wildcards.cell))

    def run_inputs(self, wildcards: Any) -> list[str]:
        """Files that a cell waits for besides its problems: its prompts, and its baseline.

        Calls that a cell shares with the prompts as written are answered from there.
        """
        cell = self.cell(wildcards.cell)
        if not cell.optimizes:
            return []
        needed = [self.layout.bundle(cell)]
        if cell.baseline.path in self._cells:
            needed.append(self.layout.run(cell.baseline) / "predictions.jsonl")
        return [path.as_posix() for path in needed]

    def optimize_digest(self, wildcards: Any) -> str:
        """Digest that changes exactly when prompts must be searched again.

        A method that would go another way is searched again; libraries that were upgraded are
        not: what they found stands, and names them.
        """
        from lcbgrid.optimize.cell import versions_of

        cell = self.cell(wildcards.cell)
        version = versions_of(cell.optimizer)["method"]
        return sha256_json([self.effective.optimize_digest(cell), version])

    @property
    def optimize_inputs(self) -> list[str]:
        """Problems that searches of this grid read."""
        found = [f"results/search_problems/{self.dataset}/manifest.json"]
        if self.effective.config.optimize.own_test:
            found.append(f"results/problems/{self.dataset}/manifest.json")
        return found

    @property
    def search_problems_digest(self) -> str:
        """Digest of what decides the problems of searches."""
        config = self.effective.config
        sizes = config.optimize.model_dump(mode="json", include={"n_train", "n_validation"})
        return sha256_json([config.dataset.model_dump(mode="json", exclude={"filters"}), sizes])

    @property
    def judge_digest(self) -> str:
        """Digest that changes exactly when programs must be judged again, tests apart."""
        errata = load_errata(with_checkers=self.effective.config.judge.checkers)
        return sha256_json([JUDGE_VERSION, self.effective.judge_digest(), errata.digest])

    def embedded_models(self, wildcards: Any) -> int:
        """Models that running a cell loads into the job's own process: 1 or 0."""
        return self._loaded({self.cell(wildcards.cell).model})

    def search_models(self, wildcards: Any) -> int:
        """Models that a cell's search loads into the job's own process: 0, 1 or 2."""
        cell = self.cell(wildcards.cell)
        return min(cores(), self._loaded({cell.model, self.effective.reflection_model(cell)}))

    def _loaded(self, names: set[str]) -> int:
        if self.effective.config.replay_from is not None:
            return 0
        return sum(self.effective.models[name].provider == "embedded" for name in names)

    def start(self, rules: set[str]) -> None:
        """Take this folder's lock for as long as the process lives; write what jobs read.

        Redrawing cached runs leaves the configuration as it is: it belongs to the runs.

        Args:
            rules: Names of the rules that will run.

        Raises:
            BusyError: Another run works in this folder; names its pid.
        """
        if self._lock is None:
            self._lock = locks.acquire(LOCK, what="this folder's grid")
        if rules - {"figures", "all"} or not self.layout.effective_config.exists():
            write_text(self.layout.effective_config, self.effective.dump())


def cores() -> int:
    """Return the cores that this process may use."""
    return len(os.sched_getaffinity(0))


def check_files(paths: Iterable[str | Path]) -> None:
    """Refuse configuration files with damage that Snakemake's reader passes over.

    Raises:
        ConfigError: No YAML, or a key that stands twice.
    """
    for path in paths:
        read_yaml(Path(path))


def _check_replay(source: Path, results: Path) -> None:
    if not (source / "runs").is_dir():
        raise ConfigError(
            "there are no runs to replay from", where="replay_from", value=str(source)
        )
    if source.resolve() == results.resolve():
        raise ConfigError(
            "a grid cannot replay from the folder that it writes",
            where="replay_from",
            value=str(source),
            remedy="copy or rename that folder first",
        )


def use_own_commands() -> None:
    """Let jobs find ``lcbgrid`` beside the interpreter that runs Snakemake."""
    own = os.path.dirname(sys.executable)
    path = os.environ.get("PATH", os.defpath)
    if path.split(os.pathsep)[0] != own:
        os.environ["PATH"] = own + os.pathsep + path


def _plain(value: Any) -> Any:
    """Turn Snakemake's own containers into plain ones."""
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value
