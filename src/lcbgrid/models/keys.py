"""The cache key: what makes two requests the same request.

A key is the SHA-256 of everything that can change the answer, and of who asks (``CallId``). The
lists below say for each field of the configuration models whether it is part of the key; a test
walks the models and fails if a field is in neither list, so a new setting cannot be forgotten.

There are two hashes. ``content_key`` covers what is asked and who asks. ``request_key`` adds which
model at which address answers. Resuming uses the second (another address is another request);
replaying a published transcript uses the first, because addresses are not published.
"""

from __future__ import annotations

import hashlib
from typing import Any
from urllib.parse import urlsplit

from lcbgrid.config.model_spec import ModelSpec
from lcbgrid.core.errors import ConfigError
from lcbgrid.core.files import dump_json
from lcbgrid.core.hashing import sha256_file, sha256_json
from lcbgrid.models.types import ChatRequest

IN_KEY: dict[str, frozenset[str]] = {
    "SamplingSpec": frozenset({"temperature", "top_p", "max_tokens", "stop"}),
    "ModelSpec": frozenset(
        {
            "provider",
            "model_id",
            "base_url",
            "context_tokens",
            "supports_seed",
            "sampling",  # through the sampling values of the request
            "weights",
            "extra_body",
            "simulate",
        }
    ),
    "WeightsSpec": frozenset({"sha256"}),
    "SimulateSpec": frozenset({"skill", "seed", "overflow_rate", "script"}),
}
NOT_IN_KEY: dict[str, dict[str, str]] = {
    "SamplingSpec": {},
    "ModelSpec": {
        "api_key_env": "who pays does not change the answer",
        "max_concurrency": "speed only",
        "retry": "speed and patience only",
        "price_input_usd_per_mtok": "used after the run",
        "price_output_usd_per_mtok": "used after the run",
    },
    "WeightsSpec": dict.fromkeys(
        ("path", "hub_repo", "hub_file", "hub_revision", "packages", "package_sha256"),
        "a way to the same bytes; the checksum is in the key",
    ),
    "SimulateSpec": {
        "latency_ms": "speed only",
        "fault_rate": "transient faults are retried and leave no trace in the answer",
        "faults": "as fault_rate",
        "fault_timeout_s": "as fault_rate",
        "retry_after_s": "as fault_rate",
    },
}


class RequestKeys:
    """Computes the keys of the requests of one model."""

    def __init__(self, spec: ModelSpec, *, model_id: str, address: str) -> None:
        self._extra_body = dict(spec.extra_body)
        self._model = sha256_json(
            {
                "provider": spec.provider,
                "model_id": model_id,
                "address": address,
                "supports_seed": spec.supports_seed,
                "context_tokens": spec.context_tokens if spec.provider == "embedded" else None,
            }
        )

    def content(self, request: ChatRequest) -> dict[str, Any]:
        """Return what is asked, as the transcript stores it."""
        sampling = request.sampling
        return {
            "messages": list(request.messages),
            "tools": list(request.tools),
            "sampling": {
                "temperature": float(sampling.temperature),
                "top_p": float(sampling.top_p),
                "max_tokens": sampling.max_tokens,
                "stop": list(sampling.stop),
            },
            "extra_body": self._extra_body,
            "seed": request.seed,
        }

    @staticmethod
    def call(request: ChatRequest) -> dict[str, Any]:
        """Return who asks, as the transcript stores it."""
        call = request.call
        return {
            "question_id": call.question_id,
            "sample_index": call.sample_index,
            "agent": call.agent,
            "step": call.step,
        }

    def content_key(self, content: dict[str, Any], call: dict[str, Any]) -> str:
        """Return the hash of what is asked and who asks.

        Raises:
            UnicodeEncodeError: A text holds a lone surrogate; clean it first.
        """
        return hashlib.sha256(dump_json([content, call]).encode()).hexdigest()

    def request_key(self, content_key: str) -> str:
        """Return the cache key: the content and the model that is asked."""
        return hashlib.sha256(f"{self._model}:{content_key}".encode()).hexdigest()


def key_address(spec: ModelSpec, base_url: str | None) -> str:
    """Return the address part of the key: normalised, without secrets, never a random port.

    Args:
        spec: The model.
        base_url: The resolved endpoint; ``None`` for a model that is served in this process.
    """
    if spec.provider == "embedded":
        return f"embedded:{spec.weights.sha256 if spec.weights else ''}"
    if base_url is not None:
        return normal_address(base_url)
    simulate = spec.simulate
    if simulate is None:
        return "simulated"
    chosen = {name: getattr(simulate, name) for name in sorted(IN_KEY["SimulateSpec"])}
    if chosen["script"]:
        chosen["script"] = _script_hash(chosen["script"])
    return f"simulated:{dump_json(chosen)}"


def _script_hash(path: str) -> str:
    try:
        return sha256_file(path)
    except OSError as error:
        raise ConfigError(
            "the script of a simulated model cannot be read",
            where=path,
            value=error.strerror,
            remedy="mend simulate.script in config/models.yaml",
        ) from None


def normal_address(base_url: str) -> str:
    """Return scheme, host, port and path of an address in one spelling, without user or query."""
    parts = urlsplit(base_url)
    scheme = parts.scheme.lower()
    host = (parts.hostname or "").lower()
    port = parts.port
    if port is None or (scheme, port) in {("http", 80), ("https", 443)}:
        place = host
    else:
        place = f"{host}:{port}"
    return f"{scheme}://{place}{parts.path.rstrip('/')}"
