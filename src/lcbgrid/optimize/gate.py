"""The decision between seed and incumbent, with a word from rows that no search has seen.

Optimizers specification, sections 6.6 and 9 (item 9). The incumbent must be strictly better on the
whole validation split, as always. Where a search had only one half of it, the incumbent must also
not be worse on the other half: what was found by trying many bundles on the same rows would
otherwise be believed on the evidence of those very rows.

On simulated landscapes with shared chance this deploys as many of the bundles that gain 3 to 6
points as the whole split alone, where the half alone refuses a third of them; with half of the
chance shared it lets fewer losses through than either (docs/reference/optimizers.md).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence

from lcbgrid.optimize.records import RunRecord
from lcbgrid.optimize.selection import ForcedReason, Selection, select

GATE_REGRESSION = "gate_regression"


def decide(
    seed_records: Sequence[RunRecord],
    incumbent_records: Sequence[RunRecord],
    gate_ids: Collection[str],
    *,
    forced: ForcedReason | None = None,
) -> Selection:
    """Decide on the records of the whole validation split.

    Args:
        seed_records: The seed's, one a row.
        incumbent_records: The incumbent's on the same rows; may be empty if ``forced``.
        gate_ids: Rows that the search did not see, or all rows.
        forced: See ``selection.select``.

    Returns:
        The decision of ``selection.select``, but the seed with the reason ``gate_regression`` if
        the incumbent is worse on the rows of the gate.
    """
    decision = select(seed_records, incumbent_records, forced=forced)
    if decision.selected_candidate == "seed":
        return decision
    rows = frozenset(gate_ids)
    on_gate = select(
        [record for record in seed_records if record.example_id in rows],
        [record for record in incumbent_records if record.example_id in rows],
    )
    if on_gate.validation_delta is not None and on_gate.validation_delta < 0:
        return dataclasses.replace(
            decision, selected_candidate="seed", fallback_reason=GATE_REGRESSION
        )
    return decision
