"""Which problems of a source a grid runs on.

Order: ids, difficulty, platform, date window (half-open, UTC), split; then, among the usable
problems sorted by question id as text (the order of the official runner), offset and limit. So the
choice does not depend on the order of the source's rows.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from lcbgrid.config.problem_spec import FilterSpec
from lcbgrid.core.errors import UserError, nearest
from lcbgrid.problems.dates import Window, parse_contest_date
from lcbgrid.problems.schema import Problem

_SHOWN_IDS = 5


@dataclass(frozen=True, slots=True)
class RowFilter:
    """The filters that look at one problem alone, before its hidden tests are decoded."""

    ids: frozenset[str]
    difficulties: frozenset[str]
    platforms: frozenset[str]
    window: Window
    split_ids: frozenset[str] | None

    @classmethod
    def of(cls, spec: FilterSpec, split_ids: Collection[str] | None = None) -> RowFilter:
        """Make the filter; ``split_ids`` is ``None`` when no split is chosen."""
        return cls(
            ids=frozenset(spec.ids),
            difficulties=frozenset(spec.difficulty),
            platforms=frozenset(spec.platform),
            window=Window.of_days(spec.start_date, spec.end_date),
            split_ids=None if split_ids is None else frozenset(split_ids),
        )

    def accepts_id(self, question_id: str) -> bool:
        """Tell whether a row with this id may be wanted; all that is known of a broken row."""
        if self.ids and question_id not in self.ids:
            return False
        return self.split_ids is None or question_id in self.split_ids

    def accepts(self, problem: Problem) -> bool:
        """Tell whether the problem passes all filters."""
        if not self.accepts_id(problem.question_id):
            return False
        if self.difficulties and problem.difficulty not in self.difficulties:
            return False
        if self.platforms and problem.platform not in self.platforms:
            return False
        return parse_contest_date(problem.contest_date) in self.window


def take(problems: Sequence[Problem], spec: FilterSpec) -> list[Problem]:
    """Sort by question id as text, then apply offset and limit."""
    ordered = sorted(problems, key=lambda problem: problem.question_id)
    stop = None if spec.limit is None else spec.offset + spec.limit
    return ordered[spec.offset : stop]


def apply_filters(
    problems: Sequence[Problem], spec: FilterSpec, split_ids: Collection[str] | None = None
) -> list[Problem]:
    """Apply all filters to loaded problems.

    Raises:
        UserError: An id is unknown, or nothing is left.
    """
    check_known_ids(spec, {problem.question_id for problem in problems})
    chosen = RowFilter.of(spec, split_ids)
    result = take([problem for problem in problems if chosen.accepts(problem)], spec)
    check_not_empty(len(result), len(problems), spec)
    return result


def check_known_ids(spec: FilterSpec, known: Collection[str]) -> None:
    """Refuse ids that the source does not have.

    Raises:
        UserError: Names them, with the nearest id for the first.
    """
    unknown = [question_id for question_id in spec.ids if question_id not in known]
    if not unknown:
        return
    shown = ", ".join(unknown[:_SHOWN_IDS])
    if len(unknown) > _SHOWN_IDS:
        shown += f" and {len(unknown) - _SHOWN_IDS} more"
    count = f"{len(unknown)} question id{'s are' if len(unknown) > 1 else ' is'} not in the source"
    raise UserError(count, where="filters.ids", value=shown, remedy=nearest(unknown[0], known))


def check_not_empty(n_left: int, n_rows: int, spec: FilterSpec) -> None:
    """Refuse an empty choice.

    Raises:
        UserError: Says which filters were set.
    """
    if n_left:
        return
    active = {key: value for key, value in spec.model_dump().items() if value not in (None, (), 0)}
    shown = ", ".join(f"{key}={_plain(value)}" for key, value in active.items()) or "none"
    raise UserError(
        f"no usable problem of {n_rows} passes the filters and the split",
        where="filters",
        value=shown,
        remedy="widen them",
    )


def _plain(value: object) -> str:
    if isinstance(value, tuple):
        shown = ",".join(str(item) for item in value[:_SHOWN_IDS])
        return shown + (",…" if len(value) > _SHOWN_IDS else "")
    return str(value)
