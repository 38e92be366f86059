"""Tidy frames over a grid: one row a cell, a problem, a group, a setting, a margin, a gain.

A cell that the grid asks for and that has no score keeps its row and says why; it never becomes a
zero and never vanishes. Files are the same bytes whatever the order in which scores are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lcbgrid.analysis import columns as cols
from lcbgrid.analysis.axes import AXES, Key, axes_of, key_of, label_of, order_of, value_order
from lcbgrid.analysis.gains import Rules, gain_frames
from lcbgrid.analysis.grid_gains import grid_groups
from lcbgrid.analysis.means import ScoredCell, margin_rows, setting_rows
from lcbgrid.analysis.records import read_object
from lcbgrid.analysis.score import SCORE_SCHEMA_VERSION
from lcbgrid.config.main_spec import AnalysisSpec
from lcbgrid.core.errors import DataError
from lcbgrid.core.files import atomic_path
from lcbgrid.optimize.stats import REPLICATES

if TYPE_CHECKING:
    import pandas as pd

_DIRECT: Final = ("n_problems_scored", "n_graded", "n_right")
_COSTS: Final = (
    "prompt_tokens",
    "completion_tokens",
    "total_tokens",
    "n_llm_calls",
    "n_tool_calls",
    "tokens_per_attempt",
    "calls_per_attempt",
    "cost_usd",
)


@dataclass(frozen=True)
class Frames:
    """The frames of a grid; the columns are in ``columns`` and ``docs/reference/metrics.md``."""

    cells: pd.DataFrame
    settings: pd.DataFrame
    margins: pd.DataFrame
    groups: pd.DataFrame
    problems: pd.DataFrame
    gains: pd.DataFrame
    gain_seeds: pd.DataFrame
    gain_tests: pd.DataFrame
    curves: pd.DataFrame


def aggregate(
    scores: Iterable[Path | str],
    expected_cells: Iterable[Mapping[str, Any]],
    spec: AnalysisSpec | None = None,
) -> Frames:
    """Put the scores of a grid together.

    Args:
        scores: Score files; a path where no file is stands for a cell that was not scored.
        expected_cells: The axes of every cell that the grid asks for, and optionally
            ``simulated``, ``search`` and ``optimize`` (see ``grid_gains.grid_groups``).
        spec: How intervals are made; the defaults of the configuration if left out.

    Raises:
        DataError: Two scores of one cell, or a score of a cell that the grid does not have.
    """
    spec = spec or AnalysisSpec()
    by_key = _read_scores(scores)
    expected = sorted(({**cell, **axes_of(cell)} for cell in expected_cells), key=order_of)
    _refuse_strangers(by_key, expected)
    found = [by_key.get(key_of(cell)) for cell in expected]
    ks = sorted({int(k) for score in found if score for k in score["pass_at_k"]})
    rows = [_cell_row(cell, score) for cell, score in zip(expected, found, strict=True)]
    settings = setting_rows(
        [_scored_cell(row, score) for row, score in zip(rows, found, strict=True)], ks, spec
    )
    present = [score for score in found if score]
    rules = Rules(replicates=max(REPLICATES, spec.bootstrap_samples), seed=spec.bootstrap_seed)
    gains = gain_frames(grid_groups(expected, by_key), rules)
    return Frames(
        cells=cols.frame(rows, cols.with_ks(cols.CELL_COLUMNS, ks)),
        settings=cols.frame(settings, cols.with_ks(cols.SETTING_COLUMNS, ks)),
        margins=cols.frame(margin_rows(settings), cols.MARGIN_COLUMNS),
        groups=cols.frame(_group_rows(present), cols.GROUP_COLUMNS),
        problems=_problem_frame(present),
        gains=gains.gains,
        gain_seeds=gains.gain_seeds,
        gain_tests=gains.gain_tests,
        curves=gains.curves,
    )


def write_frames(frames: Frames, folder: Path | str) -> list[Path]:
    """Write each frame as ``<name>.parquet`` and ``<name>.csv``; return the paths, sorted."""
    folder = Path(folder)
    written = []
    for name in _names():
        frame: pd.DataFrame = getattr(frames, name)
        with atomic_path(folder / f"{name}.parquet") as path:
            frame.to_parquet(path, engine="pyarrow", compression="zstd", index=False)
        write_csv(frame, folder / f"{name}.csv")
        written += [folder / f"{name}.parquet", folder / f"{name}.csv"]
    return sorted(written)


def write_csv(frame: pd.DataFrame, target: Path | str) -> None:
    """Write a frame as CSV: numbers with all their digits, a missing value as nothing."""
    with atomic_path(target) as path:
        frame.to_csv(path, index=False, lineterminator="\n", encoding="utf-8")


def read_frames(folder: Path | str) -> Frames:
    """Read the frames that ``write_frames`` wrote.

    Raises:
        DataError: A file is missing or cannot be read.
    """
    import pandas as pd

    loaded = {}
    for name in _names():
        path = Path(folder) / f"{name}.parquet"
        try:
            loaded[name] = pd.read_parquet(path, engine="pyarrow")
        except (OSError, ValueError) as error:
            raise DataError(
                f"cannot read the frame: {error}", where=path, remedy="aggregate the scores again"
            ) from error
    return Frames(**loaded)


def records_of(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a frame as plain data with ``None`` for what is missing."""
    import pandas as pd

    plain = frame.astype(object).where(frame.notna(), None)
    return [
        {str(name): None if value is pd.NA else value for name, value in row.items()}
        for row in plain.to_dict(orient="records")
    ]


def lists_of(frame: pd.DataFrame, names: Iterable[str]) -> list[list[Any]]:
    """Return some columns as lists with ``None`` for what is missing; light on memory."""
    return [frame[name].astype(object).where(frame[name].notna(), None).tolist() for name in names]


def _names() -> list[str]:
    return [field.name for field in fields(Frames)]


def _read_scores(paths: Iterable[Path | str]) -> dict[Key, dict[str, Any]]:
    found: dict[Key, dict[str, Any]] = {}
    for path in sorted(Path(path) for path in paths):
        if not path.is_file():
            continue
        score = read_object(path)
        if score.get("schema_version") != SCORE_SCHEMA_VERSION:
            raise DataError(
                f"is not a score of version {SCORE_SCHEMA_VERSION}",
                where=path,
                value=score.get("schema_version"),
                remedy="score the cell again",
            )
        score["cell"] = axes_of(score["cell"], where=path)
        if key_of(score["cell"]) in found:
            raise DataError(f"a second score of cell {label_of(score['cell'])}", where=path)
        found[key_of(score["cell"])] = score
    return found


def _refuse_strangers(
    by_key: Mapping[Key, Mapping[str, Any]], expected: Sequence[Mapping[str, Any]]
) -> None:
    strangers = sorted(by_key.keys() - {key_of(cell) for cell in expected}, key=str)
    if strangers:
        raise DataError(
            f"a score of a cell that the grid does not have: "
            f"{label_of(dict(zip(AXES, strangers[0], strict=True)))}",
            remedy="leave its score file out or put the cell back into the grid",
        )


def _cell_row(cell: Mapping[str, Any], score: Mapping[str, Any] | None) -> dict[str, Any]:
    row = {axis: cell[axis] for axis in AXES}
    if score is None:
        return row | {
            "state": "not run",
            "reason": "not run",
            "simulated": cell.get("simulated"),
        }
    values = {int(k): estimate for k, estimate in score["pass_at_k"].items()}
    return {
        **row,
        **{name: score[name] for name in (*_DIRECT, "state", "simulated", "config_sha256")},
        "reason": _reason(score),
        **{f"pass_at_{k}": estimate["value"] for k, estimate in values.items()},
        **_bounds(score["pass_at_1_interval"]),
        "extracted_pass_at_1": _if_finished(score, score["extracted"]["pass_at_1"]),
        **_difficulties(score),
        "tests_passed_share": _if_finished(score, score["tests_passed_share"]["value"]),
        "truncated_share": score["truncated"]["share"],
        "communication_parse_rate": score.get("communication_parse_rate"),  # older scores: none
        "n_infra_errors": len(score["lost"]["infra_error"]),
        "n_data_errors": len(score["lost"]["data_error"]),
        "n_problems_all_identical": score["repeats"]["n_problems_all_identical"],
        **{name: score["usage"][name] for name in _COSTS},
        **{name: value for name, value in score["provenance"].items() if name != "dataset"},
        "undefined": "; ".join(e["reason"] for e in values.values() if e["reason"]) or None,
    }


def _reason(score: Mapping[str, Any]) -> str | None:
    if score["state"] == "finished":
        return None
    return f"{score['state']}: {score['reason']}"


def _bounds(interval: Mapping[str, Any] | None) -> dict[str, Any]:
    if interval is None:
        return {}
    drawn = interval["bootstrap"] or {}
    return {
        "pass_at_1_low": interval["shown"]["low"],
        "pass_at_1_high": interval["shown"]["high"],
        "interval": interval["shown"]["method"],
        "confidence": interval["confidence"],
        "wilson_low": interval["wilson"]["low"],
        "wilson_high": interval["wilson"]["high"],
        "bootstrap_low": drawn.get("low"),
        "bootstrap_high": drawn.get("high"),
    }


def _if_finished(score: Mapping[str, Any], value: Any) -> Any:
    """Subsets of an unfinished cell are as unfinished as the cell."""
    return value if score["state"] == "finished" else None


def _difficulties(score: Mapping[str, Any]) -> dict[str, Any]:
    found = score["by_group"]["difficulty"]
    return {
        f"{name}_pass_at_1": _if_finished(score, found[name]["pass_at_1"])
        for name in cols.DIFFICULTIES
        if name in found
    }


def _scored_cell(row: dict[str, Any], score: Mapping[str, Any] | None) -> ScoredCell:
    problems = score["problems"] if score and score["state"] == "finished" else {}
    shares = {
        question_id: problem["pass_at_1"]
        for question_id, problem in problems.items()
        if problem["n"]
    }
    return ScoredCell(row, shares, all(p["n"] <= 1 for p in problems.values()))


def _group_rows(scores: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    rows = []
    for score in scores:
        for group in ("difficulty", "platform", "mode"):
            found = score["by_group"][group]
            for value in sorted(found, key=lambda value: value_order(group, value)):
                own = {"group": group, "value": value, "simulated": score["simulated"]}
                rows.append({**score["cell"], **own, **found[value]})
    return rows


def _problem_frame(scores: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Fill column by column: a large grid has a million of these rows."""
    lists: dict[str, list[Any]] = {column.name: [] for column in cols.PROBLEM_COLUMNS}
    own = [name for name in lists if name not in (*AXES, "question_id", "simulated")]
    for score in scores:
        problems = {key: score["problems"][key] for key in sorted(score["problems"])}
        for axis in AXES:
            lists[axis] += [score["cell"][axis]] * len(problems)
        lists["question_id"] += problems
        lists["simulated"] += [score["simulated"]] * len(problems)
        for name in own:
            lists[name] += [problem[name] for problem in problems.values()]
    return cols.frame_of(lists, cols.PROBLEM_COLUMNS)
