"""The runner: what is charged, what is free, what is refused, and what a kill leaves."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from lcbgrid.core.errors import EndpointError, InfrastructureError
from lcbgrid.core.hashing import derived_seed
from lcbgrid.optimize.errors import BudgetSpent, ContractError
from lcbgrid.optimize.interface import Job, Profile, Row
from lcbgrid.optimize.journal import RolloutJournal
from lcbgrid.optimize.pruning import curtailed
from lcbgrid.optimize.records import RunRecord, Status, Usage
from lcbgrid.optimize.runner import JournalledRunner
from lcbgrid.teams.bundle import PromptBundle

SEED = PromptBundle({"coder": "write", "critic": "doubt"})
ROWS = [{"id": f"r{number:02}", "text": f"problem {number}"} for number in range(20)]
TEST_ROW = {"id": "t00", "text": "secret"}


class World:
    """Answers by a hash of what is asked, after a shuffled delay; fails where it is told to."""

    def __init__(self, *, delays: bool = False, fails: dict[str, int] | None = None) -> None:
        self.seen: list[tuple[str, str, int]] = []
        self.delays = delays
        self.fails = dict(fails or {})
        self.busy = self.most_busy = 0
        self._random = random.Random(5)

    async def execute(self, row: Row, bundle: PromptBundle, request_seed: int) -> RunRecord:
        self.busy += 1
        self.most_busy = max(self.most_busy, self.busy)
        if self.delays:
            await asyncio.sleep(self._random.random() / 500)
        self.busy -= 1
        name = row["id"]
        self.seen.append((bundle.exec_digest, name, request_seed))
        if self.fails.get(name, 0) > 0:
            self.fails[name] -= 1
            raise EndpointError("no answer from http://10.0.0.7:8000/v1")
        score = derived_seed(bundle.exec_digest, name, request_seed) % 2
        return rollout(name, request_seed, score)


def rollout(name: str, request_seed: int, score: float) -> RunRecord:
    return RunRecord(
        cell_id="c",
        example_id=name,
        status=Status.SUCCESS if score else Status.SEMANTIC_FAILURE,
        final_output="program \ud800",
        score=score,
        request_seed=request_seed,
        usage=Usage(model_calls=1, input_tokens=10, output_tokens=2),
    )


def job(budget: int = 60, profile: Profile = "improved", **switches: bool) -> Job:
    return Job("random", "cell", 0, budget, profile, switches)


def runner(
    world: World, of: Job | None = None, rows: Sequence[Row] = ROWS, **more: Any
) -> JournalledRunner:
    return JournalledRunner(of or job(), SEED, ("critic", "coder"), rows, world.execute, **more)


def child(number: int) -> PromptBundle:
    return PromptBundle({**SEED.prompts, "coder": f"write {number}"})


async def random_search(one: JournalledRunner, seed: int) -> list[Any]:
    """Try random children on random rows until the budget is spent; return all it saw."""
    choose = random.Random(seed)
    trace: list[Any] = []
    for step in range(1000):
        rows = choose.sample(ROWS, choose.randint(1, 12))
        goal = choose.choice([None, 2.0, 5.0])

        def out_of_reach(
            scores: Sequence[float], goal: float | None = goal, n: int = len(rows)
        ) -> bool:
            return goal is not None and curtailed(sum(scores), n - len(scores), goal)

        try:
            batch = await one.run_batch(
                rows,
                child(choose.randrange(6)),
                phase="optimization",
                iteration=step // 3,
                slot="pair",
                stop=None if goal is None else out_of_reach,
            )
        except BudgetSpent:
            return trace
        trace.append((batch.scores, batch.truncated, batch.curtailed, one.ledger.snapshot()))
    return trace


def run(work: Awaitable[Any]) -> Any:
    async def inner() -> Any:
        return await work

    return asyncio.run(inner())


def test_records_come_in_the_order_of_the_rows_and_run_in_parallel() -> None:
    world = World(delays=True)
    one = runner(world, max_in_flight=7)
    batch = run(one.run_batch(ROWS, SEED, phase="p", iteration=0))
    assert [record.example_id for record in batch.records] == [row["id"] for row in ROWS]
    assert batch.requested == 20
    assert not batch.truncated
    assert world.most_busy == 7
    assert one.ledger.snapshot().charged == 20
    assert {record.final_output for record in batch.records} == {"program \ufffd"}


def test_bundles_of_one_slot_meet_the_same_seeds() -> None:
    world = World()
    one = runner(world)

    async def both() -> None:
        await one.run_batch(ROWS[:3], SEED, phase="p", iteration=1, slot="gate")
        await one.run_batch(ROWS[:3], child(1), phase="p", iteration=1, slot="gate")
        await one.run_batch(ROWS[:3], child(1), phase="p", iteration=2, slot="gate")

    run(both())
    seeds = [seed for _, _, seed in world.seen]
    assert seeds[:3] == seeds[3:6]
    assert not set(seeds[:3]) & set(seeds[6:])


@pytest.mark.parametrize(("profile", "executed"), [("improved", 5), ("reference", 10)])
def test_what_was_answered_once_is_free_in_the_improved_profile(
    profile: Profile, executed: int
) -> None:
    world = World()
    one = runner(world, job(profile=profile))

    async def twice() -> None:
        for _ in range(2):
            same = PromptBundle(SEED.prompts, {"from": "elsewhere"})
            await one.run_batch(ROWS[:5], same, phase="p", iteration=0)

    run(twice())
    assert len(world.seen) == len(set(world.seen)) == executed
    assert one.ledger.snapshot().charged == executed


def test_the_budget_cuts_the_tail_and_then_refuses() -> None:
    world = World()
    one = runner(world, job(budget=8))

    async def work() -> None:
        first = await one.run_batch(ROWS[:5], SEED, phase="p", iteration=0)
        assert not first.truncated
        second = await one.run_batch(ROWS[:12], SEED, phase="p", iteration=0)
        assert len(second.records) == 8
        assert second.truncated  # five were known, three were paid
        assert second.requested == 12
        again = await one.run_batch(ROWS, SEED, phase="p", iteration=0)
        assert len(again.records) == 8
        assert again.truncated
        with pytest.raises(BudgetSpent):
            await one.run_batch(ROWS[8:], SEED, phase="p", iteration=0)

    run(work())
    assert one.ledger.snapshot().charged == 8
    assert one.ledger.snapshot().closed


def test_failures_are_made_again_with_the_same_seed_and_not_charged() -> None:
    world = World(fails={"r01": 2, "r03": 1})
    one = runner(world, job(budget=5))
    batch = run(one.run_batch(ROWS[:5], SEED, phase="p", iteration=0))
    assert all(record.usable for record in batch.records)
    tried = [seed for _, name, seed in world.seen if name == "r01"]
    assert len(tried) == 3
    assert len(set(tried)) == 1
    seen = one.ledger.snapshot()
    assert (seen.charged, seen.attempted, seen.retries, seen.closed) == (5, 8, 3, True)


def test_three_failures_of_a_row_end_the_search_with_a_closed_ledger() -> None:
    world = World(fails={"r02": 3})
    one = runner(world)
    with pytest.raises(InfrastructureError, match="r02: a rollout failed 3 times") as caught:
        run(one.run_batch(ROWS[:5], SEED, phase="p", iteration=0))
    assert "10.0.0.7" not in str(caught.value)
    seen = one.ledger.snapshot()
    assert (seen.charged, seen.infrastructure_failures, seen.closed) == (4, 3, True)


def test_a_bug_in_the_executor_ends_the_batch_with_a_closed_ledger() -> None:
    async def broken(row: Row, bundle: PromptBundle, request_seed: int) -> RunRecord:
        if row["id"] == "r03":
            raise ZeroDivisionError
        await asyncio.sleep(0 if row["id"] < "r03" else 60)
        return rollout(row["id"], request_seed, 1)

    one = JournalledRunner(job(), SEED, ("coder", "critic"), ROWS, broken)
    with pytest.raises(ZeroDivisionError):
        run(one.run_batch(ROWS[:9], SEED, phase="p", iteration=0))
    assert one.ledger.snapshot().closed


def test_rows_that_are_not_the_searchs_own_are_refused_before_a_charge() -> None:
    world = World()
    one = runner(world)
    for rows, why in (
        ([TEST_ROW], "may not be run here"),
        ([{**ROWS[0], "text": "altered"}], "was altered"),
        ([{**ROWS[0], "more": True}], "was altered"),
        ([ROWS[0], ROWS[0]], "stands twice"),
        ([], "needs a row"),
        ([{"text": "nameless"}], "no id"),
    ):
        with pytest.raises(ContractError, match=why):
            run(one.run_batch(rows, SEED, phase="p", iteration=0))
    for prompts in (
        {"coder": "x"},
        {**SEED.prompts, "third": "x"},
        {**SEED.prompts, "coder": " "},
    ):
        with pytest.raises(ContractError):
            run(one.run_batch(ROWS[:1], PromptBundle(prompts), phase="p", iteration=0))
    assert not world.seen
    assert one.ledger.snapshot().attempted == 0


def test_a_stop_rule_ends_a_batch_at_its_window() -> None:
    def hopeless(scores: Sequence[float]) -> bool:
        return curtailed(sum(scores), 20 - len(scores), 15)

    async def nothing(row: Row, bundle: PromptBundle, request_seed: int) -> RunRecord:
        return rollout(row["id"], request_seed, 0)

    one = JournalledRunner(job(), SEED, ("coder", "critic"), ROWS, nothing, window=3)
    batch = run(one.run_batch(ROWS, SEED, phase="p", iteration=0, stop=hopeless))
    assert batch.curtailed
    assert len(batch.records) == 5  # five failures were needed, and were run at once
    at_end = run(one.run_batch(ROWS, SEED, phase="p", iteration=1, stop=lambda s: len(s) == 20))
    assert not at_end.curtailed
    assert len(at_end.records) == 20
    eager = run(one.run_batch(ROWS, SEED, phase="p", iteration=2, stop=lambda _: True))
    assert eager.curtailed
    assert len(eager.records) == 3


@pytest.mark.parametrize("profile", ["improved", "reference"])
def test_no_budget_is_overspent_and_concurrency_changes_nothing(profile: Profile) -> None:
    for budget in range(1, 61):
        traces = []
        for in_flight, delays in ((1, False), (16, budget % 10 == 0)):
            one = runner(World(delays=delays), job(budget, profile), max_in_flight=in_flight)
            traces.append((run(random_search(one, budget)), one.rollouts))
            seen = one.ledger.snapshot()
            assert seen.charged <= budget
            assert seen.closed
            assert seen.charged == one.executed
        assert traces[0] == traces[1]


def test_a_kill_at_every_line_of_the_journal_costs_no_call_twice(tmp_path: Path) -> None:
    def search(path: Path, world: World) -> tuple[Any, bytes]:
        journal = RolloutJournal(path, "job")
        one = runner(world, job(30), journal=journal)
        trace = run(random_search(one, 3))
        journal.settle()
        journal.close()
        return (trace, one.rollouts), path.read_bytes()

    fails = {"r04": 1, "r11": 2}
    whole_world = World(fails=fails)
    whole = search(tmp_path / "whole", whole_world)
    lines = whole[1].splitlines(keepends=True)
    assert len(lines) == 34  # the first line, 30 charged and 3 failed attempts
    for kept in range(len(lines) + 1):
        path = tmp_path / f"cut{kept}"
        path.write_bytes(b"".join(lines[:kept]) + b"".join(lines[kept : kept + 1])[:-7])
        world = World(fails=_left_to_fail(lines[:kept], fails))
        assert search(path, world) == whole
        assert len(world.seen) == 33 - min(33, max(0, kept - 1))


def _left_to_fail(lines: list[bytes], fails: dict[str, int]) -> dict[str, int]:
    return {
        name: times
        - sum(b"infrastructure_failure" in line and name.encode() in line for line in lines)
        for name, times in fails.items()
    }


def test_wrong_sizes_are_refused() -> None:
    make: Callable[..., JournalledRunner] = runner
    for wrong in ({"max_in_flight": 0}, {"window": 0}, {"rows": [ROWS[0], ROWS[0]]}):
        with pytest.raises(ContractError):
            make(World(), **wrong)
    with pytest.raises(ContractError, match="order of roles"):
        JournalledRunner(job(), SEED, ("coder",), ROWS, World().execute)
