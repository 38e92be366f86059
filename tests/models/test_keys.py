"""The cache key: every setting that reaches the server is in it (R41), nothing else is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lcbgrid.config.base import StrictModel
from lcbgrid.config.model_spec import (
    ModelSpec,
    RetrySpec,
    SamplingSpec,
    SimulateSpec,
    WeightsSpec,
)
from lcbgrid.core.errors import ConfigError
from lcbgrid.models import CallId
from lcbgrid.models.keys import IN_KEY, NOT_IN_KEY, RequestKeys, key_address, normal_address

from .helpers import Scripted, ask, call_one

WEIGHTS = WeightsSpec(sha256="0" * 64)
MODELS: tuple[type[StrictModel], ...] = (SamplingSpec, ModelSpec, WeightsSpec, SimulateSpec)


@pytest.mark.parametrize("kind", MODELS)
def test_r41_every_field_is_decided_about(kind: type[StrictModel]) -> None:
    name = kind.__name__
    assert IN_KEY[name] | set(NOT_IN_KEY[name]) == set(kind.model_fields)
    assert not IN_KEY[name] & set(NOT_IN_KEY[name])


def key(spec: ModelSpec, **changes: Any) -> str:
    keys = RequestKeys(
        spec, model_id=spec.model_id, address=key_address(spec, spec.base_url or None)
    )
    request = ask(**changes)
    return keys.request_key(keys.content_key(keys.content(request), keys.call(request)))


REQUEST_CHANGES: dict[str, Any] = {
    "temperature": {"sampling": SamplingSpec(max_tokens=100, temperature=0.9)},
    "top_p": {"sampling": SamplingSpec(max_tokens=100, top_p=1.0)},
    "max_tokens": {"sampling": SamplingSpec(max_tokens=200)},
    "stop": {"sampling": SamplingSpec(max_tokens=100, stop=("\n",))},
    "seed": {"seed": 2},
    "text": {"text": "other"},
    "system": {"messages": ({"role": "system", "content": "x"}, *ask().messages)},
    "tools": {"tools": ({"type": "function", "function": {"name": "f"}},)},
    "question": {"question": "other"},
    "sample": {"sample": 1},
    "step": {"step": 1},
    "agent": {"call": CallId("q", 0, "other", 0)},
}


@pytest.mark.parametrize("name", REQUEST_CHANGES)
def test_each_part_of_a_request_changes_the_key(name: str) -> None:
    spec = ModelSpec(provider="openai", model_id="m", base_url="http://h/v1")
    assert key(spec) == key(spec)
    assert key(spec, **REQUEST_CHANGES[name]) != key(spec)


MODEL_CHANGES: dict[str, tuple[Any, bool]] = {
    "provider": ("simulated", True),
    "model_id": ("other", True),
    "base_url": ("http://other/v1", True),
    "supports_seed": (False, True),
    "extra_body": ({"top_k": 5}, True),
    "api_key_env": ("OTHER", False),
    "max_concurrency": (3, False),
    "retry": (RetrySpec(max_attempts=1), False),
    "price_input_usd_per_mtok": (1.0, False),
    "price_output_usd_per_mtok": (1.0, False),
}


@pytest.mark.parametrize("name", MODEL_CHANGES)
def test_settings_of_a_model_are_in_the_key_or_not(name: str) -> None:
    value, differs = MODEL_CHANGES[name]
    spec = ModelSpec(provider="openai", model_id="m", base_url="http://h/v1")
    changed = spec.model_copy(update={name: value})
    assert (key(changed) != key(spec)) is differs
    assert (name in IN_KEY["ModelSpec"]) is differs


def test_an_embedded_model_is_its_checksum_and_context() -> None:
    spec = ModelSpec(provider="embedded", model_id="m", weights=WEIGHTS)
    other_way = WeightsSpec(sha256="0" * 64, path="elsewhere.gguf", packages=("a==1",))
    assert key(spec.model_copy(update={"weights": other_way})) == key(spec)
    other = WeightsSpec(sha256="1" * 64)
    assert key(spec.model_copy(update={"weights": other})) != key(spec)
    assert key(spec.model_copy(update={"context_tokens": 8192})) != key(spec)


def test_faults_and_latency_of_a_simulated_model_are_not_in_the_key(tmp_path: Path) -> None:
    script = tmp_path / "s.jsonl"
    script.write_text('{"replies": ["a"]}\n')

    def with_(**fields: Any) -> str:
        simulate = SimulateSpec(**fields)
        return key(ModelSpec(provider="simulated", model_id="m", simulate=simulate))

    assert with_(fault_rate=0.5, latency_ms=200.0, faults=("timeout",)) == with_()
    assert with_(skill=1.0) != with_()
    assert with_(seed=1) != with_()
    assert with_(overflow_rate=0.1) != with_()
    scripted = with_(script=str(script))
    assert scripted != with_()
    script.write_text('{"replies": ["b"]}\n')
    assert with_(script=str(script)) != scripted
    with pytest.raises(ConfigError, match="script"):
        with_(script=str(tmp_path / "absent.jsonl"))


@pytest.mark.parametrize(
    "address",
    [
        "HTTP://Host:80/v1/",
        "http://host/v1",
        "http://user:secret@host/v1?key=secret",
    ],
)
def test_addresses_are_normalised_and_hold_no_secret(address: str) -> None:
    assert normal_address(address) == "http://host/v1"


def test_r41_each_change_is_a_request_of_its_own(scripted: Scripted, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    changes = [{}, *REQUEST_CHANGES.values()]
    with scripted("text {count}") as server:
        for change in changes:
            call_one(server.spec(), path, ask(**change))
        assert server.requests == len(changes)
        for change in changes:
            call_one(server.spec(max_concurrency=2), path, ask(**change))
        assert server.requests == len(changes)
        call_one(server.spec(extra_body={"user": "u"}), path)
        assert server.stats()["requests"] == len(changes) + 1
