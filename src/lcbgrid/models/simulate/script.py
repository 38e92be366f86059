"""Scripted answers: a JSON lines file of rules, the first that matches answers.

One rule a line::

    {"match": "two piles", "replies": ["first", {"text": "second", "finish_reason": "length"}]}
    {"regex": "(?i)review", "pick": "seed", "replies": ["yes {seed}", "no"]}

``match`` is looked for in the texts of all messages joined; an empty one always matches. Replies
are given in turn, the last one again and again; with ``"pick": "seed"`` the request's seed
chooses, so the order of requests does not matter. ``{seed}``, ``{count}`` and ``{model}`` in a
text are replaced. Fields of a reply object: ``text``, ``reasoning``, ``tool_calls`` (name,
arguments, id), ``finish_reason``, ``tokens``, ``status`` (an HTTP error), ``headers``, ``fault``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lcbgrid.core.errors import DataError, nearest
from lcbgrid.core.files import dump_json
from lcbgrid.core.jsonl import read_jsonl
from lcbgrid.models.simulate.answer import Answer
from lcbgrid.models.simulate.validate import text_of
from lcbgrid.models.types import ToolCall

_RULE_KEYS = {"match", "regex", "replies", "pick"}
_REPLY_KEYS = {
    "text",
    "reasoning",
    "tool_calls",
    "finish_reason",
    "tokens",
    "status",
    "headers",
    "fault",
}


@dataclass
class _Rule:
    match: str
    regex: re.Pattern[str] | None
    by_seed: bool
    replies: list[Any]
    count: int = 0

    def matches(self, text: str) -> bool:
        return bool(self.regex.search(text)) if self.regex else self.match in text

    def next_reply(self, seed: int) -> tuple[Any, int]:
        count = self.count
        self.count += 1
        if self.by_seed:
            return self.replies[seed % len(self.replies)], count
        return self.replies[min(count, len(self.replies) - 1)], count


class Script:
    """The rules of one file and how far each has come."""

    def __init__(self, rules: list[_Rule]) -> None:
        self._rules = rules

    @classmethod
    def load(cls, path: Path | str) -> Script:
        """Read a script file.

        Raises:
            DataError: The file is missing or a line is no rule.
        """
        if not Path(path).is_file():
            raise DataError("the script of the simulated model is missing", where=path)
        return cls([_rule(record, path) for record in read_jsonl(path)])

    def answer(self, body: Mapping[str, Any]) -> Answer | None:
        """Return the answer of the first rule that matches, or ``None``."""
        text = "\n".join(map(text_of, body["messages"]))
        seed = body.get("seed") or 0
        for rule in self._rules:
            if rule.matches(text):
                reply, count = rule.next_reply(seed)
                return _answer(reply, {"seed": seed, "count": count, "model": body["model"]})
        return None


def _rule(record: dict[str, Any], path: Path | str) -> _Rule:
    for key in record:
        if key not in _RULE_KEYS:
            raise DataError(f"unknown key {key!r}; {nearest(key, _RULE_KEYS)}", where=path)
    replies = record.get("replies")
    if not isinstance(replies, list) or not replies:
        raise DataError("a rule needs 'replies', a list", where=path, value=replies)
    for reply in replies:
        if isinstance(reply, str):
            continue
        if not isinstance(reply, dict) or not set(reply) <= _REPLY_KEYS:
            known = ", ".join(sorted(_REPLY_KEYS))
            raise DataError(f"a reply is a text or has only {known}", where=path, value=reply)
    pattern = record.get("regex")
    return _Rule(
        match=record.get("match", ""),
        regex=re.compile(pattern) if pattern is not None else None,
        by_seed=record.get("pick") == "seed",
        replies=replies,
    )


def _answer(reply: Any, values: Mapping[str, Any]) -> Answer:
    if isinstance(reply, str):
        return Answer(_filled(reply, values))
    calls = tuple(
        ToolCall(
            call.get("id", f"call_{values['count']}_{index}"),
            call["name"],
            call["arguments"]
            if isinstance(call["arguments"], str)
            else dump_json(call["arguments"]),
        )
        for index, call in enumerate(reply.get("tool_calls", ()))
    )
    return Answer(
        _filled(reply.get("text"), values),
        reasoning=reply.get("reasoning"),
        tool_calls=calls,
        finish_reason=reply.get("finish_reason", "tool_calls" if calls else "stop"),
        status=reply.get("status"),
        headers=reply.get("headers", {}),
        fault=reply.get("fault"),
        tokens=reply.get("tokens"),
    )


def _filled(text: str | None, values: Mapping[str, Any]) -> str | None:
    if text is None:
        return None
    for name, value in values.items():
        text = text.replace("{" + name + "}", str(value))
    return text
