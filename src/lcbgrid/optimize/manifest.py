"""What a role text promises to the rest of the team, and what a rewrite did to it.

The interface manifest (optimizers specification, sections 4.7 and 9, item 11) is the set of names
in a text that other parts rely on: placeholders, delegation tools, roles, back-ticked identifiers,
known tools, XML tags, fence languages. A rewrite is held against the seed text before a rollout is
spent on it; the differences are named, so that the model that wrote it can mend them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from lcbgrid.teams.delegation import PREFIX

_PLACEHOLDER = re.compile(r"(?<!\{)\{([A-Za-z_]\w*)(?:![rsa])?(?::[^{}\n]*)?\}(?!\})")
_DELEGATION = re.compile(rf"(?<!\w){re.escape(PREFIX)}\w+")
_IDENTIFIER = re.compile(r"(?<!`)`([A-Za-z_][\w.\-]*)(?:\([^`\n]*\))?`(?!`)")
_TAG = re.compile(r"(?<!\w)</?([A-Za-z][\w.\-]*)(?:\s[^<>]*)?/?>")
_FENCE_LANGUAGE = re.compile(r"(?:```|~~~)([A-Za-z][\w+#.\-]*)")
_FENCED = re.compile(r"^[ \t]*(```|~~~)[^\n`]*\n.*?(?:^[ \t]*\1[`~]*[ \t]*$|\Z)", re.M | re.S)

Kind = Literal[
    "placeholder",
    "delegation tool",
    "role",
    "identifier",
    "tool",
    "tag",
    "fence language",
]
# Names that nobody serves: a text that adds one asks for what is not there.
_UNSERVED: frozenset[Kind] = frozenset({"placeholder", "delegation tool"})


@dataclass(frozen=True, slots=True, order=True)
class Difference:
    """One name that a rewrite lost or added."""

    kind: Kind
    name: str
    change: Literal["lost", "added"]

    def __str__(self) -> str:
        return f"{self.change} {self.kind} {self.name}"


def manifest_of(
    text: str, *, roles: Iterable[str] = (), tools: Iterable[str] = ()
) -> Mapping[Kind, frozenset[str]]:
    """Return the interface manifest of a role text.

    Args:
        text: The text.
        roles: Names of the team's roles; a whole word counts, in this spelling.
        tools: Names of the tools that the role may call, such as ``python_exec``.

    Returns:
        The names of each kind; back-ticked identifiers count outside fenced blocks only.
    """
    prose = _FENCED.sub("\n", text)
    return {
        "placeholder": frozenset(_PLACEHOLDER.findall(text)),
        "delegation tool": frozenset(_DELEGATION.findall(text)),
        "role": _words(text, roles),
        "identifier": frozenset(_IDENTIFIER.findall(prose)),
        "tool": _words(text, tools),
        "tag": frozenset(_TAG.findall(text)),
        "fence language": frozenset(name.lower() for name in _FENCE_LANGUAGE.findall(text)),
    }


def guard(
    seed_text: str,
    new_text: str,
    *,
    roles: Iterable[str] = (),
    tools: Iterable[str] = (),
    exact: bool = True,
) -> list[Difference]:
    """Return how the manifest of a rewrite differs from the seed's; empty lets it pass.

    Args:
        seed_text: The role's text in the seed bundle.
        new_text: The rewrite.
        roles: See ``manifest_of``.
        tools: See ``manifest_of``.
        exact: Every difference counts, as in the reference. Otherwise an added name counts only
            if nobody could serve it (a placeholder, a delegation tool); a lost one always does.
    """
    names, calls = tuple(roles), tuple(tools)
    old = manifest_of(seed_text, roles=names, tools=calls)
    new = manifest_of(new_text, roles=names, tools=calls)
    found = [Difference(kind, name, "lost") for kind in old for name in old[kind] - new[kind]]
    found += [
        Difference(kind, name, "added")
        for kind in new
        if exact or kind in _UNSERVED
        for name in new[kind] - old[kind]
    ]
    return sorted(found)


def _words(text: str, names: Iterable[str]) -> frozenset[str]:
    return frozenset(
        name for name in names if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None
    )
