"""The reflection model: prompts that do not fit, and what becomes of refusals."""

from __future__ import annotations

import asyncio

import pytest

from lcbgrid.config.model_spec import ModelSpec, SamplingSpec
from lcbgrid.config.optimize_spec import OptimizeSpec
from lcbgrid.core.errors import InfrastructureError
from lcbgrid.models.failures import FailureKind, ModelCallError
from lcbgrid.models.types import ChatReply, ChatRequest
from lcbgrid.optimize.reflection import Reply, Request
from lcbgrid.stages.mirror import Mirror
from lcbgrid.stages.rollouts import EndpointGone, WorldFailed

OPENAI = ModelSpec(provider="openai", model_id="m", base_url="http://127.0.0.1:9/v1")


class Window:
    """A model with a window of so many tokens; three characters are a token."""

    def __init__(self, tokens: int, *, says: bool = True) -> None:
        self.tokens, self.says = tokens, says
        self.asked: list[ChatRequest] = []

    async def chat(self, request: ChatRequest) -> ChatReply:
        self.asked.append(request)
        prompt = sum(len(str(message["content"])) for message in request.messages) // 3
        needed = prompt + request.sampling.max_tokens
        if needed <= self.tokens:
            return ChatReply("fine")
        message = f"the prompt and reply need {needed} tokens, the context of the model holds "
        said = message + str(self.tokens) if self.says else "the prompt does not fit"
        return ChatReply(None, finish_reason="x", status="context_limit", message=said)

    @property
    def replies(self) -> list[int]:
        return [request.sampling.max_tokens for request in self.asked]


def reflect(
    client: object, prompt: str = "improve it", spec: ModelSpec = OPENAI, **optimize: int
) -> Reply:
    mirror = Mirror(client, spec, OptimizeSpec(**optimize))  # type: ignore[arg-type]
    return asyncio.run(mirror.reflect(Request(prompt, "be brief", 1.0, 5)))


@pytest.mark.parametrize("says", [True, False])
@pytest.mark.parametrize("tokens", [131_072, 65_536, 49_152, 32_768, 20_000])
@pytest.mark.parametrize("size", [100, 30_000, 2_000_000])
def test_a_request_is_made_to_fit(size: int, tokens: int, says: bool) -> None:
    client = Window(tokens, says=says)
    assert reflect(client, "p" * size).text == "fine"
    assert len(client.asked) <= 6
    assert client.replies[0] == 48_000
    assert client.replies == sorted(client.replies, reverse=True)
    assert len({request.call.step for request in client.asked}) == len(client.asked)


@pytest.mark.parametrize("tokens", [16_384, 8_192, 4_096])
def test_a_small_window_that_is_named_is_enough(tokens: int) -> None:
    client = Window(tokens)
    assert reflect(client, "p" * 300_000).text == "fine"
    assert client.replies[-1] >= tokens // 2


def test_what_fits_nowhere_is_an_empty_reply(caplog: pytest.LogCaptureFixture) -> None:
    client = Window(2)
    assert reflect(client).text == ""
    assert len(client.asked) == 6
    assert "did not fit" in caplog.text


def test_head_and_tail_of_a_long_prompt_stay() -> None:
    client = Window(10**9)
    reflect(client, "HEAD" + "p" * 500_000 + "TAIL")
    sent = str(client.asked[0].messages[-1]["content"])
    assert sent.startswith("HEAD")
    assert sent.endswith("TAIL")
    assert len(sent) < 30_000


def test_settings_say_how_long_a_reply_may_be() -> None:
    client = Window(10**9)
    reflect(client, reflection_max_tokens=123)
    own = OPENAI.model_copy(update={"sampling": SamplingSpec(max_tokens=77)})
    reflect(client, spec=own)
    assert client.replies == [123, 77]


class Refusing:
    """Fails, after it has answered so often."""

    def __init__(self, kind: FailureKind, answers: int) -> None:
        self.kind, self.answers = kind, answers

    async def chat(self, request: ChatRequest) -> ChatReply:
        self.answers -= 1
        if self.answers < 0:
            raise ModelCallError("no", kind=self.kind)
        return ChatReply("<think>thoughts</think> text ")


def test_a_refusal_loses_the_call_a_model_that_refuses_all_ends_the_job() -> None:
    with pytest.raises(EndpointGone):
        reflect(Refusing("bad_request", 0))
    mirror = Mirror(Refusing("bad_request", 1), OPENAI, OptimizeSpec())  # type: ignore[arg-type]
    request = Request("p", None, 1.0, 5)
    assert asyncio.run(mirror.reflect(request)).text == "text"
    with pytest.raises(InfrastructureError):
        asyncio.run(mirror.reflect(request))
    with pytest.raises(EndpointGone):
        reflect(Refusing("connection", 0))


class FullDisk:
    async def chat(self, request: ChatRequest) -> ChatReply:
        raise InfrastructureError("cannot read or write: no space is left on the disk")


def test_a_full_disk_is_no_word_of_the_model() -> None:
    with pytest.raises(WorldFailed, match="no space is left") as caught:
        reflect(FullDisk())
    assert not isinstance(caught.value, InfrastructureError)
