"""R38: a server that answers one greedy prompt in two ways is reported."""

from __future__ import annotations

from pathlib import Path

import pytest

from lcbgrid.analysis.determinism import greedy_repeats
from lcbgrid.core.files import write_jsonl


def call(
    seed: int, text: str, *, temperature: float = 0.0, tool_id: str = "a"
) -> dict[str, object]:
    """One line of a published transcript."""
    return {
        "kind": "call",
        "request": {
            "messages": [{"role": "user", "content": "hi"}],
            "sampling": {"temperature": temperature},
            "seed": seed,
        },
        "reply": {
            "text": text,
            "tool_calls": [{"id": tool_id, "name": "python_exec", "arguments": "{}"}],
        },
    }


@pytest.mark.parametrize(
    ("lines", "repeated", "different"),
    [
        ([call(1, "a"), call(2, "b"), call(3, "a")], 1, 1),
        ([call(1, "a"), call(2, "a", tool_id="b")], 1, 0),
        ([call(1, "a")], 0, 0),
        ([call(1, "a", temperature=0.8), call(2, "b", temperature=0.8)], 0, 0),
        ([{"kind": "tool", "key": "k", "result": "x"}], 0, 0),
    ],
)
def test_greedy_repeats(
    tmp_path: Path, lines: list[dict[str, object]], repeated: int, different: int
) -> None:
    path = tmp_path / "transcript.jsonl"
    write_jsonl(path, lines)
    assert greedy_repeats(path) == {
        "n_prompts_repeated": repeated,
        "n_not_deterministic": different,
    }


def test_without_a_transcript_nothing_is_claimed(tmp_path: Path) -> None:
    assert greedy_repeats(tmp_path / "none.jsonl")["n_prompts_repeated"] == 0
