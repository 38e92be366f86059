"""Make ``lcb_eval_ids.json`` and ``lcb_splits.json``, or check that they are up to date.

    python benchmarks/lcb/build_splits.py                    # from the hub's shards
    python benchmarks/lcb/build_splits.py --meta ids.csv     # from a list in release order
    python benchmarks/lcb/build_splits.py --meta ids.csv --check

The list has the columns question_id, platform and difficulty. The rule is stated in the split file
and implemented by ``lcbgrid.problems.splits``; the files hold question ids only.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from lcbgrid.config.problem_spec import DatasetSpec
from lcbgrid.core.errors import EXIT_OK, LcbGridError
from lcbgrid.core.files import write_json
from lcbgrid.problems.splits import choose_lcb_splits, read_errata
from lcbgrid.problems.verify_ids import (
    ERRATA_FILE,
    EVAL_IDS_FILE,
    SPLITS_FILE,
    id_rows,
    verify_ids,
)

HERE = Path(__file__).resolve().parent


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--meta", type=Path, help="CSV list in release order (default: the hub)")
    parser.add_argument("--out", type=Path, default=HERE, help="folder of the two files")
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    options = parser.parse_args(arguments)
    hub = {"name": "lcb", "source": "hub", "release": "release_v6"}
    source = options.meta or DatasetSpec.model_validate(hub)
    try:
        if options.check:
            return verify_ids(source, lcb_dir=options.out)
        splits = choose_lcb_splits(id_rows(source), read_errata(HERE / ERRATA_FILE))
    except LcbGridError as error:
        print(error, file=sys.stderr)
        return error.exit_status
    write_json(options.out / EVAL_IDS_FILE, list(splits.test))
    write_json(options.out / SPLITS_FILE, splits.to_record())
    return EXIT_OK


if __name__ == "__main__":
    raise SystemExit(main())
