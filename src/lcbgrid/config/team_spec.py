"""``config/teams.yaml``: which agents a topology has, in which order, with which tools."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, PositiveInt, model_validator

from lcbgrid.config.base import StrictModel

ToolName = Literal["python_exec"]


class RoleSpec(StrictModel):
    """One role; its text is the file ``prompts/<topology>/<name>.md``."""

    name: str = Field(
        pattern="^[a-z][a-z0-9_]*$", description="Role name, also its prompt's file name."
    )
    tools: tuple[ToolName, ...] = Field((), strict=False, description="Tools bound to the role.")
    delivers: bool = Field(
        False, description="The role's reply carries the program, so it gets the output contract."
    )


class TeamSpec(StrictModel):
    """One topology."""

    builder: str = Field(
        pattern="^[a-z][a-z0-9_]*$",
        description="Registered name of the code that builds the team.",
    )
    roles: tuple[RoleSpec, ...] = Field(strict=False, min_length=1, description="Roles, in order.")
    sizes: tuple[PositiveInt, ...] = Field(
        (1,), strict=False, description="Team sizes that it offers."
    )
    max_model_calls: int = Field(
        1, ge=1, description="Model calls an agent may make; then it ends softly (step_limit)."
    )
    max_tool_calls: int = Field(
        8, ge=1, description="Tool calls of one reply that are run; further ones are refused."
    )
    tool_time_s: float = Field(10.0, gt=0, le=10, description="Time limit of one tool run, s.")
    tool_output_chars: int = Field(
        4000, ge=200, description="Characters of each output stream that a tool returns."
    )

    @model_validator(mode="after")
    def _someone_delivers(self) -> TeamSpec:
        if not any(role.delivers for role in self.roles):
            message = "at least one role must have 'delivers: true'"
            raise ValueError(message)
        if len({role.name for role in self.roles}) < len(self.roles):
            message = "two roles have the same name"
            raise ValueError(message)
        return self


class TeamsFile(StrictModel):
    """The whole of ``config/teams.yaml``."""

    teams: dict[str, TeamSpec] = Field(description="Topology name used in the grid -> team.")
