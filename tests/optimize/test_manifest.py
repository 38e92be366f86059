"""The interface manifest of a text, and the guard over rewrites."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from lcbgrid.optimize.manifest import Difference, guard, manifest_of

TEXT = """You lead coder and tester for {language} ({n:>3}, but not {{this}} nor {1: 2}).

Call delegate_to_coder or delegate_to_tester with `instructions`; run it with python_exec.
Use `sys.stdin`, `solve(x)` and ``no identifier``, `not one either`.
<answer lang="py">text</answer> and a List<int>.

```python
print(`inside`)
```

End with a ```json block.
"""
NAMES = {"roles": ("coder", "tester", "test"), "tools": ("python_exec", "web_search")}


def test_every_kind_of_name_is_found() -> None:
    assert {kind: sorted(names) for kind, names in manifest_of(TEXT, **NAMES).items()} == {
        "placeholder": ["language", "n"],
        "delegation tool": ["delegate_to_coder", "delegate_to_tester"],
        "role": ["coder", "tester"],
        "identifier": ["instructions", "solve", "sys.stdin"],
        "tool": ["python_exec"],
        "tag": ["answer"],
        "fence language": ["json", "python"],
    }


def test_a_rewording_passes() -> None:
    assert guard(TEXT, TEXT.replace("You lead", "You have the lead of"), **NAMES) == []


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("{language}", "Python", ["lost placeholder language"]),
        ("delegate_to_tester", "it", ["lost delegation tool delegate_to_tester"]),
        ("lead coder and", "lead", ["lost role coder"]),
        ("`instructions`", "words", ["lost identifier instructions"]),
        ("python_exec", "the tool", ["lost tool python_exec"]),
        ("answer", "reply", ["lost tag answer", "added tag reply"]),
        ("```json", "```yaml", ["lost fence language json", "added fence language yaml"]),
        ("delegate_to_coder", "delegate_to_boss", None),
    ],
)
def test_differences_are_named(old: str, new: str, expected: list[str] | None) -> None:
    found = [str(item) for item in guard(TEXT, TEXT.replace(old, new), **NAMES)]
    if expected is None:
        expected = ["added delegation tool delegate_to_boss", "lost delegation tool " + old]
    assert found == expected


def test_a_lenient_guard_lets_harmless_additions_pass() -> None:
    more = TEXT + "\nUse `bisect`.\n```text\nx\n```\n"
    assert len(guard(TEXT, more, **NAMES)) == 2
    assert guard(TEXT, more, **NAMES, exact=False) == []
    assert guard(TEXT, more + "{x}", **NAMES, exact=False) == [
        Difference("placeholder", "x", "added")
    ]


def test_the_project_s_own_prompts_keep_their_manifest(repository: Path) -> None:
    texts = [path.read_text("utf-8") for path in repository.glob("config/prompts/*/*.md")]
    assert len(texts) > 10
    for text in texts:
        assert guard(text, text, tools=["python_exec"]) == []
    assert any(manifest_of(text, tools=["python_exec"])["tool"] for text in texts)


@pytest.mark.parametrize("part", ["`", "{", "<a ", "```\n", "{a:", "delegate_to_", "`a("])
def test_a_hostile_text_is_read_in_no_time(part: str) -> None:
    start = time.perf_counter()
    manifest_of(part * (20_000 // len(part)), **NAMES)
    assert time.perf_counter() - start < 5
