"""``python_exec``: the tool with which agents run code, in the judge's sandbox.

Its results go into the transcript, so that a resumed or replayed run neither runs the code again
nor depends on what the code prints (a time, a random number).
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from typing import Any

from lcbgrid.config.team_spec import TeamSpec
from lcbgrid.judge.execution import Execution
from lcbgrid.judge.judge import Judge
from lcbgrid.models.transcript import Transcript, tool_key
from lcbgrid.models.types import CallId, ToolCall

PYTHON_EXEC: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "python_exec",
        "description": (
            "Run a Python program in a fresh, isolated process and return what it printed. "
            "Nothing is kept from one run to the next."
        ),
        "parameters": {
            "type": "object",
            "properties": {
                "code": {"type": "string", "description": "The program."},
                "stdin": {"type": "string", "description": "Text for its standard input."},
            },
            "required": ["code"],
            "additionalProperties": False,
        },
    },
}


class BadArguments(ValueError):
    """The model called a tool with arguments that make no sense; the text says which."""


def parse_arguments(call: ToolCall) -> tuple[str, str]:
    """Return (code, stdin) of a ``python_exec`` call.

    Raises:
        BadArguments: Not JSON, no object, unknown or missing keys, or values that are no text.
    """
    try:
        arguments = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError) as error:
        message = f"the arguments are not JSON: {error}"
        raise BadArguments(message) from None
    if not isinstance(arguments, dict):
        message = "the arguments must be a JSON object with the key 'code'"
        raise BadArguments(message)
    unknown = sorted(set(arguments) - {"code", "stdin"})
    if unknown:
        message = f"unknown argument {unknown[0]!r}; there are 'code' and 'stdin'"
        raise BadArguments(message)
    code, stdin = arguments.get("code"), arguments.get("stdin", "")
    if not isinstance(code, str) or not isinstance(stdin, str):
        message = "'code' must be given, and 'code' and 'stdin' must be text"
        raise BadArguments(message)
    return code, stdin


def is_refusal(text: str) -> bool:
    """True for the answer to a tool call that could not be run at all."""
    return text.startswith("ERROR:")


class ToolBox:
    """Runs tool calls; one for all agents of a cell."""

    def __init__(
        self, spec: TeamSpec, transcript: Transcript, make_judge: Callable[[], Judge]
    ) -> None:
        self._spec = spec
        self._transcript = transcript
        self._make_judge = make_judge
        self._judge: Judge | None = None
        self._making = threading.Lock()
        self._running: dict[str, asyncio.Future[Any]] = {}

    def schemas(self, tools: tuple[str, ...]) -> tuple[dict[str, Any], ...]:
        """Return the JSON schemas of the named tools, as a request carries them."""
        return tuple(PYTHON_EXEC for name in tools if name == "python_exec")

    async def call(
        self, call: ToolCall, where: CallId, index: int, allowed: tuple[str, ...]
    ) -> str:
        """Run one tool call and return the text that the model reads.

        A call that cannot be run is answered with a text that says why; it never raises for what
        the model did.

        Args:
            call: What the model asked for.
            where: The model call that asked.
            index: Position among the tool calls of that reply.
            allowed: Tools that the role has.
        """
        if call.name not in allowed:
            return f"ERROR: there is no tool {call.name!r}; you have: {', '.join(allowed)}"
        try:
            code, stdin = parse_arguments(call)
        except BadArguments as error:
            return f"ERROR: {error}"
        key = tool_key(where, index, call.name, [code, stdin, *self._limits()])
        return str(await self._once(key, where, lambda: self._run(code, stdin)))

    async def output_of(self, code: str, stdin: str, where: CallId) -> str | None:
        """Run a program for the team itself, not for an agent, and return what it printed.

        Returns:
            Standard output; ``None`` if the program failed, was stopped or printed too much.
        """
        key = tool_key(where, 0, "output_of", [code, stdin, *self._limits()])

        def run() -> dict[str, str | None]:
            done = self._execute(code, stdin)
            good = done.exit_code == 0 and not done.timed_out and not done.stdout_truncated
            return {"stdout": done.stdout if good else None}

        known = await self._once(key, where, run)
        return known["stdout"]  # type: ignore[no-any-return]

    async def _once(self, key: str, where: CallId, run: Callable[[], Any]) -> Any:
        """Return what is known under a key, else run it; those who ask meanwhile share it.

        A program may print something else each time, and all must have seen what is written down.
        """
        known = self._transcript.lookup_tool(key)
        if known is not None:
            return known

        async def running() -> Any:
            result = await asyncio.to_thread(run)
            self._transcript.record_tool(key, result, call=where)
            return result

        if key not in self._running:
            task = self._running[key] = asyncio.ensure_future(running())
            task.add_done_callback(lambda _: self._running.pop(key, None))
        return await asyncio.shield(self._running[key])

    def _limits(self) -> list[float]:
        return [self._spec.tool_time_s, self._spec.tool_output_chars]

    def _execute(self, code: str, stdin: str) -> Execution:
        with self._making:
            if self._judge is None:
                self._judge = self._make_judge()
        return self._judge.execute(
            code,
            stdin,
            time_s=self._spec.tool_time_s,
            output_chars=self._spec.tool_output_chars,
        )

    def _run(self, code: str, stdin: str) -> str:
        done = self._execute(code, stdin)
        if done.timed_out:
            end = f"ERROR: stopped after {self._spec.tool_time_s:g} s"
        else:
            end = f"exit_code: {done.exit_code}"
        cut = f"\n[cut after {self._spec.tool_output_chars} characters]"
        stdout = done.stdout + (cut if done.stdout_truncated else "")
        stderr = done.stderr + (cut if done.stderr_truncated else "")
        return f"stdout:\n{stdout}\nstderr:\n{stderr}\n{end}"

    def close(self) -> None:
        """End the sandboxes."""
        if self._judge is not None:
            self._judge.close()
            self._judge = None
