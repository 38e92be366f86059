"""The how-to on adding a topology: its file, its entry and its prompts make a team that works."""

from __future__ import annotations

import asyncio
import re
import sys
from pathlib import Path

import pytest
import yaml

sys.path.insert(0, str(Path(__file__).parent))
from helpers import STDIN, EchoTools, F, ScriptedClient, text

import lcbgrid.teams
from lcbgrid.config.model_spec import SamplingSpec
from lcbgrid.config.team_spec import TeamsFile
from lcbgrid.teams.bundle import PromptBundle
from lcbgrid.teams.interface import build
from lcbgrid.teams.work import Context

PAGE = Path(__file__).resolve().parents[2] / "docs/howto/add-topology.md"


def test_the_example_is_one_file_and_one_entry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = PAGE.read_text()
    (module,) = re.findall(r"```python\n(\"\"\"``relay``.*?)```", page, re.DOTALL)
    (entry,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    (tmp_path / "relay.py").write_text(module)
    monkeypatch.setattr(lcbgrid.teams, "__path__", [*lcbgrid.teams.__path__, str(tmp_path)])
    spec = TeamsFile.model_validate(yaml.safe_load(f"teams:\n{entry}")).teams["relay"]
    client = ScriptedClient(
        [text(f"{F}python\nprint(1)\n{F}"), text(f"Fixed.\n{F}python\nprint(2)\n{F}")]
    )
    context = Context(
        client=client,  # type: ignore[arg-type]
        tools=EchoTools(),  # type: ignore[arg-type]
        spec=spec,
        sampling=SamplingSpec(),
        cell_seed=0,
        sample_index=0,
    )
    bundle = PromptBundle({"writer": "You write.", "checker": "You check."})
    answer = asyncio.run(build(spec, 2).solve(STDIN, bundle, context))
    assert (answer.extraction.code, answer.status, answer.winner) == ("print(2)", "ok", 1)
    assert [member.code for member in answer.members] == ["print(1)", "print(2)"]
    assert "print(1)" in client.requests[1].messages[-1]["content"]
