"""The rollout budget: a hard cap that threads and tasks share.

Optimizers specification, sections 1 and 6.5. A slot is first reserved, then settled once, by
``commit``, ``commit_prefix`` or ``cancel``. Only usable outcomes are charged. What is charged and
what is reserved never exceed the maximum together, so no order of calls can overspend.
"""

from __future__ import annotations

import contextlib
import dataclasses
import threading
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass

from lcbgrid.core.errors import ConfigError
from lcbgrid.optimize.errors import BudgetSpent, ContractError
from lcbgrid.optimize.records import Status

MAXIMUM_BUDGET = 600


@dataclass(frozen=True, slots=True)
class Reservation:
    """Slots that wait for their outcomes.

    Attributes:
        number: Which reservation of its ledger it is.
        slots: How many were granted; perhaps fewer than were asked for.
    """

    number: int
    slots: int


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All counters at one moment."""

    maximum: int
    charged: int
    reserved: int
    remaining: int
    attempted: int
    successful: int
    semantic_failures: int
    infrastructure_failures: int
    retries: int

    @property
    def closed(self) -> bool:
        """Whether nothing is under way and the counters add up."""
        return (
            self.reserved == 0
            and self.charged == self.successful + self.semantic_failures
            and self.attempted == self.charged + self.infrastructure_failures
            and self.retries == self.infrastructure_failures
            and self.remaining == self.maximum - self.charged
        )

    def to_json(self) -> dict[str, int]:
        """Return the counters as a JSON object."""
        return dataclasses.asdict(self)


@dataclass(slots=True)
class Meter:
    """What was settled while a block ran, by it and by the tasks that it started."""

    charged: int = 0
    attempted: int = 0


class BudgetLedger:
    """Counts rollouts and refuses more than the maximum.

    Every operation takes one short lock and never waits for a slot, so it may be called from
    threads and from tasks of an event loop alike.

    Args:
        maximum: Rollouts that may be charged, 1 to 600.

    Raises:
        ConfigError: The maximum is out of range.
    """

    def __init__(self, maximum: int) -> None:
        in_range = isinstance(maximum, int) and not isinstance(maximum, bool)
        if not in_range or not 1 <= maximum <= MAXIMUM_BUDGET:
            raise ConfigError(
                "no such rollout budget",
                where="budget",
                value=maximum,
                remedy=f"choose a whole number from 1 to {MAXIMUM_BUDGET}",
            )
        self.maximum = maximum
        self._lock = threading.Lock()
        self._open: dict[int, int] = {}
        self._next = 0
        self._count = dict.fromkeys(Status, 0)

    def reserve(self, n: int) -> Reservation:
        """Reserve up to ``n`` slots: as many as are neither charged nor reserved.

        Raises:
            BudgetSpent: Not one slot is free.
            ContractError: ``n`` is less than 1.
        """
        if n < 1:
            raise ContractError("at least one slot must be asked for", value=n)
        with self._lock:
            granted = min(n, self.maximum - self._charged() - self._reserved())
            if granted <= 0:
                raise BudgetSpent("the rollout budget is spent", value=self.maximum)
            reservation = Reservation(self._next, granted)
            self._next += 1
            self._open[reservation.number] = granted
            return reservation

    def commit(self, reservation: Reservation, outcomes: Sequence[Status]) -> None:
        """Settle a reservation with one outcome a slot.

        Raises:
            ContractError: Their number differs, or the reservation is not open.
        """
        if len(outcomes) != reservation.slots:
            raise ContractError(
                f"{reservation.slots} slots need as many outcomes", value=len(outcomes)
            )
        self._settle(reservation, outcomes)

    def commit_prefix(self, reservation: Reservation, outcomes: Sequence[Status]) -> None:
        """Settle what was attempted and free the other slots of a reservation.

        Raises:
            ContractError: There are more outcomes than slots, or the reservation is not open.
        """
        if len(outcomes) > reservation.slots:
            raise ContractError(
                f"{reservation.slots} slots take no more outcomes", value=len(outcomes)
            )
        self._settle(reservation, outcomes)

    def cancel(self, reservation: Reservation) -> None:
        """Free all slots of a reservation.

        Raises:
            ContractError: The reservation is not open.
        """
        self._settle(reservation, ())

    @contextlib.contextmanager
    def metered(self) -> Iterator[Meter]:
        """Count what the block settles, so that a caller can check that one call charged one.

        Tasks that the block starts count too; other threads and tasks do not.
        """
        meter = Meter()
        token = _meters.set((*_meters.get(), (self, meter)))
        try:
            yield meter
        finally:
            _meters.reset(token)

    @property
    def remaining(self) -> int:
        """Slots that are not charged; reserved ones are among them."""
        with self._lock:
            return self.maximum - self._charged()

    def snapshot(self) -> Snapshot:
        """Return all counters, taken at one moment."""
        with self._lock:
            failures = self._count[Status.INFRASTRUCTURE_FAILURE]
            return Snapshot(
                maximum=self.maximum,
                charged=self._charged(),
                reserved=self._reserved(),
                remaining=self.maximum - self._charged(),
                attempted=self._charged() + failures,
                successful=self._count[Status.SUCCESS],
                semantic_failures=self._count[Status.SEMANTIC_FAILURE],
                infrastructure_failures=failures,
                retries=failures,
            )

    def _charged(self) -> int:
        return self._count[Status.SUCCESS] + self._count[Status.SEMANTIC_FAILURE]

    def _reserved(self) -> int:
        return sum(self._open.values())

    def _settle(self, reservation: Reservation, outcomes: Sequence[Status]) -> None:
        kinds = [Status(outcome) for outcome in outcomes]  # refuses others before any change
        with self._lock:
            if self._open.get(reservation.number) != reservation.slots:
                raise ContractError("the reservation is not open", value=reservation.number)
            del self._open[reservation.number]
            for kind in kinds:
                self._count[kind] += 1
            for ledger, meter in _meters.get():
                if ledger is self:
                    meter.attempted += len(kinds)
                    meter.charged += sum(kind.usable for kind in kinds)
            assert self._charged() + self._reserved() <= self.maximum


_meters: ContextVar[tuple[tuple[BudgetLedger, Meter], ...]] = ContextVar("meters", default=())
