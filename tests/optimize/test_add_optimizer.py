"""The example of the how-to runs."""

from __future__ import annotations

from pathlib import Path

from lcbgrid.optimize import interface
from lcbgrid.optimize.landscape_cell import LandscapeWorld

from .fakes import run, small_landscape

PAGE = Path(__file__).resolve().parents[2] / "docs/howto/add-optimizer.md"


def test_the_example_searches() -> None:
    code = PAGE.read_text(encoding="utf-8").split("```python\n")[1].split("```\n")[0]
    try:
        exec(compile(code, str(PAGE), "exec"), {"__name__": "one_pass"})
        for budget in (1, 25, 60):
            found = run("one_pass", LandscapeWorld(small_landscape()), budget)
            assert found.status == "completed"
            assert found.budget.charged <= min(budget, 30)
    finally:
        interface._methods.pop("one_pass", None)
