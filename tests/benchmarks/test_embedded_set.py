"""Tests of the embedded problem set: data files, splits, references and wrong programs."""

import base64
import importlib
import importlib.util
import json
import pickle
import re
import subprocess
import sys
import zlib
from collections import Counter
from datetime import datetime
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

SET = Path(__file__).parents[2] / "benchmarks" / "embedded"
FIELDS = {
    "question_title",
    "question_content",
    "platform",
    "question_id",
    "contest_id",
    "contest_date",
    "starter_code",
    "difficulty",
    "public_test_cases",
    "private_test_cases",
    "metadata",
}
LARGE_CHARS = 500
LARGE_NUMBER = 100_000
SECONDS_PER_INPUT = 1.0
EASY_WORDS = 120


def _module(name: str) -> ModuleType:
    """Import a helper module of the set, which is a folder of scripts and not a package."""
    sys.path.insert(0, str(SET))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(SET))


def _build_module() -> ModuleType:
    """Load build.py under another name, because a PyPI package is called build too."""
    spec = importlib.util.spec_from_file_location("embedded_build", SET / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


runner = _module("embedded_runner")
source = _module("embedded_source")


def _json_lines(name: str) -> list[dict[str, Any]]:
    lines = (SET / name).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


ROWS = {row["question_id"]: row for row in _json_lines("problems.jsonl")}
SOLUTIONS = {entry["question_id"]: entry for entry in _json_lines("solutions.jsonl")}
SPLITS = json.loads((SET / "splits.json").read_text(encoding="utf-8"))
EACH_ID = pytest.mark.parametrize("question_id", sorted(ROWS))


def _hidden(row: dict[str, str]) -> list[dict[str, str]]:
    """Decode hidden tests in the two forms LiveCodeBench uses."""
    text = row["private_test_cases"]
    try:
        tests = json.loads(text)
    except json.JSONDecodeError:
        tests = json.loads(pickle.loads(zlib.decompress(base64.b64decode(text))))
    assert isinstance(tests, list)
    return tests


def _tests(row: dict[str, str]) -> list[dict[str, str]]:
    return [*json.loads(row["public_test_cases"]), *_hidden(row)]


def _func_name(row: dict[str, str]) -> str | None:
    name = json.loads(row["metadata"]).get("func_name")
    assert name is None or isinstance(name, str)
    return name


def _mode(row: dict[str, str]) -> str:
    return "functional" if row["platform"] == "embedded-function" else "stdin"


def _is_large(test: dict[str, str]) -> bool:
    numbers = re.findall(r"\d+", test["input"])
    return len(test["input"] + test["output"]) >= LARGE_CHARS or any(
        len(number) >= 6 and int(number) >= LARGE_NUMBER for number in numbers
    )


def _run(question_id: str, program: str) -> tuple[list[bool], list[Any]]:
    """Run a program on all tests; return which tests it passes, and the raw outcomes."""
    row = ROWS[question_id]
    name, tests = _func_name(row), _tests(row)
    outcomes = runner.run_program(program, name, [test["input"] for test in tests])
    passed = [
        runner.same_output(outcome.output, test["output"], name)
        for outcome, test in zip(outcomes, tests, strict=True)
    ]
    return passed, outcomes


def test_ids_are_unique_and_well_formed() -> None:
    """Ids are unique, well formed and in the same order in both files."""
    ids = [row["question_id"] for row in _json_lines("problems.jsonl")]
    assert len(ids) == len(set(ids)) >= 64
    assert all(re.fullmatch(r"[A-Za-z0-9_]+", question_id) for question_id in ids)
    assert ids == [entry["question_id"] for entry in _json_lines("solutions.jsonl")]


@EACH_ID
def test_row_schema(question_id: str) -> None:
    """A row has exactly the LiveCodeBench fields, all of them texts."""
    row = ROWS[question_id]
    assert set(row) == FIELDS
    assert all(isinstance(value, str) for value in row.values())
    assert row["difficulty"] in {"easy", "medium", "hard"}
    assert datetime.fromisoformat(row["contest_date"]).year == 2025
    public = json.loads(row["public_test_cases"])
    assert 1 <= len(public) <= 3
    for test in _tests(row):
        assert set(test) == {"input", "output", "testtype"}
        assert test["testtype"] == _mode(row)


@EACH_ID
def test_fields_fit_the_mode(question_id: str) -> None:
    """Platform, starter code, metadata and tests agree with the mode."""
    row = ROWS[question_id]
    name = _func_name(row)
    if _mode(row) == "stdin":
        assert row["platform"] == "embedded-stdin"
        assert row["starter_code"] == ""
        assert row["metadata"] == "{}"
        return
    assert row["starter_code"].startswith(f"class Solution:\n    def {name}(self, ")
    assert row["starter_code"].endswith(":\n        ")
    arguments = source.parse_signature(row["starter_code"].split("\n")[1].strip())[1]
    for test in _tests(row):
        lines = test["input"].split("\n")
        assert len(lines) == len(arguments)
        for line in [*lines, test["output"]]:
            json.loads(line)


@EACH_ID
def test_hidden_tests(question_id: str) -> None:
    """There are ten or more different hidden tests, the last one large."""
    hidden = _hidden(ROWS[question_id])
    assert len(hidden) >= 10
    assert _is_large(hidden[-1]), "the last hidden test should be the large one"
    inputs = [test["input"] for test in _tests(ROWS[question_id])]
    assert len(set(inputs)) == len(inputs)
    assert max(map(len, inputs)) <= 200_000


@EACH_ID
def test_statement_has_an_example(question_id: str) -> None:
    """The statement shows the first public test and the constraints."""
    row = ROWS[question_id]
    text = row["question_content"]
    example = json.loads(row["public_test_cases"])[0]
    if _mode(row) == "stdin":
        expected = (
            f"Sample Input 1\n\n{example['input'].rstrip()}\n\n"
            f"Sample Output 1\n\n{example['output'].rstrip()}\n"
        )
    else:
        expected = f"\nOutput: {example['output']}\n"
        assert "Example 1:\n\nInput: " in text
    assert expected in text
    assert "Constraints\n" in text
    if row["difficulty"] == "easy":
        assert len(text.split()) <= EASY_WORDS


def test_statements_and_titles_are_unique() -> None:
    """No two problems share a text."""
    for field in ("question_content", "question_title", "private_test_cases"):
        values = {row[field] for row in ROWS.values()}
        assert len(values) == len(ROWS), field


def test_counts() -> None:
    """The set keeps its promised size in each mode and difficulty."""
    found = Counter((_mode(row), row["difficulty"]) for row in ROWS.values())
    for mode in ("stdin", "functional"):
        assert found[mode, "easy"] >= 16
        assert found[mode, "medium"] >= 10
        assert found[mode, "hard"] >= 6


def test_dates_cover_the_year() -> None:
    """Every difficulty has a problem in every month of 2025."""
    for difficulty in ("easy", "medium", "hard"):
        rows = [row for row in ROWS.values() if row["difficulty"] == difficulty]
        months = {datetime.fromisoformat(row["contest_date"]).month for row in rows}
        assert months == set(range(1, 13)), difficulty


def test_both_forms_of_hidden_tests_occur() -> None:
    """Plain and compressed hidden tests are both common."""
    plain = sum(row["private_test_cases"].startswith("[") for row in ROWS.values())
    assert 0.3 <= plain / len(ROWS) <= 0.7


def test_splits_are_disjoint_and_complete() -> None:
    """Each problem is in exactly one split."""
    members = [*SPLITS["train"], *SPLITS["validation"], *SPLITS["test"]]
    assert SPLITS["rule"]
    assert len(members) == len(set(members))
    assert set(members) == set(ROWS)
    assert len(SPLITS["test"]) == 24
    assert len(SPLITS["validation"]) == 16


@pytest.mark.parametrize("split", ["train", "validation", "test"])
def test_splits_are_stratified(split: str) -> None:
    """Each split has every kind of problem; modes are balanced."""
    found = Counter((_mode(ROWS[i]), ROWS[i]["difficulty"]) for i in SPLITS[split])
    modes = Counter(_mode(ROWS[i]) for i in SPLITS[split])
    assert len(found) == 6, "every mode and difficulty should occur"
    if split != "train":
        assert modes["stdin"] == modes["functional"]


def _build(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(SET / "build.py"), *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def test_committed_files_are_up_to_date() -> None:
    """Building again gives the committed files."""
    done = _build("--check")
    assert done.returncode == 0, done.stdout + done.stderr


def test_check_reports_a_changed_row() -> None:
    """The comparison finds a missing file and a changed row."""
    build = _build_module()
    text = (SET / "problems.jsonl").read_text(encoding="utf-8")
    changed = text.replace("embedded-stdin", "elsewhere", 1)
    assert build.compare_file("problems.jsonl", text, text) == []
    assert build.compare_file("problems.jsonl", text, None) == ["problems.jsonl: missing"]
    assert len(build.compare_file("problems.jsonl", text, changed)) == 1


def test_readme_has_the_measured_counts() -> None:
    """The table in the README is the output of --counts."""
    done = _build("--counts")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() in (SET / "README.md").read_text(encoding="utf-8")


def test_sizes() -> None:
    """The files stay below the size limits."""
    files = [path for path in SET.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    assert max(path.stat().st_size for path in files) < 3_000_000
    assert sum(path.stat().st_size for path in files) < 6_000_000


@EACH_ID
def test_reference_passes_every_test(question_id: str) -> None:
    """The reference is accepted and fast on every test."""
    passed, outcomes = _run(question_id, SOLUTIONS[question_id]["reference"])
    assert all(passed), [outcome.error for outcome in outcomes]
    assert max(outcome.seconds for outcome in outcomes) < SECONDS_PER_INPUT


@EACH_ID
@pytest.mark.parametrize("position", [0, 1])
def test_wrong_program_fails_a_hidden_test(question_id: str, position: int) -> None:
    """A wrong program is refused by the hidden tests, and quickly."""
    assert len(SOLUTIONS[question_id]["wrong"]) == 2
    passed, outcomes = _run(question_id, SOLUTIONS[question_id]["wrong"][position])
    public = len(json.loads(ROWS[question_id]["public_test_cases"]))
    assert not all(passed[public:])
    assert max(outcome.seconds for outcome in outcomes) < 2 * SECONDS_PER_INPUT


def test_comparison_rules() -> None:
    """Outputs are compared as the judge does it."""
    assert runner.same_output(" 1  2.50 \nab\n\n", "1 2.5\nab", None)
    assert not runner.same_output("1\n\n2", "1\n2", None)
    assert not runner.same_output("b", "a", None)
    assert not runner.same_output(None, "a", None)
    assert runner.same_output("[1,2]", "[1, 2]", "name")
    assert not runner.same_output("[1]", '["1"]', "name")


def test_runner_reports_errors_and_exits() -> None:
    """Exceptions are reported, a clean exit is no error."""
    program = "import sys\nif input() == 'stop':\n    sys.exit(0)\nprint(1 // 0)\n"
    stopped, failed = runner.run_program(program, None, ["stop\n", "go\n"])
    assert (stopped.output, stopped.error) == ("", None)
    assert failed.output is None
    assert failed.error.startswith("ZeroDivisionError")
    with pytest.raises(RuntimeError, match="SyntaxError"):
        runner.run_program("def", None, [""])


def test_broken_problem_module_is_refused(tmp_path: Path) -> None:
    """Loading stops at a module that breaks a rule."""
    folder = tmp_path / "easy"
    folder.mkdir()
    original = SET / "problems" / "easy" / "emb001_bead_piles.py"
    text = original.read_text(encoding="utf-8").replace('"2025-', '"2024-')
    (folder / original.name).write_text(text, encoding="utf-8")
    with pytest.raises(source.ProblemError, match="day of 2025"):
        source.load_problems(tmp_path)
