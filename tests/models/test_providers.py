"""One contract for all ways to a model; every provider is run through it."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lcbgrid.config.model_spec import ModelSpec, SamplingSpec, SimulateSpec, WeightsSpec
from lcbgrid.core.errors import InfrastructureError
from lcbgrid.models import ChatReply, ChatRequest, ModelClient, Transcript
from lcbgrid.models.weights import cache_dir, is_verified

from .helpers import QUICK, Scripted, ask, write_problems

QWEN = "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32"
TOOL: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "python_exec",
        "description": "Run a Python program.",
        "parameters": {
            "type": "object",
            "properties": {"code": {"type": "string"}},
            "required": ["code"],
        },
    },
}
Asker = Callable[..., list[ChatReply]]


class ProviderContract:
    """What every provider does; subclasses provide ``asker``."""

    max_tokens = 24

    def request(self, text: str = "Say hello.", **changes: Any) -> ChatRequest:
        sampling = SamplingSpec(max_tokens=self.max_tokens, temperature=0.2)
        return ask(text, sampling=sampling, **changes)

    def test_it_answers_with_counts(self, asker: Asker) -> None:
        (reply,) = asker(self.request())
        assert reply.status in ("ok", "truncated")
        assert reply.text
        assert reply.usage.completion_tokens > 0
        assert reply.usage.prompt_tokens > 0

    def test_the_same_seed_gives_the_same_text(self, asker: Asker) -> None:
        first, again = asker(self.request(sample=0), self.request(sample=1))
        assert first.text == again.text

    def test_replies_come_in_the_order_of_the_requests(self, asker: Asker) -> None:
        requests = [self.request(question=f"q{n}", seed=n) for n in range(3)]
        together = [reply.text for reply in asker(*requests)]
        assert together == [asker(request)[0].text for request in requests]

    def test_a_prompt_that_does_not_fit_is_a_status(self, asker: Asker) -> None:
        (reply,) = asker(self.request("word " * 9000))
        assert reply.status == "context_limit"
        assert reply.text is None

    def test_a_history_with_tool_calls_is_accepted(self, asker: Asker) -> None:
        call = {
            "id": "c1",
            "type": "function",
            "function": {"name": "python_exec", "arguments": '{"code": "print(2)"}'},
        }
        messages = (
            {"role": "user", "content": "Use the tool."},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "2"},
        )
        (reply,) = asker(self.request(messages=messages, tools=(TOOL,)))
        assert reply.status in ("ok", "truncated")


@contextlib.contextmanager
def asking(spec: ModelSpec, path: Path, *, replay: bool = False) -> Iterator[Asker]:
    with Transcript(path, readonly=replay) as transcript:

        @contextlib.asynccontextmanager
        async def client() -> AsyncIterator[ModelClient]:
            async with ModelClient("m", spec, transcript, replay=replay) as opened:
                yield opened

        def ask_all(*requests: ChatRequest) -> list[ChatReply]:
            async def run() -> list[ChatReply]:
                async with client() as opened:
                    return await asyncio.gather(*map(opened.chat, requests))

            return asyncio.run(run())

        yield ask_all


class TestOpenAI(ProviderContract):
    @pytest.fixture
    def asker(self, scripted: Scripted, tmp_path: Path) -> Iterator[Asker]:
        with (
            scripted("hello {seed}", context_tokens=4096) as server,
            asking(server.spec(), tmp_path / "t.jsonl") as asker,
        ):
            yield asker


class TestOpenAIThroughTheSdk(ProviderContract):
    """The way that HTTPS and proxies take."""

    @pytest.fixture
    def asker(
        self, scripted: Scripted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> Iterator[Asker]:
        monkeypatch.setattr("lcbgrid.models.openai.is_plain", lambda base_url: False)
        with (
            scripted("hello {seed}", context_tokens=4096) as server,
            asking(server.spec(), tmp_path / "t.jsonl") as asker,
        ):
            yield asker

    @pytest.mark.parametrize("fault", ["cut_reply", "garbage_json", "server_error", "timeout"])
    def test_its_failures_have_the_same_names(
        self,
        scripted: Scripted,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        fault: str,
    ) -> None:
        monkeypatch.setattr("lcbgrid.models.openai.is_plain", lambda base_url: False)
        retry = QUICK.model_copy(update={"timeout_s": 0.3})
        spec = SimulateSpec(fault_timeout_s=5.0)
        with (
            scripted({"fault": fault}, "good", spec=spec) as server,
            asking(server.spec(retry=retry), tmp_path / "t.jsonl") as asker,
        ):
            (reply,) = asker(self.request())
        assert (reply.text, reply.retries) == ("good", 1)


class TestSimulated(ProviderContract):
    @pytest.fixture
    def asker(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Asker]:
        folder = write_problems(tmp_path / "problems")
        monkeypatch.setattr("lcbgrid.models.simulate.known._embedded_folder", lambda: folder)
        script = tmp_path / "s.jsonl"
        text = "maximum context length is 4096 tokens, however you requested 9000 tokens"
        script.write_text(
            f'{{"match": "word word word", "replies": [{{"status": 400, "text": "{text}"}}]}}\n'
        )
        spec = ModelSpec(
            provider="simulated",
            model_id="sim",
            simulate=SimulateSpec(script=str(script)),
            retry=QUICK,
        )
        with asking(spec, tmp_path / "t.jsonl") as asker:
            yield asker


class TestReplay(ProviderContract):
    @pytest.fixture
    def asker(self, scripted: Scripted, tmp_path: Path) -> Asker:
        with scripted("hello {seed}", context_tokens=4096) as server:
            spec = server.spec()

        def record_then_replay(*requests: ChatRequest) -> list[ChatReply]:
            path = tmp_path / f"{len(list(tmp_path.iterdir()))}.jsonl"
            with (
                scripted("hello {seed}", context_tokens=4096) as server,
                asking(server.spec(), path) as asker,
            ):
                first = asker(*requests)
            with asking(spec, path, replay=True) as asker:
                replies = asker(*requests)
            assert [r.to_record() for r in replies] == [f.to_record() for f in first]
            assert all(reply.cached for reply in replies)
            return replies

        return record_then_replay


@pytest.mark.embedded
class TestEmbedded(ProviderContract):
    max_tokens = 8

    @pytest.fixture
    def asker(self, tmp_path: Path) -> Iterator[Asker]:
        pytest.importorskip("xllamacpp", reason="the extra 'embedded' is not installed")
        path = os.environ.get("LCBGRID_TEST_WEIGHTS")
        cached = cache_dir() / "weights" / f"{QWEN}.gguf"
        if path is None and not is_verified(cached, QWEN):
            pytest.skip("no weights: run 'lcbgrid model fetch qwen-coder-0.5b' first")
        spec = ModelSpec(
            provider="embedded",
            model_id="qwen-coder-0.5b",
            weights=WeightsSpec(sha256=QWEN, path=path),
        )
        with asking(spec, tmp_path / "t.jsonl") as asker:
            yield asker


def test_missing_weights_are_an_infrastructure_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("xllamacpp")
    monkeypatch.setenv("LCBGRID_CACHE", str(tmp_path))
    spec = ModelSpec(provider="embedded", model_id="m", weights=WeightsSpec(sha256="0" * 64))
    with (
        asking(spec, tmp_path / "t.jsonl") as asker,
        pytest.raises(InfrastructureError, match="no source has the weights"),
    ):
        asker(ask())
