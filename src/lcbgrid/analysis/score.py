"""The score of one cell: counts, pass@k, subsets, statuses, tokens and money.

A score holds nothing measured by a clock, so the same answers give the same bytes; times are in
``timing``. Answers lost to infrastructure or to broken problem data are listed beside the score
and are in no denominator.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from math import fsum
from pathlib import Path
from typing import Any, Final, NamedTuple

from lcbgrid import __version__
from lcbgrid.analysis.axes import axes_of, value_order
from lcbgrid.analysis.checks import by_other_rules, with_and_without
from lcbgrid.analysis.determinism import greedy_repeats
from lcbgrid.analysis.intervals import bootstrap, choose, wilson
from lcbgrid.analysis.passk import Count, Estimate, mean_pass_at_k, pass_at_k
from lcbgrid.analysis.provenance import provenance_of
from lcbgrid.analysis.records import USAGE_KEYS, Answer, CellRecords, read_cell
from lcbgrid.config.main_spec import AnalysisSpec
from lcbgrid.core.errors import DataError
from lcbgrid.core.files import write_json

SCORE_SCHEMA_VERSION: Final = 1
TRUNCATED_WARNING_SHARE: Final = 0.02
_GROUPS = ("difficulty", "platform", "mode")
_PRICES = ("price_input_usd_per_mtok", "price_output_usd_per_mtok")


def score_cell(
    cell_dir: Path | str,
    spec: AnalysisSpec | None = None,
    prices: Mapping[str, float | None] | None = None,
) -> dict[str, Any]:
    """Score one cell.

    Args:
        cell_dir: Folder with ``cell.json``, ``judge.json``, ``predictions.jsonl`` and
            ``verdicts.jsonl``.
        spec: Which k, and how intervals are made; the defaults of the configuration if left out.
        prices: ``price_input_usd_per_mtok`` and ``price_output_usd_per_mtok``, if known.

    Returns:
        The score record, plain data; ``docs/reference/metrics.md`` explains each field.

    Raises:
        DataError: Predictions and verdicts do not belong together (see ``records``).
    """
    spec = spec or AnalysisSpec()
    records = read_cell(cell_dir)
    where = Path(cell_dir) / "cell.json"
    expected = _expected(records.cell)
    _refuse_surplus(records.answers, expected, where)
    graded = [answer for answer in records.answers if answer.lost is None]
    counts = count_answers(graded)
    missing = _missing_reason(records.answers, expected)
    estimates = _estimates(counts, spec, missing)
    pass_at_1 = estimates[1].value
    about_run = {
        "schema_version": SCORE_SCHEMA_VERSION,
        "code_version": __version__,
        "cell": axes_of(records.cell, where=where),
        "simulated": bool(records.cell.get("simulated", False)),
        "config_sha256": records.cell.get("config_sha256"),
        "versions": records.cell.get("versions") or {},
        "provenance": provenance_of(records),
        **expected._asdict(),
    }
    about_scores = {
        "state": _state(missing, pass_at_1),
        "reason": missing or estimates[1].reason,
        "n_problems_scored": len(counts),
        "n_predictions": len(records.answers),
        "n_graded": len(graded),
        "n_right": sum(answer.is_right for answer in graded),
        "pass_at_k": {str(k): estimate._asdict() for k, estimate in estimates.items()},
        "pass_at_1_interval": None if pass_at_1 is None else _intervals(counts, pass_at_1, spec),
        "with_and_without": with_and_without(graded, records.judge, missing),
        "by_other_rules": by_other_rules(graded, missing),
        "extracted": _extracted(graded),
        "by_group": {name: _by_group(graded, name) for name in _GROUPS},
        "tests_passed_share": _tests_passed_share(graded, records.judge)._asdict(),
    }
    about_model = {"determinism": greedy_repeats(Path(cell_dir) / "transcript.jsonl")}
    return about_run | about_model | about_scores | _about_answers(records, counts, prices or {})


def write_score(
    cell_dir: Path | str,
    target: Path | str,
    spec: AnalysisSpec | None = None,
    prices: Mapping[str, float | None] | None = None,
) -> dict[str, Any]:
    """Score one cell, write the record to ``target`` atomically, and return it."""
    score = score_cell(cell_dir, spec, prices)
    write_json(target, score)
    return score


def count_answers(answers: Iterable[Answer]) -> dict[str, Count]:
    """Return graded answers and right answers per problem, sorted by question id."""
    n: Counter[str] = Counter()
    c: Counter[str] = Counter()
    for answer in answers:
        n[answer.question_id] += 1
        c[answer.question_id] += answer.is_right
    return {question_id: Count(n[question_id], c[question_id]) for question_id in sorted(n)}


def _about_answers(
    records: CellRecords, counts: Mapping[str, Count], prices: Mapping[str, float | None]
) -> dict[str, Any]:
    """Return how all answers ended and what they cost, lost ones too."""
    answers = records.answers
    return {
        "lost": {
            kind: _listed(answer for answer in answers if answer.lost == kind)
            for kind in ("infra_error", "data_error")
        },
        "statuses": {
            "predictions": _tally(answer.status for answer in answers),
            "verdicts": _tally(answer.verdict for answer in answers),
        },
        "truncated": _truncated(answers),
        "repeats": _repeats(answer for answer in answers if answer.lost is None),
        "communication_parse_rate": _parse_rate(answers),
        "usage": _usage(answers, prices),
        "problems": _problems(answers, counts),
    }


def _estimates(
    counts: Mapping[str, Count], spec: AnalysisSpec, missing: str | None
) -> dict[int, Estimate]:
    return {
        k: Estimate(None, missing) if missing else mean_pass_at_k(counts, k)
        for k in sorted({1, *spec.pass_at})
    }


class _Expected(NamedTuple):
    n_problems: int
    n_samples: int


def _expected(cell: Mapping[str, Any]) -> _Expected:
    values = {}
    for part, key in (("dataset_manifest", "n_problems"), ("run", "n_samples")):
        value = (cell.get(part) or {}).get(key)
        if not isinstance(value, int) or value < 1:
            raise DataError(
                f"'{part}.{key}' must be a whole number from 1",
                where="cell.json",
                value=value,
                remedy="run the cell again",
            )
        values[key] = value
    return _Expected(**values)


def _refuse_surplus(answers: Iterable[Answer], expected: _Expected, where: Path) -> None:
    ids = set()
    for answer in answers:
        ids.add(answer.question_id)
        if answer.sample_index >= expected.n_samples:
            raise DataError(
                f"question {answer.question_id!r} has a sample {answer.sample_index}, "
                f"but the cell asks for {expected.n_samples} a problem",
                where=where,
                remedy="run the cell again",
            )
    if len(ids) > expected.n_problems:
        raise DataError(
            f"answers to {len(ids)} problems, but the data set has {expected.n_problems}",
            where=where,
            remedy="prepare the problems and run the cell again",
        )


def _missing_reason(answers: Iterable[Answer], expected: _Expected) -> str | None:
    total = expected.n_problems * expected.n_samples
    found = sum(1 for _ in answers)
    return None if found == total else f"{total - found} of {total} answers are missing"


def _state(missing: str | None, pass_at_1: float | None) -> str:
    if missing:
        return "unfinished"
    return "undefined" if pass_at_1 is None else "finished"


def _intervals(
    counts: Mapping[str, Count], pass_at_1: float, spec: AnalysisSpec
) -> dict[str, Any]:
    by_wilson = wilson(pass_at_1, len(counts), spec.confidence)
    by_bootstrap = bootstrap([[c / n for n, c in counts.values()]], spec)
    shown = choose(
        wilson_interval=by_wilson,
        bootstrap_interval=by_bootstrap,
        one_answer=all(count.n == 1 for count in counts.values()),
    )
    return {
        "confidence": spec.confidence,
        "bootstrap_samples": spec.bootstrap_samples,
        "bootstrap_seed": spec.bootstrap_seed,
        "shown": shown._asdict(),
        "wilson": by_wilson._asdict(),
        "bootstrap": by_bootstrap._asdict() if by_bootstrap else None,
    }


def _extracted(graded: list[Answer]) -> dict[str, Any]:
    """Pass@1 over answers in which code was found; a subset, so never the headline."""
    found = [answer for answer in graded if answer.has_program]
    right = sum(answer.is_right for answer in found)
    return {"n": len(found), "c": right, "pass_at_1": right / len(found) if found else None}


def _by_group(graded: list[Answer], name: str) -> dict[str, dict[str, Any]]:
    members: dict[str, list[Answer]] = defaultdict(list)
    for answer in graded:
        members[getattr(answer, name)].append(answer)
    result = {}
    for value in sorted(members, key=lambda value: value_order(name, value)):
        counts = count_answers(members[value])
        result[value] = {
            "n_problems": len(counts),
            "n": sum(count.n for count in counts.values()),
            "c": sum(count.c for count in counts.values()),
            "pass_at_1": mean_pass_at_k(counts, 1).value,
        }
    return result


def _tests_passed_share(graded: list[Answer], judge: Mapping[str, Any]) -> Estimate:
    """Mean over problems of the share of tests passed; a softer measure than pass@1."""
    stops = judge.get("stop_at_first_failure")
    if stops is not False:
        reason = "stopped at the first failure" if stops else "does not say whether all tests ran"
        return Estimate(None, f"the judge {reason}")
    shares: dict[str, list[float]] = defaultdict(list)
    for answer in graded:
        share = answer.n_passed / answer.n_total if answer.n_total else float(answer.is_right)
        shares[answer.question_id].append(share)
    if not shares:
        return Estimate(None, "no problem has a graded answer")
    return Estimate(mean(mean(values) for values in shares.values()))


def _listed(answers: Iterable[Answer]) -> list[dict[str, Any]]:
    return [{"question_id": a.question_id, "sample_index": a.sample_index} for a in answers]


def _tally(values: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items()))


def _truncated(answers: Iterable[Answer]) -> dict[str, Any]:
    """Replies cut by the token limit: graded as they are, but shown beside the score."""
    came_back = [answer for answer in answers if answer.status != "infra_error"]
    n = sum(answer.is_truncated for answer in came_back)
    share = n / len(came_back) if came_back else None
    return {
        "n": n,
        "share": share,
        "warning": share is not None and share > TRUNCATED_WARNING_SHARE,
    }


def _parse_rate(answers: Iterable[Answer]) -> float | None:
    """Mean share of reports that parse as written, over the answers that have such a share."""
    rates = [
        answer.parse_rate
        for answer in answers
        if answer.status != "infra_error" and answer.parse_rate is not None
    ]
    return mean(rates) if rates else None


def _repeats(graded: Iterable[Answer]) -> dict[str, int]:
    """How many problems got the same program every time, though several answers were asked for."""
    programs: dict[str, list[str]] = defaultdict(list)
    for answer in graded:
        if answer.program is not None and answer.has_program:
            programs[answer.question_id].append(answer.program)
    repeated = [found for found in programs.values() if len(found) > 1]
    return {
        "n_problems_with_repeats": len(repeated),
        "n_problems_all_identical": sum(len(set(found)) == 1 for found in repeated),
    }


def _usage(answers: Iterable[Answer], prices: Mapping[str, float | None]) -> dict[str, Any]:
    """Totals over all answers, lost ones too as they were paid; means over those that ended."""
    answers = list(answers)
    ended = [answer for answer in answers if answer.status != "infra_error"]
    totals: dict[str, Any] = {key: sum(a.usage[key] for a in answers) for key in USAGE_KEYS}

    def per_attempt(key: str) -> float | None:
        return sum(a.usage[key] for a in ended) / len(ended) if ended else None

    return totals | {
        "tokens_per_attempt": per_attempt("total_tokens"),
        "calls_per_attempt": per_attempt("n_llm_calls"),
        "cost_usd": _cost_usd(totals, prices),
    }


def _cost_usd(totals: Mapping[str, int], prices: Mapping[str, float | None]) -> float | None:
    given, replied = (prices.get(key) for key in _PRICES)
    if given is None or replied is None:
        return None
    micro_usd = totals["prompt_tokens"] * given + totals["completion_tokens"] * replied
    return round(float(micro_usd) / 1e6, 9)


def _problems(answers: Iterable[Answer], counts: Mapping[str, Count]) -> dict[str, Any]:
    members: dict[str, list[Answer]] = defaultdict(list)
    for answer in answers:
        members[answer.question_id].append(answer)
    return {
        question_id: _problem(members[question_id], counts.get(question_id, Count(0, 0)))
        for question_id in sorted(members)
    }


def _problem(answers: list[Answer], count: Count) -> dict[str, Any]:
    return {
        "n": count.n,
        "c": count.c,
        "pass_at_1": pass_at_k(count.n, count.c, 1).value,
        "difficulty": answers[0].difficulty,
        "platform": answers[0].platform,
        "mode": answers[0].mode,
        "n_extracted": sum(a.has_program and a.lost is None for a in answers),
        "n_lost": sum(a.lost is not None for a in answers),
        "n_truncated": sum(a.is_truncated for a in answers),
        "total_tokens": sum(a.usage["total_tokens"] for a in answers),
        "n_llm_calls": sum(a.usage["n_llm_calls"] for a in answers),
    }


def mean(values: Iterable[float]) -> float:
    """Return the mean, summed exactly, so that the order of the values does not matter."""
    found = list(values)
    return fsum(found) / len(found)
