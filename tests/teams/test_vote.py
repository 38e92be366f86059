"""The vote: who wins, and why."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcbgrid.config.team_spec import VoteMethod
from lcbgrid.core.errors import ConfigError
from lcbgrid.teams import vote as votes
from lcbgrid.teams.vote import (
    Keys,
    Vote,
    VoteInput,
    methods,
    needs_outputs,
    register,
    run_all,
    select,
    vote,
)

PLACEHOLDER = "# YOUR CODE HERE"
INPUTS = (VoteInput("1", "public_example"), VoteInput("2", "agent"))


@pytest.mark.parametrize(
    ("programs", "winner"),
    [
        (["a=1", "b=2", "b=2 ", None], 1),
        (["a", "b", "c", "d"], 0),
        (["p", "q", "q", "p"], 0),
        ([None, None, "q", ""], 2),
        ([None, None, None, None], 0),
        (["if a:\n    b\nc", "if a:\n    b\n    c", "x", "y"], 0),
        ([None, PLACEHOLDER, "s1", PLACEHOLDER], 1),
    ],
)
def test_the_table_of_the_whitespace_vote(programs: list[str | None], winner: int) -> None:
    assert select(programs, "whitespace").winner == winner


def test_buckets_show_who_agreed() -> None:
    programs = ["if a:\n    b\nc", "x", "if a:\n    b\n    c", None, "x\n", "x", "y"]
    assert select(programs, "whitespace") == Vote(1, ((1, 4, 5), (0, 2), (6,)), "whitespace")
    assert select(programs, "ast").buckets == ((1, 4, 5), (0,), (2,), (6,))


@pytest.mark.parametrize("method", ["whitespace", "ast", "behaviour"])
def test_nobody_voted(method: str) -> None:
    found = select([None, "", " \n"], method)
    assert (found.winner, found.buckets) == (0, ())
    assert found.detail.endswith("every member abstained")


def test_ast_ignores_formatting_and_comments() -> None:
    programs = ["y=2", "x = (1)  # one", "# first\nx=1", "x = '1'"]
    assert select(programs, "ast") == Vote(1, ((1, 2), (0,), (3,)), "ast")


def test_ast_tells_indentation_apart() -> None:
    assert len(select(["if a:\n  b\nc", "if a:\n  b\n  c"], "ast").buckets) == 2


def test_ast_compares_what_does_not_parse_by_whitespace() -> None:
    assert select(["x = 1", "print(", "print( ", "print(\n"], "ast").buckets == ((1, 2, 3), (0,))
    odd = ["(" * 5000, "\0", "\ud800", "x = 1", "x=1"]
    assert select(odd, "ast").buckets == ((3, 4), (0,), (1,), (2,))


def test_comments_alone_abstain_from_ast() -> None:
    assert select([PLACEHOLDER, PLACEHOLDER, "s1"], "ast").buckets == ((2,),)


# behaviour

PRINTS = {
    "double": {"1": "2\n", "2": "4"},
    "twice": {"1": " 2", "2": "4 \n\n"},
    "square": {"1": "1", "2": "4"},
    "half": {"1": None, "2": "4"},
    "crash": {"1": None, "2": None},
}


class Sandbox:
    """Prints by program and input; keeps what was run."""

    def __init__(self) -> None:
        self.ran: list[tuple[str, str]] = []

    async def __call__(self, program: str, text: str) -> str | None:
        self.ran.append((program, text))
        await asyncio.sleep(0)
        return PRINTS[program][text]


def behaviour(
    programs: Sequence[str | None], inputs: Sequence[VoteInput] = INPUTS
) -> tuple[Vote, Sandbox]:
    sandbox = Sandbox()
    return asyncio.run(vote(programs, "behaviour", run=sandbox, inputs=inputs)), sandbox


def test_programs_that_print_the_same_agree() -> None:
    found, _ = behaviour(["square", "half", "double", None, "twice"])
    assert found == Vote(2, ((2, 4), (0,), (1,)), "behaviour")


def test_a_program_that_fails_on_all_inputs_abstains() -> None:
    found, _ = behaviour(["crash", "crash", "crash", "square"])
    assert found.buckets == ((3,),)


def test_equal_programs_run_once() -> None:
    _, sandbox = behaviour(["double", "double", None, "", "twice"], [*INPUTS, INPUTS[0]])
    assert sandbox.ran == [("double", "1"), ("double", "2"), ("twice", "1"), ("twice", "2")]


def test_without_inputs_the_vote_is_by_ast_and_says_so() -> None:
    found, sandbox = behaviour(["square", "x=1", "x = 1"], [])
    assert (found.winner, found.method) == (1, "behaviour")
    assert "no inputs" in found.detail
    assert not sandbox.ran
    assert asyncio.run(vote(["square", "x=1", "x = 1"], "behaviour", inputs=INPUTS)) == found


def test_if_nothing_ran_the_vote_is_by_ast_and_says_so() -> None:
    found = select(["a", "b", "b"], "behaviour", outputs=[[None], [None], [None]])
    assert found.winner == 1
    assert "no program ran" in found.detail


def test_outputs_are_recordable_rows_in_member_order() -> None:
    outputs = asyncio.run(run_all(["half", None, "double"], INPUTS, Sandbox()))
    assert outputs == ((None, "4"), (None, None), ("2\n", "4"))
    assert asyncio.run(run_all(["half"], (), Sandbox())) == ()


def test_the_other_methods_run_nothing() -> None:
    sandbox = Sandbox()
    assert asyncio.run(vote(["a", "b"], "ast", run=sandbox, inputs=INPUTS)).winner == 0
    assert not sandbox.ran


def test_an_error_of_the_sandbox_ends_the_other_runs() -> None:
    ended = []

    async def run(program: str, text: str) -> str | None:
        if program == "bad":
            raise RuntimeError("lost")
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            ended.append(program)
            raise
        return ""

    with pytest.raises(RuntimeError, match="lost"):
        asyncio.run(vote(["slow", "bad"], "behaviour", run=run, inputs=INPUTS[:1]))
    assert ended == ["slow"]


# names and mistakes


def test_an_unknown_method_is_refused_with_the_nearest_name() -> None:
    for call in (lambda: select(["a"], "behavior"), lambda: needs_outputs("behavior")):
        with pytest.raises(ConfigError, match="did you mean 'behaviour'"):
            call()


def test_the_configuration_offers_every_method() -> None:
    assert methods() == get_args(VoteMethod)


def test_wrong_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="needs members"):
        select([], "ast")
    with pytest.raises(ValueError, match="2 programs, but outputs of 1"):
        select(["a", "b"], "behaviour", outputs=[["1"]])


def test_a_further_method_is_one_function(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(votes, "_methods", dict(votes._methods))
    register("length")(lambda programs, outputs: Keys(tuple(str(len(p or "")) for p in programs)))
    assert select(["a", "bb", "cc"], "length").winner == 1
    assert methods() == ("whitespace", "ast", "behaviour", "length")
    assert [needs_outputs(name) for name in methods()] == [False, False, True, False]


# what holds for every vote

PROGRAMS = st.lists(
    st.sampled_from([None, "", " ", "x = 1", "x=1", "x  = 1", "y = 1", "print(", "z\n"]),
    min_size=1,
    max_size=10,
)
METHODS = st.sampled_from(["whitespace", "ast", "behaviour"])


@given(PROGRAMS, METHODS, st.data())
def test_what_holds_for_every_vote(
    programs: list[str | None], method: str, data: st.DataObject
) -> None:
    row = st.lists(st.sampled_from([None, "1", "2"]), min_size=2, max_size=2)
    outputs = [data.draw(row) if p else [None, None] for p in programs]
    found = select(programs, method, outputs=outputs)
    members = [index for bucket in found.buckets for index in bucket]
    assert len(set(members)) == len(members)
    assert all(bucket == tuple(sorted(bucket)) for bucket in found.buckets)
    sizes = [len(bucket) for bucket in found.buckets]
    assert sizes == sorted(sizes, reverse=True)
    has_program = [bool(p and p.strip()) for p in programs]
    assert has_program[found.winner] or not any(has_program)  # who abstains never wins
    if found.buckets:
        assert found.winner == found.buckets[0][0]
        best = [bucket for bucket in found.buckets if len(bucket) == sizes[0]]
        assert found.winner == min(bucket[0] for bucket in best)
    # Adding members that abstain, or one more for the winner, does not change who wins.
    more = select([*programs, None], method, outputs=[*outputs, [None, None]])
    assert (more.winner, more.buckets) == (found.winner, found.buckets)
    again = select(
        [*programs, programs[found.winner]], method, outputs=[*outputs, outputs[found.winner]]
    )
    assert again.winner == found.winner


@given(PROGRAMS, st.sampled_from(["whitespace", "ast"]), st.randoms())
def test_the_order_of_members_does_not_change_who_agrees(
    programs: list[str | None], method: str, random: object
) -> None:
    order = list(range(len(programs)))
    random.shuffle(order)  # type: ignore[attr-defined]
    straight = select(programs, method)
    shuffled = select([programs[index] for index in order], method)
    back = {frozenset(order[index] for index in bucket) for bucket in shuffled.buckets}
    assert back == {frozenset(bucket) for bucket in straight.buckets}


@given(PROGRAMS)
def test_who_agrees_by_ast_or_not_is_no_finer_than_text(programs: list[str | None]) -> None:
    by_text: dict[str | None, set[int]] = {}
    for index, program in enumerate(programs):
        by_text.setdefault(program, set()).add(index)
    for method in ("whitespace", "ast"):
        for bucket in select(programs, method).buckets:
            for index in bucket:
                assert by_text[programs[index]] <= set(bucket)
