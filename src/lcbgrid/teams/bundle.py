"""Prompt bundles: the texts of a team's roles, which are all that an optimizer may change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lcbgrid.core.hashing import sha256_json


@dataclass(frozen=True, slots=True)
class PromptBundle:
    """Role texts of one team.

    Attributes:
        prompts: Role name -> text, without the output contract, which is attached at run time.
        metadata: Where the bundle comes from; not part of what runs.
        demos: Worked examples, JSON objects; ``role`` names the role that one is for.
    """

    prompts: Mapping[str, str]
    metadata: Mapping[str, Any] = field(default_factory=dict)
    demos: Sequence[Mapping[str, Any]] = ()

    @property
    def digest(self) -> str:
        """SHA-256 of the role texts."""
        return sha256_json(dict(self.prompts))

    @property
    def exec_digest(self) -> str:
        """SHA-256 of what runs, role texts and demos; equal bundles share their evaluations."""
        return sha256_json({"roles": dict(self.prompts), "demos": list(self.demos)})

    @property
    def full_digest(self) -> str:
        """SHA-256 of everything, provenance included (optimizers specification, section 1)."""
        return sha256_json(
            {
                "roles": dict(self.prompts),
                "demos": list(self.demos),
                "metadata": dict(self.metadata),
            }
        )
