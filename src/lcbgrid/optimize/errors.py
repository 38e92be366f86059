"""Errors of the optimizers' protocol (optimizers specification, section 6.11)."""

from __future__ import annotations

from lcbgrid.core.errors import DataError, LcbGridError


class ContractError(LcbGridError):
    """A method, a runner or a caller broke the protocol; nothing was charged for it."""


class BudgetSpent(LcbGridError):
    """No slot of the rollout budget is free; methods catch it and end their search."""


class ArtifactError(DataError):
    """A sealed artifact is missing, damaged, or would leave its folder."""
