"""Identity: no search at all (optimizers specification, section 4.0).

It takes the way of every other method through the protocol, and gives the seed bundle's result,
with which theirs are compared.
"""

from __future__ import annotations

from collections.abc import Sequence

from lcbgrid.optimize.curve import Observation
from lcbgrid.optimize.interface import (
    Job,
    Outcome,
    Reflection,
    Row,
    Runner,
    Trials,
    register,
)


@register("identity")
class Identity:
    """Gives the seed bundle back and spends nothing."""

    async def optimize(
        self,
        job: Job,
        runner: Runner,
        reflection: Reflection,
        trials: Trials,
        train: Sequence[Row],
        validation: Sequence[Row],
    ) -> Outcome:
        """Return the seed bundle."""
        del job, reflection, train, validation
        seed = runner.seed_bundle
        trials.trial("seed", bundle=seed, params={}, value=None, attributes={"kind": "seed"})
        return Outcome(
            incumbent=seed,
            stop_reason="identity_no_search",
            observations=(Observation(0, seed.full_digest, "initial"),),
        )
