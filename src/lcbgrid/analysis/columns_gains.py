"""The columns of the frames about prompt optimizers: gains, their seeds, tests, curves."""

from __future__ import annotations

from typing import Final

from lcbgrid.analysis.columns import Column
from lcbgrid.analysis.paired import CONDITION_AXES, SETUP_AXES, SHARED_SETUP_AXES

_AXIS: Final = {
    "task": ("text", "Problem set."),
    "scenario": ("text", "Axis of the grid."),
    "model": ("text", "Model that the team runs on."),
    "topology": ("text", "Axis of the grid."),
    "team_size": ("whole", "Axis of the grid."),
    "communication": ("text", "Axis of the grid."),
    "framework": ("text", "Who runs the team."),
    "budget": ("whole", "Rollouts that the search could be charged."),
    "profile": ("text", "improved or reference."),
    "without": ("text", "Single improvements turned off or on."),
    "reflection_model": ("text", "Model that wrote prompts."),
    "window": ("whole", "Rollouts of a batch that may be under way at a time."),
    "versions": ("text", "Versions of the method and its libraries."),
    "condition_id": ("text", "Digest of the condition: team, prompts, splits, models, judge."),
}


def _axes(names: tuple[str, ...]) -> list[Column]:
    return [Column(name, *_AXIS[name]) for name in names]  # type: ignore[arg-type]


_METHOD = Column("method", "text", "Prompt optimizer.")
_GROUP = [_METHOD, *_axes(CONDITION_AXES), *_axes(SETUP_AXES)]
_SIMULATED = Column("simulated", "flag", "True if no real model answered.")
_INTERVAL = [
    Column("ci95_low_pp", "number", "Lower bound of the 95 % bootstrap interval."),
    Column("ci95_high_pp", "number", "Upper bound of the 95 % bootstrap interval."),
]
_PAIRS = [
    Column("wins", "whole", "Pairs, all seeds, with a higher score of the first."),
    Column("losses", "whole", "Pairs, all seeds, with a lower score of the first."),
    Column("ties", "whole", "Pairs, all seeds, with equal scores."),
]
GAIN_COLUMNS: Final = [
    *_GROUP,
    Column("state", "text", "complete or incomplete."),
    Column("reasons", "text", "Why it is incomplete, as codes."),
    Column("reason", "text", "The same in words."),
    Column("seeds", "text", "Seeds that are there and valid, separated by spaces."),
    Column("n_seeds", "whole", "How many."),
    Column("n_required", "whole", "How many must be there."),
    Column("n_problems", "whole", "Problems with a pair of scores."),
    Column("left_out", "text", "Problems in no score, as their tests are broken."),
    Column("base", "number", "Mean score of the prompts as written."),
    Column("deployed", "number", "Mean score of the prompts deployed."),
    Column("delta_pp", "number", "Mean gain over seeds, percentage points."),
    Column("std_pp", "number", "Sample standard deviation of the seeds' gains."),
    *_INTERVAL,
    *_PAIRS,
    Column("fallbacks", "whole", "Seeds in which the prompts as written were deployed."),
    Column("fallback_reasons", "text", "Why, with how often."),
    Column("min_p_holm", "number", "Least of the seeds' McNemar p-values, after Holm."),
    Column("p", "number", "Permutation test, clustered by problem over all seeds."),
    Column("p_holm", "number", "The same after Holm, one p-value a cell."),
    Column("family", "text", "Family that Holm's correction was made in."),
    Column("rollouts", "number", "Mean rollouts charged to a search."),
    Column("search_tokens", "number", "Mean tokens of a search: both of the next two."),
    Column("search_task_tokens", "number", "Mean tokens of its rollouts."),
    Column("search_reflection_tokens", "number", "Mean tokens of its reflection calls."),
    Column("gain_per_1000_search_tokens", "number", "delta_pp by 1,000 search tokens."),
    Column("answer_tokens_base", "number", "Mean tokens of an answer, prompts as written."),
    Column("answer_tokens_deployed", "number", "The same with the prompts deployed."),
    Column("gain_per_1000_answer_tokens", "number", "delta_pp by 1,000 more tokens an answer."),
    Column("undefined", "text", "Each undefined value with its reason."),
    _SIMULATED,
]
SEED_COLUMNS: Final = [
    *_GROUP,
    Column("seed", "whole", "Seed of the search."),
    Column("job_id", "text", "Identity of the job."),
    Column("state", "text", "valid or invalid."),
    Column("reason", "text", "Why it is invalid."),
    Column("n_problems", "whole", "Problems with a pair of scores."),
    Column("base", "number", "Mean score of the prompts as written."),
    Column("deployed", "number", "Mean score of the prompts deployed."),
    Column("delta_pp", "number", "Gain, percentage points."),
    *_PAIRS,
    Column("p_mcnemar", "number", "Exact McNemar test; binary scores only."),
    Column("p_holm", "number", "The same after Holm in its family."),
    Column("fallback_reason", "text", "Why the prompts as written were deployed."),
    Column("stop_reason", "text", "Why the search ended."),
    Column("rollouts", "whole", "Rollouts charged."),
    Column("search_task_tokens", "whole", "Tokens of the rollouts of the search."),
    Column("search_reflection_tokens", "whole", "Tokens of the reflection model."),
    Column("answer_tokens_base", "number", "Mean tokens of an answer, prompts as written."),
    Column("answer_tokens_deployed", "number", "The same with the prompts deployed."),
    _SIMULATED,
]
TEST_COLUMNS: Final = [
    Column("test", "text", "interaction, or methods: one method against another."),
    *_axes(CONDITION_AXES),
    *_axes(SHARED_SETUP_AXES),
    Column("method_a", "text", "First method."),
    Column("method_b", "text", "Second method."),
    Column("topologies", "text", "Topologies in the test."),
    Column("methods", "text", "Methods in the test."),
    Column("n_conditions", "whole", "Conditions in the test."),
    Column("n_problems", "whole", "Common problems."),
    Column("n_seeds", "whole", "Seeds of each condition."),
    Column("base", "number", "Mean score deployed by the second method."),
    Column("deployed", "number", "Mean score deployed by the first method."),
    Column("delta_pp", "number", "First minus second, percentage points."),
    *_INTERVAL,
    *_PAIRS,
    Column("statistic", "number", "Sum of squared interaction effects, square points."),
    Column("effects_pp", "text", "Interaction effects: topology, method, points."),
    Column("p", "number", "Permutation test clustered by problem."),
    Column("p_holm", "number", "The same after Holm, methods against methods of a family."),
    Column("left_out", "text", "Topologies and methods without a complete cell."),
    Column("reason", "text", "Why it is undefined."),
    _SIMULATED,
]
CURVE_COLUMNS: Final = [
    *_GROUP,
    Column("seed", "whole", "Seed of the search."),
    Column("rollouts", "whole", "Charged so far."),
    Column("score", "number", "What the method believed of its incumbent."),
    Column("carried_forward", "flag", "True if the search had ended before."),
    Column("bundle", "text", "Digest of the incumbent."),
    _SIMULATED,
]
