"""``python -m optimizers.protocol.run``: one optimizer on one cell with one seed.

Optimizers specification, section 6.4. Standard output is one JSON line; progress goes to stderr.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from lcbgrid.cli.arguments import Parser
from lcbgrid.core.errors import EXIT_OK, ConfigError, UserError

if TYPE_CHECKING:
    from lcbgrid.stages.one_job import OneJob

PROGRAM = "optimizers.protocol.run"
FRAMEWORKS = ("langgraph", "crewai", "autogen", "agents_sdk")
COMMUNICATIONS = ("freeform", "semi_structured", "structured_soft")
PHASES = ("optimize", "validate", "test", "all")
DEFAULT_SIZE = 4
_EPILOG = """A finished job prints its summary again; one that was interrupted goes on.
TASK_ENDPOINTS: addresses of the task model, with commas; REFLECTION_MODEL_BASE_URL: of the model
that writes prompts (REFLECTION_MODEL_ID: what it is called there; default: as the task model).
Exit status: 0 done; 2 a mistake in what was asked; 3 the world failed (hub, endpoint, sandbox)."""


def run() -> NoReturn:
    """Run the command line and exit."""
    from lcbgrid.cli.main import run_script

    run_script(lambda: main(sys.argv[1:]))


def main(arguments: list[str], environment: Mapping[str, str] = os.environ) -> int:
    """Run one job and return the exit status."""
    from lcbgrid.cli.main import guarded, set_up_logging

    def work() -> int:
        options = _parser().parse_args(arguments)
        set_up_logging(None, quiet=options.quiet, level=options.log_level)
        if options.out == Path():
            raise UserError("--out names no folder", remedy="give the job a folder of its own")
        from lcbgrid.core.files import dump_json
        from lcbgrid.stages.one_job import foreign, run_one_job

        job = _job(options, environment)
        last = run_one_job(job, environment)
        typer.echo(dump_json(_summary(last, options.out, in_grid=foreign(job.choices) is None)))
        return EXIT_OK

    return guarded(work)


def _parser() -> Parser:
    parser = Parser(
        prog=PROGRAM,
        description="Search prompts for one team on one model, decide on validation problems, "
        "and compare on test problems.",
        epilog=_EPILOG,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--method", required=True, metavar="NAME", help="identity, gepa, mamut_gepa, mipro, …")
    add("--dataset", required=True, metavar="NAME", help="lcb (LiveCodeBench), or embedded")
    add(
        "--topology",
        required=True,
        metavar="NAME",
        help="a topology, or a key: centralized_r8, sequential_crewai, "
        "independent_communications_structured_soft",
    )
    add("--model", required=True, metavar="NAME", help="name in config/models.yaml")
    add("--seed", required=True, type=int, choices=(0, 1, 2), help="of the search")
    add("--out", required=True, type=Path, metavar="DIR", help="the job's own folder")
    add("--framework", choices=FRAMEWORKS, help="who runs the team; default: langgraph")
    add("--team-size", type=int, metavar="N", help="agents in a team; default: 4, single: 1")
    add("--communication", choices=COMMUNICATIONS, help="default: freeform")
    add("--budget", type=int, default=600, metavar="B", help="rollouts, 1 to 600; default: 600")
    add("--phase", choices=PHASES, default="all", help="default: all that is not done yet")
    add("--profile", choices=("improved", "reference"), default="improved", help="how it charges")
    add("--without", default="", metavar="NAMES", help="improvements to turn off, with commas")
    add("--reflection-model", metavar="NAME", help="name in config/models.yaml")
    add("--allow-any-cell", action="store_true", help="run what the published grid has not")
    add("--evaluation-cache", type=Path, metavar="DIR", help="evaluations that jobs share")
    add("--task-endpoints", metavar="URLS", help="default: TASK_ENDPOINTS")
    add("--n-train", type=int, metavar="N", help="the first N train problems")
    add("--n-validation", type=int, metavar="N", help="the first N validation problems")
    add("--n-test", type=int, metavar="N", help="the first N test problems")
    add("--first-tests", type=int, metavar="N", help="judge by the first N tests; default: all")
    add("--quiet", action="store_true", help="only warnings on stderr")
    levels = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
    add("--log-level", choices=levels, default="INFO", type=str.upper, help="default: INFO")
    return parser


def _job(options: argparse.Namespace, environment: Mapping[str, str]) -> OneJob:
    from lcbgrid.config.base import validate
    from lcbgrid.config.optimize_spec import OptimizeSpec
    from lcbgrid.stages.one_cell import Choices
    from lcbgrid.stages.one_job import OneJob
    from lcbgrid.stages.variables import addresses

    topology, size, communication = runtime(
        options.topology, options.framework, options.team_size, options.communication
    )
    settings: dict[str, Any] = {
        "budget": options.budget,
        "profile": options.profile,
        "without": [name.strip() for name in options.without.split(",") if name.strip()],
        "reflection_model": options.reflection_model,
        "n_train": options.n_train,
        "n_validation": options.n_validation,
        "first_tests": options.first_tests,
    }
    choices = Choices(
        topology=topology,
        team_size=size,
        communication=communication,
        model=options.model,
        dataset=_dataset(options.dataset),
        seed=options.seed,
        optimizer=options.method,
        optimize=validate(OptimizeSpec, settings, where="command line"),
    )
    if options.n_test is not None and options.n_test < 1:
        raise ConfigError("must be at least 1", where="--n-test", value=options.n_test)
    nearest = next(path for path in (options.out, *options.out.parents) if path.exists())
    if not nearest.is_dir():
        raise ConfigError(
            "a job needs a folder, this is a file", where="--out", value=str(nearest)
        )
    where = "--task-endpoints" if options.task_endpoints else "TASK_ENDPOINTS"
    return OneJob(
        choices=choices,
        folder=options.out,
        phase=options.phase,
        evaluations=options.evaluation_cache,
        n_test=options.n_test,
        endpoints=addresses(options.task_endpoints or environment.get("TASK_ENDPOINTS"), where),
        any_cell=options.allow_any_cell,
    )


def runtime(
    key: str, framework: str | None, size: int | None, communication: str | None
) -> tuple[str, int, str]:
    """Return topology, team size and format from a topology or a runtime key and the options.

    Raises:
        ConfigError: An option contradicts the key.
    """
    base, _, rest = key.partition("_")
    if rest in FRAMEWORKS:
        framework = _agreed(key, "--framework", framework, rest)
    elif rest[:1] == "r" and rest[1:].isdigit():
        size = _agreed(key, "--team-size", size, int(rest[1:]))
    elif rest.startswith("communications_"):
        named = rest.removeprefix("communications_")
        communication = _agreed(key, "--communication", communication, named)
    elif rest:
        raise ConfigError(
            "no such topology or key",
            where="--topology",
            value=key,
            remedy="for example sequential, centralized_r8, sequential_crewai or "
            "independent_communications_structured_soft",
        )
    if base in ("single", "direct"):
        size = _agreed(key, "--team-size", size, 1)
        communication = _agreed(key, "--communication", communication, "freeform")
    named_topology = base if framework in (None, "langgraph") else f"{base}_{framework}"
    return named_topology, DEFAULT_SIZE if size is None else size, communication or "freeform"


def _agreed(key: str, option: str, asked: Any, named: Any) -> Any:
    if asked not in (None, named):
        raise ConfigError(f"{option} contradicts --topology {key}", value=asked)
    return named


def _dataset(name: str) -> Any:
    from lcbgrid.config.problem_spec import DatasetSpec

    if name == "lcb":
        return DatasetSpec(name="lcb", source="hub", split="test")
    if name == "embedded":
        return DatasetSpec(name="embedded", source="embedded", split="test")
    raise ConfigError("no such data set", where="--dataset", value=name, remedy="lcb or embedded")


def _summary(last: Mapping[str, Any], out: Path, *, in_grid: bool) -> dict[str, Any]:
    """Return what is told of a job: the gain, the decision, the spending."""
    optimization = last.get("optimization", last)
    selection = last.get("selection", last)
    budget = optimization.get("budget") or {}
    return {
        "out": out.as_posix(),
        "job_id": last.get("job_id"),
        "in_grid": in_grid,
        "status": last.get("status"),
        "stop_reason": optimization.get("stop_reason"),
        "charged": budget.get("charged"),
        "selected_candidate": selection.get("selected_candidate"),
        "fallback_reason": selection.get("fallback_reason"),
        "validation_delta": selection.get("validation_delta"),
        "delta_pp": last.get("delta_pp"),
    }
