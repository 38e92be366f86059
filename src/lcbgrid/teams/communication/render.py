"""The text of a hand-off (teams, section 4.2, with defect Q11 mended).

A structured hand-off is rebuilt from the fields that the sender wrote, and the program travels
beside the report, in full and as it is. Whatever the sender wrote outside every field goes into
the summary or the payload in full. The result always parses under its format.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Literal

from lcbgrid.models.clean import clean_text
from lcbgrid.scenarios.extract import strip_thinking
from lcbgrid.scenarios.fences import find_blocks, split_lines
from lcbgrid.teams.communication.formats import (
    CONFIDENCES,
    END_MARKER,
    MARKER,
    STATUSES,
    bare_word,
    check_format,
    first_word,
)
from lcbgrid.teams.communication.parse import Reading, is_tag_line, read

HandoffKind = Literal["prior_stage", "manager_worker", "worker_manager", "peer_previous_round"]

FALLBACK_STATUS = "in_progress"
FALLBACK_CONFIDENCE = "low"
NO_SUMMARY = "The sender wrote nothing besides the program."
NOTHING = "The sender wrote nothing."
NO_EVIDENCE = "The sender reports no tests."

_NEXT = {
    "prior_stage": "Build on this report; it is what this stage hands over.",
    "manager_worker": "Do what the summary asks for and report back.",
    "worker_manager": "Use this report to decide on the next step.",
    "peer_previous_round": "Weigh this report against your own answer before you revise it.",
}
_RUNS = re.compile(r"`{3,}|~{3,}")
_THINK_TAG = re.compile(r"<(?=/?think)", re.IGNORECASE)


def render(
    text: str,
    format: str,
    *,
    role: str,
    topology: str,
    handoff: HandoffKind,
    target: str | None = None,
    code: str | None = None,
) -> str:
    """Return what the next agent reads of a sender's text.

    Args:
        text: What the sender wrote.
        format: Communication format; in ``freeform`` the text comes back unchanged.
        role: The sender.
        topology: Topology of the team.
        handoff: What kind of hand-off it is.
        target: The receiver; for peers, the number or name by which the receiver knows the sender.
        code: The program extracted from the text, if there is one.

    Raises:
        ConfigError: There is no such format.
    """
    check_format(format)
    if format == "freeform":
        return text
    visible = _without_program(strip_thinking(clean_text(text))[0], code)
    reading = read(visible, format)
    if format == "semi_structured":
        report = _semi(reading, handoff, code)
        indent = "  " if code and any(is_tag_line(line) for line in code.split("\n")) else ""
    else:
        about = {"role": role, "topology": topology, "handoff": handoff}
        if target is not None:
            about["peer" if handoff == "peer_previous_round" else "target"] = target
        try:
            report = _soft(reading, handoff, code, about)
        except RecursionError:  # an object nested so deep that it can be read but not written
            unread = Reading(read("", format).report, visible.strip())
            report = _soft(unread, handoff, code, about)
        indent = ""
    report = _close_fences(report)
    if code:
        block = _fenced(code)
        # A line of the program that looks like a tag must not stand at the line's start.
        report = f"{report}\n\n{_indented(block, indent) if indent else block}"
    return clean_text(report)


def _semi(reading: Reading, handoff: HandoffKind, code: str | None) -> str:
    report = reading.report
    sections = {
        "STATUS": _as_listed(report.status, first_word, STATUSES, FALLBACK_STATUS),
        "SUMMARY": _joined(report.summary, reading.rest) or _no_summary(code),
        "EVIDENCE_OR_TESTS": report.evidence or NO_EVIDENCE,
        "CONFIDENCE": _as_listed(report.confidence, first_word, CONFIDENCES, FALLBACK_CONFIDENCE),
    }
    sections |= {k.upper(): report.extra[k] for k in sorted(report.extra) if report.extra[k]}
    sections["NEXT"] = report.next or _NEXT[handoff]
    return "\n\n".join(f"[{tag}]\n{_escaped(value)}" for tag, value in sections.items())


def _soft(
    reading: Reading, handoff: HandoffKind, code: str | None, about: Mapping[str, str]
) -> str:
    report = reading.report
    written = report.extra.get("payload", {})
    payload: dict[str, Any] = dict(about)
    if isinstance(written, dict):
        for key, value in written.items():
            _put(payload, key, value)
    else:
        _put(payload, "payload_as_written", written)
    status, confidence = bare_word(report.status), bare_word(report.confidence)
    not_stated = [k for k in ("confidence", "status") if not getattr(report, k)]
    if not_stated:
        _put(payload, "not_stated", not_stated)
    if status not in STATUSES:
        if report.status:
            _put(payload, "status_as_written", report.status)
        status = FALLBACK_STATUS
    if confidence not in CONFIDENCES:
        if report.confidence:
            _put(payload, "confidence_as_written", report.confidence)
        confidence = FALLBACK_CONFIDENCE
    if report.summary and reading.rest:
        _put(payload, "other_text", reading.rest)
    value = {
        **report.extra,
        "status": status,
        "summary": report.summary or reading.rest or _no_summary(code),
        "confidence": confidence,
        "next": report.next or _NEXT[handoff],
        "payload": payload,
    }
    line = json.dumps(value, sort_keys=True, ensure_ascii=False)
    # Read back the tag is the same, but nobody takes it for the start of thinking.
    line = _THINK_TAG.sub(lambda _: "\\u003c", line)
    return f"{MARKER}\n{line}\n{END_MARKER}"


def _put(payload: dict[str, Any], key: str, value: Any) -> None:
    """Add a key without writing over another one."""
    while key in payload:
        key = f"sender_{key}"
    payload[key] = value


def _as_listed(
    value: str, word_of: Callable[[str], str], known: tuple[str, ...], fallback: str
) -> str:
    """Return the section as written if its first word is listed, else the fallback with it."""
    if word_of(value) in known:
        return value
    return f"{fallback} (the sender wrote: {value})" if value else f"{fallback} (not stated)"


def _joined(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part)


def _no_summary(code: str | None) -> str:
    return NO_SUMMARY if code else NOTHING


def _escaped(value: str) -> str:
    """Quote lines that would begin a section."""
    lines = []
    for line in value.split("\n"):
        bare = line.lstrip()
        lines.append(f"{line[: len(line) - len(bare)]}> {bare}" if is_tag_line(bare) else line)
    return "\n".join(lines)


def _without_program(text: str, code: str | None) -> str:
    """Take the program out of the text, since it is handed over beside the report."""
    if not code:
        return text
    if text.strip() == code.strip():
        return ""
    lines = split_lines(text)
    for block in reversed(find_blocks(text)):
        if block.code == code:
            end = block.last_line + 1 if block.closed else block.last_line
            del lines[block.first_line : end]
    return "\n".join(lines)


def _close_fences(report: str) -> str:
    """Close a fence that the sender left open, or it would swallow the program."""
    blocks = find_blocks(report)
    if not blocks or blocks[-1].closed:
        return report
    length = max((len(run) for run in _RUNS.findall(report)), default=3)
    backticks, tildes = f"{report}\n{'`' * length}", f"{report}\n{'~' * length}"
    return backticks if find_blocks(backticks)[-1].closed else tildes


def _fenced(code: str) -> str:
    """Return the program in a fence that nothing in it can close."""
    mark = "```"
    if mark in code:
        tildes = (len(run) for run in _RUNS.findall(code) if run[0] == "~")
        mark = "~" * (max(tildes, default=2) + 1)
    return f"{mark}python\n{code}\n{mark}"


def _indented(block: str, indent: str) -> str:
    return "\n".join(indent + line if line else line for line in block.split("\n"))
