"""A small model in this process, on one thread of the CPU.

The settings are those that decode reproducibly: one slot, no prompt cache, one thread, one
request at a time (``docs/reference/models.md``). The model is loaded once a process, whatever the
number of clients.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import secrets
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lcbgrid.config.model_spec import ModelSpec
from lcbgrid.core.errors import ConfigError, WeightsError
from lcbgrid.models.failures import CallFailure, failure_of_status
from lcbgrid.models.provider import RawReply
from lcbgrid.models.tool_text import with_tool_calls
from lcbgrid.models.weights import ensure_weights
from lcbgrid.models.wire import request_body

_engines: dict[tuple[Path, int], Engine] = {}
_engines_guard = threading.Lock()


class Engine:
    """A loaded model and the one thread that may use it."""

    def __init__(self, path: Path, context_tokens: int) -> None:
        try:
            import xllamacpp
        except ImportError as error:
            raise ConfigError(
                "an embedded model needs the package 'xllamacpp'",
                remedy="install the extra 'embedded'",
            ) from error
        params = xllamacpp.CommonParams()
        params.model.path = str(path)
        params.n_ctx = context_tokens
        params.n_parallel = 1
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
        params.hostnames, params.port = ["127.0.0.1"], 0
        params.n_threads_http = 1
        params.api_keys = [secrets.token_hex()]  # the runtime listens on loopback; nobody may call
        params.use_jinja = True
        params.verbosity = -1
        try:
            self._server = xllamacpp.Server(params)
        except RuntimeError as error:
            raise WeightsError(f"the model cannot be loaded: {error}", where=path.name) from error
        self.worker = concurrent.futures.ThreadPoolExecutor(1, thread_name_prefix="embedded")

    def answer(self, body: dict[str, Any]) -> tuple[Any, float]:
        """Answer one request; runs in the worker thread."""
        started_s = time.perf_counter()
        reply = self._server.handle_chat_completions(body)
        return reply, time.perf_counter() - started_s


def load_engine(path: Path, context_tokens: int) -> Engine:
    """Return the loaded model, loading it if this process has not yet."""
    with _engines_guard:
        key = (path.resolve(), context_tokens)
        if key not in _engines:
            _engines[key] = Engine(path, context_tokens)
        return _engines[key]


class EmbeddedProvider:
    """Answers from the CPU; more requests than one wait in line."""

    lookahead = 0

    def __init__(self, spec: ModelSpec) -> None:
        self._spec = spec
        self._engine: Engine | None = None
        self._loading = asyncio.Lock()

    async def open(self) -> None:
        """Do nothing yet: a fully cached run needs no weights, they are loaded when called for."""
        self._loading = asyncio.Lock()

    async def complete(self, content: Mapping[str, Any]) -> RawReply:
        """Generate one reply; no time-out, because ``max_tokens`` bounds the work.

        Raises:
            CallFailure: The prompt does not fit, or the runtime refuses it.
            WeightsError: No source has the right weights.
        """
        async with self._loading:
            if self._engine is None:
                self._engine = await asyncio.to_thread(self._load)
            engine = self._engine
        body = request_body(content, model_id=self._spec.model_id, supports_seed=True)
        body["cache_prompt"] = False
        loop = asyncio.get_running_loop()
        try:
            reply, latency_s = await loop.run_in_executor(engine.worker, engine.answer, body)
        except (ValueError, RuntimeError) as error:
            raise CallFailure("bad_request", f"the runtime refuses the request: {error}") from None
        if isinstance(reply, Mapping) and "error" in reply:
            said = reply["error"]
            code = said.get("code") if isinstance(said, Mapping) else None
            raise failure_of_status(code if isinstance(code, int) else 500, reply, {})
        offered = {tool["function"]["name"] for tool in content["tools"]}
        prefix = f"call_{len(content['messages'])}"  # ids differ from turn to turn
        return RawReply(with_tool_calls(reply, offered, id_prefix=prefix), latency_s)

    def _load(self) -> Engine:
        assert self._spec.weights is not None  # checked by ModelSpec
        return load_engine(ensure_weights(self._spec.weights), self._spec.context_tokens)

    async def close(self) -> None:
        """Keep the loaded model for the next client of this process."""
        self._engine = None
