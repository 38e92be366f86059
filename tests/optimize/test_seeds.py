"""Request seeds: the known answers, and what they depend on."""

from __future__ import annotations

import pytest

from lcbgrid.core.errors import ConfigError
from lcbgrid.core.hashing import sha256_text
from lcbgrid.optimize.seeds import SEED_LIMIT, logical_seed, paired_seed, reflection_seed


@pytest.mark.parametrize(
    ("seed", "cell", "phase", "iteration", "example", "role", "turn", "expected"),
    [
        (0, "cellA", "optimization/gepa", 0, "row-1", "abc", 0, 1960447531),
        (1, "cellA", "optimization/gepa", 0, "row-1", "abc", 0, 407202214),
        (2, "c", "p", 3, "e", "r", 1, 1511902273),
    ],
)
def test_logical_seeds(
    seed: int,
    cell: str,
    phase: str,
    iteration: int,
    example: str,
    role: str,
    turn: int,
    expected: int,
) -> None:
    found = logical_seed(
        optimizer_seed=seed,
        cell_id=cell,
        phase=phase,
        iteration=iteration,
        example_id=example,
        role=role,
        turn=turn,
    )
    assert found == expected


@pytest.mark.parametrize(
    ("seed", "split", "expected"), [(0, "validation", 1140308014), (2, "test", 456933604)]
)
def test_paired_seeds(seed: int, split: str, expected: int) -> None:
    found = paired_seed(
        condition="0" * 64,
        optimizer_seed=seed,
        split=split,
        example_id="row-1",
        schema="demo-paired-evaluation-seed/v1",
    )
    assert found == expected


def test_a_reflection_call_is_known_by_its_prompt() -> None:
    common = {"cell_id": "c", "phase": "p", "role": "r"}
    found = reflection_seed(optimizer_seed=0, iteration=1, turn=0, prompt="Mend it.", **common)
    row = sha256_text("Mend it.")
    assert found == logical_seed(optimizer_seed=0, iteration=1, turn=0, example_id=row, **common)
    other = reflection_seed(optimizer_seed=0, iteration=1, turn=0, prompt="Mend it!", **common)
    assert found != other
    assert 0 <= found < SEED_LIMIT


@pytest.mark.parametrize("seed", [3, -1, True])
def test_other_optimizer_seeds_are_refused(seed: int) -> None:
    with pytest.raises(ConfigError, match="0, 1, 2"):
        paired_seed(condition="x", optimizer_seed=seed, split="test", example_id="r")
