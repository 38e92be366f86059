"""What holds for all framework teams, whether their framework is installed or not."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from lcbgrid.config.team_spec import TeamsFile
from lcbgrid.core.errors import EXIT_USER, ConfigError
from lcbgrid.teams.interface import build

ROOT = Path(__file__).parents[3]
TEAMS = TeamsFile.model_validate(
    yaml.safe_load((ROOT / "config" / "teams.yaml").read_text())
).teams
CASES = [
    ("sequential_crewai", "sequential", "crewai", "--no-deps -r requirements-crewai.lock"),
    ("centralized_autogen", "centralized", "autogen_agentchat", "'lcbgrid[autogen]'"),
    ("decentralized_agents_sdk", "decentralized", "agents", "'lcbgrid[agents-sdk]'"),
]


@pytest.mark.parametrize(("name", "same", "module", "install"), CASES)
def test_a_missing_package_is_told_with_what_to_install(
    name: str, same: str, module: str, install: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lcbgrid.teams.frameworks import crewai_team

    crewai_team.prepare.cache_clear()
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ConfigError, match=re.escape(f"pip install {install}")) as raised:
        build(TEAMS[name], 4)
    assert raised.value.exit_status == EXIT_USER
    crewai_team.prepare.cache_clear()


@pytest.mark.parametrize(("name", "same", "module", "install"), CASES)
def test_only_freeform_is_offered(name: str, same: str, module: str, install: str) -> None:
    with pytest.raises(ConfigError, match="only talks in freeform"):
        build(TEAMS[name], 4, "semi_structured")


@pytest.mark.parametrize(("name", "same", "module", "install"), CASES)
def test_the_teams_differ_from_ours_in_nothing_but_the_framework(
    name: str, same: str, module: str, install: str
) -> None:
    theirs, ours = TEAMS[name], TEAMS[same]
    assert theirs.prompts == same
    sizes = set(theirs.sizes)
    assert sizes == {2, 4}
    for size in sizes:
        assert theirs.lineup(size) == ours.lineup(size)
        assert theirs.max_turns.get(size) == ours.max_turns.get(size)
    same_anyway = {"builder", "prompts", "roles", "sizes", "lineups", "max_turns"}
    assert theirs.model_dump(exclude=same_anyway) == ours.model_dump(exclude=same_anyway)


def test_no_framework_is_imported_before_a_team_is_built() -> None:
    modules = [f"lcbgrid.teams.frameworks.{m}_team" for m in ("crewai", "autogen", "agents_sdk")]
    program = (
        f"import sys, {', '.join(modules)}\n"
        "print([m for m in ('crewai', 'autogen_agentchat', 'autogen_core', 'agents') "
        "if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
