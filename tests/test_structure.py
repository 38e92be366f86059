"""The shape of the code: layers, file sizes, and what may not stand in the repository."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest

LAYERS = (
    {"core"},
    {"config"},
    {"problems"},
    {"models", "judge"},
    {"scenarios"},
    {"teams", "languages"},
    {"optimize"},
    {"analysis"},
    {"stages"},
    {"cli"},
)
ENTRY_PACKAGES = ("topologies", "teamsizes", "communications", "optimizers")
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
SOFT_LINES, HARD_LINES = 400, 600
FUNCTION_LINES = 60
GENERATED = {"config/default.yaml", "requirements.lock"}


def _sources(repository: Path) -> list[Path]:
    return sorted((repository / "src").rglob("*.py"))


def _tracked(repository: Path) -> list[str]:
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=repository,
        capture_output=True,
        text=True,
        check=False,
    )
    if listing.returncode:
        pytest.skip("not a git checkout")
    return [name for name in listing.stdout.splitlines() if (repository / name).is_file()]


def _imports(path: Path) -> set[str]:
    """Names of the lcbgrid packages that a module imports, at any depth of its code."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path}: relative import"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            parts = name.split(".")
            if parts[0] == "lcbgrid" and len(parts) > 1 and parts[1] in RANK:
                found.add(parts[1])
    return found


def test_layers_import_downwards_only(repository: Path) -> None:
    wrong = []
    for path in sorted((repository / "src" / "lcbgrid").rglob("*.py")):
        package = path.relative_to(repository / "src" / "lcbgrid").parts[0]
        for other in _imports(path) - {package}:
            if package in RANK and RANK[other] >= RANK[package]:
                wrong.append(f"{path.relative_to(repository)} imports {other}")
    assert not wrong


def test_entry_modules_only_call_the_runner(repository: Path) -> None:
    wrong = []
    for package in ENTRY_PACKAGES:
        for path in (repository / "src" / package).rglob("*.py"):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            if path.name == "__init__.py":
                only = len(tree.body) == 1  # the docstring
            else:
                only = [type(node) for node in tree.body] == [ast.Expr, ast.ImportFrom, ast.If]
                only = only and _imports(path) == {"cli"}
            if not only:
                wrong.append(str(path.relative_to(repository)))
    assert not wrong
    packages = {path.parent.name for path in (repository / "src").glob("*/__init__.py")}
    assert packages == {"lcbgrid", *ENTRY_PACKAGES}


def test_every_package_has_a_layer(repository: Path) -> None:
    packages = {p.parent.name for p in (repository / "src/lcbgrid").glob("*/__init__.py")}
    assert packages <= set(RANK)


def test_files_and_functions_stay_small(repository: Path) -> None:
    wrong = []
    for name in _tracked(repository):
        if not name.endswith((".py", ".smk")) and name != "Snakefile":
            continue
        text = (repository / name).read_text(encoding="utf-8")
        lines = text.count("\n")
        limit = SOFT_LINES if name.startswith("src/") else HARD_LINES
        if lines > limit:
            wrong.append(f"{name}: {lines} lines, at most {limit}")
        if name.startswith("src/") and name.endswith(".py"):
            wrong += _long_functions(name, text)
    assert not wrong


def _long_functions(name: str, text: str) -> list[str]:
    return [
        f"{name}: {node.name} has {length} lines, at most {FUNCTION_LINES}"
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (length := (node.end_lineno or node.lineno) - node.lineno + 1) > FUNCTION_LINES
    ]


def test_no_package_registry_and_no_machine_path_stands_anywhere(repository: Path) -> None:
    hosts = re.compile(r"(pypi|pythonhosted|debian|npmjs)\.(org|net|com)/")
    wrong = []
    for name in _tracked(repository):
        data = (repository / name).read_bytes()
        if b"\0" in data[:4096] or len(data) > 5_000_000:
            continue
        text = data.decode("utf-8", "replace")
        if hosts.search(text) or f"{repository.parent}/" in text:
            wrong.append(name)
    assert not wrong


def test_the_sandbox_programs_are_never_run_by_exec_or_eval(repository: Path) -> None:
    """Model-written code runs only inside the sandbox; the package evaluates no text."""
    wrong = []
    for path in _sources(repository):
        if "inside" in path.parts:  # the code that runs inside the sandbox
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            called = node.func if isinstance(node, ast.Call) else None
            if isinstance(called, ast.Name) and called.id in {"exec", "eval"}:
                wrong.append(f"{path.relative_to(repository)}:{node.lineno}")
    assert not wrong
