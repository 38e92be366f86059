"""Contest dates and date windows, in UTC.

The data set stores ISO texts without a zone, most at midnight, some with a time of day. A text
without a zone is read as UTC; one with an offset is converted. A window is half-open: from the
start day 00:00 UTC, included, to the end day 00:00 UTC, excluded. So windows that share a border
share no problem (user report R23: counts that differ between runs and posts).
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from lcbgrid.core.errors import UserError


def parse_contest_date(text: str) -> dt.datetime:
    """Return the moment in UTC.

    Raises:
        ValueError: The text is no ISO date or date and time.
    """
    moment = dt.datetime.fromisoformat(text.strip())
    if moment.tzinfo is None:
        return moment.replace(tzinfo=dt.UTC)
    try:
        return moment.astimezone(dt.UTC)
    except OverflowError:
        message = f"date out of range: {text!r}"
        raise ValueError(message) from None


def stored_date(text: str) -> str:
    """Return the form kept in ``Problem.contest_date``: ISO, UTC, without a zone.

    Raises:
        ValueError: The text is no ISO date or date and time.
    """
    return parse_contest_date(text).replace(tzinfo=None).isoformat()


@dataclass(frozen=True, slots=True)
class Window:
    """A half-open window of contest dates; an open side has no limit."""

    start: dt.datetime | None = None
    end: dt.datetime | None = None

    @classmethod
    def of_days(cls, start_day: str | None, end_day: str | None) -> Window:
        """Make a window from days written YYYY-MM-DD.

        Raises:
            UserError: The end does not come after the start, so no date can lie between.
        """
        start, end = _midnight(start_day), _midnight(end_day)
        if start is not None and end is not None and end <= start:
            raise UserError(
                "the date window is empty: end_date is excluded and must come after start_date",
                value=f"{start_day} to {end_day}",
            )
        return cls(start, end)

    def __contains__(self, moment: dt.datetime) -> bool:
        """Tell whether a moment lies in the window."""
        if self.start is not None and moment < self.start:
            return False
        return self.end is None or moment < self.end


def _midnight(day: str | None) -> dt.datetime | None:
    if day is None:
        return None
    try:
        date = dt.date.fromisoformat(day)
    except ValueError:
        raise UserError("not a day written YYYY-MM-DD", value=day) from None
    return dt.datetime.combine(date, dt.time(), tzinfo=dt.UTC)
