"""Prompts are cut to the window: alike, head and tail, and not below a floor."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from lcbgrid.optimize.context import FLOOR, ROUNDS, Window, fitted, prompt_tokens

from .fakes import ScriptedWorld, run, small_landscape


def build(texts: Sequence[str]) -> str:
    return "\n\n".join(("Improve this.", *texts))


def test_what_fits_is_left_alone() -> None:
    assert fitted(["a" * 9000, "b"], build, window=Window()) == (build(["a" * 9000, "b"]), 0)
    assert fitted([], build, window=Window()) == ("Improve this.", 0)


def test_long_texts_are_cut_in_proportion_and_keep_both_ends() -> None:
    long, longer = "A" + "a" * 30_000 + "Z", "B" + "b" * 60_000 + "Y"
    prompt, rounds = fitted([long, longer], build, window=Window())
    assert 1 <= rounds <= ROUNDS
    assert prompt_tokens(prompt) + 48_000 + 256 <= 65_536
    assert prompt_tokens(prompt) > 0.9 * (65_536 - 48_000 - 256)
    for end in ("A", "Z", "B", "Y"):
        assert prompt.count(end) >= 1
    assert 1.8 < prompt.count("b") / prompt.count("a") < 2.2


def test_a_tokenizer_and_a_window_are_heeded() -> None:
    text = "word " * 40_000
    prompt, _ = fitted([text], build, window=Window(20_000, 4_000), count=lambda t: len(t.split()))
    assert 10_000 < len(prompt.split()) < 15_744


@given(st.lists(st.integers(0, 40_000), max_size=12), st.integers(1_000, 70_000))
def test_it_fits_unless_the_floor_forbids(sizes: list[int], window: int) -> None:
    texts = ["x" * size for size in sizes]
    prompt, rounds = fitted(texts, build, window=Window(window, 500))
    fits = prompt_tokens(prompt) + 500 + 256 <= window
    assert fits or rounds == ROUNDS or len(prompt) <= len(texts) * (FLOOR + 60) + 13
    if rounds == 0:
        assert prompt == build(texts)


def test_searches_cut_long_attempts() -> None:
    landscape = small_landscape()
    said = landscape.statement

    def long_statement(row: str) -> str:
        return said(row) + "x" * 6000

    landscape.statement = long_statement  # type: ignore[method-assign]
    for method in ("gepa", "mamut_gepa", "mipro"):
        world = ScriptedWorld(landscape, lambda prompt: "")
        found = run(method, world, 60)
        assert max(map(len, world.prompts)) > 12_000
        assert all(prompt_tokens(prompt) <= 65_536 - 48_256 for prompt in world.prompts)
        assert found.outcome.metadata["refits"] > 0
