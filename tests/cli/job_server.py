"""A simulated server that remembers its requests, and optimizer jobs that ask it."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

from lcbgrid.cli.protocol import main
from lcbgrid.config.model_spec import SimulateSpec
from lcbgrid.models.simulate import server
from lcbgrid.models.simulate.answer import Answer
from lcbgrid.models.simulate.app import SimulatedApp
from lcbgrid.models.simulate.faults import error_body
from lcbgrid.models.simulate.http import Response

Body = dict[str, Any]
Hook = Callable[[Body, int], Response | Answer | None]
QUICK = {"max_attempts": 2, "first_wait_s": 0.01, "max_wait_s": 0.02, "timeout_s": 20.0}
REFLECTION_TOKENS = 48_000
SMALL = (
    *("--n-train", "4", "--n-validation", "4", "--n-test", "2", "--first-tests", "1"),
    "--allow-any-cell",
)


class RecordingApp(SimulatedApp):
    """Keeps what it was asked; a hook may answer in its place."""

    hook: Hook | None = None
    url = ""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.bodies: list[Body] = []

    def _chat(self, data: bytes) -> Response:
        body = json.loads(data)
        self.bodies.append(body)
        other = self.hook(body, len(self.bodies)) if self.hook else None
        if isinstance(other, Answer):
            return self._completion(body, other, 1, f"{len(self.bodies):016d}")
        return other or super()._chat(data)

    @property
    def seen(self) -> set[str]:
        """What was asked, each request once."""
        return {json.dumps(body, sort_keys=True) for body in self.bodies}

    @property
    def wishes(self) -> list[Body]:
        """Requests to the reflection model."""
        return [body for body in self.bodies if is_wish(body)]


@contextlib.contextmanager
def served(
    spec: SimulateSpec | None = None, *, hook: Hook | None = None, **options: Any
) -> Iterator[RecordingApp]:
    """Serve while the block runs; yield the app, which knows its address."""
    made: list[RecordingApp] = []

    def make(*arguments: Any, **more: Any) -> RecordingApp:
        made.append(RecordingApp(*arguments, **more))
        made[-1].hook = hook
        return made[-1]

    with mock.patch.object(server, "SimulatedApp", make):
        serving = server.serve_in_thread(spec or SimulateSpec(), **options)
        url = serving.__enter__()
    try:
        made[0].url = url
        yield made[0]
    finally:
        serving.__exit__(None, None, None)


def is_wish(body: Body) -> bool:
    """Whether the reflection model is asked."""
    return bool(body["max_tokens"] == REFLECTION_TOKENS)


def failing(status: int, message: str = "gone") -> Response:
    """An HTTP error."""
    return Response(status, error_body(message, "scripted"))


def write_model(folder: Path, **changes: Any) -> None:
    """Write a models file with the model ``m``, whose own address nobody serves."""
    model = {"provider": "openai", "model_id": "m", "base_url": "http://127.0.0.1:9/v1"}
    (folder / "config").mkdir(exist_ok=True)
    models = {"models": {"m": {**model, "retry": QUICK, **changes}}}
    (folder / "config" / "models.yaml").write_text(json.dumps(models))


def job_arguments(
    out: str, *more: str, method: str = "mipro", topology: str = "single"
) -> list[str]:
    """Return the command line of a small job."""
    named = ["--method", method, "--dataset", "embedded", "--topology", topology, "--model", "m"]
    rest = [] if "--seed" in more else ["--seed", "0"]
    budget = [] if "--budget" in more else ["--budget", "14"]
    return [*named, *rest, *budget, "--out", out, *SMALL, *more]


def lasting(folder: Path) -> dict[str, bytes]:
    """Return the files of a job that must not depend on how it was run."""
    measured = ("study.log", "times.jsonl", "transcript.jsonl")
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and not path.name.endswith((".lock", ".flock"))
        and path.name not in measured
    }


def start(out: str, *more: str, at: str = "", **changes: Any) -> int:
    """Run a small job in this process."""
    environment = dict(changes.pop("environment", {}))
    if at:
        environment["TASK_ENDPOINTS"] = at
    return main(job_arguments(out, *more, **changes), environment)


def process(out: str, *more: str, at: str, **changes: Any) -> subprocess.Popen[str]:
    """Start a small job in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "optimizers.protocol.run", *job_arguments(out, *more, **changes)],
        env=os.environ | {"TASK_ENDPOINTS": at},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0
