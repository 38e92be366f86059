"""Reading a report as the agent wrote it (teams, section 4.3).

Nothing is repaired here: a report that does not parse is counted as such. :func:`read` also says
what of the text is in no field, so that a hand-off can carry it on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lcbgrid.scenarios.fences import find_blocks, split_lines
from lcbgrid.teams.communication.formats import (
    CONFIDENCES,
    END_MARKER,
    REQUIRED_KEYS,
    REQUIRED_TAGS,
    STATUSES,
    bare_word,
    check_format,
    first_word,
)

_TAG = re.compile(r"\[([A-Z_]+)\][ \t\r]*")
_MARKER = re.compile(r"^[ \t]*JSON_REPORT[ \t]*:", re.IGNORECASE | re.MULTILINE)
_END = re.compile(rf"\A\s*{END_MARKER}\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Report:
    """A report, field by field as it was written.

    Attributes:
        ok: True if it keeps to its format.
        errors: What is wrong with it, in the format's own order; empty if ``ok``.
        status: The field's text, trimmed; empty if it is missing. The other texts likewise.
        summary: Result or decision; in ``freeform`` the whole text.
        evidence: Tests and what came out; ``semi_structured`` only.
        confidence: Confidence, perhaps with a reason.
        next: What the receiver should use.
        extra: Further sections (``semi_structured``: lower-case tag -> text), or further keys of
            the object (``structured_soft``: ``payload``, and keys that the format does not know).
    """

    ok: bool
    errors: tuple[str, ...] = ()
    status: str = ""
    summary: str = ""
    evidence: str = ""
    confidence: str = ""
    next: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reading:
    """A report and what of the text stands in none of its fields (``rest``)."""

    report: Report
    rest: str


def parse(text: str, format: str) -> Report:
    """Read a text as a report of a format; never raises for what the text holds.

    Raises:
        ConfigError: There is no such format.
    """
    return read(text, format).report


def read(text: str, format: str) -> Reading:
    """Read a text as a report, and keep what is in no field.

    Raises:
        ConfigError: There is no such format.
    """
    check_format(format)
    if format == "semi_structured":
        return _read_semi(text)
    if format == "structured_soft":
        return _read_soft(text)
    return Reading(Report(ok=True, summary=text), "")


def is_tag_line(line: str) -> bool:
    """True if a line begins a section of a ``semi_structured`` report."""
    return _TAG.fullmatch(line) is not None


def _read_semi(text: str) -> Reading:
    sections: dict[str, str] = {}
    rest: list[str] = []  # what stands before the first tag, and sections that were written again
    tag, lines = "", list[str]()

    def end_section() -> None:
        value = "\n".join(lines).strip()
        if not tag:
            rest.append(value)
            return
        if sections.get(tag):
            rest.append(f"[{tag}]\n{sections[tag]}")
        sections[tag] = value

    for line in text.split("\n"):
        match = _TAG.fullmatch(line)
        if match is None:
            lines.append(line)
            continue
        end_section()
        tag, lines = match[1], []
    end_section()
    errors = [f"{name} is missing or empty" for name in REQUIRED_TAGS if not sections.get(name)]
    errors += _not_listed("STATUS", first_word(sections.get("STATUS", "")), STATUSES)
    errors += _not_listed("CONFIDENCE", first_word(sections.get("CONFIDENCE", "")), CONFIDENCES)
    report = Report(
        ok=not errors,
        errors=tuple(errors),
        status=sections.get("STATUS", ""),
        summary=sections.get("SUMMARY", ""),
        evidence=sections.get("EVIDENCE_OR_TESTS", ""),
        confidence=sections.get("CONFIDENCE", ""),
        next=sections.get("NEXT", ""),
        extra={k.lower(): v for k, v in sections.items() if k not in REQUIRED_TAGS},
    )
    return Reading(report, "\n\n".join(part for part in rest if part))


def _read_soft(text: str) -> Reading:
    place = _find_object(text)
    if place is None:
        return Reading(Report(ok=False, errors=("there is no JSON report",)), text.strip())
    found = _decode(place.source)
    if found is None:
        return Reading(Report(ok=False, errors=("the JSON report is malformed",)), text.strip())
    value, end, repeats_keys = found
    errors = [f"{key} is missing" for key in REQUIRED_KEYS if key not in value]
    errors += _not_listed("status", bare_word(_text(value.get("status"))), STATUSES)
    errors += _not_listed("confidence", bare_word(_text(value.get("confidence"))), CONFIDENCES)
    if "payload" in value and not isinstance(value["payload"], dict):
        errors.append("payload is not an object")
    report = Report(
        ok=not errors,
        errors=tuple(errors),
        status=_text(value.get("status")),
        summary=_text(value.get("summary")),
        confidence=_text(value.get("confidence")),
        next=_text(value.get("next")),
        extra={k: item for k, item in value.items() if k == "payload" or k not in REQUIRED_KEYS},
    )
    written = place.source[:end] if repeats_keys else ""  # of a repeated key the last one counts
    behind = _END.sub("", place.source[end:] + place.after)
    rest = (part.strip() for part in (place.before, written, behind))
    return Reading(report, "\n\n".join(part for part in rest if part))


@dataclass(frozen=True, slots=True)
class _Place:
    """Where an object stands: ``source`` begins with its brace."""

    before: str
    source: str
    after: str = ""


def _find_object(text: str) -> _Place | None:
    marker = _MARKER.search(text)
    if marker:
        brace = text.find("{", marker.end())
        if brace >= 0:
            return _Place(text[: marker.start()] + text[marker.end() : brace], text[brace:])
    for block in find_blocks(text):
        if block.closed and block.label in ("", "json"):
            source = block.code.lstrip()
            if source.startswith("{"):
                lines = split_lines(text)
                before, after = lines[: block.first_line], lines[block.last_line + 1 :]
                return _Place("\n".join(before), source, "\n" + "\n".join(after))
            break
    return _Place("", text.lstrip()) if text.lstrip().startswith("{") else None


def _decode(source: str) -> tuple[dict[str, Any], int, bool] | None:
    """Return the object, where it ends, and whether a key stands twice; ``None`` if malformed."""
    repeats: list[str] = []

    def collect(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) < len(pairs):
            repeats.append("")
        return made

    try:
        value, end = json.JSONDecoder(object_pairs_hook=collect).raw_decode(source)
    except (ValueError, RecursionError):  # ValueError: also numbers of thousands of digits
        return None
    return value, end, bool(repeats)


def _text(value: Any) -> str:
    """Return a value of the object as text; ``null`` is as good as empty."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value.strip()
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _not_listed(name: str, word: str, known: tuple[str, ...]) -> list[str]:
    if not word or word in known:
        return []
    return [f"{name} is {word!r}, not one of {', '.join(known)}"]
