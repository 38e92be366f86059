"""``config/config.yaml``: the whole configuration of a grid."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, PositiveInt, model_validator

from lcbgrid.config.base import StrictModel
from lcbgrid.config.grid import GridSpec
from lcbgrid.config.judge_spec import JudgeSpec
from lcbgrid.config.model_spec import SamplingSpec
from lcbgrid.config.optimize_spec import IDENTITY, OptimizeSpec
from lcbgrid.config.problem_spec import DatasetSpec


class RunSpec(StrictModel):
    """How teams are run."""

    n_samples: int = Field(1, ge=1, description="Answers a problem; pass@k needs at least k.")
    sampling: SamplingSpec = Field(
        SamplingSpec(), description="How replies are drawn, unless a model says otherwise."
    )
    max_infra_share: float = Field(
        0.1,
        ge=0,
        le=1,
        description="Largest share of answers lost to infrastructure with which a cell still "
        "counts as finished (one is always allowed, all never).",
    )


class AnalysisSpec(StrictModel):
    """Scores and figures."""

    pass_at: tuple[PositiveInt, ...] = Field(
        (1,),
        strict=False,
        min_length=1,
        description="The k of pass@k; k above n_samples is undefined.",
    )
    confidence: float = Field(0.95, gt=0.5, lt=1, description="Level of intervals.")
    bootstrap_samples: int = Field(2000, ge=100, description="Resamples of a bootstrap.")
    bootstrap_seed: int = Field(0, ge=0, description="Seed of the bootstrap.")


class Config(StrictModel):
    """A grid: problems, axes, how teams run, how programs are judged, what is reported."""

    schema_version: Literal[1] = Field(1, description="Version of this file's form.")
    dataset: DatasetSpec = Field(DatasetSpec(), description="The problems.")
    grid: GridSpec = Field(GridSpec(), description="The axes whose product is run.")
    run: RunSpec = Field(RunSpec(), description="How teams are run.")
    optimize: OptimizeSpec = Field(OptimizeSpec(), description="How prompts are optimized.")
    judge: JudgeSpec = Field(JudgeSpec(), description="How programs are judged.")
    analysis: AnalysisSpec = Field(AnalysisSpec(), description="Scores and figures.")
    models_file: str = Field("models.yaml", description="Models; relative to the config folder.")
    teams_file: str = Field("teams.yaml", description="Topologies; relative to the config folder.")
    prompts_dir: str = Field("prompts", description="Prompts; relative to the config folder.")
    replay_from: str | None = Field(
        None,
        description="Results folder whose transcripts answer every model call; no model is "
        "loaded and no network used.",
    )

    @model_validator(mode="after")
    def _test_problems_are_kept_apart(self) -> Config:
        names = {*self.grid.optimizers, *(n for p in self.grid.include for n in p.optimizer)}
        searching = sorted(names - {IDENTITY})
        if searching and self.dataset.split != "test":
            message = (
                f"optimizer {searching[0]!r} learns from the train and validation problems, so "
                f"the grid must run on the others: dataset.split is {self.dataset.split!r}; set "
                "it to test"
            )
            raise ValueError(message)
        return self

    @model_validator(mode="after")
    def _enough_samples(self) -> Config:
        for k in self.analysis.pass_at:
            if k > self.run.n_samples:
                message = (
                    f"pass@{k} needs at least {k} answers a problem, run.n_samples is "
                    f"{self.run.n_samples}; raise it or leave {k} out of analysis.pass_at"
                )
                raise ValueError(message)
        return self
