"""Prompt bundles: the texts of a team's roles, which are all that an optimizer may change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lcbgrid.core.hashing import sha256_json


@dataclass(frozen=True, slots=True)
class PromptBundle:
    """Role texts of one team.

    Attributes:
        prompts: Role name -> text, without the output contract, which is attached at run time.
        metadata: Where the bundle comes from; not part of its identity.
    """

    prompts: Mapping[str, str]
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """SHA-256 of the role texts."""
        return sha256_json(dict(self.prompts))
