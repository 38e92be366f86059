"""Ready-made runners: one team, on two built-in problems or over a data set.

The modules below ``topologies``, ``teamsizes`` and ``communications`` only call ``run`` with
names; everything that they can do is here. See ``docs/guide/runners.md``.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from lcbgrid.core.errors import EXIT_OK

if TYPE_CHECKING:
    from lcbgrid.config.problem_spec import DatasetSpec
    from lcbgrid.stages.batch import Batch

logger = logging.getLogger(__name__)

COMMUNICATION_SIZE = 4
_RULE = "-" * 72


@dataclass(frozen=True, slots=True)
class Runner:
    """A runner: which team, and what of it is fixed.

    Attributes:
        topology: Name in the teams file.
        size: The only team size; ``None``: a variable may choose it.
        communication: Communication format, for the runners that are named after one.
    """

    topology: str
    size: int | None = None
    communication: str | None = None

    @property
    def default_out(self) -> Path:
        """The file that is written if none is named."""
        base, _, framework = self.topology.partition("_")
        if self.communication:
            folder = f"communications_baseline/{base}_lcb_{self.communication}"
            return Path("results") / folder / "results.jsonl"
        kind = f"r{self.size}" if self.size else framework or "langgraph"
        return Path("results") / f"lcb_{base}_{kind}" / "predictions.jsonl"

    @property
    def module(self) -> str:
        """The module that this is the runner of."""
        base, _, framework = self.topology.partition("_")
        if self.communication:
            return f"communications.{base}.lcb.lcb_{self.communication}"
        if self.size:
            return f"teamsizes.{base}.lcb.lcb_r{self.size}"
        if base in ("single", "independent"):
            return f"topologies.{base}.lcb.langgraph_lcb"
        name = framework or "langgraph"
        return f"topologies.{base}.{name}.lcb.{name}_lcb"


def run(topology: str, *, size: int | None = None, communication: str | None = None) -> NoReturn:
    """Run the command line of a runner and exit.

    Args:
        topology: Name in the teams file.
        size: Team size, if the runner is made for one.
        communication: Communication format, if the runner is made for one; teams of four.
    """
    from lcbgrid.cli.main import run_script

    if communication is not None:
        size = COMMUNICATION_SIZE
    run_script(lambda: main(Runner(topology, size, communication), sys.argv[1:]))


def main(
    runner: Runner,
    arguments: list[str],
    environment: Mapping[str, str] = os.environ,
) -> int:
    """Run a runner's command line and return the exit status."""
    from lcbgrid.cli.main import guarded, set_up_logging

    def work() -> int:
        from lcbgrid.cli.runner_options import parse_options
        from lcbgrid.stages.variables import log_level

        about = f"Team {runner.topology!r} on programming problems."
        options = parse_options(arguments, prog=runner.module, about=about)
        set_up_logging(None, level=log_level(environment))
        if options.batch:
            return _batch(runner, options, environment)
        return _demo(runner, options, environment)

    return guarded(work)


def _batch(runner: Runner, options: argparse.Namespace, environment: Mapping[str, str]) -> int:
    from lcbgrid.analysis.batch_report import batch_report, row_line
    from lcbgrid.cli.runner_options import dataset_of
    from lcbgrid.core.files import write_jsonl
    from lcbgrid.problems.resources import resource_dir
    from lcbgrid.problems.splits import read_splits
    from lcbgrid.stages.batch import run_batch

    started = time.monotonic()
    out = options.out or runner.default_out
    if options.out is None and options.out_dir is not None:
        out = options.out_dir / "predictions.jsonl"
    evaluation = read_splits(resource_dir("lcb") / "lcb_splits.json").test
    dataset = dataset_of(options, frozenset(evaluation))
    batch = _plan(runner, options, environment, dataset, out.parent / ".work")
    records = run_batch(batch, fresh=bool(options.fresh))
    write_jsonl(out, records)
    for index, record in enumerate(records, start=1):
        logger.info("%s", row_line(index, len(records), record))
    logger.info("records: %s; transcript and verdicts: %s", out, batch.layout.run(batch.cell))
    for line in batch_report(_label(batch), records, time.monotonic() - started):
        typer.echo(line)
    return EXIT_OK


def _demo(runner: Runner, options: argparse.Namespace, environment: Mapping[str, str]) -> int:
    from lcbgrid.config.problem_spec import DatasetSpec
    from lcbgrid.core.files import write_jsonl
    from lcbgrid.stages.batch import outcomes_of, run_batch
    from lcbgrid.stages.demo import ROWS

    with tempfile.TemporaryDirectory(prefix="lcbgrid-demo-") as folder:
        rows = Path(folder) / "demo.jsonl"
        write_jsonl(rows, ROWS)
        dataset = DatasetSpec(name="demo", source="local", files=(str(rows),))
        batch = _plan(runner, options, environment, dataset, Path(folder) / "work")
        records = run_batch(batch)
        outcomes = outcomes_of(batch)
    titles = {row["question_id"]: row["question_title"] for row in ROWS}
    typer.echo(f"{_label(batch)}: two built-in problems; --batch runs a data set")
    for record in records:
        for line in _shown(titles[record["id"]], record, outcomes[record["id"]]):
            typer.echo(line)
    return EXIT_OK


def _plan(
    runner: Runner,
    options: argparse.Namespace,
    environment: Mapping[str, str],
    dataset: DatasetSpec,
    work: Path,
) -> Batch:
    from lcbgrid.stages import variables
    from lcbgrid.stages.batch import Batch
    from lcbgrid.stages.one_cell import Choices, one_cell

    model, reason = options.model, "as asked"
    if model is None:
        model, reason = variables.model_name(environment)
    logger.info("model: %s (%s)", model, reason)
    seed = variables.request_seed(environment) if options.seed is None else options.seed
    choices = Choices(
        topology=runner.topology,
        team_size=variables.team_size(runner.topology, runner.size, environment),
        communication=runner.communication or "freeform",
        model=model,
        dataset=dataset,
        seed=seed,
        concurrency=options.concurrency,
        bundle=options.bundle,
    )
    return Batch(*one_cell(choices, environment), work)


def _label(batch: Batch) -> str:
    cell, effective = batch.cell, batch.effective
    data = "LCB" if cell.dataset == "lcb" else cell.dataset
    team, facts = effective.teams[cell.topology], []
    if len(team.sizes) > 1:
        facts.append(f"N={cell.team_size}")
    if cell.topology.startswith("decentralized"):
        facts.append(f"R={team.rounds}")
    if cell.communication != "freeform":
        facts.append(cell.communication)
    if effective.models[cell.model].is_simulated:
        facts.append("simulated model")
    return f"{cell.topology}/{data}" + (f" ({', '.join(facts)})" if facts else "")


def _shown(title: str, record: Mapping[str, Any], tests: list[dict[str, Any]]) -> list[str]:
    program = record["predicted_code"] or f"(no program: {record['error'] or record['status']})"
    lines = ["", _RULE, f"{title} ({record['id']})", _RULE, program, _RULE]
    for test in tests:
        detail = f": {test['detail']}" if test["detail"] else ""
        lines.append(f"test {test['index'] + 1}: {test['status']}{detail}")
    passed = "-" if record["pass"] is None else record["pass"]
    lines.append(f"passed {passed} of {record['total']} tests ({record['verdict']})")
    return lines
