"""Keys under which verdicts are kept, so that no program is judged twice the same way."""

from __future__ import annotations

import os

from lcbgrid.config.judge_spec import JudgeSpec
from lcbgrid.core.hashing import sha256_json
from lcbgrid.judge.verdict import JUDGE_VERSION


def rules_key(spec: JudgeSpec, tests_digest: str, errata_digest: str = "") -> str:
    """Return the key of a way to judge: rules, limits, isolation, tests, and the judge itself.

    Args:
        spec: The judge's configuration.
        tests_digest: Digest of all tests that may be used.
        errata_digest: Digest of the checkers and the errata list in force.
    """
    return sha256_json(
        [
            JUDGE_VERSION,
            sha256_json(spec.model_dump(mode="json")),
            tests_digest,
            errata_digest,
            os.environ.get("LCB_FUNCTIONAL_MEMORY_BYTES", ""),
        ]
    )


def program_key(question_id: str, program: str | None, lost: bool = False) -> str:
    """Return the key of a program on a question; equal programs share a verdict.

    Args:
        question_id: The question.
        program: The source; ``None`` if there is none.
        lost: Whether the answer was lost by a fault of ours, which is not the same as none.
    """
    return sha256_json([question_id, program, lost])
