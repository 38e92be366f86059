"""The scripted server."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from lcbgrid.config.model_spec import SimulateSpec
from lcbgrid.models.simulate import serve_in_thread

from .helpers import Scripted, Server


@pytest.fixture
def scripted(tmp_path: Path) -> Scripted:
    """Start a server whose answers are the given replies, in turn."""

    @contextlib.contextmanager
    def start(
        *replies: Any, pick: str = "turn", rules: Sequence[dict[str, Any]] = (), **options: Any
    ) -> Iterator[Server]:
        lines = [*rules]
        if replies:
            lines.append({"match": "", "replies": list(replies), "pick": pick})
        script = tmp_path / f"script{len(list(tmp_path.iterdir()))}.jsonl"
        script.write_text("".join(json.dumps(line) + "\n" for line in lines))
        spec = options.pop("spec", SimulateSpec())
        with serve_in_thread(spec, script=script, **options) as base_url:
            yield Server(base_url)

    return start
