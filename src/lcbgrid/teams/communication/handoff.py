"""One hand-off: what an agent wrote, and what the next one got of it."""

from __future__ import annotations

from dataclasses import dataclass

from lcbgrid.teams.communication.render import HandoffKind, render


@dataclass(frozen=True, slots=True)
class Handoff:
    """A record of one hand-off.

    Attributes:
        role: The sender.
        handoff: What kind of hand-off it is.
        target: The receiver; for peers, the name by which the receiver knows the sender.
        raw: What the sender wrote.
        rendered: What the receiver read.
    """

    role: str
    handoff: HandoffKind
    target: str | None
    raw: str
    rendered: str

    @property
    def is_report(self) -> bool:
        """False for a manager's instruction: nobody asked it to be a report (Q11)."""
        return self.handoff != "manager_worker"


def hand_off(
    text: str,
    format: str,
    *,
    role: str,
    topology: str,
    handoff: HandoffKind,
    target: str | None = None,
    code: str | None = None,
) -> Handoff:
    """Render a text for the next agent and keep the record; arguments as for ``render``.

    Raises:
        ConfigError: There is no such format.
    """
    rendered = render(
        text, format, role=role, topology=topology, handoff=handoff, target=target, code=code
    )
    return Handoff(role, handoff, target, text, rendered)
