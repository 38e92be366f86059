"""Whose program a team hands in, where several agents with different jobs may have written one.

An agent is only searched in its own replies: never in what it read, a tool printed or the task
says (teams specification, Q5). Roles that are not asked for a program quote inputs and snippets,
so what they write counts only in a block that is marked as Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lcbgrid.config.team_spec import RoleSpec
from lcbgrid.models.types import ChatReply
from lcbgrid.problems.schema import Problem
from lcbgrid.scenarios.extract import Extraction, defines, extract
from lcbgrid.teams.agent import find_program

_MARKED = frozenset({"labelled", "earlier_labelled"})
TOOL_RUN = "tool_argument"


@dataclass(frozen=True, slots=True)
class Writer:
    """An agent's replies of one turn.

    Attributes:
        member: Its index among the members.
        role: Its role.
        replies: What it wrote, oldest first.
    """

    member: int
    role: RoleSpec
    replies: Sequence[ChatReply]


def counts(found: Extraction, role: RoleSpec, problem: Problem, *, runs_count: bool) -> bool:
    """True if what was found in a role's replies is a program that it wrote as one.

    Args:
        found: What was found.
        role: The writer's role.
        problem: A functional problem's program has to define the function.
        runs_count: A program that the role only ran with a tool counts like one that it wrote.
    """
    if found.code is None or (found.method == TOOL_RUN and not runs_count):
        return False
    if not role.delivers and found.method not in _MARKED:
        return False
    return problem.fn_name is None or defines(found.code, problem.fn_name)


def program_in(text: str, role: RoleSpec, problem: Problem) -> str | None:
    """Return the program that a role's text hands on, or ``None``."""
    found = extract(text, fn_name=problem.fn_name)
    return found.code if counts(found, role, problem, runs_count=False) else None


def choose(
    writers: Sequence[Writer], problem: Problem, *, runs_count: bool
) -> tuple[Writer | None, Extraction]:
    """Return the first writer whose program counts, and the program.

    If nobody's counts, the first that has anything like a program is taken: it is better than
    nothing. If there is none at all, the writer is ``None``.

    Args:
        writers: The newest first; at least one.
        problem: The problem.
        runs_count: See ``counts``.
    """
    found = [(writer, find_program(writer.replies, problem)) for writer in writers]
    for writer, program in found:
        if counts(program, writer.role, problem, runs_count=runs_count):
            return writer, program
    for writer, program in found:
        if program.code is not None:
            return writer, program
    return None, found[0][1]
