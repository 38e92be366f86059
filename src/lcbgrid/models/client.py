"""The one client of all models: cache first, then bounded retries on named errors only."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
import random
import time
from types import TracebackType
from typing import Any, NamedTuple

from lcbgrid.config.model_spec import ModelSpec, SamplingSpec
from lcbgrid.core import secrets
from lcbgrid.core.errors import DataError
from lcbgrid.models.clean import clean
from lcbgrid.models.failures import FATAL, CallFailure, ModelCallError
from lcbgrid.models.gate import UNLIMITED, Gate
from lcbgrid.models.keys import RequestKeys, key_address
from lcbgrid.models.provider import Endpoint, Provider, make_provider, resolve_endpoint
from lcbgrid.models.retry import Patience
from lcbgrid.models.transcript import Transcript
from lcbgrid.models.types import ChatReply, ChatRequest
from lcbgrid.models.wire import parse_reply

logger = logging.getLogger(__name__)


class _Asked(NamedTuple):
    """A request in the forms that keys, transcript and provider need."""

    content: dict[str, Any]
    call: dict[str, Any]
    content_key: str
    key: str


class ModelClient:
    """Calls one model; make one a process and model, and use it as ``async with``.

    It may be entered again in another event loop after it was left.

    Args:
        name: The model's name in ``config/models.yaml``.
        spec: How it is reached.
        transcript: Log and cache; the client does not close it.
        replay: Answer from the transcript only; no network object is made.
        default_sampling: Sampling values where the model's own ``sampling`` is empty.

    Raises:
        ConfigError: The address or the model's name is neither configured nor in the environment.
    """

    def __init__(
        self,
        name: str,
        spec: ModelSpec,
        transcript: Transcript,
        *,
        replay: bool = False,
        default_sampling: SamplingSpec | None = None,
    ) -> None:
        self.name = name
        self.spec = spec
        self.transcript = transcript
        self.replay = replay
        self.sampling = spec.sampling or default_sampling or SamplingSpec()
        # The environment of the original run is not needed, and not there, when replaying.
        self._endpoint = (
            Endpoint(None, spec.model_id, "") if replay else resolve_endpoint(name, spec)
        )
        self._keys = RequestKeys(
            spec,
            model_id=self._endpoint.model_id,
            address="" if replay else key_address(spec, self._endpoint.base_url),
        )
        self._provider: Provider | None = None
        self._entry = Gate(UNLIMITED)  # only to take turns: the first call is sent before the
        self._gate = Gate(1)  # keys of all others have been computed
        self._broken: ModelCallError | None = None
        self._broke = asyncio.Event()
        self._ever_answered = False
        self._in_flight: dict[str, asyncio.Event] = {}
        self._jitter = random.Random()  # of its own: waiting never disturbs a seeded run

    async def __aenter__(self) -> ModelClient:
        """Open the provider in the running event loop."""
        self._broken = None
        self._broke = asyncio.Event()
        self._entry = Gate(UNLIMITED)
        if not self.replay:
            provider = make_provider(self.spec, self._endpoint)
            self._gate = Gate(self.spec.max_concurrency + provider.lookahead)
            try:
                await provider.open()
            except BaseException:
                await provider.close()
                raise
            self._provider = provider
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the provider and every connection."""
        provider, self._provider = self._provider, None
        if provider is not None:
            await provider.close()

    async def chat(self, request: ChatRequest) -> ChatReply:
        """Answer one request, from the transcript if it is there.

        Raises:
            ModelCallError: All attempts failed, or the failure is of a kind that no attempt
                mends. Nothing is stored, so a later run tries again.
            DataError: Replaying, and the transcript has no answer.
        """
        async with self._entry:
            asked = self._asked(request)
            reply = self._from_transcript(asked)
        while True:
            if reply is not None:
                return reply
            if self.replay:
                raise DataError(
                    f"the transcript has no answer of model {self.name} to this request",
                    where=str(request.call),
                    remedy="the prompts, the settings or the code differ from the recorded run; "
                    "run the cell with its model instead of replaying",
                )
            same = self._in_flight.get(asked.key)
            if same is None:
                break
            await same.wait()  # the same call is being made: its answer is ours, too
            reply = self._from_transcript(asked)
        done = self._in_flight[asked.key] = asyncio.Event()
        try:
            reply = await self._ask(request, asked.content)
            self.transcript.record(
                asked.key,
                content_key=asked.content_key,
                call=asked.call,
                model=self.name,
                request=asked.content,
                reply=reply.to_record(),
                timing=reply.to_timing(),
            )
            return reply
        finally:
            del self._in_flight[asked.key]
            done.set()

    def _asked(self, request: ChatRequest) -> _Asked:
        content, call = self._keys.content(request), self._keys.call(request)
        try:
            content_key = self._keys.content_key(content, call)
        except UnicodeEncodeError:
            content, call = clean(content), clean(call)
            content_key = self._keys.content_key(content, call)
        return _Asked(content, call, content_key, self._keys.request_key(content_key))

    def _from_transcript(self, asked: _Asked) -> ChatReply | None:
        if self.replay:
            record = self.transcript.lookup_content(asked.content_key)
        else:
            record = self.transcript.lookup(asked.key)
        if record is None:
            return None
        return ChatReply.from_record(record["reply"], record.get("timing"), cached=True)

    async def _ask(self, request: ChatRequest, content: dict[str, Any]) -> ChatReply:
        patience = Patience(self.spec.retry, self._jitter)
        while True:
            failure: CallFailure | None = None
            reply: ChatReply | None = None
            try:
                reply = await self._attempt(content)
                self._ever_answered = True
            except CallFailure as caught:
                failure = caught
                if failure.kind == "context_limit":
                    self._ever_answered = True
                    reply = ChatReply(
                        None,
                        finish_reason="context_limit",
                        status="context_limit",
                        message=secrets.mask(failure.message),
                    )
            if reply is not None and (reply.status != "empty" or patience.exhausted):
                return dataclasses.replace(
                    reply, retries=patience.retries, waited_s=patience.waited_s
                )
            if failure is not None and not failure.retryable:
                raise self._given_up(failure, request, patience)
            wait_s = patience.next_wait_s(failure.retry_after_s if failure else None)
            if wait_s is None:
                raise self._given_up(
                    failure or CallFailure("bad_body", "the replies are empty"), request, patience
                )
            logger.info(
                "%s: %s; attempt %d of %d in %.2f s",
                request.call,
                secrets.mask(failure.message) if failure else "empty reply",
                patience.retries + 1,
                self.spec.retry.max_attempts,
                wait_s,
            )
            await self._pause(wait_s, patience)

    async def _attempt(self, content: dict[str, Any]) -> ChatReply:
        async with self._gate:
            if self._broken is not None:
                raise _again(self._broken)
            if self._provider is None:
                message = "the model client is used outside its 'async with' block"
                raise RuntimeError(message)
            raw = await self._provider.complete(content)
        return dataclasses.replace(parse_reply(raw.body), latency_s=raw.latency_s)

    async def _pause(self, wait_s: float, patience: Patience) -> None:
        started = time.monotonic()
        try:
            await asyncio.wait_for(self._broke.wait(), wait_s)
        except TimeoutError:
            patience.waited_s += max(wait_s, time.monotonic() - started)
            return
        assert self._broken is not None
        raise _again(self._broken)

    def _given_up(
        self, failure: CallFailure, request: ChatRequest, patience: Patience
    ) -> ModelCallError:
        never_reached = failure.kind == "connection" and not self._ever_answered
        error = ModelCallError(
            secrets.mask(_what(failure, self, patience.retries + 1)),
            where=f"model {self.name}",
            remedy=_remedy(failure, self),
            kind=failure.kind,
            fatal=failure.kind in FATAL or never_reached,
        )
        if error.fatal and self._broken is None:
            self._broken = error
            self._broke.set()
        elif not error.fatal:
            error.where = f"model {self.name}, {request.call}"
            error.args = (error._line(),)
        return error


def _again(error: ModelCallError) -> ModelCallError:
    """Return a copy: one exception object raised in many tasks would gather their tracebacks."""
    return ModelCallError(
        error.what,
        where=error.where,
        value=error.value,
        remedy=error.remedy,
        kind=error.kind,
        fatal=error.fatal,
    )


def _what(failure: CallFailure, client: ModelClient, attempts: int) -> str:
    place = f"{client._endpoint.shown} (model {client._endpoint.model_id})"
    tried = f" after {attempts} attempts" if attempts > 1 else ""
    if failure.kind == "connection":
        return f"cannot reach {place}{tried}: {failure.message}"
    if failure.kind == "auth":
        return f"{place} refuses the key: {failure.message}"
    if failure.kind == "not_found":
        return f"{place} does not know this model or path: {failure.message}"
    return f"{place} gave no answer{tried} ({failure.kind}): {failure.message}"


def _remedy(failure: CallFailure, client: ModelClient) -> str:
    if failure.kind == "auth":
        return f"set the environment variable {client.spec.api_key_env} to a valid key"
    if failure.kind == "not_found":
        return "check model_id and base_url (it usually ends in /v1) in config/models.yaml"
    if failure.kind == "connection":
        return "start the server or mend base_url (VLLM_BASE_URL), then run the same command again"
    if failure.kind == "bad_request":
        return "the server refuses this request; see its log"
    return "run the same command again later; finished calls are kept"
