"""How prompts are optimized in the cells of a grid whose optimizer is not ``identity``."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, PositiveInt

from lcbgrid.config.base import StrictModel

IDENTITY = "identity"
OPTIMIZER_SEEDS = (0, 1, 2)


class OptimizeSpec(StrictModel):
    """Budget, profile and models of the searches; ``identity`` cells know nothing of it."""

    budget: int = Field(
        600, ge=1, le=600, description="Rollouts that one search may spend, 1 to 600."
    )
    profile: Literal["improved", "reference"] = Field(
        "improved", description="How methods charge and decide; reference: as published."
    )
    without: tuple[str, ...] = Field(
        (), strict=False, description="Single improvements that are turned off."
    )
    reflection_model: str | None = Field(
        None, description="Model that writes prompts, by name; empty: the cell's own model."
    )
    reflection_max_tokens: PositiveInt | None = Field(
        None,
        description="Longest reply of the reflection model, thinking included; empty: 48000, or "
        "what the model's own sampling says.",
    )
    n_train: PositiveInt | None = Field(
        None, description="The first so many train problems; empty: all."
    )
    n_validation: PositiveInt | None = Field(
        None, description="The first so many validation problems; empty: all."
    )
    first_tests: PositiveInt | None = Field(
        None, description="Judge rollouts by the first so many tests; empty: by all."
    )
    search_temperature: float = Field(
        0.2, ge=0, le=2, description="Temperature of the rollouts of a search."
    )
    evaluation_temperature: float = Field(
        0.0, ge=0, le=2, description="Temperature of the final evaluations."
    )
    top_p: float = Field(0.9, gt=0, le=1, description="Nucleus mass of all rollouts.")
    own_test: bool = Field(
        False,
        description="Also compare seed and deployed prompts on the test problems with paired "
        "seeds (result.json), beside the cells of the grid.",
    )
    window: PositiveInt = Field(
        4, description="Rows that a validation which may end early runs at a time."
    )
    max_in_flight: PositiveInt | None = Field(
        None, description="Rollouts under way at a time; empty: as many as the model takes calls."
    )
