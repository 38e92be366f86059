"""Reports in the communication formats of teams, kept to most of the time."""

from __future__ import annotations

from lcbgrid.core.files import dump_json
from lcbgrid.models.simulate.chance import chance

REPORT_RATE = 0.85
BROKEN_RATE = 0.05
_CONFIDENCES = ("low", "medium", "high")


def reported(text: str, system: str, draw: tuple[object, ...]) -> str:
    """Put a report before an answer if the system prompt asks for one.

    A share of reports is left out, and a small share breaks the format, as real models do.

    Args:
        text: The answer.
        system: The system prompt; the marks of the two formats are looked for in it.
        draw: What decides.
    """
    tagged, as_json = "[STATUS]" in system, "END_JSON_REPORT" in system
    if not (tagged or as_json) or chance("reports", *draw) >= REPORT_RATE:
        return text
    broken = chance("breaks the format", *draw) < BROKEN_RATE
    confidence = _CONFIDENCES[int(chance("confidence", *draw) * len(_CONFIDENCES))]
    if as_json:
        report = {
            "status": "done" if broken else "completed",
            "summary": "The program below solves it.",
            "confidence": confidence,
            "next": "Use the program.",
            "payload": {"approach": "direct", "tests": []},
        }
        return f"JSON_REPORT:\n{dump_json(report)}\nEND_JSON_REPORT\n\n{text}"
    sections = {
        "STATUS": "done" if broken else "completed",
        "SUMMARY": "The program below solves it.",
        "EVIDENCE_OR_TESTS": "The samples were traced by hand.",
        "CONFIDENCE": f"{confidence}, by reading",
        "NEXT": "Use the program.",
    }
    lines = "\n".join(f"[{tag}]\n{value}" for tag, value in sections.items())
    return f"{lines}\n\n{text}"
