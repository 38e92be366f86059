"""The contract suite of the teams, for the framework teams that are installed here."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
import test_contract as contract

url, problems = contract.url, contract.problems
CASES = [
    (topology, size, "freeform")
    for topology, module in (
        ("sequential_crewai", "crewai"),
        ("centralized_autogen", "autogen_agentchat"),
        ("decentralized_agents_sdk", "agents"),
    )
    if importlib.util.find_spec(module) is not None
    for size in (2, 4)
]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.skipif(not CASES, reason="no framework is installed")
@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(map(str, case)))
def test_contract(case: tuple[str, int, str], tmp_path: Path, url: str, problems: Path) -> None:
    contract.test_contract(case, tmp_path, url, problems)
