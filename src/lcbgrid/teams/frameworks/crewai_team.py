"""``crewai_sequential``: the pipeline as a CrewAI crew with ``Process.sequential``.

Every stage is a crew agent with a task whose context is all earlier tasks. Role texts, limits,
tools and the choice of the program are those of ``sequential``; how a prompt is put together and
how an agent goes on after a tool is CrewAI's. CrewAI is blocking code, so a crew works in a
thread of its own and its model calls and tool runs are done on our event loop. Its telemetry,
tracing, memory, caches and files are off.
"""

from __future__ import annotations

import asyncio
import atexit
import concurrent.futures
import contextlib
import functools
import importlib.util
import json
import os
import tempfile
import warnings
from collections.abc import Coroutine, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from lcbgrid.models.types import Message
from lcbgrid.problems.schema import Problem
from lcbgrid.scenarios import code_generation
from lcbgrid.teams.bundle import PromptBundle
from lcbgrid.teams.communication.handoff import hand_off
from lcbgrid.teams.frameworks.seat import Seat, need, only_freeform, wire_id
from lcbgrid.teams.interface import Answer, TeamPlan, register
from lcbgrid.teams.programs import program_in
from lcbgrid.teams.roles import system_prompt
from lcbgrid.teams.sequential import SequentialTeam, _Stage
from lcbgrid.teams.work import Context, Work

if TYPE_CHECKING:
    from crewai import Crew
    from crewai.llms.base_llm import BaseLLM
    from crewai.tools import BaseTool

Value = TypeVar("Value")

_GOAL = "do your part of the team's work on one programming problem"
_EXPECTED = "what your role asks for"
_QUIET = {
    "CREWAI_DISABLE_TELEMETRY": "true",
    "CREWAI_DISABLE_TRACKING": "true",
    "CREWAI_DISABLE_VERSION_CHECK": "true",
    "CREWAI_TRACING_ENABLED": "false",
    "OTEL_SDK_DISABLED": "true",
}


class _OverError(Exception):
    """Ends a crew: a model call failed, or the run is being cancelled."""


@dataclass(slots=True)
class _Desk:
    """The way from a crew's thread to our event loop."""

    loop: asyncio.AbstractEventLoop
    failure: BaseException | None = None
    over: bool = False
    seats: list[Seat] = field(default_factory=list)

    def wait(self, doing: Coroutine[Any, Any, Value]) -> Value:
        """Let the loop do something while the crew's thread waits."""
        if self.over:
            doing.close()
            raise _OverError
        try:
            return asyncio.run_coroutine_threadsafe(doing, self.loop).result()
        except (Exception, concurrent.futures.CancelledError) as error:
            self.failure = self.failure or error
            self.over = True
            raise _OverError from None


class CrewTeam(SequentialTeam):
    """One crew agent a stage, in the order of the lineup."""

    def __init__(self, plan: TeamPlan) -> None:
        only_freeform(plan)
        prepare()
        super().__init__(plan)
        self._spec = plan.spec

    async def solve(self, problem: Problem, bundle: PromptBundle, context: Context) -> Answer:
        """Run the crew and hand in the program of the last stage that wrote any.

        Raises:
            ModelCallError: The model cannot be asked.
        """
        work = Work(problem, context)
        work.enroll(*self._names)
        meter = context.meters()[0]
        loop = asyncio.get_running_loop()
        desk = _Desk(loop)
        for name, role in zip(self._names, self._roles, strict=True):
            desk.seats.append(Seat.of(self._spec, work, name, role, meter))
        # not the loop's own pool, which is small and has to stay free for tool runs
        thread = concurrent.futures.ThreadPoolExecutor(1, "crew")
        try:
            await loop.run_in_executor(thread, self._kick_off, desk, bundle)
        finally:
            desk.over = True
            thread.shutdown(wait=False)
        done = [self._stage_of(seat) for seat in desk.seats if seat.replies]
        return self._answer(work, meter, done)

    def _kick_off(self, desk: _Desk, bundle: PromptBundle) -> None:
        with contextlib.suppress(_OverError):
            self._crew(desk, bundle).kickoff()
        if desk.failure is not None:
            raise desk.failure

    def _crew(self, desk: _Desk, bundle: PromptBundle) -> Crew:
        from crewai import Agent, Crew, Process, Task

        agents: list[Any] = []
        tasks: list[Any] = []
        for index, seat in enumerate(desk.seats):
            tools = [_tool(desk, seat, name) for name in seat.role.tools]
            agents.append(
                Agent(
                    role=seat.name,
                    goal=_GOAL,
                    backstory=system_prompt(seat.role, bundle, "freeform"),
                    llm=_llm(desk, seat),
                    tools=tools,
                    allow_delegation=False,
                    verbose=False,
                    cache=False,
                    respect_context_window=False,
                    max_iter=seat.limit + 1,
                    max_retry_limit=0,
                )
            )
            tasks.append(
                Task(
                    name=seat.name,
                    description=self._task(index, seat),
                    expected_output=_EXPECTED,
                    agent=agents[-1],
                    context=list(tasks),
                )
            )
        crew = Crew(
            agents=agents,
            tasks=tasks,
            process=Process.sequential,
            memory=False,
            cache=False,
            tracing=False,
            verbose=False,
        )
        crew._task_output_handler = _Forgetful()
        return crew

    def _task(self, index: int, seat: Seat) -> str:
        if index == 0:
            return self._user(index, seat.work.problem, ())
        number = f"You are {seat.name}, stage {index + 1} of {len(self._roles)}."
        do = "Do your part; what the earlier stages wrote follows the problem."
        return f"{number} {do}\n\nPROBLEM:\n{code_generation.user_message(seat.work.problem)}"

    def _stage_of(self, seat: Seat) -> _Stage:
        turn = seat.turn()
        if not turn.text:
            return _Stage(turn, None)
        code = program_in(turn.text, seat.role, seat.work.problem)
        return _Stage(
            turn,
            hand_off(
                turn.text,
                "freeform",
                role=seat.name,
                topology="sequential",
                handoff="prior_stage",
                code=code,
            ),
        )


@functools.cache
def prepare() -> None:
    """Switch off what CrewAI would send or keep, and import it.

    It makes files in the user's home as soon as it is imported, so that is a temporary folder for
    as long as the import takes.

    Raises:
        ConfigError: CrewAI is not installed.
    """
    if importlib.util.find_spec("crewai") is None:
        need("crewai", "crewai", "--no-deps -r requirements-crewai.lock")
    os.environ.update(_QUIET)
    folder = tempfile.TemporaryDirectory(prefix="lcbgrid-crewai-")
    atexit.register(folder.cleanup)
    homes = dict.fromkeys(("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"), folder.name)
    kept = {name: os.environ.get(name) for name in homes}
    os.environ.update(homes, CREWAI_STORAGE_DIR=f"{folder.name}/storage")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            need("crewai", "crewai", "--no-deps -r requirements-crewai.lock")
    finally:
        for name, value in kept.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


class _Forgetful:
    """Stands for CrewAI's store of task outputs, which crews at work at once would share."""

    def reset(self) -> None:
        """Forget nothing."""

    def update(self, task_index: int, log: Mapping[str, Any]) -> None:
        """Keep nothing."""

    def load(self) -> None:
        """Know nothing."""


def to_messages(given: Iterable[Mapping[str, Any]], seat: Seat) -> list[Message]:
    """Return CrewAI's messages as our client sends them: known keys, and the server's ids.

    CrewAI's calls only carry an id (see ``_tool``), so the arguments are put back.
    """
    messages: list[Message] = []
    for message in given:
        role, content = message["role"], message.get("content")
        if role == "tool":
            answered = {"tool_call_id": wire_id(message["tool_call_id"]), "content": content}
            messages.append({"role": "tool", **answered})
        elif message.get("tool_calls"):
            calls = [_own(call["id"], seat) for call in message["tool_calls"]]
            messages.append({"role": role, "content": content, "tool_calls": calls})
        else:
            messages.append({"role": role, "content": content or ""})
    return messages


def _own(call_id: str, seat: Seat) -> dict[str, Any]:
    call = seat.shown[call_id]
    function = {"name": call.name, "arguments": call.arguments}
    return {"id": wire_id(call_id), "type": "function", "function": function}


def _llm(desk: _Desk, seat: Seat) -> BaseLLM:
    from crewai.llms.base_llm import BaseLLM

    class SeatLLM(BaseLLM):
        """CrewAI's model: it asks through the seat."""

        def call(self, messages: Any, *given: Any, **more: Any) -> Any:
            if seat.meter.end() is not None and not seat.replies:
                desk.over = True  # the stages that are left stay idle
                raise _OverError
            reply = desk.wait(seat.ask(to_messages(messages, seat)))
            if not reply.tool_calls:
                return f"----- earlier stage: {seat.name} -----\n{reply.text}"
            return [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": json.dumps({"call": call.id})},
                }
                for call in reply.tool_calls
            ]

        def supports_function_calling(self) -> bool:
            return True

        def supports_stop_words(self) -> bool:
            return False

        def is_tool_result_overflowing_threshold(self, tool_result: str) -> tuple[bool, int]:
            return False, 0  # our tools cut their output themselves

    return SeatLLM(model=seat.name)


def _tool(desk: _Desk, seat: Seat, name: str) -> BaseTool:
    """Return a tool for CrewAI; a call of it carries its id, and the seat knows the rest.

    So CrewAI neither checks the arguments, which is ``ToolBox``'s part, nor takes two equal calls
    for one.
    """
    from crewai.tools import BaseTool as Base

    class SeatTool(Base):
        name: str = ""
        description: str = "Runs a program."

        def _run(self, call: str) -> str:
            return desk.wait(seat.run(call))

    return SeatTool(name=name)


register("crewai_sequential")(CrewTeam)
