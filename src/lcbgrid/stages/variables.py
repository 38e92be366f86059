"""Environment variables that change what a ready-made runner does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar
from urllib.parse import urlsplit

from lcbgrid.core.errors import ConfigError
from lcbgrid.core.secrets import mask

DEFAULT_TEAM_SIZE = 4
_SIZES = {"independent": "INDEPENDENT_N_AGENTS", "decentralized": "DECENTRALIZED_N_AGENTS"}
Number = TypeVar("Number", int, float)


def base_of(topology: str) -> str:
    """Return the topology behind a framework variant: ``sequential`` of ``sequential_crewai``."""
    return topology.partition("_")[0]


def model_name(environment: Mapping[str, str]) -> tuple[str, str]:
    """Return the model to use where none is named, and why."""
    for name in ("VLLM_BASE_URL", "MODEL_ID"):
        if environment.get(name):
            return "endpoint", f"{name} is set"
    return "qwen-coder-0.5b", "the quick start's; name another with --model, or set VLLM_BASE_URL"


def request_seed(environment: Mapping[str, str]) -> int:
    """Return the cell's seed."""
    return _number(environment, "REQUEST_SEED", int) or 0


def team_size(topology: str, fixed: int | None, environment: Mapping[str, str]) -> int:
    """Return how many agents the team has.

    Args:
        topology: Name in the teams file.
        fixed: Size of a runner that is made for one; a variable may not say another.
        environment: The variables.

    Raises:
        ConfigError: The variable is no number, or contradicts the runner.
    """
    name = _SIZES.get(base_of(topology))
    asked = _number(environment, name, int) if name else None
    if asked is not None and fixed is not None and asked != fixed:
        raise ConfigError(
            f"{name} contradicts this runner, whose teams have {fixed} agents",
            value=asked,
            remedy=f"unset it, or use topologies.{base_of(topology)}, which honours it",
        )
    return asked or fixed or DEFAULT_TEAM_SIZE


def sampling_changes(environment: Mapping[str, str]) -> dict[str, Any]:
    """Return the sampling settings that variables replace."""
    changes = {
        "temperature": _number(environment, "TASK_MODEL_TEMPERATURE", float),
        "top_p": _number(environment, "TASK_MODEL_TOP_P", float),
        "max_tokens": _number(environment, "TASK_MODEL_MAX_TOKENS", int),
    }
    return _given(changes)


def team_changes(topology: str, environment: Mapping[str, str]) -> dict[str, Any]:
    """Return the team's settings that variables replace."""
    base = base_of(topology)
    changes: dict[str, int | float | None] = {
        "tool_time_s": _number(environment, "LCB_TOOL_TIMEOUT_S", float),
        "tool_output_chars": _number(environment, "LCB_TOOL_OUTPUT_CHAR_BUDGET", int),
    }
    if base == "decentralized":
        changes["rounds"] = _number(environment, "DECENTRALIZED_N_ROUNDS", int)
    if base == "independent":
        time_s = _number(environment, "LCB_INDEPENDENT_ROW_TIMEOUT_S", float)
        changes["max_time_s_per_problem"] = time_s
    return _given(changes)


def addresses(text: str | None, where: str) -> tuple[str, ...]:
    """Return the endpoints in a list with commas.

    Raises:
        ConfigError: One of them is no address.
    """
    found = tuple(dict.fromkeys(part.strip() for part in (text or "").split(",") if part.strip()))
    for address in found:
        if not address.startswith(("http://", "https://")):
            raise ConfigError(
                "an endpoint must start with http:// or https://", where=where, value=mask(address)
            )
        if not _has_host(address):
            raise ConfigError("an endpoint names no host", where=where, value=mask(address))
    if text and not found:
        raise ConfigError("there is no address in it", where=where, value=text)
    return found


def _has_host(address: str) -> bool:
    try:
        parts = urlsplit(address)
        return bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:  # no port has that number, or half of an IPv6 address
        return False


def log_level(environment: Mapping[str, str]) -> str:
    """Return the name of the log level.

    Raises:
        ConfigError: There is no such level.
    """
    levels = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
    name = environment.get("LOG_LEVEL") or "INFO"
    if name.upper() not in levels:
        raise ConfigError("LOG_LEVEL is unknown", value=name, remedy=f"known: {', '.join(levels)}")
    return name.upper()


def _number(
    environment: Mapping[str, str], name: str, kind: Callable[[str], Number]
) -> Number | None:
    text = environment.get(name, "").strip()
    if not text:
        return None
    try:
        return kind(text)
    except ValueError:
        what = "a whole number" if kind is int else "a number"
        raise ConfigError(f"{name} must be {what}", value=text) from None


def _given(changes: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in changes.items() if value is not None}
