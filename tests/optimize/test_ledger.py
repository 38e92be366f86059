"""The ledger: the known answer, and that no order of calls can overspend."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

from lcbgrid.core.errors import ConfigError
from lcbgrid.optimize.errors import BudgetSpent, ContractError
from lcbgrid.optimize.ledger import BudgetLedger, Reservation
from lcbgrid.optimize.records import Status

GOOD, BAD, LOST = Status.SUCCESS, Status.SEMANTIC_FAILURE, Status.INFRASTRUCTURE_FAILURE


def test_known_answer() -> None:
    ledger = BudgetLedger(5)
    ledger.commit(ledger.reserve(3), [GOOD, BAD, LOST])
    assert ledger.snapshot().charged == 2
    granted = ledger.reserve(10)
    assert granted.slots == 3
    ledger.commit_prefix(granted, [GOOD])
    assert ledger.snapshot().charged == 3
    ledger.commit(ledger.reserve(2), [GOOD, GOOD])
    assert ledger.snapshot().to_json() == {
        "maximum": 5,
        "charged": 5,
        "reserved": 0,
        "remaining": 0,
        "attempted": 6,
        "successful": 4,
        "semantic_failures": 1,
        "infrastructure_failures": 1,
        "retries": 1,
    }
    assert ledger.snapshot().closed
    with pytest.raises(BudgetSpent):
        ledger.reserve(1)


@pytest.mark.parametrize("maximum", [0, -1, 601, 1.5, True])
def test_budgets_out_of_range_are_refused(maximum: int) -> None:
    with pytest.raises(ConfigError, match="1 to 600"):
        BudgetLedger(maximum)


def test_a_reservation_is_settled_once_and_only_by_its_own_ledger() -> None:
    ledger = BudgetLedger(4)
    held = ledger.reserve(2)
    assert not ledger.snapshot().closed
    with pytest.raises(ContractError, match="2 slots"):
        ledger.commit(held, [GOOD])
    with pytest.raises(ContractError, match="2 slots"):
        ledger.commit_prefix(held, [GOOD] * 3)
    with pytest.raises(ValueError, match="nonsense"):
        ledger.commit(held, [GOOD, "nonsense"])  # type: ignore[list-item]
    assert ledger.snapshot().reserved == 2  # nothing changed by the refusals
    ledger.cancel(held)
    for settle in (ledger.cancel, lambda r: ledger.commit(r, [GOOD, GOOD])):
        with pytest.raises(ContractError, match="not open"):
            settle(held)
    with pytest.raises(ContractError, match="not open"):
        ledger.cancel(Reservation(99, 1))
    with pytest.raises(ContractError, match="at least one"):
        ledger.reserve(0)
    assert ledger.snapshot().charged == 0


class LedgerMachine(RuleBasedStateMachine):
    """Any order of operations, against counters kept beside the ledger."""

    open = Bundle("open")

    def __init__(self) -> None:
        super().__init__()
        self.ledger = BudgetLedger(7)
        self.charged = self.failed = self.held = 0

    @rule(target=open, n=st.integers(1, 9))
    def reserve(self, n: int) -> Reservation | None:
        free = 7 - self.charged - self.held
        if free == 0:
            with pytest.raises(BudgetSpent):
                self.ledger.reserve(n)
            return None
        granted = self.ledger.reserve(n)
        assert granted.slots == min(n, free)
        self.held += granted.slots
        return granted

    @rule(held=consumes(open), data=st.data(), whole=st.booleans())
    def settle(self, held: Reservation | None, data: st.DataObject, whole: bool) -> None:
        if held is None:
            return
        least = held.slots if whole else 0
        outcomes = data.draw(
            st.lists(st.sampled_from(list(Status)), min_size=least, max_size=held.slots)
        )
        (self.ledger.commit if whole else self.ledger.commit_prefix)(held, outcomes)
        self.held -= held.slots
        self.charged += sum(kind.usable for kind in outcomes)
        self.failed += sum(not kind.usable for kind in outcomes)

    @rule(held=consumes(open))
    def cancel(self, held: Reservation | None) -> None:
        if held is not None:
            self.ledger.cancel(held)
            self.held -= held.slots

    @rule(held=consumes(open))
    def settle_twice(self, held: Reservation | None) -> None:
        if held is not None:
            self.cancel_held(held)
            with pytest.raises(ContractError):
                self.ledger.commit(held, [GOOD] * held.slots)

    def cancel_held(self, held: Reservation) -> None:
        self.ledger.cancel(held)
        self.held -= held.slots

    @invariant()
    def counters_agree_and_stay_under_the_maximum(self) -> None:
        seen = self.ledger.snapshot()
        assert (seen.charged, seen.reserved) == (self.charged, self.held)
        assert seen.infrastructure_failures == seen.retries == self.failed
        assert seen.attempted == self.charged + self.failed
        assert seen.charged + seen.reserved <= seen.maximum == 7
        assert seen.remaining == self.ledger.remaining == 7 - self.charged
        assert seen.closed == (self.held == 0)


LedgerMachine.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
TestLedgerMachine = LedgerMachine.TestCase


def test_threads_together_spend_exactly_the_budget() -> None:
    ledger = BudgetLedger(200)
    start = threading.Barrier(8)

    def spend(_: int) -> int:
        start.wait()
        mine = 0
        while True:
            try:
                held = ledger.reserve(3)
            except BudgetSpent:
                return mine
            outcomes = [LOST if mine % 5 == 4 else GOOD] * held.slots
            ledger.commit(held, outcomes)
            mine += held.slots

    with ThreadPoolExecutor(8) as pool:
        attempted = sum(pool.map(spend, range(8)))
    seen = ledger.snapshot()
    assert seen.charged == 200
    assert seen.attempted == attempted
    assert seen.closed


def test_a_meter_counts_its_own_tasks_only() -> None:
    ledger, other = BudgetLedger(50), BudgetLedger(50)

    async def rollout(n: int) -> None:
        held = ledger.reserve(n)
        await asyncio.sleep(0)
        ledger.commit(held, [GOOD] * (n - 1) + [LOST])
        other.commit(other.reserve(1), [GOOD])

    async def metered(n: int) -> tuple[int, int]:
        with ledger.metered() as meter:
            await asyncio.gather(rollout(n), asyncio.create_task(rollout(n)))
        return meter.charged, meter.attempted

    async def both() -> list[tuple[int, int]]:
        return await asyncio.gather(metered(2), metered(5))

    assert asyncio.run(both()) == [(2, 4), (8, 10)]
    assert ledger.snapshot().charged == 10
