"""The reflection client: seeds of the specification, replay, and telemetry."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from lcbgrid.core.errors import EndpointError
from lcbgrid.optimize.errors import BudgetSpent
from lcbgrid.optimize.interface import Job
from lcbgrid.optimize.journal import ReflectionJournal
from lcbgrid.optimize.reflection import JournalledReflection, Reply, Request, most_calls
from lcbgrid.optimize.seeds import reflection_seed

JOB = Job("gepa", "cell", 1, 10)


class Model:
    def __init__(self, failures: int = 0) -> None:
        self.requests: list[Request] = []
        self.failures = failures

    async def complete(self, request: Request) -> Reply:
        self.requests.append(request)
        if self.failures:
            self.failures -= 1
            raise EndpointError("no answer")
        await asyncio.sleep(0)
        return Reply(f"{request.prompt}!\ud800", 3, None, finish_reason="length")


async def dialogue(client: JournalledReflection) -> list[str]:
    said = [
        await client.complete("a", phase="p", iteration=0, role="coder"),
        await client.complete("a", phase="p", iteration=0, role="coder"),
        await client.complete("a", phase="p", iteration=1, role="coder", system="be brief"),
    ]
    return said + list(
        await asyncio.gather(
            *(client.complete(text, phase="p", iteration=2, temperature=0) for text in "bcb")
        )
    )


def test_seeds_are_those_of_the_specification() -> None:
    model = Model()
    said = asyncio.run(dialogue(JournalledReflection(JOB, model.complete)))
    assert said == ["a!\ufffd"] * 3 + ["b!\ufffd", "c!\ufffd", "b!\ufffd"]
    seeds = [request.request_seed for request in model.requests]
    assert len(set(seeds)) == 6
    for index, (iteration, turn) in enumerate([(0, 0), (0, 1), (1, 0)]):
        assert seeds[index] == reflection_seed(
            optimizer_seed=1,
            cell_id="cell",
            phase="p",
            iteration=iteration,
            prompt="a",
            role="coder",
            turn=turn,
        )
    assert model.requests[2].system == "be brief"


def test_telemetry_names_what_was_not_reported() -> None:
    client = JournalledReflection(JOB, Model().complete, model="m")
    asyncio.run(dialogue(client))
    calls = client.calls()
    assert len(calls) == 6
    assert calls[0]["output_tokens"] is None
    assert calls[0]["length_limited"]
    assert "text" not in calls[0]
    assert client.usage().model_calls == 6
    assert client.usage().input_tokens == 18


def test_every_call_in_the_journal_is_answered_from_it(tmp_path: Path) -> None:
    path = tmp_path / "whole.jsonl"
    journal = ReflectionJournal(path, "job")
    client = JournalledReflection(JOB, Model().complete, journal=journal)
    whole = asyncio.run(dialogue(client))
    journal.settle()
    journal.close()
    lines = path.read_bytes().splitlines(keepends=True)
    for kept in range(1, len(lines) + 1):
        cut = tmp_path / "cut.jsonl"
        cut.write_bytes(b"".join(lines[:kept]))
        journal = ReflectionJournal(cut, "job")
        model = Model()
        again = JournalledReflection(JOB, model.complete, journal=journal)
        assert asyncio.run(dialogue(again)) == whole
        assert again.calls() == client.calls()
        assert len(model.requests) == again.asked == len(lines) - kept
        journal.settle()
        journal.close()
        assert cut.read_bytes() == path.read_bytes()


def test_the_transport_may_fail_twice() -> None:
    model = Model(failures=2)
    client = JournalledReflection(JOB, model.complete)
    assert asyncio.run(client.complete("a", phase="p", iteration=0)) == "a!\ufffd"
    assert len({request.request_seed for request in model.requests}) == 1
    broken = JournalledReflection(JOB, Model(failures=3).complete)
    with pytest.raises(EndpointError):
        asyncio.run(broken.complete("a", phase="p", iteration=0))
    assert broken.calls() == []


def test_a_search_may_not_ask_for_ever() -> None:
    """Reflection is free of the rollout budget, and has a bound of its own."""
    model = Model()

    async def ask_on() -> JournalledReflection:
        client = JournalledReflection(JOB, model.complete)
        for _ in range(most_calls(JOB.budget)):
            await client.complete("a", phase="p", iteration=0)
        with pytest.raises(BudgetSpent, match="was asked 440 times"):
            await client.complete("a", phase="p", iteration=0)
        return client

    client = asyncio.run(ask_on())
    assert most_calls(JOB.budget) == len(model.requests) == 440
    assert client.spent
