"""The tables of a grid: which columns, which rows, which footnotes.

A table for people repeats below itself what its numbers depend on; its CSV holds every value with
all digits and repeats the same in each row, so that no row can lose its context.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from lcbgrid.analysis.axes import AXES, SETTING_AXES, axes_of, order_of
from lcbgrid.analysis.columns import DIFFICULTIES, SETTING_COLUMNS, with_ks
from lcbgrid.analysis.frames import Frames, lists_of, read_frames, records_of
from lcbgrid.analysis.provenance import provenance_lines
from lcbgrid.analysis.records import read_object
from lcbgrid.analysis.render import write_table
from lcbgrid.analysis.score import TRUNCATED_WARNING_SHARE
from lcbgrid.analysis.table import (
    MISSING,
    Row,
    Table,
    TableColumn,
    model_text,
    number,
    percent,
    share,
    text,
)
from lcbgrid.analysis.tables_gains import optimizer_table

KINDS: Final = ("csv", "md", "tex")
_ALWAYS: Final = ("topology", "optimizer", "model")
_TIMES: Final = (
    "n_calls_timed",
    "latency_p50_s",
    "latency_p90_s",
    "latency_mean_s",
    "latency_total_s",
    "retries",
    "waited_total_s",
    "n_judged_timed",
    "judge_total_s",
)
_TIME_HEADERS: Final = (
    ("calls", number("n_calls_timed")),
    ("p50 s", number("latency_p50_s", 2)),
    ("p90 s", number("latency_p90_s", 2)),
    ("mean s", number("latency_mean_s", 2)),
    ("total s", number("latency_total_s", 1)),
    ("retries", number("retries")),
    ("waited s", number("waited_total_s", 1)),
    ("judged", number("n_judged_timed")),
    ("judge s", number("judge_total_s", 1)),
)


def main_table(frames: Frames) -> Table:
    """Return the headline table: one row a setting, means over its seeds."""
    rows = records_of(frames.settings)
    ks = pass_ks(frames)
    columns = [
        *_axis_columns(rows, SETTING_AXES),
        TableColumn("seeds", text("covers")),
        TableColumn("n", text("n_samples")),
        TableColumn("pass@1", _headline, is_number=False),
        TableColumn("of extracted", share("extracted_pass_at_1")),
        *(TableColumn(f"pass@{k}", share(f"pass_at_{k}")) for k in ks),
        *(TableColumn(name, share(f"{name}_pass_at_1")) for name in DIFFICULTIES),
        TableColumn("cut %", _truncated),
        TableColumn("lost", _lost),
        TableColumn("tokens", number("tokens_per_attempt")),
        TableColumn("calls", number("calls_per_attempt", 1)),
    ]
    if any(row["cost_usd"] is not None for row in rows):
        columns.append(TableColumn("USD", number("cost_usd", 4)))
    return Table(
        name="main",
        title="pass@1 of each setting",
        columns=tuple(columns),
        rows=tuple(rows),
        notes=tuple(_main_notes(rows)),
        data_columns=tuple(column.name for column in with_ks(SETTING_COLUMNS, ks)),
    )


def problem_table(frames: Frames) -> Table:
    """Return a table with one row a problem and one column a setting: right of graded answers."""
    simulated = dict(
        zip(
            zip(*lists_of(frames.problems, SETTING_AXES), strict=True),
            lists_of(frames.problems, ["simulated"])[0],
            strict=True,
        )
    )
    settings = sorted(
        simulated,
        key=lambda key: order_of(dict(zip(SETTING_AXES, key, strict=True)), SETTING_AXES),
    )
    numbers = {key: f"s{index}" for index, key in enumerate(settings, start=1)}
    rows = _problem_rows(frames, numbers)
    columns = [
        TableColumn("problem", text("question_id"), is_number=False),
        TableColumn("difficulty", text("difficulty"), is_number=False),
        TableColumn("platform", text("platform"), is_number=False),
        *(TableColumn(name, _right_of_graded(name)) for name in numbers.values()),
    ]
    legend = [
        f"{name}: {_setting_name(key)}{' (simulated)' if simulated[key] else ''}"
        for key, name in numbers.items()
    ]
    return Table(
        name="problems",
        title="Right of graded answers to each problem, all seeds together",
        columns=tuple(columns),
        rows=tuple(rows[key] for key in sorted(rows)),
        notes=(*legend, *provenance_lines(records_of(frames.settings))),
        data_columns=(
            "question_id",
            "difficulty",
            "platform",
            "mode",
            *(f"{name}_{part}" for name in numbers.values() for part in ("n", "c")),
        ),
    )


def timing_table(timings: Iterable[Path | str]) -> Table:
    """Return the table of measured times; its numbers differ from run to run."""
    rows = []
    for path in timings:
        times = read_object(path)
        axes = axes_of(times["cell"], where=path)
        rows.append({**axes, **{key: times.get(key) for key in ("simulated", *_TIMES)}})
    rows.sort(key=order_of)
    columns = _axis_columns(rows, AXES)
    columns += [TableColumn(header, show) for header, show in _TIME_HEADERS]
    return Table(
        name="timing",
        title="Measured times of each cell",
        columns=tuple(columns),
        rows=tuple(rows),
        notes=(
            "Measured by the clock of the machine that ran the cell; not reproducible.",
            "Calls are those really made: replies taken from a transcript have no time. p50, p90, "
            "mean and total are seconds of single calls; waited is the time between tries.",
        ),
        data_columns=(*AXES, "simulated", *_TIMES),
    )


def table_paths(tables_dir: Path | str) -> list[Path]:
    """Return every file that ``make_tables`` writes, sorted."""
    return sorted(
        Path(tables_dir) / f"{name}.{kind}"
        for name in ("main", "optimizers", "problems")
        for kind in KINDS
    )


def timing_paths(tables_dir: Path | str) -> list[Path]:
    """Return every file that ``make_timing_table`` writes, sorted."""
    return sorted(Path(tables_dir) / f"timing.{kind}" for kind in ("csv", "md"))


def make_tables(aggregate_dir: Path | str, tables_dir: Path | str) -> list[Path]:
    """Write the tables but that of times as CSV, Markdown and LaTeX; return the paths."""
    frames = read_frames(aggregate_dir)
    gains = optimizer_table(frames, provenance_lines(records_of(frames.settings)))
    for table in (main_table(frames), gains, problem_table(frames)):
        write_table(table, tables_dir, KINDS)
    return table_paths(tables_dir)


def make_timing_table(timings: Iterable[Path | str], tables_dir: Path | str) -> list[Path]:
    """Write the table of measured times as CSV and Markdown; return the paths."""
    write_table(timing_table(timings), tables_dir, ("csv", "md"))
    return timing_paths(tables_dir)


def pass_ks(frames: Frames) -> list[int]:
    """Return the k above 1 whose pass@k the frames hold."""
    ends = [str(name).removeprefix("pass_at_") for name in frames.settings.columns]
    return sorted(int(end) for end in ends if end.isdecimal() and end != "1")


def _problem_rows(frames: Frames, numbers: Mapping[Any, str]) -> dict[str, dict[str, Any]]:
    """Return the rows of the per-problem table; a large grid has a million problems in cells."""
    about = ("question_id", "difficulty", "platform", "mode")
    keys = zip(*lists_of(frames.problems, SETTING_AXES), strict=True)
    counts = zip(*lists_of(frames.problems, ("n", "c")), strict=True)
    names = zip(*lists_of(frames.problems, about), strict=True)
    rows: dict[str, dict[str, Any]] = {}
    for key, (n, c), described in zip(keys, counts, names, strict=True):
        row = rows.setdefault(described[0], dict(zip(about, described, strict=True)))
        row[f"{numbers[key]}_n"] = row.get(f"{numbers[key]}_n", 0) + n
        row[f"{numbers[key]}_c"] = row.get(f"{numbers[key]}_c", 0) + c
    return rows


def _axis_columns(rows: Sequence[Row], axes: Iterable[str]) -> list[TableColumn]:
    """Return the axes that the grid varies, and always topology, optimizer and model."""
    return [
        TableColumn(
            axis.replace("_", " "),
            model_text if axis == "model" else text(axis),
            is_number=axis in ("team_size", "seed"),
        )
        for axis in axes
        if axis in _ALWAYS or len({row[axis] for row in rows}) > 1
    ]


def _headline(row: Row) -> str:
    if row["pass_at_1"] is None:
        return f"{MISSING} ({row['state']})"
    return f"{row['pass_at_1']:.3f} [{row['pass_at_1_low']:.3f}, {row['pass_at_1_high']:.3f}]"


def _truncated(row: Row) -> str:
    shown = percent("truncated_share")(row)
    value = row["truncated_share"]
    return f"{shown}!" if value is not None and value > TRUNCATED_WARNING_SHARE else shown


def _lost(row: Row) -> str:
    if row["n_infra_errors"] is None:
        return MISSING
    shown = str(row["n_infra_errors"])
    return f"{shown} + {row['n_data_errors']} data" if row["n_data_errors"] else shown


def _right_of_graded(name: str) -> Callable[[Row], str]:
    def show(row: Row) -> str:
        n = row.get(f"{name}_n")
        return MISSING if not n else f"{row[f'{name}_c']}/{n}"

    return show


def _setting_name(key: Sequence[Any]) -> str:
    return ", ".join(
        f"{value} agents" if axis == "team_size" else str(value)
        for axis, value in zip(SETTING_AXES, key, strict=True)
        if value is not None
    )


def _main_notes(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    levels = sorted({row["confidence"] for row in rows if row["confidence"] is not None})
    shown = " and ".join(f"{100 * level:g} %" for level in levels) or "no"
    notes = [
        *provenance_lines(rows),
        f"pass@1: mean over problems and seeds with its {shown} confidence interval; seeds: "
        "covered of asked for; n: answers a problem; of extracted: over answers in which code "
        "was found; tokens and calls: means of one attempt at one problem.",
        "cut: replies ended by the token limit, graded as they are; lost: answers lost to "
        "infrastructure (and to broken test data), in no denominator.",
    ]
    if any((row["truncated_share"] or 0) > TRUNCATED_WARNING_SHARE for row in rows):
        notes.append(
            f"! More than {100 * TRUNCATED_WARNING_SHARE:g} % of the replies were cut by the "
            "token limit: the score may say more about the limit than about the model."
        )
    if any(row["simulated"] for row in rows):
        notes.append("(simulated): no real model answered; for tests and tutorials only.")
    missing = sorted({row["reason"] for row in rows if row["reason"]})
    if missing:
        notes.append(f"{MISSING}: no score, which is not a zero ({'; '.join(missing)}).")
    undefined = sorted({row["undefined"] for row in rows if row["undefined"]})
    if undefined:
        notes.append(f"Undefined: {'; '.join(undefined)}.")
    return notes
