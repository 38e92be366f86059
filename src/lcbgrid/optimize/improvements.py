"""Every improvement over the published methods, by the name that turns it off.

Optimizers specification, section 9. All are on in the profile ``improved`` and off in ``reference``;
``docs/reference/optimizers.md`` says more on each, with what it is worth.
"""

from __future__ import annotations

from collections.abc import Iterable

from lcbgrid.core.errors import ConfigError, nearest

IMPROVEMENTS: dict[str, str] = {
    "reuse_results": "what was answered once is free",
    "held_out_gate": "the search gets one half of the validation rows; the other half has a veto",
    "common_random_numbers": "all bundles meet the same seed on a row",
    "curtailment": "an evaluation ends once a strict win is out of reach",
    "anytime_stop": "a validation ends once a test that may look at any time says worse",
    "hard_rows_first": "a validation begins with the rows that the best bundle fails",
    "noise_aware_incumbent": "the incumbent has the highest shrunken mean of all its rollouts",
    "tail_retests": "what fits no step goes into re-tests of incumbent and seed",
    "rich_feedback": "who writes a text is told what the judge said of failures",
    "guard_retry": "a text that lost a name that it must keep is asked for once more",
    "joint_rewrites": "a child has new texts of all roles, not of one",
    "failing_rows": "minibatches of 8 rows, half of them failures of the parent that are known",
    "best_parent": "a child is made of the best bundle, not of one on the Pareto front",
    "no_repeats": "no combination is tried twice, and the sampler learns from its first trial",
    "more_instructions": "five new texts a role instead of two",
    "more_trials": "trials until the budget ends instead of three",
    "planned_trials": "the first trials change all roles alike, then the examples alone",
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
