"""The options of the ready-made runners, the same for all of them."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Any

from lcbgrid.cli.arguments import Parser
from lcbgrid.config.base import validate
from lcbgrid.config.problem_spec import DatasetSpec
from lcbgrid.core.errors import ConfigError, UserError

_FOR_BATCHES = (
    "limit",
    "offset",
    "only",
    "difficulty",
    "platform",
    "dataset",
    "split",
    "out_dir",
    "out",
    "fresh",
)
_EPILOG = """Without --batch the team solves two small problems of our own and shows how it did.
Exit status: 0 done; 2 a mistake in what was asked; 3 the world failed (hub, endpoint, sandbox)."""
_FIRST_RELEASE = "release_v1"  # its first rows are the evaluation ids


def parse_options(arguments: list[str], *, prog: str, about: str) -> argparse.Namespace:
    """Parse the command line of a runner.

    Raises:
        UserError: An option is wrong, or stands without the ``--batch`` that it needs.
    """
    parser = _parser(prog, about)
    options = parser.parse_args(arguments)
    if not options.batch:
        for name in _FOR_BATCHES:
            value = getattr(options, name)
            if value is not None:
                spelled = "--resume" if value is False else "--" + name.replace("_", "-")
                raise UserError(
                    f"{spelled} is for batches, and --batch is missing",
                    remedy="add --batch; without it the team only solves two demo problems",
                )
    return options


def _parser(prog: str, about: str) -> Parser:
    parser = Parser(prog=prog, description=about, epilog=_EPILOG, allow_abbrev=False)
    add = parser.add_argument
    add("--batch", action="store_true", help="run over a data set")
    add("--limit", type=int, metavar="N", help="at most N problems, after --offset")
    add("--offset", type=int, metavar="K", help="skip K problems, after the filters")
    add(
        "--only",
        nargs="+",
        action="extend",
        metavar="ID",
        help="only these problems; may be given again; cancels --limit",
    )
    add("--difficulty", choices=("easy", "medium", "hard"), help="only this difficulty")
    add("--platform", choices=("codeforces", "leetcode", "atcoder"), help="only this platform")
    add(
        "--dataset",
        metavar="NAME",
        help="lcb (LiveCodeBench from the hub, the default), embedded (our own problems), or a "
        "file of rows (.jsonl, .json, .parquet)",
    )
    add(
        "--split",
        choices=("all", "train", "validation", "test"),
        help="part of the data set; default: test for lcb, unless --only names other problems; "
        "else all",
    )
    add("--out-dir", type=Path, metavar="DIR", help="write DIR/predictions.jsonl")
    add("--out", type=Path, metavar="PATH", help="file to write; wins over --out-dir")
    again = parser.add_mutually_exclusive_group()
    again.add_argument(
        "--resume",
        dest="fresh",
        action="store_false",
        default=None,
        help="keep finished model calls and verdicts of an earlier batch there (the default)",
    )
    again.add_argument(
        "--fresh", dest="fresh", action="store_true", default=None, help="forget them"
    )
    add("--model", metavar="NAME", help="name in config/models.yaml")
    add("--concurrency", type=_positive, metavar="N", help="model calls in flight")
    add("--bundle", type=Path, metavar="FILE", help="JSON {role: text} in place of the prompts")
    add("--seed", type=_seed, metavar="N", help="seed of all calls; default: REQUEST_SEED, else 0")
    return parser


def dataset_of(options: argparse.Namespace, evaluation_ids: frozenset[str]) -> DatasetSpec:
    """Return the problems that the options choose.

    Args:
        options: Parsed options.
        evaluation_ids: The problems that LiveCodeBench is run on unless others are named.

    Raises:
        ConfigError: There is no such data set, or a filter cannot be.
    """
    name = options.dataset or "lcb"
    only = tuple(options.only or ())
    filters: dict[str, Any] = {
        "ids": only,
        "difficulty": [options.difficulty] if options.difficulty else [],
        "platform": [options.platform] if options.platform else [],
        "offset": options.offset or 0,
        "limit": None if only else options.limit,
    }
    data: dict[str, Any] = {"filters": filters, "split": options.split or "all"}
    if name == "lcb":
        data |= {"name": "lcb", "source": "hub"}
        if options.split is None and evaluation_ids.issuperset(only):
            data["split"] = "test"
        if data["split"] == "test":
            data["release"] = _FIRST_RELEASE
    elif name == "embedded":
        data |= {"name": "embedded", "source": "embedded"}
    else:
        if not Path(name).is_file():
            raise ConfigError(
                "there is no such data set and no such file",
                where="--dataset",
                value=name,
                remedy="known: lcb, embedded, or the path of a file of rows",
            )
        slug = re.sub(r"[^A-Za-z0-9._-]+", "_", Path(name).stem).lstrip("._-") or "rows"
        data |= {"name": slug, "source": "local", "files": [name]}
    return validate(DatasetSpec, data, where="command line")


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return value


def _seed(text: str) -> int:
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError("must be at least 0")
    return value
