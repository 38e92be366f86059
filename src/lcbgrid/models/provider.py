"""What every provider offers to the client, and how the right one is chosen."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from lcbgrid.config.model_spec import ModelSpec
from lcbgrid.core import secrets
from lcbgrid.core.errors import ConfigError
from lcbgrid.models.keys import normal_address

MODEL_ID_FROM_ENV = "env"
NO_KEY = "EMPTY"


@dataclass(frozen=True, slots=True)
class RawReply:
    """A decoded response body, not yet checked, and the time it took."""

    body: Any
    latency_s: float


class Provider(Protocol):
    """Answers one request at a time or many; keeps no cache and never retries.

    ``lookahead`` is how many requests beyond ``max_concurrency`` it wants to be handed over, so
    that they are ready when a connection becomes free; it must not have more in flight.
    """

    lookahead: int

    async def open(self) -> None:
        """Get ready; called once in the event loop that will use it."""

    async def complete(self, content: Mapping[str, Any]) -> RawReply:
        """Answer; ``content`` is the form of ``RequestKeys.content``.

        Raises:
            CallFailure: The attempt failed.
        """

    async def close(self) -> None:
        """Let go of everything; the provider can be opened again."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model is and how it is called there, after the environment was looked at."""

    base_url: str | None
    model_id: str
    api_key: str

    @property
    def shown(self) -> str:
        """Return the address for messages, without user, password and query."""
        return normal_address(self.base_url) if self.base_url else "this process"


def resolve_endpoint(name: str, spec: ModelSpec) -> Endpoint:
    """Apply the environment to a model's settings.

    The setting wins over the environment: ``VLLM_BASE_URL`` is read only if ``base_url`` is
    empty, and ``MODEL_ID`` only if ``model_id`` is empty or ``env``; both for provider
    ``openai`` only. The key is the variable named by ``api_key_env``.

    Raises:
        ConfigError: Neither the setting nor the variable is there.
    """
    base_url = spec.base_url or None
    model_id = spec.model_id
    if spec.provider == "openai":
        base_url = base_url or os.environ.get("VLLM_BASE_URL") or None
        if base_url is None:
            raise ConfigError(
                "there is no address for this model",
                where=f"models.{name}.base_url",
                remedy="set base_url in config/models.yaml or the variable VLLM_BASE_URL",
            )
        if model_id in ("", MODEL_ID_FROM_ENV):
            model_id = os.environ.get("MODEL_ID", "")
            if not model_id:
                raise ConfigError(
                    "model_id is taken from the environment, but MODEL_ID is not set",
                    where=f"models.{name}.model_id",
                    remedy="set MODEL_ID or write the name into config/models.yaml",
                )
    if base_url is not None and not base_url.startswith(("http://", "https://")):
        raise ConfigError(
            "the address must start with http:// or https://",
            where=f"models.{name}.base_url",
            value=secrets.mask(base_url),
        )
    api_key = os.environ.get(spec.api_key_env) or NO_KEY
    secrets.register(api_key)
    return Endpoint(base_url, model_id, api_key)


def make_provider(spec: ModelSpec, endpoint: Endpoint) -> Provider:
    """Build the provider of a model; nothing is opened and nothing heavy is imported yet."""
    if spec.provider == "embedded":
        from lcbgrid.models.embedded import EmbeddedProvider

        return EmbeddedProvider(spec)
    from lcbgrid.models.openai import OpenAIProvider

    if spec.provider == "simulated" and endpoint.base_url is None:
        from lcbgrid.models.simulated import SimulatedProvider

        return SimulatedProvider(spec, endpoint)
    return OpenAIProvider(spec, endpoint)
