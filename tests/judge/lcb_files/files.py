"""Small problems and result files of our own for the tests of this folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

RIGHT = "print(sum(map(int, input().split())))"
WRONG = "print(0)"
LATE = "while True: pass"
BROKEN = "print("
CRASH = "input(); 1 / 0"
TWICE = "class Solution:\n    def twice(self, x):\n        return 2 * x\n"


def row(question_id: str, **changes: str) -> dict[str, str]:
    """A row of the hub's schema: add two numbers."""
    public = [{"input": "1 2\n", "output": "3\n", "testtype": "stdin"}]
    private = [{"input": "10 20\n", "output": "30\n", "testtype": "stdin"}]
    return {
        "question_title": f"Sum {question_id}",
        "question_content": "Print the sum of two numbers.",
        "platform": "atcoder",
        "question_id": question_id,
        "contest_id": "abc900",
        "contest_date": "2024-01-06T00:00:00",
        "starter_code": "",
        "difficulty": "easy",
        "public_test_cases": json.dumps(public),
        "private_test_cases": json.dumps(private),
        "metadata": "{}",
    } | changes


def functional_row(question_id: str, **changes: str) -> dict[str, str]:
    """A row whose programs are called: double a number."""
    tests = [
        {"input": "4", "output": "8", "testtype": "functional"},
        {"input": "0", "output": "0", "testtype": "functional"},
    ]
    return (
        row(
            question_id,
            platform="leetcode",
            starter_code="class Solution:\n    def twice(self, x: int) -> int:\n        ",
            public_test_cases=json.dumps(tests[:1]),
            private_test_cases=json.dumps(tests[1:]),
            metadata='{"func_name": "twice"}',
        )
        | changes
    )


def write_rows(folder: Path, *rows: dict[str, str]) -> Path:
    """Write rows as JSON lines."""
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in rows))
    return path


def write(
    folder: Path, value: Any, name: str = "Scenario.codegeneration_1_0.2_eval_all.json"
) -> Path:
    """Write a result file."""
    path = folder / name
    path.write_text(json.dumps(value))
    return path


def entry(question_id: str | int, *pairs: tuple[str, bool], **changes: Any) -> dict[str, Any]:
    """An entry of an eval_all file: programs with their recorded grades."""
    stored = row(str(question_id))
    facts = {k: v for k, v in stored.items() if not k.endswith("test_cases") and k != "metadata"}
    grades = [passed for _, passed in pairs]
    return (
        facts
        | {
            "question_id": question_id,
            "output_list": [f"```python\n{code}\n```" for code, _ in pairs],
            "code_list": [code for code, _ in pairs],
            "graded_list": grades,
            "pass@1": sum(grades) / len(grades) if grades else 0.0,
            "metadata": [
                json.dumps({"execution time": 0.1} if passed else {"error_code": -2})
                for passed in grades
            ],
        }
        | changes
    )
