"""The table of gains, the table of tests, and the lines that end a run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Final

from lcbgrid.analysis import columns_gains as cols
from lcbgrid.analysis.figures_gains import NOTHING, GainNames, shown_gains
from lcbgrid.analysis.frames import records_of
from lcbgrid.analysis.gains import HasGains
from lcbgrid.analysis.paired import CONDITION_AXES, SHARED_SETUP_AXES
from lcbgrid.analysis.table import (
    MISSING,
    Row,
    Table,
    TableColumn,
    model_text,
    number,
    p_text,
    share,
    signed,
    text,
)

_HEADERS: Final = {"team_size": "team size", "reflection_model": "prompts by"}
_NUMBERS: Final = ("team_size", "budget", "window")


def optimizer_table(frames: HasGains, notes: Sequence[str] = ()) -> Table:
    """Return the table of gains: one row a method and condition.

    Args:
        frames: Frames about optimizers.
        notes: What the numbers depend on.
    """
    rows = records_of(frames.gains)
    columns = [
        TableColumn("optimizer", text("method"), is_number=False),
        *_axis_columns(rows),
        *_alike_columns(rows),
        TableColumn("seeds", lambda row: f"{row['n_seeds']} of {row['n_required']}"),
        TableColumn("problems", number("n_problems")),
        TableColumn("base", share("base")),
        TableColumn("deployed", share("deployed")),
        TableColumn("gain pp", _gain, is_number=False),
        TableColumn("std pp", number("std_pp", 1)),
        TableColumn("won:lost", _wins),
        TableColumn("fallbacks", number("fallbacks")),
        TableColumn("min p Holm", _p("min_p_holm")),
        TableColumn("p", _p("p")),
        TableColumn("p Holm", _p("p_holm")),
        TableColumn("search tokens", number("search_tokens")),
        TableColumn("pp/1k search", _signed("gain_per_1000_search_tokens", 3)),
        TableColumn("pp/1k answer", _signed("gain_per_1000_answer_tokens", 2)),
    ]
    return Table(
        name="optimizers",
        title="Gain of each prompt optimizer over the prompts as written",
        columns=tuple(columns),
        rows=tuple(rows),
        notes=(*notes, *_notes(rows)),
        data_columns=tuple(column.name for column in cols.GAIN_COLUMNS),
    )


def tests_table(frames: HasGains) -> Table:
    """Return the table of interactions, and of methods against each other."""
    rows = records_of(frames.gain_tests)
    undefined = dict.fromkeys(row["reason"] for row in rows if row["reason"])
    notes = [
        "interaction: whether gains of optimizers differ between topologies beyond what both do "
        "by themselves; A - B: difference of what two optimizers deploy, on the same problems "
        "and seeds. p: permutation tests that flip signs problem by problem, all seeds and "
        "conditions of one problem at once; p Holm: methods against methods of one family.",
        *(f"{MISSING}: {reason}." for reason in undefined),
    ]
    left = dict.fromkeys(row["left_out"] for row in rows if row["left_out"])
    notes += [f"Left out of an interaction, without complete cells: {names}." for names in left]
    return Table(
        name="optimizer_tests",
        title="Topology x optimizer, and optimizers against each other",
        columns=(
            TableColumn("test", _test_name, is_number=False),
            *_axis_columns(rows, without=("topology", "framework")),
            TableColumn("topologies", text("topologies"), is_number=False),
            TableColumn("problems", number("n_problems")),
            TableColumn("seeds", number("n_seeds")),
            TableColumn("A - B pp", _gain, is_number=False),
            TableColumn("won:lost", _wins),
            TableColumn("p", _p("p")),
            TableColumn("p Holm", _p("p_holm")),
        ),
        rows=tuple(rows),
        notes=tuple(notes),
        data_columns=tuple(column.name for column in cols.TEST_COLUMNS),
    )


def gain_lines(frames: HasGains) -> list[str]:
    """Return a line for each gain, as a run ends with them."""
    rows = shown_gains(frames)
    names = GainNames(rows)
    return [f"{row['method']} on {names.whole(row)}: {_told(row)}" for row in rows]


def _told(row: Row) -> str:
    if row["delta_pp"] is None:
        return f"no gain: {row['reason']}"
    seeds = f"{row['n_seeds']} seed{'' if row['n_seeds'] == 1 else 's'}"
    p_value = p_text(row["p"])
    return (
        f"{signed(row['delta_pp'])} pp "
        f"[{signed(row['ci95_low_pp'])}, {signed(row['ci95_high_pp'])}] "
        f"over {row['n_problems']} problem{'' if row['n_problems'] == 1 else 's'} ({seeds}), "
        f"p {p_value if p_value.startswith('<') else f'= {p_value}'}"
        f"{' (simulated)' if row['simulated'] else ''}"
    )


def _axis_columns(rows: Sequence[Row], without: Sequence[str] = ()) -> list[TableColumn]:
    """Return the axes that vary, and always topology and model."""
    axes = (*CONDITION_AXES, *SHARED_SETUP_AXES)
    columns = []
    for axis in axes:
        varies = len({row[axis] for row in rows}) > 1 and axis != "framework"
        if axis not in without and (varies or axis in ("topology", "model")):
            show = model_text if axis == "model" else text(axis)
            header = _HEADERS.get(axis, axis)
            columns.append(TableColumn(header, show, is_number=axis in _NUMBERS))
    return columns


def _alike_columns(rows: Sequence[Row]) -> list[TableColumn]:
    """Return versions and condition where cells differ in nothing else."""
    alike: dict[tuple[object, ...], list[Row]] = defaultdict(list)
    for row in rows:
        axes = ("method", *CONDITION_AXES, *SHARED_SETUP_AXES)
        alike[tuple(row[axis] for axis in axes)].append(row)

    def differ(axis: str) -> bool:
        return any(len({row[axis] for row in own}) > 1 for own in alike.values())

    columns = []
    if differ("versions"):
        columns.append(TableColumn("versions", text("versions"), is_number=False))
    if differ("condition_id"):
        short = TableColumn("condition", lambda row: row["condition_id"][:8], is_number=False)
        columns.append(short)
    return columns


def _gain(row: Row) -> str:
    if row["delta_pp"] is None:
        return MISSING
    interval = f"[{signed(row['ci95_low_pp'])}, {signed(row['ci95_high_pp'])}]"
    return f"{signed(row['delta_pp'])} {interval}"


def _wins(row: Row) -> str:
    return MISSING if row["wins"] is None else f"{row['wins']}:{row['losses']}"


def _p(name: str) -> Callable[[Row], str]:
    return lambda row: p_text(row[name])


def _signed(name: str, decimals: int) -> Callable[[Row], str]:
    return lambda row: MISSING if row[name] is None else signed(row[name], decimals)


def _test_name(row: Row) -> str:
    if row["test"] == "interaction":
        return "interaction"
    return f"{row['method_a']} - {row['method_b']}"


def _notes(rows: Sequence[Row]) -> list[str]:
    if not any(row["method"] != "identity" for row in rows):
        return [NOTHING]
    notes = [
        "gain pp: deployed minus base, percentage points, mean over seeds, with its 95 % interval "
        "(seed-stratified paired bootstrap); won:lost: problems of all seeds; fallbacks: seeds "
        "in which the prompts as written were deployed.",
        "min p Holm: least of the seeds' exact McNemar p-values; p: permutation test clustered by "
        "problem over all seeds, p Holm the same after Holm's correction"
        f"{_families(rows)}.",
        "search tokens: mean tokens of a search, rollouts and reflection, without evaluations; "
        "pp/1k: gain by 1,000 tokens of the search, and by 1,000 tokens that an answer costs "
        "more than before.",
    ]
    if any(row["simulated"] for row in rows):
        notes.append("(simulated): no real model answered; for tests and tutorials only.")
    for row in rows:
        if row["state"] == "incomplete":
            where = ", ".join(str(row[axis]) for axis in ("method", "topology", "model"))
            notes.append(f"{MISSING} {where}: incomplete, in no mean ({row['reason']}).")
    if any(row["delta_pp"] is not None and row["wins"] + row["losses"] == 0 for row in rows):
        notes.append(
            "[0.0, 0.0]: every pair was a tie, so the bootstrap has nothing to vary; it does not "
            "prove that there is no gain."
        )
    left_out = dict.fromkeys(row["left_out"] for row in rows if row["left_out"])
    notes += [f"Problems in no score, as their tests are broken: {names}." for names in left_out]
    undefined = sorted({part for row in rows for part in (row["undefined"] or "").split("; ")})
    notes += [f"{MISSING} {part}." for part in undefined if part]
    return notes


def _families(rows: Sequence[Row]) -> str:
    names = sorted({row["family"] for row in rows if row["family"]})
    return f" (families: {'; '.join(names)})" if names else ""
