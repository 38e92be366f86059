"""How well a team kept to its communication format (teams, section 4.4).

Parsing is judged on what the agents wrote; how well our own renderings parse is a number of its
own. What each field means stands in docs/reference/communication.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lcbgrid.teams.communication.formats import check_format
from lcbgrid.teams.communication.handoff import Handoff
from lcbgrid.teams.communication.parse import parse

ANY_REPORT = "<any_report>"


def measure(
    format: str,
    reports: Sequence[tuple[str, str]],
    handoffs: Sequence[Handoff] = (),
    *,
    required_roles: Sequence[str] = (),
) -> dict[str, Any]:
    """Return the communication fields of a prediction record.

    Args:
        format: Communication format.
        reports: (role, what it wrote) of every report of the team, raw. A manager's instructions
            to its workers are no reports.
        handoffs: Every hand-off, in order.
        required_roles: Roles that have to report. ``worker`` stands for any role whose name has
            it as its first or last part (``coder_worker``), ``peer`` for ``peer_0``, and so on.

    Raises:
        ConfigError: There is no such format.
    """
    check_format(format)
    parsed = [(role, parse(text, format)) for role, text in reports]
    n_ok, total = sum(report.ok for _, report in parsed), len(parsed)
    missing = _missing(required_roles, [role for role, _ in parsed])
    free = format == "freeform"
    rendered_ok = [parse(handoff.rendered, format).ok for handoff in handoffs]
    written_ok = [parse(h.raw, format).ok for h in handoffs if h.is_report]
    errors = [f"{role}: {error}" for role, report in parsed for error in report.errors]
    return {
        "communication_format": format,
        "communication_parse_ok": free or n_ok > 0,
        "communication_all_parse_ok": free or (n_ok == total > 0 and not missing),
        "communication_parse_rate": _share(n_ok, total, free=free),
        "communication_render_parse_rate": _share(sum(rendered_ok), len(rendered_ok), free=free),
        "communication_report_ok_count": n_ok,
        "communication_report_total": total,
        "communication_required_report_count": total + len(missing),
        "communication_missing_roles": missing,
        "communication_parse_errors": errors,
        "communication_infra_error": None if free or total else "the team gave no report",
        "communication_inflight_handoff_count": len(handoffs),
        "communication_inflight_all_parse_ok": all(written_ok),
    }


def _share(n_ok: int, total: int, *, free: bool) -> float | None:
    """Return a share; of nothing it is undefined, not 0."""
    if free:
        return 1.0
    return n_ok / total if total else None


def _missing(required: Sequence[str], roles: Sequence[str]) -> list[str]:
    if not roles:
        return [ANY_REPORT]
    return [name for name in required if not any(_is(role, name) for role in roles)]


def _is(role: str, name: str) -> bool:
    return role == name or role.startswith(f"{name}_") or role.endswith(f"_{name}")
