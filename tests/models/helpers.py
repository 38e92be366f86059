"""Shared by the tests and the processes they start: a tiny problem set, and one-line calls."""

from __future__ import annotations

import asyncio
import contextlib
import json
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lcbgrid.config.model_spec import ModelSpec, RetrySpec, SamplingSpec
from lcbgrid.models import CallId, ChatReply, ChatRequest, ModelClient, Transcript

QUICK = RetrySpec(max_attempts=4, first_wait_s=0.01, max_wait_s=0.02, timeout_s=5.0)
STATEMENTS = {
    "p1": "Print the double of the given number. It is on a line of its own, nothing else is.",
    "p2": "Return the sum of all numbers of the list. The list may be empty, then it is zero.",
}


def write_problems(folder: Path) -> Path:
    """Write a problem set of one stdin and one functional problem."""
    folder.mkdir(exist_ok=True)
    rows = [
        {
            "question_id": "p1",
            "question_content": STATEMENTS["p1"],
            "difficulty": "easy",
            "metadata": "{}",
            "public_test_cases": json.dumps([{"input": "3\n", "output": "6\n"}]),
        },
        {
            "question_id": "p2",
            "question_content": STATEMENTS["p2"],
            "difficulty": "hard",
            "metadata": json.dumps({"func_name": "total"}),
            "public_test_cases": json.dumps([{"input": "[1, 2]", "output": "3"}]),
        },
    ]
    solutions = [
        {
            "question_id": "p1",
            "reference": "print(2*int(input()))",
            "wrong": ["# Fault: x\nprint(6)"],
        },
        {"question_id": "p2", "reference": "class Solution: total=sum", "wrong": ["W1", "W2"]},
    ]
    for name, lines in (("problems", rows), ("solutions", solutions)):
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / f"{name}.jsonl").write_text(text)
    return folder


@dataclass
class Server:
    """A running simulated server."""

    base_url: str

    def stats(self) -> dict[str, int]:
        """Counts since the start."""
        with urllib.request.urlopen(self.base_url.removesuffix("/v1") + "/stats") as reply:
            counts: dict[str, int] = json.load(reply)
        return counts

    @property
    def requests(self) -> int:
        """Chat requests since the start."""
        return self.stats().get("chat", 0)

    def spec(self, **changes: Any) -> ModelSpec:
        """A model spec for this server."""
        values: dict[str, Any] = {
            "provider": "openai",
            "model_id": "m",
            "base_url": self.base_url,
            "retry": QUICK,
        }
        return ModelSpec(**(values | changes))


Scripted = Callable[..., contextlib.AbstractContextManager[Server]]


def ask(
    text: str = "hello",
    *,
    question: str = "q",
    sample: int = 0,
    step: int = 0,
    seed: int = 1,
    **changes: Any,
) -> ChatRequest:
    """One request."""
    values: dict[str, Any] = {
        "messages": ({"role": "user", "content": text},),
        "sampling": SamplingSpec(max_tokens=100),
        "seed": seed,
        "call": CallId(question, sample, "solver", step),
    }
    return ChatRequest(**(values | changes))


def call_all(
    spec: ModelSpec,
    path: Path,
    *requests: ChatRequest,
    errors: bool = False,
    replay: bool = False,
) -> list[Any]:
    """Answer all requests at once, through one client and one transcript."""

    async def run() -> list[Any]:
        async with ModelClient("m", spec, transcript, replay=replay) as client:
            calls = map(client.chat, requests)
            return await asyncio.gather(*calls, return_exceptions=errors)

    with Transcript(path, readonly=replay) as transcript:
        return asyncio.run(run())


def call_one(spec: ModelSpec, path: Path, request: ChatRequest | None = None) -> ChatReply:
    """Answer one request."""
    reply: ChatReply = call_all(spec, path, request or ask())[0]
    return reply
