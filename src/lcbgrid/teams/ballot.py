"""Choosing one of several members' programs, and the answer that comes of it.

The vote sees programs, and what they print on the statement's own examples; never a hidden test.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lcbgrid.models.failures import ModelCallError
from lcbgrid.problems.schema import Problem
from lcbgrid.scenarios.extract import Extraction
from lcbgrid.teams.interface import Answer, Member, end_status
from lcbgrid.teams.vote import Vote, VoteInput, needs_outputs, select, vote
from lcbgrid.teams.work import Work

_CALL = """
if __name__ == "__main__":
    import json as _json, sys as _sys
    _arguments = [_json.loads(line) for line in _sys.stdin.read().split("\\n") if line.strip()]
    _owner = globals().get("Solution")
    _function = getattr(_owner(), {name!r}) if _owner else globals()[{name!r}]
    print(_json.dumps(_function(*_arguments), default=repr))
"""
_PREPARED = "\n".join(
    f"from {module} import *"
    for module in ("collections", "heapq", "bisect", "math", "itertools", "functools", "typing")
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """What one member hands in.

    Attributes:
        member: Its record.
        found: Its program.
        end: How its last turn ended; ``None`` if it was lost to infrastructure.
        finish_reason: As the server said it.
        message: Says more about an end other than ``ok``.
    """

    member: Member
    found: Extraction
    end: str | None
    finish_reason: str = ""
    message: str | None = None


async def elect(work: Work, candidates: Sequence[Candidate]) -> Vote:
    """Let the members' programs vote by the team's method."""
    method = work.context.spec.vote
    programs = [candidate.found.code for candidate in candidates]
    if not needs_outputs(method):
        return select(programs, method)
    inputs = [
        VoteInput(test.input, "public_example")
        for test in work.problem.public_tests
        if test.testtype == work.problem.mode
    ]

    async def run(program: str, text: str) -> str | None:
        return await work.context.tools.output_of(
            runnable(program, work.problem), text, work.call_id("vote", 0)
        )

    return await vote(programs, method, run=run, inputs=inputs)


def runnable(program: str, problem: Problem) -> str:
    """Return a program that reads an input and prints its answer, for either mode.

    A functional program gets one JSON value a line, as the data set gives its arguments.
    """
    if problem.fn_name is None:
        return program
    return f"{_PREPARED}\n{program}\n{_CALL.format(name=problem.fn_name)}"


async def elected(
    work: Work, candidates: Sequence[Candidate], failures: Sequence[ModelCallError], **more: Any
) -> Answer:
    """Return the answer of a team whose members vote.

    Members that were lost have no say. If nobody is left, or if nobody who is left wrote a
    program, the loss is raised: an infrastructure failure is never a missing program.

    Raises:
        ModelCallError: See above.
    """
    outcome = await elect(work, candidates)
    winner = candidates[outcome.winner]
    if failures and winner.found.code is None:
        raise failures[0]
    lost = f"{len(failures)} members were lost: {failures[0].what}" if failures else None
    return Answer(
        extraction=winner.found,
        status=end_status(winner.end or "empty", winner.found),
        finish_reason=winner.finish_reason,
        spent=work.total(),
        message=winner.message or lost,
        members=tuple(candidate.member for candidate in candidates),
        winner=outcome.winner,
        vote=dataclasses.asdict(outcome),
        **more,
    )
