"""What the members of a team said on one problem, in an order that does not depend on the clock.

Members that work side by side answer in any order, so calls are told by what the team does, never
by who was first. An agent's calls fall into jobs: one begins when the agent is spoken to, and goes
on while it is only answered by its tools. First come the first jobs of all members in the order
of the team, then the second ones, as in the rounds of a debate or the stages of a chain. Where a
manager gives the jobs, each is told behind the call that gave it.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lcbgrid.models.failures import ModelCallError
from lcbgrid.models.types import ChatReply, ChatRequest, ToolCall
from lcbgrid.teams.agent import visible
from lcbgrid.teams.delegation import PREFIX
from lcbgrid.teams.work import Client

TOOL = "tool"
REFUSED = "ERROR:"  # how the answer to a call begins that was not run


@dataclass(slots=True)
class _Said:
    agent: str
    request: ChatRequest
    reply: ChatReply | None = None

    @property
    def begins_a_job(self) -> bool:
        return bool(self.request.messages) and self.request.messages[-1].get("role") != TOOL


@dataclass(slots=True)
class Conversation:
    """Stands before a client and remembers what was asked and answered on one problem.

    Attributes:
        client: Answers.
        loss: The first call that was given up, if any; a team may go on without that member.
    """

    client: Client
    loss: ModelCallError | None = None
    _chains: dict[str, list[_Said]] = field(default_factory=dict)
    _managers: set[str] = field(default_factory=set)

    async def chat(self, request: ChatRequest) -> ChatReply:
        """Answer one request; see ``ModelClient.chat``."""
        agent = request.call.agent
        if any(tool["function"]["name"].startswith(PREFIX) for tool in request.tools):
            self._managers.add(agent)
        said = _Said(agent, request)
        self._chains.setdefault(agent, []).append(said)  # an agent asks one call after another
        try:
            said.reply = await self.client.chat(request)
        except ModelCallError as error:
            self.loss = self.loss or error
            raise
        return said.reply

    @property
    def answered(self) -> bool:
        """Whether any call was answered."""
        return any(said.reply is not None for chain in self._chains.values() for said in chain)

    def messages(self, roles: Mapping[str, str]) -> list[dict[str, Any]]:
        """Return what was said, each with its role as ``source``; thinking is left out.

        Args:
            roles: Agent -> role, in the order of the team.
        """
        told: list[dict[str, Any]] = []
        for said in self._ordered(roles):
            assert said.reply is not None
            told += [
                {"source": TOOL, "agent": said.agent, "content": text}
                for call, text in self._answers(said)
                if not _gives_a_job(call, text)  # its worker's own words stand there already
            ]
            message: dict[str, Any] = {
                "source": roles.get(said.agent, said.agent),
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
        agents = sorted(self._chains, key=lambda agent: (place.get(agent, len(place)), agent))
        jobs = {agent: deque(_jobs(self._chains[agent])) for agent in agents}
        told: list[_Said] = []
        for agent in agents:
            if agent in self._managers:
                told += self._managed(agent, jobs)
        while any(jobs.values()):
            for agent in agents:
                if jobs[agent]:
                    told += jobs[agent].popleft()
        return [said for said in told if said.reply is not None]

    def _managed(self, manager: str, jobs: Mapping[str, deque[list[_Said]]]) -> Iterator[_Said]:
        """Yield a manager's calls, each with the jobs that it gave behind it."""
        jobs[manager].clear()
        chain = self._chains[manager]
        for said, following in zip(chain, [*chain[1:], None], strict=True):
            yield said
            calls = said.reply.tool_calls if said.reply else ()
            answers = _tool_answers(following.request.messages) if following else []
            for number, call in enumerate(calls):
                worker = call.name.removeprefix(PREFIX)
                answer = answers[number] if number < len(answers) else ""
                if _gives_a_job(call, answer) and jobs.get(worker) and worker != manager:
                    yield from jobs[worker].popleft()

    def _answers(self, said: _Said) -> list[tuple[ToolCall | None, str]]:
        """Return the tools' answers with which a request ends, each with its call if known."""
        texts = _tool_answers(said.request.messages)
        chain = self._chains[said.agent]
        number = next(index for index, other in enumerate(chain) if other is said)
        before = chain[number - 1].reply if number and texts else None
        calls = before.tool_calls if before is not None else ()
        return [
            (calls[index] if index < len(calls) else None, text)
            for index, text in enumerate(texts)
        ]


def _gives_a_job(call: ToolCall | None, answer: str) -> bool:
    return call is not None and call.name.startswith(PREFIX) and not answer.startswith(REFUSED)


def _jobs(chain: Sequence[_Said]) -> list[list[_Said]]:
    """Return an agent's calls, job by job."""
    found: dict[int, list[_Said]] = defaultdict(list)
    number = 0
    for said in chain:
        number += said.begins_a_job
        found[number].append(said)
    return list(found.values())


def _tool_answers(messages: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the tools' answers with which a request ends."""
    found: list[str] = []
    for message in reversed(messages):
        if message.get("role") != TOOL:
            break
        found.append(str(message.get("content") or ""))
    return found[::-1]
