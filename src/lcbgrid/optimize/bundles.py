"""Bundles as data of the protocol: checks and JSON form (optimizers specification, section 1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lcbgrid.optimize.canonical import plain
from lcbgrid.optimize.errors import ArtifactError, ContractError
from lcbgrid.teams.bundle import PromptBundle


def check_bundle(bundle: PromptBundle, seed: PromptBundle | None = None) -> None:
    """Refuse a bundle that cannot stand for a team.

    Args:
        bundle: The bundle.
        seed: The bundle whose roles it must have; ``None`` checks the bundle alone.

    Raises:
        ContractError: No role, a blank text, a demo for an unknown role, or other roles than the
            seed's; the message names them.
    """
    if not bundle.prompts:
        raise ContractError("a bundle needs at least one role")
    for role, text in bundle.prompts.items():
        if not isinstance(text, str) or not text.strip():
            raise ContractError("the text of a role is blank", where=role)
        if plain(text) != text:
            raise ContractError("the text of a role holds half a character", where=role)
    for number, demo in enumerate(bundle.demos):
        if "role" in demo and demo["role"] not in bundle.prompts:
            raise ContractError(
                "a demo is for a role that is not there",
                where=f"demo {number}",
                value=demo["role"],
            )
    if seed is None:
        return
    lost = sorted(set(seed.prompts) - set(bundle.prompts))
    new = sorted(set(bundle.prompts) - set(seed.prompts))
    if lost or new:
        raise ContractError(f"roles differ from the seed's: lost {lost}, new {new}")


def bundle_to_json(bundle: PromptBundle) -> dict[str, Any]:
    """Return ``{roles, demos, metadata}``, whose content hash is the bundle's ``full_digest``."""
    content = {
        "roles": dict(bundle.prompts),
        "demos": list(bundle.demos),
        "metadata": dict(bundle.metadata),
    }
    checked: dict[str, Any] = plain(content)
    return checked


def bundle_from_json(content: Mapping[str, Any]) -> PromptBundle:
    """Return the bundle that ``bundle_to_json`` wrote.

    Raises:
        ArtifactError: Keys are missing or unknown.
    """
    if set(content) != {"roles", "demos", "metadata"}:
        raise ArtifactError("a bundle has the keys roles, demos, metadata", value=sorted(content))
    bundle = PromptBundle(
        prompts=dict(content["roles"]),
        metadata=dict(content["metadata"]),
        demos=tuple(dict(demo) for demo in content["demos"]),
    )
    check_bundle(bundle)
    return bundle
