"""Why a search ended without a result (optimizers specification, section 6.11)."""

from __future__ import annotations

from lcbgrid.core.errors import EXIT_INFRASTRUCTURE, LcbGridError
from lcbgrid.optimize.ledger import Snapshot
from lcbgrid.optimize.scrub import scrub


def failure_kind(error: BaseException, budget: Snapshot | None = None) -> str:
    """Return the kind of a search's failure.

    Args:
        error: What ended it.
        budget: The ledger at that moment. Slots that are still reserved belong to rollouts of
            which nobody knows whether they were made.
    """
    if budget is not None and budget.reserved:
        return "ambiguous_external"
    if getattr(error, "exit_status", None) == EXIT_INFRASTRUCTURE or isinstance(error, OSError):
        return "infrastructure_invalid"
    if isinstance(error, LcbGridError | ValueError):
        return "contract_failure"
    return "program_failure"


def failure_note(error: BaseException, budget: Snapshot) -> dict[str, object]:
    """Return what is kept of a failure; nothing is sealed, and the search can be run again."""
    return {
        "failure_kind": failure_kind(error, budget),
        "error_type": type(error).__name__,
        "error": scrub(str(error)),
        "budget": budget.to_json(),
    }
