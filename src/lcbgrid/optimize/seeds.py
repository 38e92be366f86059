"""Seeds of requests, derived from what a request is for and never from when it is sent.

A *logical* seed belongs to a rollout of the search or to a reflection call (optimizers
specification, section 3.1). A *paired* seed belongs to a row of a final evaluation (section 3.2);
neither method nor bundle is part of it, so that two bundles meet the same chance on each row.
"""

from __future__ import annotations

from lcbgrid.core.errors import ConfigError
from lcbgrid.core.hashing import sha256_text
from lcbgrid.optimize.canonical import content_hash

SEED_LIMIT = 2**31 - 1
PAIRED_SCHEMA = "lcbgrid-paired-evaluation-seed/v1"
OFFSETS = {0: 0, 1: 1000, 2: 2000}


def seed_offset(optimizer_seed: int) -> int:
    """Return the offset of an optimizer seed.

    Raises:
        ConfigError: It is not 0, 1 or 2.
    """
    if isinstance(optimizer_seed, bool) or optimizer_seed not in OFFSETS:
        raise ConfigError(
            "no such optimizer seed",
            value=optimizer_seed,
            remedy=f"choose one of {', '.join(map(str, OFFSETS))}",
        )
    return OFFSETS[optimizer_seed]


def logical_seed(
    *,
    optimizer_seed: int,
    cell_id: str,
    phase: str,
    iteration: int,
    example_id: str,
    role: str,
    turn: int,
    attempt: int = 0,
) -> int:
    """Return the request seed of a rollout or reflection call (section 3.1).

    Args:
        optimizer_seed: 0, 1 or 2.
        cell_id: The job.
        phase: For example ``optimization/gepa``.
        iteration: Native iteration of the method.
        example_id: The row.
        role: The bundle's digest where runs are independent; the name of an event where two
            bundles are compared, so that both get the same seed (section 9, item 3).
        turn: Number of earlier uses of the same slot.
        attempt: 0; a retry after an infrastructure failure keeps the seed.
    """
    offset = seed_offset(optimizer_seed)
    parts = (optimizer_seed, offset, cell_id, phase, iteration, example_id, role, turn, attempt)
    first_bytes = int(sha256_text("|".join(map(str, parts)))[:16], 16)
    return (first_bytes + offset) % SEED_LIMIT


def reflection_seed(
    *,
    optimizer_seed: int,
    cell_id: str,
    phase: str,
    iteration: int,
    prompt: str,
    role: str,
    turn: int,
) -> int:
    """Return the seed of a reflection call: the prompt's hash takes the place of the row."""
    return logical_seed(
        optimizer_seed=optimizer_seed,
        cell_id=cell_id,
        phase=phase,
        iteration=iteration,
        example_id=sha256_text(prompt),
        role=role,
        turn=turn,
    )


def paired_seed(
    *,
    condition: str,
    optimizer_seed: int,
    split: str,
    example_id: str,
    schema: str = PAIRED_SCHEMA,
) -> int:
    """Return the request seed of a row in a final evaluation (section 3.2).

    Args:
        condition: SHA-256 of the condition, which names no method.
        optimizer_seed: 0, 1 or 2.
        split: ``validation`` or ``test``.
        example_id: The row.
        schema: Version of this rule.
    """
    content = {
        "schema": schema,
        "condition": condition,
        "seed": optimizer_seed,
        "offset": seed_offset(optimizer_seed),
        "split": split,
        "example_id": example_id,
    }
    return int(content_hash(content)[:16], 16) % SEED_LIMIT
