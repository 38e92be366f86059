"""What the judge stage publishes says nothing of hidden tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from lcbgrid.core.errors import DataError
from lcbgrid.core.files import write_jsonl
from lcbgrid.stages.judge import _read_predictions, without_hidden


def record(index: int, detail: str | None, got: str | None) -> dict[str, object]:
    return {"index": index, "status": "runtime_error", "detail": detail, "got": got}


def test_of_hidden_tests_only_the_kind_of_failure_stays() -> None:
    verdict = {
        "first_failing": 1,
        "message": "test 1: ValueError: 5 4 9",
        "tests": [
            record(0, "ValueError: 1 2 (line 3)", "public"),
            record(1, "ValueError: 5 4 9", "LEAK"),
            record(2, "7 lines instead of 3", "LEAK"),
            record(3, "line 3 differs", "LEAK"),
            record(4, None, None),
        ],
    }
    shown = without_hidden(verdict, n_public=1)
    assert [test["detail"] for test in shown["tests"]] == [
        "ValueError: 1 2 (line 3)",
        "ValueError",
        "another number of lines",
        "line 3 differs",
        None,
    ]
    assert [test["got"] for test in shown["tests"]] == ["public", None, None, None, None]
    assert shown["message"] == "test 1: ValueError"


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([{"x": 1}], "no prediction"),
        (
            [{"question_id": "a", "sample_index": 0, "status": "ok", "predicted_code": ""}] * 2,
            "twice",
        ),
        ([], "1 answers are wanted"),
    ],
)
def test_damaged_predictions_are_refused(
    tmp_path: Path, lines: list[dict[str, object]], words: str
) -> None:
    path = tmp_path / "predictions.jsonl"
    write_jsonl(path, lines)
    with pytest.raises(DataError, match=words):
        _read_predictions(path, 1)
