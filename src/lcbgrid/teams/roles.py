"""Agents with different jobs: their names, their system prompts, and what is recorded of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from lcbgrid.config.team_spec import RoleSpec
from lcbgrid.scenarios import code_generation
from lcbgrid.teams.agent import Turn
from lcbgrid.teams.bundle import PromptBundle
from lcbgrid.teams.communication import contracts
from lcbgrid.teams.interface import Member, end_status
from lcbgrid.teams.programs import counts
from lcbgrid.teams.work import Spent, Work


def agent_names(roles: Sequence[RoleSpec]) -> tuple[str, ...]:
    """Return one name for each agent: its role's, with a number where a role repeats."""
    count = Counter(role.name for role in roles)
    seen: Counter[str] = Counter()
    names = []
    for role in roles:
        repeats = count[role.name] > 1
        names.append(f"{role.name}_{seen[role.name]}" if repeats else role.name)
        seen[role.name] += 1
    return tuple(names)


def system_prompt(role: RoleSpec, bundle: PromptBundle, format: str) -> str:
    """Return a role's text with its contracts (teams specification, section 6.4).

    The output contract is only for roles that deliver a program; the communication contract is for
    all, and empty in ``freeform``.
    """
    text = bundle.prompts[role.name]
    if role.delivers:
        text = code_generation.with_contract(text)
    return contracts.with_contract(text, format)


def member(
    work: Work, name: str, role: RoleSpec, turns: Sequence[Turn], *, runs_count: bool
) -> Member:
    """Return the record of an agent.

    Args:
        work: The problem.
        name: The agent.
        role: Its role.
        turns: Its turns, oldest first; the last one counts. Without any the agent is ``idle``.
        runs_count: See ``programs.counts``.
    """
    if not turns:
        return Member(name, role.name, "idle", "", None, Spent())
    last = turns[-1]
    found = last.program(work.problem)
    code = found.code if counts(found, role, work.problem, runs_count=runs_count) else None
    # A role that is not asked for a program is not blamed for writing none.
    status = end_status(last.end, found) if role.delivers else last.end
    return Member(name, role.name, status, last.text, code, work.spent(name))
