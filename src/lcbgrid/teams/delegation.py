"""How a manager gives jobs to workers: its tools, its note, its stop word, and what workers see.

Teams specification, section 1.4, with Q7, Q12 and Q16 mended; all texts are ours.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import Any

from lcbgrid.config.team_spec import RoleSpec
from lcbgrid.models.types import ChatReply, ToolCall
from lcbgrid.problems.schema import Problem
from lcbgrid.scenarios import code_generation
from lcbgrid.scenarios.extract import strip_thinking
from lcbgrid.scenarios.fences import find_blocks, split_lines
from lcbgrid.teams.tools import BadArguments

STOP_WORD = "TERMINATE"
PREFIX = "delegate_to_"

DELIVER = (
    "This is your last reply, and no tools are left. Hand in the best program that there is, "
    f"whole and in one ```python block, and write {STOP_WORD} on a line of its own behind it."
)
NUDGE = (
    "Your reply neither calls a tool nor hands in a program. Give a worker its next job by "
    "calling its tool, or hand in the whole program in one ```python block "
    f"with {STOP_WORD} on a line of its own behind it."
)
_DECORATION = " \t*_`.!"
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def delegate_schema(name: str, worker: RoleSpec) -> dict[str, Any]:
    """Return the JSON schema of the tool with which a manager gives a worker a job."""
    return {
        "type": "function",
        "function": {
            "name": f"{PREFIX}{name}",
            "description": f"Give {name} a job and get its reply. {worker.duty}".rstrip(),
            "parameters": {
                "type": "object",
                "properties": {
                    "instructions": {
                        "type": "string",
                        "description": "What is to be done, with all that it takes.",
                    }
                },
                "required": ["instructions"],
                "additionalProperties": False,
            },
        },
    }


def parse_instructions(call: ToolCall) -> str:
    """Return the instructions of a delegation.

    Raises:
        BadArguments: Not JSON, no object, unknown keys, or ``instructions`` is missing, empty or
            no text.
    """
    try:
        arguments = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError) as error:
        message = f"the arguments are not JSON: {error}"
        raise BadArguments(message) from None
    if not isinstance(arguments, dict):
        message = "the arguments must be a JSON object with the key 'instructions'"
        raise BadArguments(message)
    unknown = sorted(set(arguments) - {"instructions"})
    if unknown:
        message = f"unknown argument {unknown[0]!r}; there is only 'instructions'"
        raise BadArguments(message)
    instructions = arguments.get("instructions")
    if not isinstance(instructions, str) or not instructions.strip():
        message = "'instructions' must be given, as text that says what is to be done"
        raise BadArguments(message)
    return instructions.strip()


def manager_note(workers: Mapping[str, RoleSpec]) -> str:
    """Return the end of a manager's system prompt: who its workers are, and how to finish."""
    lines = ["## HOW YOU WORK"]
    if workers:
        n = len(workers)
        count = _NUMBERS[n] if n < len(_NUMBERS) else str(n)
        if n == 1:
            lines.append("You have one worker, the only one:")
        else:
            lines.append(f"You have {count} workers:")
        lines += [f"- {name}: {role.duty}".rstrip(": ") for name, role in workers.items()]
        lines.append(
            f"Give a job by calling the tool {PREFIX}<worker> with `instructions`; a job that is "
            "only described in your text reaches nobody. The worker's reply is the result of the "
            "call. Several calls in one reply run one after the other, in their order."
        )
        lines.append("While you give jobs or run code, no program is needed in your reply.")
    lines.append(
        "To finish, reply without calling a tool: the whole program in one ```python block, then "
        f"the word {STOP_WORD} on a line of its own. Nothing else may follow the block."
    )
    return "\n".join(lines)


def stops(text: str) -> bool:
    """True if a text (without thinking) has the stop word alone on a line, outside code.

    Decoration around it is allowed. On the last line it counts also behind a fence that was never
    closed. In a sentence or in a program it means nothing (Q16).
    """
    return bool(_stop_lines(split_lines(text)))


def without_stop_word(reply: ChatReply) -> ChatReply:
    """Return a reply without the lines that are only the stop word; programs stay as they are."""
    text = reply.text or ""
    shown = strip_thinking(text)[0]
    lines = split_lines(shown)
    drop = _stop_lines(lines)
    if not drop or not text.endswith(shown):
        return reply
    kept = "\n".join(line for index, line in enumerate(lines) if index not in drop)
    return dataclasses.replace(reply, text=text[: len(text) - len(shown)] + kept)


def _stop_lines(lines: Sequence[str]) -> set[int]:
    found = {index for index, line in enumerate(lines) if line.strip(_DECORATION) == STOP_WORD}
    if not found:
        return found
    last = max(index for index, line in enumerate(lines) if line.strip())
    blocks = find_blocks("\n".join(lines))
    inside = {index for b in blocks for index in range(b.first_line, b.last_line + 1)}
    return {index for index in found if index not in inside or index == last}


def job(problem: Problem, past: Sequence[tuple[str, str]], instructions: str) -> str:
    """Return the one user message of a worker.

    It holds the task, the conversation so far (manager's texts, jobs and their results, programs
    that the manager ran and what came out), and the job.

    Args:
        problem: The task.
        past: (heading, text) of what was said before, in order.
        instructions: The job, as it is handed over.
    """
    parts = [f"PROBLEM:\n{code_generation.user_message(problem)}"]
    parts += [f"----- {heading} -----\n{text}" for heading, text in past]
    parts.append(f"----- the manager's newest message: your job -----\n{instructions}")
    return "\n\n".join(parts)
