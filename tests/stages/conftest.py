"""Small grids to judge."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from small_grid import SmallGrid


@pytest.fixture
def small_grid(tmp_path: Path, repository: Path) -> Callable[..., SmallGrid]:
    """Return a maker of small grids; keywords are settings of the judge."""
    models = {"sim": {"provider": "simulated", "model_id": "sim"}}
    (tmp_path / "models.yaml").write_text(json.dumps({"models": models}))

    def make(**judge: Any) -> SmallGrid:
        return SmallGrid(tmp_path, repository, judge)

    return make
