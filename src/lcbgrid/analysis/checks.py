"""Pass@1 with and without checkers or errata, and by the other rule sets.

All numbers come from the same verdicts: each says whether the program would have passed by
comparison alone, which checker was in force, and what the errata list says of the problem.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from typing import Any

from lcbgrid.analysis.passk import Count, Estimate, mean_pass_at_k
from lcbgrid.analysis.records import Answer

_NOT_SAID = "the verdicts do not say it; judge the cell again"
_NO_SCORES = ("infra_error", "data_error")
_NO_CHECKERS = "the cell was judged without checkers"


def with_and_without(
    graded: Collection[Answer], judge: Mapping[str, Any], missing: str | None
) -> dict[str, Any]:
    """Return pass@1 in all combinations, and which problems make the difference.

    Args:
        graded: The answers in the score.
        judge: The judge's settings; say whether checkers were in force.
        missing: Why there is no score, if there is none.
    """
    no_value = missing
    if missing is None and any(answer.passed_by_comparison is None for answer in graded):
        no_value = _NOT_SAID
    no_checkers = no_value
    if not judge.get("checkers") or judge.get("rules") == "official":
        no_checkers = no_value or _NO_CHECKERS
    errata = {a.question_id: a.errata for a in graded if a.errata is not None}
    checkers = {a.question_id: a.checker for a in graded if a.checker is not None}
    return {
        "with_checkers": {
            "every_problem": _pass_at_1(graded, _is_right, (), no_checkers),
            "decided_problems": _pass_at_1(
                graded, _is_right, errata.keys() - checkers.keys(), no_checkers
            ),
            "no_errata": _pass_at_1(graded, _is_right, errata, no_checkers),
        },
        "without_checkers": {
            "every_problem": _pass_at_1(graded, _is_right_by_comparison, (), no_value),
            "no_errata": _pass_at_1(graded, _is_right_by_comparison, errata, no_value),
        },
        "checkers": dict(sorted(checkers.items())),
        "errata": dict(sorted(errata.items())),
    }


def by_other_rules(graded: Collection[Answer], missing: str | None) -> dict[str, Any]:
    """Return pass@1 by each of the other rule sets, and how many verdicts differ.

    Args:
        graded: The answers in the score.
        missing: Why there is no score, if there is none.
    """
    result = {}
    for rules in sorted({rules for answer in graded for rules in answer.by_rules}):
        judged = [a for a in graded if a.by_rules.get(rules) not in (None, *_NO_SCORES)]
        no_value = missing or (
            None if len(judged) == len(graded) else f"not all answers have a verdict by {rules}"
        )

        def is_right(answer: Answer, rules: str = rules) -> bool:
            return answer.by_rules[rules] == "passed"

        result[rules] = {
            **_pass_at_1(judged, is_right, (), no_value),
            "n_different": sum(a.by_rules[rules] != a.verdict for a in judged),
            "n_only_main_passed": sum(a.is_right and not is_right(a) for a in judged),
            "n_only_other_passed": sum(is_right(a) and not a.is_right for a in judged),
        }
    return result


def _is_right(answer: Answer) -> bool:
    return answer.is_right


def _is_right_by_comparison(answer: Answer) -> bool:
    return bool(answer.passed_by_comparison)


def _pass_at_1(
    graded: Collection[Answer],
    is_right: Callable[[Answer], bool],
    left_out: Collection[str],
    no_value: str | None,
) -> dict[str, Any]:
    found: dict[str, list[bool]] = defaultdict(list)
    for answer in graded:
        if answer.question_id not in left_out:
            found[answer.question_id].append(is_right(answer))
    counts = {key: Count(len(rights), sum(rights)) for key, rights in found.items()}
    estimate = Estimate(None, no_value) if no_value else mean_pass_at_k(counts, 1)
    return {**estimate._asdict(), "n_problems": len(counts)}
