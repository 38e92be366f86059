"""The skilled answers: right or wrong programs, with odds that prompts and teams can change.

The log-odds of a right program are ``skill`` + a term of the difficulty + a term for each helpful
feature of the conversation. A hash of server seed, request seed, question and features decides,
so the same request always gets the same answer and another seed another draw.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from lcbgrid.config.model_spec import SimulateSpec
from lcbgrid.core.files import dump_json
from lcbgrid.models.simulate.answer import Answer
from lcbgrid.models.simulate.chance import chance, pick
from lcbgrid.models.simulate.known import KnownProblem, KnownProblems
from lcbgrid.models.simulate.reports import reported
from lcbgrid.models.simulate.validate import text_of
from lcbgrid.models.simulate.writer import rewritten_prompt, wants_prompt
from lcbgrid.models.types import ToolCall

DIFFICULTY_LOGIT = {"easy": 0.8, "medium": -0.8, "hard": -2.2}
BASE_LOGIT = -0.8
TOOL_USE_RATE = 0.7
DELEGATION_RATE = 0.8
NO_CODE_RATE = 0.02

_IN_PROMPT: tuple[tuple[str, re.Pattern[str], float], ...] = tuple(
    (name, re.compile(pattern, re.IGNORECASE), weight)
    for name, pattern, weight in (
        ("edge cases", r"edge case|corner case|boundar|extreme", 0.4),
        ("example", r"\b(?:for example|worked example|example:|e\.g\.)", 0.3),
        ("fenced block", r"```|fenced|code block", 0.3),
        ("nothing else", r"nothing else|no explanation|no labels|no prompts|exactly the", 0.3),
        ("plan", r"step by step|plan |think |reason ", 0.3),
        ("complexity", r"complexity|efficient|time limit|constraints", 0.2),
        ("check", r"double.check|verify|trace |re-?read|test your", 0.2),
    )
)
_STDIN = re.compile(r"standard input|stdin|sys\.stdin|input\(\)", re.IGNORECASE)
_STARTER = re.compile(r"starter code|class Solution|signature", re.IGNORECASE)
_TOOL_RAN_WELL = re.compile(r'exit_code["\s:=]*0\b')
_FEEDBACK = re.compile(
    r"wrong answer|failed|expected|traceback|time limit exceeded|incorrect", re.IGNORECASE
)
_CODE = re.compile(r"```(?:python|py)[^\n]*\n(?!.{0,20}YOUR CODE)", re.IGNORECASE)
_WEIGHTS = {
    "interface": 0.5,
    "tool result": 0.5,
    "feedback": 0.4,
    "earlier program": 0.3,
} | {name: weight for name, _, weight in _IN_PROMPT}


class SkilledModel:
    """Answers any checked request.

    Args:
        spec: Skill and seed.
        problems: What it knows; about anything else it says so.
    """

    def __init__(self, spec: SimulateSpec, problems: KnownProblems) -> None:
        self._spec = spec
        self._problems = problems
        self._features: dict[tuple[str, bool], tuple[str, ...]] = {}

    def answer(self, body: Mapping[str, Any]) -> Answer:
        """Return the model's answer to one request."""
        messages: Sequence[Mapping[str, Any]] = body["messages"]
        texts = [text_of(message) for message in messages]
        seed = 0 if body.get("temperature") == 0 else body.get("seed") or 0
        if wants_prompt(texts):
            return Answer(rewritten_prompt(texts, seed, self._spec.seed))
        problem = self._find(messages, texts)
        if problem is None:
            return self._unknown(texts, seed)
        features = self._features_of(problem, messages, texts)
        draw = (self._spec.seed, seed, problem.question_id, *features)
        program = self._program(problem, features, draw)
        tools = body.get("tools")
        if tools and messages[-1]["role"] != "tool" and not _has_called(messages):
            call = _tool_call(tools, problem, program, draw)
            if call is not None:
                return Answer(None, tool_calls=(call,), finish_reason="tool_calls")
        return Answer(reported(_rendered(program, problem, draw), texts[0], draw))

    def right_probability(self, problem: KnownProblem, features: Sequence[str]) -> float:
        """Return the probability of a right program; for tests and for the documentation."""
        logit = self._spec.skill + BASE_LOGIT + DIFFICULTY_LOGIT.get(problem.difficulty, -0.8)
        logit += sum(_WEIGHTS[name] for name in features)
        return 1.0 / (1.0 + math.exp(-logit))

    def _program(
        self, problem: KnownProblem, features: Sequence[str], draw: tuple[object, ...]
    ) -> str:
        if chance("right", *draw) < self.right_probability(problem, features):
            return problem.reference
        return pick(problem.wrong, "which wrong", *draw)

    def _find(
        self, messages: Sequence[Mapping[str, Any]], texts: Sequence[str]
    ) -> KnownProblem | None:
        for message, text in zip(reversed(messages), reversed(texts), strict=True):
            if message["role"] in ("user", "system", "developer"):
                found = self._problems.find(text)
                if found is not None:
                    return found
        return None

    def _features_of(
        self,
        problem: KnownProblem,
        messages: Sequence[Mapping[str, Any]],
        texts: Sequence[str],
    ) -> tuple[str, ...]:
        features: set[str] = set()
        for message, text in zip(messages, texts, strict=True):
            if message["role"] == "tool":
                if _TOOL_RAN_WELL.search(text):
                    features.add("tool result")
                continue
            features.update(self._in_text(text.replace(problem.statement, ""), problem.functional))
        return tuple(sorted(features))

    def _in_text(self, text: str, functional: bool) -> tuple[str, ...]:
        known = self._features.get((text, functional))
        if known is not None:
            return known
        found = [name for name, pattern, _ in _IN_PROMPT if pattern.search(text)]
        if (_STARTER if functional else _STDIN).search(text):
            found.append("interface")
        if _CODE.search(text):
            found.append("earlier program")
            if _FEEDBACK.search(text):
                found.append("feedback")
        if len(self._features) > 4096:
            self._features.clear()
        self._features[text, functional] = tuple(found)
        return tuple(found)

    def _unknown(self, texts: Sequence[str], seed: int) -> Answer:
        mark = f"{chance('unknown', self._spec.seed, seed, texts[-1]):.6f}"
        text = (
            f"I do not know this task (simulated answer {mark}).\n\n```python\nprint(input())\n```"
        )
        return Answer(text)


def _has_called(messages: Sequence[Mapping[str, Any]]) -> bool:
    return any(message.get("tool_calls") for message in messages)


def _tool_call(
    tools: Sequence[Mapping[str, Any]],
    problem: KnownProblem,
    program: str,
    draw: tuple[object, ...],
) -> ToolCall | None:
    """Return the first turn's tool call, or ``None`` if the model answers at once."""
    if chance("uses tools", *draw) >= TOOL_USE_RATE:
        return None
    by_name = {tool["function"]["name"]: tool["function"] for tool in tools}
    delegates = [name for name in by_name if name.startswith("delegate_to_")]
    if delegates and chance("delegates", *draw) < DELEGATION_RATE:
        function = by_name[pick(delegates, "whom", *draw)]
    else:
        function = by_name.get("python_exec") or tools[0]["function"]
    if function["name"] == "python_exec":
        stdin = "" if problem.functional else problem.sample_input
        arguments = {"code": program, "stdin": stdin}
    else:
        arguments = _plain_arguments(function.get("parameters", {}), problem)
    identity = f"call_{int(chance('call id', *draw) * 1e9):09d}"
    return ToolCall(identity, function["name"], dump_json(arguments))


def _plain_arguments(schema: Mapping[str, Any], problem: KnownProblem) -> dict[str, Any]:
    """Fill the required arguments of any tool, as its schema wants them."""
    values: dict[str, Any] = {}
    properties = schema.get("properties", {})
    for name in schema.get("required", list(properties)):
        field = properties.get(name, {})
        if "enum" in field:
            values[name] = field["enum"][0]
        elif field.get("type") in ("integer", "number"):
            values[name] = field.get("default", 1)
        elif field.get("type") == "boolean":
            values[name] = True
        elif field.get("type") == "array":
            values[name] = []
        elif field.get("type") == "object":
            values[name] = {}
        else:
            values[name] = f"Solve this and return the program.\n\n{problem.statement}"
    return values


def _rendered(program: str, problem: KnownProblem, draw: tuple[object, ...]) -> str:
    """Wrap a program the ways that models do: prose, one block, sometimes two, labels missing."""
    form = chance("form", *draw)
    if form < NO_CODE_RATE:
        return "The approach is to read the data once and to keep a running result."
    label = "" if form < 0.08 else "python3" if form < 0.12 else "python"
    block = f"```{label}\n{program}\n```"
    intro = pick(
        ("Here is a program that does it.", "The idea is simple; the program follows.", ""),
        "intro",
        *draw,
    )
    parts = [intro, block] if intro else [block]
    if form > 0.94 and not problem.functional:
        parts.insert(0, "A first sketch:\n\n```python\nimport sys\n```")
    if form > 0.85:
        parts.append("It runs in time for the given limits.")
    return "\n\n".join(parts)
