"""The columns of every frame: name, kind, meaning. Order here is order in the files."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from lcbgrid.analysis.axes import AXES, SETTING_AXES, WHOLE_NUMBER_AXES
from lcbgrid.analysis.provenance import PROVENANCE_KEYS

if TYPE_CHECKING:
    import pandas as pd

Kind = Literal["text", "whole", "number", "flag"]


class Column(NamedTuple):
    """One column of a tidy frame."""

    name: str
    kind: Kind
    meaning: str


_DTYPES: Final = {"text": "str", "whole": "Int64", "number": "float64", "flag": "boolean"}
_AXIS_MEANING = "Axis of the grid."
_WHOLE_PROVENANCE = ("n_problems", "n_samples", "max_tokens")
DIFFICULTIES: Final = ("easy", "medium", "hard")


def _axes(names: Iterable[str]) -> list[Column]:
    return [
        Column(name, "whole" if name in WHOLE_NUMBER_AXES else "text", _AXIS_MEANING)
        for name in names
    ]


_PROVENANCE = [
    Column(name, "whole" if name in _WHOLE_PROVENANCE else "text", "See provenance.")
    for name in PROVENANCE_KEYS
    if name != "dataset"
]
_SCORES = [
    Column("pass_at_1", "number", "Mean over problems of the share of right answers."),
    Column("pass_at_1_low", "number", "Lower bound of the interval shown."),
    Column("pass_at_1_high", "number", "Upper bound of the interval shown."),
    Column("interval", "text", "Method of the interval shown: wilson or bootstrap."),
    Column("confidence", "number", "Level of the intervals."),
    Column("extracted_pass_at_1", "number", "The same over answers in which code was found."),
    *(
        Column(f"{name}_pass_at_1", "number", f"The same over the {name} problems.")
        for name in DIFFICULTIES
    ),
    Column("tests_passed_share", "number", "Mean over problems of the share of tests passed."),
    Column("truncated_share", "number", "Share of replies cut by the token limit."),
    Column("communication_parse_rate", "number", "Mean share of reports that parse as written."),
    Column("n_infra_errors", "whole", "Answers lost to infrastructure; not in the score."),
    Column("n_data_errors", "whole", "Answers that broken test data left ungraded."),
]
_COSTS = [
    Column("prompt_tokens", "whole", "Tokens sent, all answers."),
    Column("completion_tokens", "whole", "Tokens received, all answers."),
    Column("total_tokens", "whole", "Both."),
    Column("n_llm_calls", "whole", "Model calls, all answers."),
    Column("n_tool_calls", "whole", "Tool calls, all answers."),
    Column("tokens_per_attempt", "number", "Mean tokens of one attempt at one problem."),
    Column("calls_per_attempt", "number", "Mean model calls of one attempt at one problem."),
    Column("cost_usd", "number", "Money at the prices configured; empty without prices."),
]
_STATE = [
    Column("state", "text", "finished, not run, unfinished or undefined."),
    Column("reason", "text", "Why there is no score."),
    Column("simulated", "flag", "True if no real model answered."),
]
CELL_COLUMNS: Final = [
    *_axes(AXES),
    *_STATE,
    Column("n_problems_scored", "whole", "Problems with a graded answer."),
    Column("n_graded", "whole", "Graded answers."),
    Column("n_right", "whole", "Answers that passed every test."),
    *_SCORES,
    Column("wilson_low", "number", "Lower bound of Wilson's interval."),
    Column("wilson_high", "number", "Upper bound of Wilson's interval."),
    Column("bootstrap_low", "number", "Lower bound of the bootstrap interval."),
    Column("bootstrap_high", "number", "Upper bound of the bootstrap interval."),
    Column("n_problems_all_identical", "whole", "Problems whose answers are all one program."),
    *_COSTS,
    *_PROVENANCE,
    Column("undefined", "text", "Each undefined pass@k with its reason."),
    Column("config_sha256", "text", "Digest of the cell's configuration."),
]
SETTING_COLUMNS: Final = [
    *_axes(SETTING_AXES),
    *_STATE,
    Column("n_cells", "whole", "Cells (seeds) that the grid asks for."),
    Column("n_covered", "whole", "Cells with a score; the means are over these."),
    Column("covers", "text", "The two numbers as text: 2 of 3."),
    Column("seeds", "text", "Seeds covered, separated by spaces."),
    Column("seed_sd", "number", "Sample standard deviation of pass@1 over seeds."),
    *_SCORES,
    *_COSTS,
    *_PROVENANCE,
    Column("undefined", "text", "Each undefined pass@k with its reason."),
]
MARGIN_COLUMNS: Final = [
    Column("over", "text", "The axis averaged away: model or topology."),
    *_axes(SETTING_AXES),
    Column("n_settings", "whole", "Settings in the row or column."),
    Column("n_covered", "whole", "Settings with a score; the mean is over these."),
    Column("covers", "text", "The two numbers as text: 2 of 3."),
    Column("pass_at_1", "number", "Plain mean of the settings' pass@1."),
    Column("simulated", "flag", "True if any of them is simulated."),
]
PROBLEM_COLUMNS: Final = [
    *_axes(AXES),
    Column("question_id", "text", "Problem."),
    Column("difficulty", "text", "Difficulty of the problem."),
    Column("platform", "text", "Platform of the problem."),
    Column("mode", "text", "stdin or functional."),
    Column("n", "whole", "Graded answers."),
    Column("c", "whole", "Right answers among them."),
    Column("pass_at_1", "number", "c / n; empty without a graded answer."),
    Column("n_extracted", "whole", "Graded answers in which code was found."),
    Column("n_lost", "whole", "Answers lost to infrastructure or broken data."),
    Column("n_truncated", "whole", "Replies cut by the token limit."),
    Column("total_tokens", "whole", "Tokens of all answers."),
    Column("n_llm_calls", "whole", "Model calls of all answers."),
    Column("simulated", "flag", "True if no real model answered."),
]
GROUP_COLUMNS: Final = [
    *_axes(AXES),
    Column("group", "text", "difficulty, platform or mode."),
    Column("value", "text", "Which one."),
    Column("n_problems", "whole", "Problems with a graded answer."),
    Column("n", "whole", "Graded answers."),
    Column("c", "whole", "Right answers."),
    Column("pass_at_1", "number", "Mean over the problems of the group."),
    Column("simulated", "flag", "True if no real model answered."),
]


def with_ks(columns: list[Column], ks: Iterable[int]) -> list[Column]:
    """Return the columns with one more for each pass@k with k above 1, after pass@1's."""
    extra = [
        Column(f"pass_at_{k}", "number", f"Mean over problems of pass@{k}.")
        for k in sorted(set(ks) - {1})
    ]
    place = [column.name for column in columns].index("confidence") + 1
    return [*columns[:place], *extra, *columns[place:]]


def frame(rows: Iterable[dict[str, Any]], columns: list[Column]) -> pd.DataFrame:
    """Return a frame with exactly these columns and kinds; a missing value stays missing."""
    found = list(rows)
    return frame_of({c.name: [row.get(c.name) for row in found] for c in columns}, columns)


def frame_of(lists: dict[str, list[Any]], columns: list[Column]) -> pd.DataFrame:
    """Return a frame from one list a column."""
    import pandas as pd

    return pd.DataFrame(
        {c.name: pd.Series(lists[c.name], dtype=_DTYPES[c.kind]) for c in columns},
        columns=[c.name for c in columns],
    )
