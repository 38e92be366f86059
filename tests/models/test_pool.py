"""Several endpoints that serve one model."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from lcbgrid.config.model_spec import ModelSpec, SamplingSpec
from lcbgrid.models.client import ModelClient
from lcbgrid.models.pool import ClientPool
from lcbgrid.models.types import CallId, ChatReply, ChatRequest


class FakeClient:
    """Says its name; may not open."""

    def __init__(self, name: str, *, calls: int = 1, opens: bool = True) -> None:
        self.name, self.opens, self.state = name, opens, "new"
        self.spec = ModelSpec(provider="simulated", model_id="m", max_concurrency=calls)

    async def __aenter__(self) -> FakeClient:
        if not self.opens:
            raise OSError(self.name)
        self.state = "open"
        return self

    async def __aexit__(self, *error: object) -> None:
        self.state = "closed"

    async def chat(self, request: ChatRequest) -> ChatReply:
        assert self.state == "open"
        return ChatReply(f"{self.name}{request.seed}")


def pool(*clients: FakeClient) -> ClientPool:
    return ClientPool(cast("list[ModelClient]", list(clients)))


def ask(seed: int) -> ChatRequest:
    return ChatRequest((), SamplingSpec(), seed, CallId("q", 0, "a", 0))


def test_the_seed_says_who_is_asked_however_calls_overlap() -> None:
    async def work() -> list[Any]:
        async with pool(FakeClient("a"), FakeClient("b"), FakeClient("c")) as several:
            forwards = await asyncio.gather(*(several.chat(ask(seed)) for seed in range(7)))
            backwards = [await several.chat(ask(seed)) for seed in reversed(range(7))]
            assert [reply.text for reply in backwards] == [r.text for r in forwards][::-1]
            return [reply.text for reply in forwards]

    assert asyncio.run(work()) == ["a0", "b1", "c2", "a3", "b4", "c5", "a6"]


def test_all_endpoints_take_calls_together() -> None:
    assert pool(FakeClient("a", calls=3), FakeClient("b", calls=5)).max_concurrency == 8


def test_what_was_opened_is_closed_when_another_does_not_open() -> None:
    first, second = FakeClient("a"), FakeClient("b", opens=False)

    async def work() -> None:
        async with pool(first, second):
            pass

    with pytest.raises(OSError, match="b"):
        asyncio.run(work())
    assert first.state == "closed"


def test_a_pool_can_be_entered_again_and_needs_a_client() -> None:
    client = FakeClient("a")
    several = pool(client)

    async def work() -> str | None:
        async with several:
            reply = await several.chat(ask(1))
        assert client.state == "closed"
        return reply.text

    assert asyncio.run(work()) == asyncio.run(work()) == "a1"
    with pytest.raises(ValueError, match="needs a client"):
        ClientPool([])
