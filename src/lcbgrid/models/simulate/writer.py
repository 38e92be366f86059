"""Requests that ask for a better prompt: optimizers send them, and need an answer that differs."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence

from lcbgrid.models.simulate.chance import chance

_WANTED = re.compile(
    r"\b(?:improv|rewrit|revis|mutat|refin|optimi[sz]|paraphras)\w*\b[^.\n]{0,40}"
    r"\b(?:prompt|instruction)s?\b"
    r"|\b(?:new|improved|better|revised) (?:\w+ )?(?:prompt|instruction)s?\b",
    re.IGNORECASE,
)
_SENTENCES = (
    "Read all data from standard input and print only the answer.",
    "If starter code is given, keep its class and signature.",
    "Think of edge cases: empty data, one element, the largest values.",
    "Plan the steps before you write the program.",
    "Choose an algorithm whose complexity fits the constraints.",
    "Reply with one fenced python code block and nothing else.",
    "Trace a worked example: compare your output with the sample and verify it.",
    "Be polite.",
    "Use short names.",
)


def wants_prompt(texts: Sequence[str]) -> bool:
    """True if the conversation asks for a prompt and not for a program."""
    return _is_wish(texts[0]) or _is_wish(texts[-1])


@functools.lru_cache(4096)
def _is_wish(text: str) -> bool:
    return bool(_WANTED.search(text))


def rewritten_prompt(texts: Sequence[str], seed: int, server_seed: int) -> str:
    """Return a prompt made of some of the known sentences, helpful ones and useless ones."""
    about = texts[-1][-200:]
    kept = [
        sentence
        for sentence in _SENTENCES
        if chance("sentence", server_seed, seed, about, sentence) < 0.5
    ]
    lines = ["You solve programming problems in Python.", *kept]
    return "```\n" + "\n".join(lines) + "\n```"
