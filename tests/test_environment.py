"""pyproject.toml, requirements.lock and environment.yml say the same."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

CONDA_NAMES = {
    "matplotlib-base": "matplotlib",
    "seaborn-base": "seaborn",
    "snakemake-minimal": "snakemake",
}


@pytest.fixture(scope="module")
def project(repository: Path) -> dict[str, Any]:
    return tomllib.loads((repository / "pyproject.toml").read_text())["project"]


def _specifiers(lines: list[str]) -> dict[str, str]:
    parsed = [Requirement(line) for line in lines]
    return {canonicalize_name(r.name): str(r.specifier) for r in parsed}


def _conda(repository: Path) -> tuple[dict[str, str], str]:
    data = yaml.safe_load((repository / "environment.yml").read_text())
    lines: list[str] = []
    for entry in data["dependencies"]:
        if isinstance(entry, dict):
            lines += entry["pip"]
        else:
            name, _, specifier = entry.partition(" ")
            lines.append(f"{CONDA_NAMES.get(name, name)}{specifier}")
    found = _specifiers(lines)
    found.pop("pip")
    return found, found.pop("python")


def test_conda_environment_equals_pyproject(repository: Path, project: dict[str, Any]) -> None:
    conda, python = _conda(repository)
    wanted = project["dependencies"] + project["optional-dependencies"]["embedded"]
    assert conda == _specifiers(wanted)
    assert python == project["requires-python"]


def test_the_lock_pins_everything_exactly(repository: Path, project: dict[str, Any]) -> None:
    lines = (repository / "requirements.lock").read_text().split("\n")
    pins = {}
    for line in filter(None, lines):
        requirement = Requirement(line)
        (specifier,) = requirement.specifier
        assert specifier.operator == "==", line
        pins[canonicalize_name(requirement.name)] = specifier.version
    extras = project["optional-dependencies"]
    for line in project["dependencies"] + extras["embedded"] + extras["dev"]:
        requirement = Requirement(line)
        name = canonicalize_name(requirement.name)
        assert pins[name] in requirement.specifier, f"{name} is not locked to what is asked"
