"""Cuts what a reflection prompt shows until it fits the model's window.

Optimizers specification, section 3.6. Without a tokenizer a token is taken to be 1.5 characters,
which is cautious for code.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lcbgrid.optimize.texts import clip

WINDOW, OUTPUT = 65_536, 48_000
CHARACTERS, FACTOR, EXTRA, A_MESSAGE, MARGIN = 1.5, 1.02, 512, 4, 256
FLOOR, ROUNDS = 500, 5
Count = Callable[[str], float]


@dataclass(frozen=True, slots=True)
class Window:
    """What a reflection model takes.

    Attributes:
        tokens: Prompt and reply together.
        reply_tokens: Longest reply, thinking included.
    """

    tokens: int = WINDOW
    reply_tokens: int = OUTPUT


def characters(text: str) -> float:
    """Return about how many tokens a text has, from its length."""
    return len(text) / CHARACTERS


def prompt_tokens(prompt: str, *, messages: int = 1, count: Count = characters) -> int:
    """Return how many tokens to reckon with for a prompt."""
    return math.ceil(count(prompt) * FACTOR) + EXTRA + A_MESSAGE * messages


def fitted(
    texts: Sequence[str],
    build: Callable[[Sequence[str]], str],
    *,
    window: Window,
    beside: int = 0,
    count: Count = characters,
) -> tuple[str, int]:
    """Return a prompt with texts that are cut alike until it fits, and the rounds it took.

    Args:
        texts: What may be cut, to 500 characters each and no further.
        build: Makes the prompt of them.
        window: Of the model.
        beside: Tokens that are kept free for what else the prompt will hold.
        count: Tells the tokens of a text.
    """
    room = window.tokens - window.reply_tokens - MARGIN - beside
    kept = list(texts)
    prompt = build(kept)
    for number in range(ROUNDS):
        over = prompt_tokens(prompt, count=count) - room
        sizes = [count(text) * FACTOR for text in kept]
        if over <= 0 or not kept or max(map(len, kept)) <= FLOOR:
            return prompt, number
        share = max(0.0, 1 - over / sum(sizes))
        # the mark of a cut is text as well, so a little less than the share is kept
        limits = [max(FLOOR, int(len(text) * share) - 50) for text in kept]
        kept = [clip(text, limit) for text, limit in zip(kept, limits, strict=True)]
        prompt = build(kept)
    return prompt, ROUNDS
