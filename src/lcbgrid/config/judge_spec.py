"""How programs are judged: rule set, limits, isolation."""

from __future__ import annotations

import os
from typing import Literal

from pydantic import Field

from lcbgrid.config.base import StrictModel
from lcbgrid.core.errors import ConfigError

RuleSet = Literal["real", "official"]
Tier = Literal["bwrap", "userns", "rlimits"]
DEFAULT_MEMORY_BYTES = 4 * 1024**3


class JudgeSpec(StrictModel):
    """The judge's part of a configuration."""

    rules: RuleSet = Field("real", description="Rule set: real (default) or official.")
    sandbox: Tier = Field(
        "bwrap",
        description="Isolation: bwrap; userns, the same without that tool; or rlimits (weak).",
    )
    time_s: float = Field(6.0, gt=0, description="Time limit of one test, s.")
    memory_mb: int = Field(
        4096,
        ge=0,
        description="Memory budget of one test, MiB above the loaded interpreter; 0 = none.",
    )
    stop_at_first_failure: bool = Field(
        False, description="Stop at the first failing test; pass_rate needs all tests, so off."
    )
    float_tol: float | None = Field(
        None, ge=0, description="Tolerance for numbers whose expected text is no integer."
    )
    checkers: bool = Field(
        True,
        description="Let a problem's checker accept right answers other than the stored one.",
    )


def functional_memory_mb(default_mb: int) -> int:
    """Return the memory budget of functional tests in MiB, honouring the environment.

    ``LCB_FUNCTIONAL_MEMORY_BYTES`` replaces the configured budget for functional problems;
    0 means no limit (teams specification, section 12).

    Raises:
        ConfigError: The variable is no non-negative whole number.
    """
    text = os.environ.get("LCB_FUNCTIONAL_MEMORY_BYTES")
    if text is None or text == "":
        return default_mb
    if not text.isascii() or not text.isdigit():
        raise ConfigError(
            "LCB_FUNCTIONAL_MEMORY_BYTES must be a number of bytes, 0 for no limit", value=text
        )
    size = int(text)
    return 0 if size == 0 else max(1, size // (1024 * 1024))
