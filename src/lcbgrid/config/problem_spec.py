"""Which problems a grid runs on."""

from __future__ import annotations

import datetime
from typing import Literal

from pydantic import Field, field_validator, model_validator

from lcbgrid.config.base import StrictModel

SplitName = Literal["all", "train", "validation", "test"]


class FilterSpec(StrictModel):
    """Filters, applied in this order; a problem must pass them all."""

    ids: tuple[str, ...] = Field((), strict=False, description="Only these question ids.")
    difficulty: tuple[Literal["easy", "medium", "hard"], ...] = Field(
        (), strict=False, description="Only these difficulties."
    )
    platform: tuple[str, ...] = Field((), strict=False, description="Only these platforms.")
    start_date: str | None = Field(
        None, description="First contest day, YYYY-MM-DD, in UTC, included."
    )
    end_date: str | None = Field(
        None, description="First contest day after the window, YYYY-MM-DD, in UTC, excluded."
    )
    offset: int = Field(0, ge=0, description="Skip this many problems after the filters.")
    limit: int | None = Field(None, ge=1, description="Then take at most this many.")

    @field_validator("start_date", "end_date", mode="before")
    @classmethod
    def _iso_day(cls, value: object) -> object:
        if isinstance(value, datetime.date):  # YAML reads an unquoted day as a date
            return value.isoformat()[:10]
        if isinstance(value, str):
            try:
                datetime.date.fromisoformat(value)
            except ValueError:
                message = "must be a day as YYYY-MM-DD"
                raise ValueError(message) from None
        return value

    @model_validator(mode="after")
    def _window_is_not_empty(self) -> FilterSpec:
        if self.start_date and self.end_date and self.start_date >= self.end_date:
            message = f"end_date {self.end_date} must be after start_date {self.start_date}"
            raise ValueError(message)
        return self


class DatasetSpec(StrictModel):
    """One source of problems."""

    name: str = Field(
        "embedded", pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", description="Name used in paths."
    )
    source: Literal["embedded", "hub", "local"] = Field(
        "embedded", description="embedded (our own set), hub (LiveCodeBench) or local (files)."
    )
    release: str = Field(
        "release_v6", description="Hub release: release_v1..v6, release_latest, v3, v2_v4."
    )
    files: tuple[str, ...] = Field(
        (), strict=False, description="Local files (.jsonl, .json, .parquet), in order."
    )
    sha256: tuple[str, ...] = Field(
        (), strict=False, description="Checksums of the local files, same order; may be empty."
    )
    split: SplitName = Field(
        "all", description="Part of the split file: all, train, validation, test."
    )
    splits_file: str | None = Field(
        None, description="Split file; empty: the one that belongs to the source."
    )
    expect_count: int | None = Field(
        None, ge=1, description="Number of problems that must result; another number is an error."
    )
    allow_broken: bool = Field(
        False, description="List undecodable rows in the manifest and go on without them."
    )
    max_tests_mb: int = Field(
        1024, ge=1, description="Cap on the decoded size of one question's tests, in MiB."
    )
    filters: FilterSpec = Field(FilterSpec(), description="Which problems.")

    @model_validator(mode="after")
    def _files_of_local_data(self) -> DatasetSpec:
        if self.source == "local" and not self.files:
            message = "source 'local' needs 'files'"
            raise ValueError(message)
        return self
