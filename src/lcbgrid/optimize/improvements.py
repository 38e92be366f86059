"""Every improvement over the published methods, by the name that turns it off.

Optimizers specification, section 9. All are on in the profile ``improved`` and off in
``reference``; ``docs/reference/optimizers.md`` says more on each, with what it is worth.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from lcbgrid.core.errors import ConfigError, nearest

EVERY, EVOLVING = ("gepa", "mamut_gepa", "mipro"), ("gepa", "mamut_gepa")


class Improvement(NamedTuple):
    """One improvement.

    Attributes:
        what: What it does, in a line.
        methods: Where it has an effect.
    """

    what: str
    methods: tuple[str, ...] = EVERY


IMPROVEMENTS: dict[str, Improvement] = {
    "reuse_results": Improvement("what was answered once is free"),
    "held_out_gate": Improvement(
        "the search gets one half of the validation rows; the other half has a veto"
    ),
    "common_random_numbers": Improvement("all bundles meet the same seed on a row"),
    "curtailment": Improvement("an evaluation ends once a strict win is out of reach"),
    "anytime_stop": Improvement(
        "a validation ends once a test that may look at any time says worse"
    ),
    "hard_rows_first": Improvement("a validation begins with the rows that the best bundle fails"),
    "noise_aware_incumbent": Improvement(
        "the incumbent has the highest shrunken mean of all its rollouts"
    ),
    "tail_retests": Improvement("what fits no step goes into re-tests of incumbent and seed"),
    "rich_feedback": Improvement("who writes a text is told what the judge said of failures"),
    "guard_retry": Improvement("a text that lost a name that it must keep is asked for once more"),
    "joint_rewrites": Improvement("a child has new texts of all roles, not of one", EVOLVING),
    "failing_rows": Improvement(
        "minibatches of 8 rows, up to 4 of them known failures of the parent", EVOLVING
    ),
    "best_parent": Improvement(
        "a child is made of the best bundle, not of one on the Pareto front", EVOLVING
    ),
    "no_repeats": Improvement(
        "no combination is tried twice, and the sampler learns from its first trial", ("mipro",)
    ),
    "more_instructions": Improvement("four new texts a role instead of two", ("mipro",)),
    "one_walk": Improvement("both sets of examples are made of one walk", ("mipro",)),
    "rungs": Improvement(
        "a trial ends if its first rows show no win; they are those that the best fails",
        ("mipro",),
    ),
    "fresh_instructions": Improvement(
        "new texts are asked for again, from the best bundle and what it fails", ("mipro",)
    ),
    "more_trials": Improvement("trials until the budget ends instead of three", ("mipro",)),
    "planned_trials": Improvement(
        "the first trials change all roles alike, then the examples alone", ("mipro",)
    ),
}


def known(names: Iterable[str]) -> None:
    """Refuse names that are no improvement.

    Raises:
        ConfigError: One of them; the nearest known name is the remedy.
    """
    for name in names:
        if name not in IMPROVEMENTS:
            raise ConfigError(
                "no such improvement",
                where="switches",
                value=name,
                remedy=nearest(name, IMPROVEMENTS),
            )
