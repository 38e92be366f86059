"""The vote of teams whose members answer apart (teams, section 8).

Every program gets a key, or abstains; programs with the same key form a bucket, and the largest
bucket wins. No vote sees a hidden test or a verdict. A method is one function that makes keys,
registered by name; ``behaviour`` needs what the programs print, which the caller gets first:

    outputs = await run_all(programs, inputs, run)
    vote = select(programs, "behaviour", outputs=outputs)
"""

from __future__ import annotations

import ast
import asyncio
import json
import warnings
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from lcbgrid.core.errors import ConfigError, nearest

Outputs = Sequence[Sequence[str | None]]  # a row for each program, a text for each input

_NO_INPUTS = "no inputs to run the programs on, so the vote was by ast"
_NOTHING_RAN = "no program ran on any input, so the vote was by ast"


@dataclass(frozen=True, slots=True)
class Vote:
    """The outcome of a vote.

    Attributes:
        winner: Index of the selected member; 0 if everybody abstained.
        buckets: Members that agree, largest bucket first; abstainers are in none.
        method: The method asked for.
        detail: What happened in words, if there is more to say (a fallback, nobody voted).
    """

    winner: int
    buckets: tuple[tuple[int, ...], ...]
    method: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Keys:
    """One key for each member (``None``: it abstains), and what is to be said about them."""

    values: tuple[str | None, ...]
    detail: str = ""


@dataclass(frozen=True, slots=True)
class VoteInput:
    """An input on which members' programs are compared; its right output plays no part.

    Attributes:
        text: What the program gets: standard input, or the arguments of a functional problem.
        source: The statement's own examples, or an agent of the team. There is no third: hidden
            tests never enter a vote.
    """

    text: str
    source: Literal["public_example", "agent"]


Run = Callable[[str, str], Awaitable[str | None]]
"""Runs (program, input) in the sandbox and returns what it printed; ``None`` if it failed."""

KeyMaker = Callable[[Sequence[str | None], Outputs], Keys]

_methods: dict[str, KeyMaker] = {}
_that_run: set[str] = set()


def register(name: str, *, runs: bool = False) -> Callable[[KeyMaker], KeyMaker]:
    """Register a function that makes keys under a method's name.

    Args:
        name: The method.
        runs: True if the method needs the programs' outputs.
    """

    def keep(maker: KeyMaker) -> KeyMaker:
        _methods[name] = maker
        if runs:
            _that_run.add(name)
        return maker

    return keep


def methods() -> tuple[str, ...]:
    """Return the names of all methods."""
    return tuple(_methods)


def needs_outputs(method: str) -> bool:
    """True if programs have to be run (:func:`run_all`) before this vote.

    Raises:
        ConfigError: There is no such method.
    """
    _check(method)
    return method in _that_run


def select(programs: Sequence[str | None], method: str, *, outputs: Outputs = ()) -> Vote:
    """Choose a member by vote.

    The largest bucket wins. Of equally large ones it is the bucket with the lowest member index;
    within the bucket, its lowest index is selected.

    Args:
        programs: The members' programs in member order; ``None`` for a member without one.
        method: Name of the method.
        outputs: What the programs printed, from :func:`run_all`; for methods that run programs.

    Raises:
        ConfigError: There is no such method.
        ValueError: There are no members, or ``outputs`` has not one row for each.
    """
    _check(method)
    if not programs:
        message = "a vote needs members"
        raise ValueError(message)
    if outputs and len(outputs) != len(programs):
        message = f"{len(programs)} programs, but outputs of {len(outputs)}"
        raise ValueError(message)
    keys = _methods[method](programs, outputs)
    members: dict[str, list[int]] = {}
    for index, key in enumerate(keys.values):
        if key is not None:
            members.setdefault(key, []).append(index)
    buckets = sorted((tuple(found) for found in members.values()), key=lambda b: (-len(b), b[0]))
    if not buckets:
        said = "; ".join(text for text in (keys.detail, "every member abstained") if text)
        return Vote(0, (), method, said)
    return Vote(buckets[0][0], tuple(buckets), method, keys.detail)


async def vote(
    programs: Sequence[str | None],
    method: str,
    *,
    run: Run | None = None,
    inputs: Sequence[VoteInput] = (),
) -> Vote:
    """Run the programs if the method needs that, then choose; see :func:`select`.

    Without ``run``, or without inputs, nothing is run and the method falls back as it says.
    """
    if run is None or not needs_outputs(method):
        return select(programs, method)
    return select(programs, method, outputs=await run_all(programs, inputs, run))


async def run_all(
    programs: Sequence[str | None], inputs: Sequence[VoteInput], run: Run
) -> tuple[tuple[str | None, ...], ...]:
    """Run every program on every input, all at once; equal programs only once.

    How many run at a time is up to ``run``. An error that ``run`` raises ends the other runs and
    goes to the caller.

    Returns:
        A row for each program, in member order; ``None`` where there is no program or it failed.
        No rows if there are no inputs.
    """
    if not inputs:
        return ()
    pairs = [(program, given.text) for program in programs if program for given in inputs]
    tasks = {pair: asyncio.ensure_future(run(*pair)) for pair in dict.fromkeys(pairs)}
    try:
        await asyncio.gather(*tasks.values())
    finally:
        for task in tasks.values():
            task.cancel()
        await asyncio.gather(*tasks.values(), return_exceptions=True)
    return tuple(
        tuple(tasks[program, given.text].result() if program else None for given in inputs)
        for program in programs
    )


@register("whitespace")
def _whitespace(programs: Sequence[str | None], outputs: Outputs) -> Keys:
    """Programs are the same if they differ in whitespace only, indentation included."""
    return Keys(tuple(_spaced(program) for program in programs))


@register("ast")
def _ast(programs: Sequence[str | None], outputs: Outputs) -> Keys:
    """Programs are the same if they differ in formatting and comments only.

    A program that does not parse is compared by whitespace; one of comments only abstains.
    """
    return Keys(tuple(_tree(program) for program in programs))


@register("behaviour", runs=True)
def _behaviour(programs: Sequence[str | None], outputs: Outputs) -> Keys:
    """Programs are the same if they print the same on every input.

    Blanks around lines, and blank lines around the output, do not count, as in the judge. A
    program that fails on all inputs abstains, and so does one without a statement. Without
    inputs, or if every program fails on all of them, the vote is by ``ast``.
    """
    trees = _ast(programs, ()).values
    if not any(outputs):
        return Keys(trees, _NO_INPUTS)
    values = tuple(
        json.dumps([None if text is None else _printed(text) for text in row])
        if tree and any(text is not None for text in row)
        else None
        for tree, row in zip(trees, outputs, strict=True)
    )
    if not any(values):
        return Keys(trees, _NOTHING_RAN)
    return Keys(values)


def _spaced(program: str | None) -> str | None:
    return " ".join((program or "").split()) or None


def _tree(program: str | None) -> str | None:
    spaced = _spaced(program)
    if program is None or spaced is None:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a model's bad escapes are not our warnings
            tree = ast.parse(program)
        return f"tree {ast.dump(tree)}" if tree.body else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return f"text {spaced}"


def _printed(text: str) -> str:
    return "\n".join(line.strip() for line in text.strip().split("\n"))


def _check(method: str) -> None:
    if method not in _methods:
        raise ConfigError(
            "no such vote", where="vote", value=method, remedy=nearest(method, _methods)
        )
