"""``config/teams.yaml``: which agents a topology has, in which order, with which tools."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, PositiveInt, model_validator

from lcbgrid.config.base import StrictModel

ToolName = Literal["python_exec"]
Size = Annotated[int, Field(gt=0, strict=False)]  # a key, which JSON keeps as text
Names = Annotated[tuple[str, ...], Field(strict=False)]


VoteMethod = Literal["whitespace", "ast", "behaviour"]


class RoleSpec(StrictModel):
    """One role; its text is the file ``prompts/<topology>/<name>.md``."""

    name: str = Field(
        pattern="^[a-z][a-z0-9_]*$", description="Role name, also its prompt's file name."
    )
    tools: tuple[ToolName, ...] = Field((), strict=False, description="Tools bound to the role.")
    delivers: bool = Field(
        False, description="The role's reply carries the program, so it gets the output contract."
    )
    duty: str = Field(
        "", description="What a manager reads about this worker: when to delegate to it."
    )


class TeamSpec(StrictModel):
    """One topology."""

    builder: str = Field(
        pattern="^[a-z][a-z0-9_]*$",
        description="Registered name of the code that builds the team.",
    )
    roles: tuple[RoleSpec, ...] = Field(strict=False, min_length=1, description="All its roles.")
    sizes: tuple[PositiveInt, ...] = Field(
        (1,), strict=False, description="Team sizes that it offers."
    )
    lineups: dict[Size, Names] = Field(
        {},
        description="Team size -> role names, in order. A size that is not listed has all roles, "
        "or copies of the only role.",
    )
    prompts: str | None = Field(
        None, description="Folder of the role texts below prompts_dir; default: the topology name."
    )
    max_model_calls: int = Field(
        1,
        ge=1,
        description="Model calls of an agent in one turn; then it ends softly (step_limit).",
    )
    max_tool_calls: int = Field(
        8, ge=1, description="Tool calls of one reply that are run; further ones are refused."
    )
    max_turns: dict[Size, PositiveInt] = Field(
        {},
        description="Team size -> turns of a conversation that has no fixed end; default 26.",
    )
    rounds: int = Field(2, ge=1, description="Rounds of a debate; the first one counts.")
    vote: VoteMethod = Field(
        "whitespace", description="How one program is chosen from those of equal members."
    )
    copies_temperature: float = Field(
        0.7,
        gt=0,
        le=2,
        description="Temperature of copies of one role where the sampling temperature is 0, "
        "since greedy copies would all say the same.",
    )
    max_tokens_per_problem: PositiveInt | None = Field(
        None,
        description="Tokens a problem may cost, shared equally by members that work in parallel; "
        "a member that has spent its share ends softly (token_limit).",
    )
    max_time_s_per_problem: float | None = Field(
        None,
        gt=0,
        description="Model time of a problem, s, by member where members work in parallel; a "
        "member that has used it ends softly (time_limit).",
    )
    tool_time_s: float = Field(10.0, gt=0, le=10, description="Time limit of one tool run, s.")
    tool_output_chars: int = Field(
        4000, ge=200, description="Characters of each output stream that a tool returns."
    )

    @model_validator(mode="after")
    def _someone_delivers(self) -> TeamSpec:
        names = {role.name for role in self.roles}
        if len(names) < len(self.roles):
            message = "two roles have the same name"
            raise ValueError(message)
        for size, lineup in self.lineups.items():
            unknown = sorted(set(lineup) - names)
            if size not in self.sizes:
                message = f"lineups has size {size}, which is not in sizes"
                raise ValueError(message)
            if unknown:
                message = f"the lineup of size {size} names {unknown[0]!r}, which is no role"
                raise ValueError(message)
            if len(lineup) != size:
                message = f"the lineup of size {size} has {len(lineup)} roles"
                raise ValueError(message)
        for size in self.sizes:
            if not any(role.delivers for role in self.lineup(size)):
                message = f"at least one role must have 'delivers: true' (size {size})"
                raise ValueError(message)
        return self

    def lineup(self, size: int) -> tuple[RoleSpec, ...]:
        """Return the roles of a team of this size, in order; copies repeat."""
        if size in self.lineups:
            by_name = {role.name: role for role in self.roles}
            return tuple(by_name[name] for name in self.lineups[size])
        return self.roles * size if len(self.roles) == 1 else self.roles


class TeamsFile(StrictModel):
    """The whole of ``config/teams.yaml``."""

    teams: dict[str, TeamSpec] = Field(description="Topology name used in the grid -> team.")
