"""``python -m optimizers.protocol.aggregate``: what optimizer jobs have gained.

Optimizers specification, sections 6.4 and 7. Standard output is a table for people; its last line
is JSON for programs. Progress goes to standard error.
"""

from __future__ import annotations

import argparse
import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from lcbgrid.cli.arguments import Parser
from lcbgrid.core.errors import EXIT_OK

if TYPE_CHECKING:
    from lcbgrid.analysis.gains import GainFrames
    from lcbgrid.analysis.job_folders import Jobs

logger = logging.getLogger(__name__)

PROGRAM = "optimizers.protocol.aggregate"
_EPILOG = """A cell is complete if the seeds 0, 1 and 2 are there once each, valid, and on the same
problems; others are named with their reasons and take part in no mean. Jobs that do not conform to
the published grid and protocol are left out and counted unless --include-nonconformant is given.
Exit status: 0 done; 2 a mistake in what was asked, or a damaged file, which is named."""


def run() -> NoReturn:
    """Run the command line and exit."""
    from lcbgrid.cli.main import run_script

    run_script(lambda: main(sys.argv[1:]))


def main(arguments: list[str]) -> int:
    """Sum up jobs and return the exit status."""
    from lcbgrid.cli.main import guarded, set_up_logging

    def work() -> int:
        options = _parser().parse_args(arguments)
        set_up_logging(None, quiet=options.quiet)
        _aggregate(options)
        return EXIT_OK

    return guarded(work)


def _path(text: str) -> Path:
    if not text.strip():
        raise argparse.ArgumentTypeError("a path is empty")
    return Path(text)


def _parser() -> Parser:
    parser = Parser(
        prog=PROGRAM,
        description="Sum up optimizer jobs: the gain of each method in each condition over the "
        "prompts as written, with intervals and tests.",
        epilog=_EPILOG,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("roots", nargs="+", type=_path, metavar="DIR", help="folders; jobs anywhere below count")
    add("--out", type=_path, metavar="FILE", help="write the summary as JSON")
    add("--figures", type=Path, metavar="DIR", help="draw heat map, forest plot and curves")
    add(
        "--bootstrap",
        type=int,
        default=10_000,
        metavar="R",
        help="replicates of the bootstrap, at least 100; default: 10000",
    )
    add(
        "--family",
        default="task_model",
        metavar="NAME",
        help="what Holm's correction is made in: task_model (default), method or all",
    )
    add("--include-nonconformant", action="store_true", help="count every job")
    add("--quiet", action="store_true", help="only warnings on stderr")
    return parser


def _aggregate(options: argparse.Namespace) -> None:
    from lcbgrid.analysis.gains import Rules, gain_frames
    from lcbgrid.analysis.job_folders import read_jobs, why_left_out
    from lcbgrid.analysis.summary import summary
    from lcbgrid.core.files import dump_json, write_json

    rules = Rules(replicates=options.bootstrap, family=options.family.replace("-", "_"))
    jobs = read_jobs(options.roots, include_nonconformant=options.include_nonconformant)
    logger.info("%d jobs, %d finished", jobs.found, jobs.finished)
    if jobs.left_out:
        logger.warning(
            "%d of %d jobs left out: %s; add --include-nonconformant to count them",
            len(jobs.left_out),
            jobs.found,
            "; ".join(why_left_out(jobs)),
        )
    frames = gain_frames(jobs.groups, rules)
    content = summary(frames, jobs, rules, include_nonconformant=options.include_nonconformant)
    if options.out is not None:
        write_json(options.out, content)
    if options.figures is not None:
        from lcbgrid.analysis.draw import make_gain_figures

        make_gain_figures(frames, options.figures)
    typer.echo(_tables(frames, jobs))
    typer.echo(dump_json(_last_line(content, options)))


def _tables(frames: GainFrames, jobs: Jobs) -> str:
    from lcbgrid.analysis.job_folders import why_left_out
    from lcbgrid.analysis.render import render_text
    from lcbgrid.analysis.tables_gains import optimizer_table, tests_table

    notes = []
    if jobs.left_out:
        why = "; ".join(why_left_out(jobs))
        notes.append(
            f"Left out, not conformant: {len(jobs.left_out)} of {jobs.found} jobs: {why}."
        )
    text = render_text(optimizer_table(frames, notes))
    if len(frames.gain_tests):
        text += "\n" + render_text(tests_table(frames))
    return text


def _last_line(content: dict[str, Any], options: argparse.Namespace) -> dict[str, Any]:
    cells = content["cells"]
    return {
        "cells": len(cells),
        "complete": sum(cell["state"] == "complete" for cell in cells),
        "jobs": content["jobs"]["found"],
        "left_out": len(content["jobs"]["left_out"]),
        "out": None if options.out is None else options.out.as_posix(),
        "figures": None if options.figures is None else options.figures.as_posix(),
    }
