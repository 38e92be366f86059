"""Problems that need more than a comparison with the stored answer, as data.

``benchmarks/lcb/checkers.yaml`` names a checker for a problem; the checkers themselves are the
small registry below. A problem with several right answers that no checker is named for *needs a
checker*: failing it by comparison says nothing (``errata`` lists those).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from pydantic import Field, model_validator

from lcbgrid.config.base import StrictModel, validate
from lcbgrid.config.effective import read_yaml
from lcbgrid.core.errors import ConfigError, DataError, nearest
from lcbgrid.judge.lcb_files import answers
from lcbgrid.problems.resources import resource_dir

CHECKERS_FILE = "checkers.yaml"
FLOAT_TOL: Final = "float_tol"

Checker = Callable[[str, Any, Any], str | None]
"""Input text, what the program gave, stored answer: a reason, or ``None`` if it is right."""

STDIN_CHECKERS: Final[Mapping[str, Checker]] = {
    check.__name__: check
    for check in (
        answers.abc_grid,
        answers.any_order_lines,
        answers.cycle_of_successors,
        answers.digit_other_than_sum,
        answers.permutation,
        answers.potions,
        answers.ranges_sum_zero,
        answers.sum_of_distinct,
        answers.three_cubes,
        answers.three_indices_with_sum,
    )
}
"""Checkers of output texts by name."""

CALL_CHECKERS: Final[Mapping[str, Checker]] = {"any_order": answers.any_order}
"""Checkers of results of functions by name."""

KNOWN = tuple(sorted([FLOAT_TOL, *STDIN_CHECKERS, *CALL_CHECKERS]))


class CheckerEntry(StrictModel):
    """What the file says about one problem."""

    checker: str = Field(description="Name in the registry, or float_tol.")
    tolerance: float | None = Field(
        None, gt=0, lt=1, description="For float_tol: absolute or relative error allowed."
    )
    why: str = Field(min_length=1, description="What the problem's statement accepts.")

    @model_validator(mode="after")
    def _known(self) -> CheckerEntry:
        if self.checker not in KNOWN:
            message = f"unknown checker {self.checker!r}; {nearest(self.checker, KNOWN)}"
            raise ValueError(message)
        if (self.tolerance is not None) != (self.checker == FLOAT_TOL):
            message = f"'tolerance' belongs to {FLOAT_TOL}, and only to it"
            raise ValueError(message)
        return self

    @property
    def float_tol(self) -> float | None:
        """The tolerance, if that is all that the problem needs."""
        return self.tolerance

    @property
    def label(self) -> str:
        """How results name it."""
        return self.checker if self.tolerance is None else f"{self.checker} {self.tolerance:g}"

    def reason(self, input_text: str, got: Any, expected: Any, *, call: bool) -> str | None:
        """Check one answer; returns a reason, or ``None`` if it is right.

        Args:
            input_text: The test's input.
            got: The whole output text, or the result of the call as plain data.
            expected: The stored output text, or the stored result.
            call: Whether it is the result of a call.

        Raises:
            DataError: The checker is for the other kind of problem, or the test does not look
                as it expects.
        """
        check = (CALL_CHECKERS if call else STDIN_CHECKERS).get(self.checker)
        if check is None:
            kind = "results of calls" if call else "output texts"
            raise DataError(f"checker {self.checker!r} does not check {kind}")
        return check(input_text, got, expected)


class _File(StrictModel):
    source: str
    problems: dict[str, CheckerEntry]


def read_checkers(path: Path | None = None) -> dict[str, CheckerEntry]:
    """Read which problem has which checker.

    Args:
        path: The file; default: the one that belongs to the package.

    Raises:
        ConfigError: It is malformed or names an unknown checker.
        InfrastructureError: The package's own file is missing.
    """
    path = path or resource_dir("lcb") / CHECKERS_FILE
    data = read_yaml(path)
    if not isinstance(data, dict):
        raise ConfigError("is no mapping", where=path)
    return validate(_File, data, where=path).problems
