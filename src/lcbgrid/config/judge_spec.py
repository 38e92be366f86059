"""How programs are judged: rule set, limits, isolation."""

from __future__ import annotations

import os
from typing import Any, Literal

from pydantic import Field, model_validator

from lcbgrid.config.base import StrictModel
from lcbgrid.core.errors import ConfigError

RuleSet = Literal["real", "official"]
Tier = Literal["bwrap", "userns", "rlimits"]
DEFAULT_MEMORY_BYTES = 4 * 1024**3


def _or_a_list(schema: dict[str, Any]) -> None:
    """Let editors accept what ``JudgeSpec`` accepts: one name, or a list of names."""
    one = {"enum": schema.pop("enum"), "type": schema.pop("type")}
    schema["anyOf"] = [one, {"items": one, "minItems": 1, "type": "array"}]


class JudgeSpec(StrictModel):
    """The judge's part of a configuration."""

    rules: RuleSet = Field(
        "real",
        description="Rule set: real (default) or official. Of a list, the first one gives the "
        "scores, the others stand beside it.",
        json_schema_extra=_or_a_list,
    )
    also_rules: tuple[RuleSet, ...] = Field(
        (), strict=False, description="The other rule sets, if 'rules' is no list."
    )
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

    @model_validator(mode="before")
    @classmethod
    def _first_is_the_main_one(cls, data: Any) -> Any:
        if not isinstance(data, dict) or not isinstance(data.get("rules"), list | tuple):
            return data
        if not data["rules"]:
            message = "'rules' is an empty list"
            raise ValueError(message)
        if data.get("also_rules"):
            message = "give a list in 'rules' or name the others in 'also_rules', not both"
            raise ValueError(message)
        first, *others = data["rules"]
        return {**data, "rules": first, "also_rules": others}

    @model_validator(mode="after")
    def _each_once(self) -> JudgeSpec:
        if len(set(self.rule_sets)) < len(self.rule_sets):
            message = "a rule set stands twice"
            raise ValueError(message)
        return self

    @property
    def rule_sets(self) -> tuple[RuleSet, ...]:
        """All rule sets, the main one first."""
        return (self.rules, *self.also_rules)

    def by(self, rules: RuleSet) -> JudgeSpec:
        """Return the same way to judge by one rule set only."""
        return self.model_copy(update={"rules": rules, "also_rules": ()})


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
