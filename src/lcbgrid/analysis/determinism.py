"""Does the endpoint answer the same prompt the same way when it is told to be greedy?

At temperature 0 repeats of one prompt should agree, whatever their seeds. Servers that batch often
do not (reports, R38); then a rerun without the transcript gives other numbers, so it is said.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

from lcbgrid.core.hashing import sha256_json
from lcbgrid.core.jsonl import read_jsonl


def greedy_repeats(transcript: Path | str) -> dict[str, int]:
    """Count prompts that were asked more than once at temperature 0, and those that disagree.

    Returns:
        ``n_prompts_repeated`` and ``n_not_deterministic``; both 0 without a transcript.
    """
    replies: dict[str, set[str]] = defaultdict(set)
    asked: dict[str, int] = defaultdict(int)
    if Path(transcript).is_file():
        for record in read_jsonl(transcript):
            if record.get("kind") != "call" or record["request"]["sampling"]["temperature"] > 0:
                continue
            prompt = _prompt_key(record["request"])
            asked[prompt] += 1
            replies[prompt].add(sha256_json(_said(record["reply"])))
    repeated = [prompt for prompt, count in asked.items() if count > 1]
    return {
        "n_prompts_repeated": len(repeated),
        "n_not_deterministic": sum(len(replies[prompt]) > 1 for prompt in repeated),
    }


def _prompt_key(request: dict[str, Any]) -> str:
    return sha256_json({key: value for key, value in request.items() if key != "seed"})


def _said(reply: dict[str, Any]) -> list[Any]:
    """What the model said; ids of tool calls are the server's own and differ anyway."""
    calls = [[call["name"], call["arguments"]] for call in reply["tool_calls"]]
    return [reply["text"], calls]
