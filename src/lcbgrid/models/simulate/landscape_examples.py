"""What worked examples in a role text are worth on a landscape.

A block of examples is a heading with the words *worked examples* and what follows it up to the end
of the last fence; each fence in it is one example. It is no clutter, and a sentence in it is no
instruction, but its tokens are read on every rollout.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from lcbgrid.models.simulate.landscape_build import generator

SHARES = ((0.5, 1.0), (0.3, 0.0), (0.2, -1.0))  # chance that examples help, do nothing, harm
SIZES = (0.4, 1.2)  # in units, over the root of the number of roles
_HEADING = re.compile(r"^#+[ \t]*worked examples\b[^\n]*$", re.MULTILINE | re.IGNORECASE)
_FENCED = re.compile(r"^(```+)[^\n`]*\n.*?^\1[ \t]*$", re.MULTILINE | re.DOTALL)


def draw_examples(seed: int, roles: Sequence[str]) -> tuple[float, ...]:
    """Return what many examples are worth in each role's text, in units of the landscape.

    Args:
        seed: Of the landscape.
        roles: Names of the roles; with more of them each is worth less.
    """
    worth = []
    for role in roles:
        rng = generator("examples", seed, role)
        sign = rng.choices([sign for _, sign in SHARES], [share for share, _ in SHARES])[0]
        worth.append(sign * rng.uniform(*SIZES) / len(roles) ** 0.5)
    return tuple(worth)


def split_examples(text: str) -> tuple[str, int]:
    """Return a role text without its block of examples, and how many examples that holds."""
    heading = _HEADING.search(text)
    if heading is None:
        return text, 0
    blocks = list(_FENCED.finditer(text, heading.end()))
    if not blocks:
        return text, 0
    before, after = text[: heading.start()].rstrip(), text[blocks[-1].end() :].strip()
    return f"{before}\n{after}" if after else before, len(blocks)


def examples_help(count: int) -> float:
    """Return the share of their worth that so many examples reach: one a half, two 3/4."""
    return 1.0 - 0.5**count
