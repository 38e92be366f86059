"""Copies of one role that work beside each other: their names, budgets, turns and losses."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from lcbgrid.config.team_spec import RoleSpec
from lcbgrid.models.failures import ModelCallError
from lcbgrid.scenarios.extract import Extraction
from lcbgrid.teams.agent import Turn
from lcbgrid.teams.ballot import Candidate
from lcbgrid.teams.interface import Member, end_status
from lcbgrid.teams.work import Work

Value = TypeVar("Value")
NOTHING = Extraction(None, "none")


def copy_names(role: RoleSpec, size: int) -> tuple[str, ...]:
    """Return one name for each copy."""
    return tuple(f"{role.name}_{index}" for index in range(size))


async def side_by_side(
    job: Callable[[int], Awaitable[Value]], indices: Sequence[int]
) -> dict[int, Value | ModelCallError]:
    """Run a job for each index at once; a member that is lost holds up nobody.

    Returns:
        Index -> result or loss, in the order of ``indices``, whoever was first.

    Raises:
        ModelCallError: A loss that would meet every other call, too.
    """
    results = await asyncio.gather(*(job(index) for index in indices), return_exceptions=True)
    done: dict[int, Value | ModelCallError] = {}
    for index, result in zip(indices, results, strict=True):
        if isinstance(result, ModelCallError):
            if result.fatal:
                raise result
            done[index] = result
        elif isinstance(result, BaseException):
            raise result
        else:
            done[index] = result
    return done


def candidate(
    work: Work, name: str, role: RoleSpec, turns: Sequence[Turn], loss: ModelCallError | None
) -> Candidate:
    """Return what a copy hands in: the program of its newest turn that has one.

    Args:
        work: The problem.
        name: The copy.
        role: Its role.
        turns: Its turns, oldest first.
        loss: Why it was lost, if it was; a lost member keeps what it wrote before.
    """
    spent = work.spent(name)
    if not turns:
        member = Member(name, role.name, "infra_error", "", None, spent)
        return Candidate(member, NOTHING, None)
    last = turns[-1]
    found = last.program(work.problem)
    for turn in reversed(turns[:-1]):
        if found.code is not None:
            break
        earlier = turn.program(work.problem)
        if earlier.code is not None:
            found = Extraction(earlier.code, f"earlier_{earlier.method}", found.truncated)
    status = "infra_error" if loss else end_status(last.end, found)
    member = Member(name, role.name, status, last.text, found.code, spent)
    return Candidate(member, found, last.end, last.finish_reason, last.message)
