"""Load and validate the problem modules of the embedded set."""

import ast
import hashlib
import importlib.util
import json
import re
from dataclasses import dataclass
from pathlib import Path
from random import Random
from types import ModuleType

FOLDER = Path(__file__).parent / "problems"
DIFFICULTIES = ("easy", "medium", "hard")
MODES = ("stdin", "functional")
META_KEYS = {"question_id", "title", "difficulty", "mode", "contest_id", "contest_date"}
ID_PATTERN = re.compile(r"emb(\d{3})_[a-z0-9_]+")
DATE_PATTERN = re.compile(r"2025-\d\d-\d\dT00:00:00")
MIN_HIDDEN = 10
MAX_INPUT_CHARS = 200_000


class ProblemError(ValueError):
    """A problem module breaks a rule of the set."""


@dataclass(frozen=True)
class Problem:
    """One problem with all its inputs written as texts.

    Attributes:
        meta: The META mapping of the module.
        statement: The statement without examples.
        signature: The ``def`` line of the method; empty for stdin problems.
        public: Public inputs.
        hidden: Hidden inputs, the large one last.
        reference: A correct program.
        wrong: Two programs that fail at least one hidden test.
    """

    meta: dict[str, str]
    statement: str
    signature: str
    public: list[str]
    hidden: list[str]
    reference: str
    wrong: list[str]

    @property
    def question_id(self) -> str:
        """The id, which is also the name of the source file."""
        return self.meta["question_id"]

    @property
    def number(self) -> int:
        """The number inside the id: 7 for ``emb007_...``."""
        return id_number(self.question_id)

    @property
    def func_name(self) -> str | None:
        """The method to call, or None for stdin problems."""
        return parse_signature(self.signature)[0] if self.signature else None


def id_number(question_id: str) -> int:
    """Return the number in a question id.

    Raises:
        ProblemError: The id does not look like ``emb007_short_name``.
    """
    match = ID_PATTERN.fullmatch(question_id)
    if not match:
        raise ProblemError(f"{question_id}: an id looks like emb007_short_name")
    return int(match.group(1))


def parse_signature(signature: str) -> tuple[str, list[str]]:
    """Return the method name and the parameter names (without self) of a ``def`` line."""
    function = ast.parse(f"{signature} pass").body[0]
    if not isinstance(function, ast.FunctionDef):
        raise ProblemError(f"not a def line: {signature}")
    return function.name, [argument.arg for argument in function.args.args[1:]]


def seeded_random(question_id: str) -> Random:
    """Return the random generator of a problem; it depends on nothing but the id."""
    digest = hashlib.sha256(question_id.encode()).digest()
    return Random(int.from_bytes(digest[:8], "big"))


def _as_text(value: object, mode: str) -> str:
    """Write an input as text: stdin texts as they are, one JSON value per line otherwise."""
    if mode == "stdin" and isinstance(value, str):
        return value
    if mode == "functional" and isinstance(value, list):
        return "\n".join(json.dumps(argument) for argument in value)
    raise ProblemError(f"not a {mode} input: {value!r:.80}")


def _import_file(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"embedded_problem_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ProblemError(f"cannot import {path}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def load_problem(path: Path) -> Problem:
    """Import one problem module and check it.

    Raises:
        ProblemError: The module breaks a rule of the set.
    """
    module = _import_file(path)
    meta: dict[str, str] = module.META
    hidden = module.generate(seeded_random(meta["question_id"]))
    problem = Problem(
        meta=meta,
        statement=module.STATEMENT,
        signature=getattr(module, "SIGNATURE", ""),
        public=[_as_text(value, meta["mode"]) for value in module.PUBLIC],
        hidden=[_as_text(value, meta["mode"]) for value in hidden],
        reference=module.REFERENCE,
        wrong=module.WRONG,
    )
    broken = [rule for rule, holds in _rules(problem, path).items() if not holds]
    if broken:
        raise ProblemError(f"{path.name}: {'; '.join(broken)}")
    return problem


def _rules(problem: Problem, path: Path) -> dict[str, bool]:
    """Return each rule of the set and whether the problem obeys it."""
    meta, inputs = problem.meta, problem.public + problem.hidden
    functional = meta["mode"] == "functional"
    return {
        f"META must have exactly the keys {sorted(META_KEYS)}": set(meta) == META_KEYS,
        "the file must be named after the question id": path.stem == problem.question_id,
        "the id must look like emb007_short_name": bool(ID_PATTERN.fullmatch(problem.question_id)),
        "the folder must be named after the difficulty": (
            path.parent.name == meta["difficulty"] and meta["difficulty"] in DIFFICULTIES
        ),
        "the mode must be stdin or functional": meta["mode"] in MODES,
        "the date must be a day of 2025": bool(DATE_PATTERN.fullmatch(meta["contest_date"])),
        "exactly the functional problems need a SIGNATURE": functional == bool(problem.signature),
        "one to three public inputs are needed": 1 <= len(problem.public) <= 3,
        f"at least {MIN_HIDDEN} hidden inputs are needed": len(problem.hidden) >= MIN_HIDDEN,
        "no input may occur twice": len(set(inputs)) == len(inputs),
        f"an input may have {MAX_INPUT_CHARS} characters": (
            max(map(len, inputs)) <= MAX_INPUT_CHARS
        ),
        "two wrong programs starting with '# Fault: ' are needed": len(problem.wrong) == 2
        and all(program.startswith("# Fault: ") for program in problem.wrong),
    }


def load_problems(folder: Path = FOLDER) -> list[Problem]:
    """Load all problem modules below a folder, sorted by question id.

    Raises:
        ProblemError: A module breaks a rule, or two modules share a number.
    """
    problems = [load_problem(path) for path in folder.glob("*/emb*.py")]
    numbers = [problem.number for problem in problems]
    if len(set(numbers)) < len(numbers):
        raise ProblemError("two problems have the same number")
    return sorted(problems, key=lambda problem: problem.question_id)
