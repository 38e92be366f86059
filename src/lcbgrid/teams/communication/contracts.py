"""What an agent is told about how to report (teams, section 4.1); the wording is ours.

The contract is put behind the role prompt at run time, so no optimizer can edit it away.
"""

from __future__ import annotations

from lcbgrid.teams.communication.formats import check_format

HEADING = "## HOW YOU REPORT TO THE OTHERS"

_SEMI_STRUCTURED = """Before any program, write a report of five sections. A section begins
with its name in square brackets, in capitals, alone on a line and without any decoration; its text
starts on the next line. Use these sections in this order, and leave none empty:

[STATUS]
not_started, in_progress, completed or blocked: one of these words
[SUMMARY]
what you found, made or decided
[EVIDENCE_OR_TESTS]
what you checked and what came out; say so if you checked nothing
[CONFIDENCE]
low, medium or high, then why in a few words
[NEXT]
what the reader should take from this and do with it

Where they help, add sections named [APPROACH], [COMPLEXITY], [EDGE_CASES] or [CODE_STATUS]. If you
hand over a program, it stands after the whole report, in a fenced block of its own."""

_STRUCTURED_SOFT = """Before any program, write a report as one JSON object. Put JSON_REPORT:
on a line of its own in front of it and END_JSON_REPORT on a line of its own behind it, and no
fence around it:

JSON_REPORT:
{"status": "...", "summary": "...", "confidence": "...", "next": "...", "payload": {}}
END_JSON_REPORT

All five keys have to be there.
- status: not_started, in_progress, completed or blocked
- summary: what you found, made or decided
- confidence: low, medium or high
- next: what the reader should take from this and do with it
- payload: an object with what you know of approach, complexity, edge_cases, code_status and tests;
  tests is a list of objects with input, expected, observed and passed

If you hand over a program, it stands after END_JSON_REPORT in a fenced block. A program that is
only inside the JSON is lost."""

_TEXTS = {
    "freeform": "",
    "semi_structured": _SEMI_STRUCTURED,
    "structured_soft": _STRUCTURED_SOFT,
}


def contract(format: str) -> str:
    """Return the text of a format's contract, without its heading; empty for ``freeform``.

    Raises:
        ConfigError: There is no such format.
    """
    check_format(format)
    return _TEXTS[format]


def with_contract(system: str, format: str) -> str:
    """Append a format's contract to a system prompt, under a heading of its own.

    A prompt that already has the heading, and any prompt in ``freeform``, comes back as it is.

    Raises:
        ConfigError: There is no such format.
    """
    text = contract(format)
    if not text or HEADING in system:
        return system
    return f"{system.rstrip()}\n\n{HEADING}\n{text}".lstrip("\n")
