"""What a request to the reflection model of a landscape asks for, read from its words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from lcbgrid.models.simulate.landscape_words import KINDS, core_sentence

_FENCE = re.compile(r"^[ \t]*(```+|~~~+)[^\n`]*\n(.*?)^[ \t]*\1[ \t]*$", re.MULTILINE | re.DOTALL)
_TAGGED = re.compile(r"<(\w[\w-]*)>\s*(.*?)\s*</\1>", re.DOTALL)
_BRACKETED = re.compile(
    r"^\W*(?:BEGIN|START)\b[^\n]*\n(.*?)\n\W*(?:END|STOP)\b[^\n]*$", re.MULTILINE | re.DOTALL
)
_LABELLED = re.compile(
    r"^[^\n:]{0,60}\b(?:current|present|existing|seed|old|base|basic)\b[^\n:]{0,60}:[ \t]*\n?(.+)",
    re.MULTILINE | re.IGNORECASE | re.DOTALL,
)
_CURRENT = re.compile(r"\b(?:current|present|existing|seed|old|base|basic)\b", re.IGNORECASE)
_WANTS_TEXT = re.compile(
    r"\b(?:improv|rewrit|revis|mutat|refin|optimi[sz]|rephras|paraphras)\w*\b[^.\n]{0,60}"
    r"\b(?:prompt|instruction|text)s?\b"
    r"|\b(?:new|improved|better|revised|variant)\s(?:\w+\s){0,3}(?:prompt|instruction|text)s?\b",
    re.IGNORECASE,
)
_WANTS_SUMMARY = re.compile(
    r"\bsummar\w+|\bobservations?\b|\bdata ?set\b[^.\n]{0,40}\b(?:trend|pattern)", re.IGNORECASE
)
_WANTS_OBSERVATIONS = re.compile(r"\bobserv(?:e|ations?)\b", re.IGNORECASE)
_PRIOR = re.compile(r"\b(?:prior|previous|earlier|so far)\b[^.\n]{0,40}\bobserv", re.IGNORECASE)
_WANTS_DESCRIPTION = re.compile(
    r"\bdescri(?:be|ption)\b|\bwhat\b[^.\n]{0,40}\b(?:does|is for)\b", re.IGNORECASE
)
_MARKS = re.compile(r"\bbetween\s+(?:the\s+\w+\s+)?(\S+)\s+and\s+(\S+)", re.IGNORECASE)
_TAG_PAIR = re.compile(r"\b(?:inside|within|in)\s+\W?<(\w[\w-]*)>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Request:
    """A request for a better role text.

    Attributes:
        role: The role that is meant.
        text: Its current text; empty if the prompt does not show it.
        kinds: Kinds of failure that the prompt names, with how often.
        marks: What must stand before and after the reply; ``None``: a fence.
    """

    role: str
    text: str
    kinds: dict[int, int]
    marks: tuple[str, str] | None


def asked_for(prompt: str) -> str:
    """Return ``text``, ``observations``, ``summary`` or ``description``: what is wanted."""
    if _WANTS_TEXT.search(prompt):
        return "text"
    if _WANTS_SUMMARY.search(prompt):
        last = prompt[-600:]
        first = _WANTS_OBSERVATIONS.search(last)
        return "observations" if first and "summar" not in last.lower() else "summary"
    return "description" if _WANTS_DESCRIPTION.search(prompt) else "text"


def follows_earlier(prompt: str) -> bool:
    """True if a request for observations shows those made before."""
    return bool(_PRIOR.search(prompt))


def read_request(prompt: str, roles: Sequence[str]) -> Request:
    """Return what a request for a better text says; never fails."""
    text = _current_text(prompt, roles)
    role = _owner(text, roles) or _named(prompt, roles)
    around = prompt.replace(text, "\n") if text else prompt
    return Request(role, text, _kinds(around, role, roles), _marks(prompt))


def _current_text(prompt: str, roles: Sequence[str]) -> str:
    """Return the text to improve.

    A part that starts as a role text does wins, best one that its label calls current; then an
    unmarked role text up to a blank line; then any labelled part, the last part, a label.
    """
    parts = [
        (match.start(), match.group(match.lastindex or 0).strip())
        for pattern in (_FENCE, _TAGGED, _BRACKETED)
        for match in pattern.finditer(prompt)
    ]
    parts = sorted(part for part in parts if part[1])
    owned = [part for part in parts if _owner(part[1], roles, at_start=True)]
    for group in (_labelled(owned, prompt), owned):
        if group:
            return group[-1][1]
    starts = [prompt.rfind(core_sentence(role)) for role in roles]
    if max(starts) >= 0:
        return prompt[max(starts) :].split("\n\n")[0].strip()
    for group in (_labelled(parts, prompt), parts):
        if group:
            return group[-1][1]
    match = _LABELLED.search(prompt)
    return match.group(1).split("\n\n")[0].strip() if match else ""


def _labelled(parts: Sequence[tuple[int, str]], prompt: str) -> list[tuple[int, str]]:
    """Return the parts of which the words before say that they are the current text."""
    return [part for part in parts if _CURRENT.search(prompt[: part[0] + 40][-120:])]


def _owner(text: str, roles: Sequence[str], *, at_start: bool = False) -> str | None:
    for role in roles:
        core = core_sentence(role)
        if text.startswith(core) if at_start else core in text:
            return role
    return None


def _named(prompt: str, roles: Sequence[str]) -> str:
    """Return the role that the prompt names most often; the first one on a tie."""
    counts = [len(re.findall(rf"\b{re.escape(role)}\b", prompt)) for role in roles]
    return roles[counts.index(max(counts))]


def _kinds(prompt: str, role: str, roles: Sequence[str]) -> dict[int, int]:
    """Count the symptoms in lines that do not blame another role."""
    others = [f"(role {other})" for other in roles if other != role]
    counts: dict[int, int] = {}
    for line in prompt.splitlines():
        if any(other in line for other in others) and f"(role {role})" not in line:
            continue
        for kind, (_, symptom) in enumerate(KINDS):
            if symptom in line:
                counts[kind] = counts.get(kind, 0) + line.count(symptom)
    return counts


def _marks(prompt: str) -> tuple[str, str] | None:
    for first, second in reversed(_MARKS.findall(prompt)):
        pair = (first.strip("`'\",.;:"), second.strip("`'\",.;:"))
        if all(map(_is_mark, pair)) and pair[0] != pair[1]:
            return pair
    tags = _TAG_PAIR.findall(prompt)
    return (f"<{tags[-1]}>", f"</{tags[-1]}>") if tags else None


def _is_mark(word: str) -> bool:
    """True for a word that is not prose: capitals, or signs around it; a fence is none."""
    bare = word.strip("<>[]{}#=*-_/|")
    if "```" in word or len(word) < 3:
        return False
    return bare != word or word.isupper()
