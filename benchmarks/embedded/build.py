"""Build the data files of the embedded problem set from the problem modules.

Usage::

    python benchmarks/embedded/build.py            # rewrite the data files
    python benchmarks/embedded/build.py --check    # compare only; exit code 1 on a difference
    python benchmarks/embedded/build.py --counts   # print the table of counts
"""

import argparse
import base64
import hashlib
import json
import pickle
import sys
import zlib
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from embedded_runner import run_program
from embedded_source import (
    DIFFICULTIES,
    MODES,
    Problem,
    ProblemError,
    load_problems,
    parse_signature,
)

HERE = Path(__file__).parent
Row = dict[str, str]
Tests = list[dict[str, str]]

PLATFORMS = {"stdin": "embedded-stdin", "functional": "embedded-function"}
EXAMPLES_SHOWN = {"easy": 1, "medium": 2, "hard": 2}
ENCODE_ABOVE_CHARS = 100_000
TIME_LIMIT_SECONDS = 60.0
WORKERS = 2

SPLITS = ("train", "validation", "test")
LAST_SPLIT_NUMBER = 64
# Number of test and validation problems for each mode and difficulty.
QUOTAS = {
    ("stdin", "easy"): (7, 4),
    ("stdin", "medium"): (4, 2),
    ("stdin", "hard"): (1, 2),
    ("functional", "easy"): (7, 4),
    ("functional", "medium"): (3, 3),
    ("functional", "hard"): (2, 1),
}
SPLIT_RULE = (
    "The problems with the numbers 1 to 64 are grouped by mode and difficulty. Each group is "
    "sorted by the SHA-256 hex digest of the question id. The first problems go to test, the "
    "next ones to validation, the rest to train. Quotas (test, validation): easy 7, 4 in both "
    "modes; medium 4, 2 for stdin and 3, 3 for functional; hard 1, 2 for stdin and 2, 1 for "
    "functional. Problems with a number above 64 always go to train, so that adding a problem "
    "never changes test or validation."
)


def id_digest(question_id: str) -> str:
    """Return the SHA-256 hex digest of an id."""
    return hashlib.sha256(question_id.encode()).hexdigest()


def encode_tests(question_id: str, tests: Tests) -> str:
    """Write hidden tests as plain JSON or in the compressed LiveCodeBench form.

    The compressed form, base64(zlib(pickle(JSON text))), is used if the digest of the id is
    odd or the plain JSON has more than ``ENCODE_ABOVE_CHARS`` characters.
    """
    text = json.dumps(tests)
    if int(id_digest(question_id), 16) % 2 == 0 and len(text) <= ENCODE_ABOVE_CHARS:
        return text
    return base64.b64encode(zlib.compress(pickle.dumps(text, protocol=4), 9)).decode()


def decode_tests(text: str) -> Tests:
    """Read hidden tests in either form. Only for the trusted files of this folder."""
    if not text.startswith("["):
        text = pickle.loads(zlib.decompress(base64.b64decode(text)))
    tests: Tests = json.loads(text)
    return tests


def render_statement(problem: Problem, public: Tests) -> str:
    """Append the worked examples, with outputs of the reference, to the statement."""
    blocks = [problem.statement.strip()]
    for i, test in enumerate(public[: EXAMPLES_SHOWN[problem.meta["difficulty"]]], 1):
        if problem.signature:
            names = parse_signature(problem.signature)[1]
            values = zip(names, test["input"].split("\n"), strict=True)
            arguments = ", ".join(f"{name} = {value}" for name, value in values)
            blocks.append(f"Example {i}:\n\nInput: {arguments}\nOutput: {test['output']}")
        else:
            blocks.append(f"Sample Input {i}\n\n{test['input'].rstrip()}")
            blocks.append(f"Sample Output {i}\n\n{test['output'].rstrip()}")
    return "\n\n".join(blocks) + "\n"


def build_row(problem: Problem) -> Row:
    """Run the reference on all inputs and return the row in the LiveCodeBench schema.

    Raises:
        ProblemError: The reference fails on an input.
    """
    inputs = problem.public + problem.hidden
    outcomes = run_program(problem.reference, problem.func_name, inputs, TIME_LIMIT_SECONDS)
    meta, tests = problem.meta, []
    for text, outcome in zip(inputs, outcomes, strict=True):
        if outcome.output is None:
            raise ProblemError(f"{problem.question_id}: the reference raised {outcome.error}")
        tests.append({"input": text, "output": outcome.output, "testtype": meta["mode"]})
    public, hidden = tests[: len(problem.public)], tests[len(problem.public) :]
    starter = f"class Solution:\n    {problem.signature}\n        " if problem.signature else ""
    return {
        "question_title": meta["title"],
        "question_content": render_statement(problem, public),
        "platform": PLATFORMS[meta["mode"]],
        "question_id": problem.question_id,
        "contest_id": meta["contest_id"],
        "contest_date": meta["contest_date"],
        "starter_code": starter,
        "difficulty": meta["difficulty"],
        "public_test_cases": json.dumps(public),
        "private_test_cases": encode_tests(problem.question_id, hidden),
        "metadata": json.dumps({"func_name": problem.func_name} if problem.signature else {}),
    }


def build_splits(problems: list[Problem]) -> dict[str, object]:
    """Return the splits and the rule that made them (see ``SPLIT_RULE``)."""
    members: dict[str, list[str]] = {name: [] for name in SPLITS}
    for (mode, difficulty), (test_size, validation_size) in QUOTAS.items():
        group = [
            problem.question_id
            for problem in problems
            if problem.number <= LAST_SPLIT_NUMBER
            and (problem.meta["mode"], problem.meta["difficulty"]) == (mode, difficulty)
        ]
        group.sort(key=id_digest)
        end = test_size + validation_size
        members["test"] += group[:test_size]
        members["validation"] += group[test_size:end]
        members["train"] += group[end:]
    members["train"] += [p.question_id for p in problems if p.number > LAST_SPLIT_NUMBER]
    return {"rule": SPLIT_RULE, **{name: sorted(ids) for name, ids in members.items()}}


def build_files(problems: list[Problem]) -> dict[str, str]:
    """Return the text of every data file, by file name."""
    with ThreadPoolExecutor(WORKERS) as pool:
        rows = list(pool.map(build_row, problems))
    solutions = [
        {"question_id": p.question_id, "reference": p.reference, "wrong": p.wrong}
        for p in problems
    ]
    return {
        "problems.jsonl": "".join(json.dumps(row) + "\n" for row in rows),
        "solutions.jsonl": "".join(json.dumps(entry) + "\n" for entry in solutions),
        "splits.json": json.dumps(build_splits(problems), indent=2) + "\n",
    }


def _decoded_lines(text: str) -> list[object]:
    """Parse JSON lines and unpack the hidden tests, so that zlib versions do not matter."""
    rows = [json.loads(line) for line in text.splitlines()]
    for row in rows:
        if "private_test_cases" in row:
            row["private_test_cases"] = decode_tests(row["private_test_cases"])
    return rows


def compare_file(name: str, built: str, committed: str | None) -> list[str]:
    """Return one line per difference between a built and a committed file.

    Rows that differ only in the bytes of the compressed hidden tests are accepted, because
    other zlib builds may compress the same text to other bytes.
    """
    if committed is None:
        return [f"{name}: missing"]
    if built == committed:
        return []
    if not name.endswith(".jsonl"):
        return [f"{name}: differs"]
    new, old = _decoded_lines(built), _decoded_lines(committed)
    if len(new) != len(old):
        return [f"{name}: {len(old)} rows committed, {len(new)} rows built"]
    return [
        f"{name}: line {i} differs: {json.dumps(after)[:80]}"
        for i, (before, after) in enumerate(zip(old, new, strict=True), 1)
        if before != after
    ]


def counts_table() -> str:
    """Return a Markdown table of the committed set: problems by split, mode, difficulty."""
    splits = json.loads((HERE / "splits.json").read_text(encoding="utf-8"))
    lines = (HERE / "problems.jsonl").read_text(encoding="utf-8").splitlines()
    rows = {row["question_id"]: row for row in map(json.loads, lines)}
    modes = {platform: mode for mode, platform in PLATFORMS.items()}
    table = ["| split | mode | easy | medium | hard | total |", "|---|---|---|---|---|---|"]
    for name in (*SPLITS, "all"):
        for mode in MODES:
            ids = list(rows) if name == "all" else splits[name]
            found = Counter(
                rows[i]["difficulty"] for i in ids if modes[rows[i]["platform"]] == mode
            )
            cells = [name, mode, *(str(found[d]) for d in DIFFICULTIES), str(found.total())]
            table.append(f"| {' | '.join(cells)} |")
    return "\n".join(table)


def main(argv: list[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    parser = argparse.ArgumentParser(description="Build the embedded problem set.")
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--check", action="store_true", help="compare only, write nothing")
    group.add_argument("--counts", action="store_true", help="print the table of counts")
    options = parser.parse_args(argv)
    if options.counts:
        print(counts_table())
        return 0
    files = build_files(load_problems())
    differences = []
    for name, text in files.items():
        path = HERE / name
        committed = path.read_bytes().decode() if path.exists() else None
        differences += compare_file(name, text, committed)
        if not options.check:
            path.write_bytes(text.encode())
        print(f"{name}: {len(text.encode()):,} bytes")
    for difference in differences[:20]:
        print(difference)
    print(f"{len(differences)} differences to the files before this run")
    return 1 if options.check and differences else 0


if __name__ == "__main__":
    sys.exit(main())
