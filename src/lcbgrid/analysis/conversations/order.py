"""Who heard whom, and in which order calls were made.

A published transcript is sorted by agent and step and holds no clock, so that it has the same
bytes after every run. Order and senders are found in the texts: a message that holds what an agent
wrote came after it, and from it.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

CallKey = tuple[str, int]
_LEAST_CHARS: Final = 12
_MOST_LINES: Final = 3


@dataclass(frozen=True, slots=True)
class Spoken:
    """What an agent was told and wrote in one call, and which part of what it was told is new."""

    agent: str
    step: int
    told: str
    new: tuple[str, ...]
    wrote: tuple[str, ...]

    @property
    def key(self) -> CallKey:
        """Agent and step."""
        return self.agent, self.step


class Listeners:
    """Finds the calls of other agents whose words are in a message.

    Words that the writer had read itself, say from the problem's statement, prove nothing.
    """

    def __init__(self, calls: Iterable[Spoken]) -> None:
        ordered = sorted(calls, key=lambda call: (call.step, call.agent))
        self._marks = [(call.key, _marks(call)) for call in ordered]

    def senders(self, text: str, listener: str) -> tuple[CallKey, ...]:
        """Return the calls whose words are in a text.

        Of each agent the call of which most is there, and of equal ones the first: agents quote
        themselves, and peers may write the same.
        """
        found: dict[str, tuple[int, CallKey]] = {}
        for key, marks in self._marks:
            agent = key[0]
            if agent == listener:
                continue
            size = max((len(mark) for mark in marks if mark in text), default=0)
            if size > found.get(agent, (0, key))[0]:
                found[agent] = (size, key)
        return tuple(key for _, key in found.values())


def in_order(calls: Sequence[Spoken], team: Sequence[str], listeners: Listeners) -> list[CallKey]:
    """Return the calls so that each comes after the agent's earlier ones and those it heard.

    Calls that could be made at once stand in the order of the team. Where texts contradict each
    other (agents that wrote the same), the call of the smallest step goes first.
    """
    rank = {agent: position for position, agent in enumerate(team)}
    before = _before(calls, listeners)
    after: dict[CallKey, list[CallKey]] = {}
    for key, needed in before.items():
        for other in needed:
            after.setdefault(other, []).append(key)

    def place(key: CallKey) -> tuple[int, str, int]:
        return rank.get(key[0], len(rank)), key[0], key[1]

    ready = [place(key) for key, needed in before.items() if not needed]
    heapq.heapify(ready)
    done: dict[CallKey, None] = {}
    while len(done) < len(before):
        if ready:
            _, agent, step = heapq.heappop(ready)
            key = (agent, step)
        else:  # a circle
            key = min((k for k in before if k not in done), key=lambda k: (k[1], place(k)))
        if key in done:
            continue
        done[key] = None
        for other in after.get(key, ()):
            before[other].discard(key)
            if not before[other] and other not in done:
                heapq.heappush(ready, place(other))
    return list(done)


def _before(calls: Sequence[Spoken], listeners: Listeners) -> dict[CallKey, set[CallKey]]:
    last: dict[str, CallKey] = {}
    before: dict[CallKey, set[CallKey]] = {}
    for call in sorted(calls, key=lambda call: (call.agent, call.step)):
        needed = {key for text in call.new for key in listeners.senders(text, call.agent)}
        if call.agent in last:
            needed.add(last[call.agent])
        last[call.agent] = call.key
        before[call.key] = needed
    return before


def _marks(call: Spoken) -> tuple[str, ...]:
    """Return pieces of what was written by which it is known again, the whole text first."""
    found: Mapping[str, None] = {}
    for text in call.wrote:
        whole = text.strip()
        lines = sorted({line.strip() for line in whole.splitlines()}, key=lambda x: (-len(x), x))
        found = {**found, **dict.fromkeys([whole, *lines[:_MOST_LINES]])}
    return tuple(m for m in found if len(m) >= _LEAST_CHARS and m not in call.told)
