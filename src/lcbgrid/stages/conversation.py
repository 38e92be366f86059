"""What the members of a team said on one problem, in an order that does not depend on the clock.

Members that work side by side answer in any order. Each call gets a depth: one more than that of
what it has read. Calls are told by depth, and within a depth by the order of the members.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lcbgrid.models.types import ChatReply, ChatRequest
from lcbgrid.teams.agent import visible
from lcbgrid.teams.delegation import PREFIX, parse_instructions
from lcbgrid.teams.tools import BadArguments
from lcbgrid.teams.work import Client

TOOL = "tool"


@dataclass(slots=True)
class _Said:
    agent: str
    depth: int
    step: int
    request: ChatRequest
    reply: ChatReply | None = None


@dataclass(slots=True)
class Conversation:
    """Stands before a client and remembers what was asked and answered on one problem.

    Attributes:
        client: Answers.
    """

    client: Client
    _said: list[_Said] = field(default_factory=list)
    _managers: set[str] = field(default_factory=set)

    async def chat(self, request: ChatRequest) -> ChatReply:
        """Answer one request; see ``ModelClient.chat``."""
        agent = request.call.agent
        if any(tool["function"]["name"].startswith(PREFIX) for tool in request.tools):
            self._managers.add(agent)
        said = _Said(agent, self._depth(request), request.call.step, request)
        self._said.append(said)
        said.reply = await self.client.chat(request)
        return said.reply

    def _depth(self, request: ChatRequest) -> int:
        """Return one more than the depth of what the call has read.

        It has read its agent's own earlier calls, and those whose words stand in its messages.
        What has merely ended by now does not count: that is a matter of the clock.
        """
        agent, words = request.call.agent, _words(request.messages)
        read = 0
        for said in self._said:
            if said.agent == agent:
                between = agent in self._managers  # its workers answer in between
                read = max(read, said.depth + between)
            elif said.reply is not None and any(part in words for part in _told(said.reply)):
                read = max(read, said.depth)
        return read + 1

    def messages(self, roles: Mapping[str, str]) -> list[dict[str, Any]]:
        """Return what was said, each with its role as ``source``; thinking is left out.

        Args:
            roles: Agent -> role, in the order of the team.
        """
        told: list[dict[str, Any]] = []
        for said in self._ordered(roles):
            role = roles.get(said.agent, said.agent)
            if said.agent not in self._managers:
                told += [
                    {"source": TOOL, "agent": said.agent, "content": str(answer["content"])}
                    for answer in _tool_answers(said.request.messages)
                ]
            assert said.reply is not None
            message: dict[str, Any] = {
                "source": role,
                "agent": said.agent,
                "content": visible(said.reply.text),
            }
            if said.reply.tool_calls:
                message["tool_calls"] = [
                    {"name": call.name, "args": call.arguments} for call in said.reply.tool_calls
                ]
            told.append(message)
        return told

    def tool_events(self, roles: Mapping[str, str]) -> list[dict[str, Any]]:
        """Return which tools were asked for, in the same order."""
        return [
            {
                "source": roles.get(said.agent, said.agent),
                "name": call.name,
                "args": call.arguments,
            }
            for said in self._ordered(roles)
            for call in (said.reply.tool_calls if said.reply else ())
        ]

    def _ordered(self, roles: Mapping[str, str]) -> list[_Said]:
        place = {agent: number for number, agent in enumerate(roles)}
        answered = [said for said in self._said if said.reply is not None]
        return sorted(
            answered,
            key=lambda said: (
                said.depth,
                place.get(said.agent, len(place)),
                said.agent,
                said.step,
            ),
        )


def _words(messages: Sequence[Mapping[str, Any]]) -> str:
    return "\n".join(str(message.get("content") or "") for message in messages)


def _told(reply: ChatReply) -> list[str]:
    """Return what others may read of a reply: its text, and the jobs that it gives to workers."""
    parts = [visible(reply.text)]
    for call in reply.tool_calls:
        if call.name.startswith(PREFIX):
            with contextlib.suppress(BadArguments):
                parts.append(parse_instructions(call))
    return [part for part in map(str.strip, parts) if part]


def _tool_answers(messages: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the tools' answers with which a request ends."""
    found: list[Mapping[str, Any]] = []
    for message in reversed(messages):
        if message.get("role") != TOOL:
            break
        found.append(message)
    return found[::-1]
