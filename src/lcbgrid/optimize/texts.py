"""Texts that reflection models are shown, and what is read from their replies.

Optimizers specification, sections 3.5 (a malformed reply never raises), 4.1, 4.2 and 4.6.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from lcbgrid.optimize.canonical import plain
from lcbgrid.optimize.records import RunRecord
from lcbgrid.optimize.rows import Row

BEGIN, END = "NEW_PROMPT_BEGIN", "NEW_PROMPT_END"
STATEMENT, OTHER_FIELD, OUTPUT, TRACE = 7000, 3000, 2000, 3000
DEMO_FIELD, DEMO_OTHER, DEMO_KEYS, DEMO_ITEMS = 1400, 800, 12, 6
_FENCE = re.compile(r"```+")
_LANGUAGE = re.compile(r"\A[ \t]*[\w+#.\-]*[ \t]*\n")
_BLOCK = re.compile(r"```+[^\n`]*\n(.*?)```+", re.DOTALL)


def clip(text: str, limit: int) -> str:
    """Return a text of at most about ``limit`` characters: 60 % of it head, the rest tail."""
    if len(text) <= limit:
        return text
    head = limit * 6 // 10
    return (
        f"{text[:head]}\n[... {len(text) - limit} characters left out ...]\n"
        + (text[len(text) - (limit - head) :])
    )


def fenced(text: str) -> str:
    """Return a text in a fence that is longer than any in it."""
    longest = max((len(mark) for mark in _FENCE.findall(text)), default=2)
    marks = "`" * max(3, longest + 1)
    return f"{marks}\n{text}\n{marks}"


def task_text(row: Row) -> str:
    """Return what a row says, field by field; long statements are cut."""
    lines = []
    for name, value in row.items():
        limit = STATEMENT if name in ("statement", "problem", "question") else OTHER_FIELD
        said = value if isinstance(value, str) else json.dumps(plain(value), ensure_ascii=False)
        lines.append(f"{name}: {clip(said, limit)}")
    return "\n".join(lines)


def spoken(record: RunRecord, role: str, *, alone: bool) -> list[str]:
    """Return what a role said; of a team with one prompt, everything but the user's words."""
    return [
        str(message.get("content", ""))
        for message in record.messages
        if (message["source"] != "user" if alone else message["source"] == role)
    ]


def transcript(record: RunRecord) -> str:
    """Return all messages, each with its source."""
    return "\n".join(
        f"[{message['source']}] {message.get('content', '')}" for message in record.messages
    )


def between_fences(reply: str) -> str:
    """Return what stands between the first and the last fence, or the whole reply (4.1)."""
    marks = list(_FENCE.finditer(reply))
    if not marks:
        return reply.strip()
    last = marks[-1].start() if len(marks) > 1 else len(reply)
    return _LANGUAGE.sub("", reply[marks[0].end() : last], count=1).strip()


def between_marks(reply: str) -> str:
    """Return what stands between the marks, else the last fenced block, else after the mark.

    Empty if there is nothing of that (4.6).
    """
    first, last = reply.find(BEGIN), reply.rfind(END)
    if 0 <= first < last:
        return reply[first + len(BEGIN) : last].strip()
    blocks = _BLOCK.findall(reply)
    if blocks:
        return str(blocks[-1]).strip()
    return reply[first + len(BEGIN) :].strip() if first >= 0 else ""


def compact(value: Any, limit: int = DEMO_OTHER) -> Any:
    """Return a value of a demo with its long parts cut (4.2, rendering)."""
    if isinstance(value, str):
        return clip(value, limit)
    if isinstance(value, Mapping):
        kept = list(value.items())[:DEMO_KEYS]
        return {str(key): compact(item, limit) for key, item in kept}
    if isinstance(value, Sequence):
        return [compact(item, limit) for item in value[:DEMO_ITEMS]]
    return value


def with_demos(text: str, demos: Sequence[Mapping[str, Any]]) -> str:
    """Return a role text with demos below it, each a JSON block (4.2, rendering)."""
    if not demos:
        return text
    blocks = [
        fenced(json.dumps(plain(compact(dict(demo))), ensure_ascii=False, sort_keys=True))
        for demo in demos
    ]
    return "\n\n".join(
        [
            text.rstrip(),
            "# Worked examples",
            "They show how earlier problems went well. Let them guide you, and never hand in "
            "one of their answers for another problem.",
            *blocks,
        ]
    )
