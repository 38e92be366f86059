"""Commands that check data and judge programs: ``problems``, ``judge``, ``doctor``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from lcbgrid.cli.common import RESULTS, CellOption, ConfigOption, ResultsOption, load

if TYPE_CHECKING:
    from lcbgrid.config.judge_spec import JudgeSpec, RuleSet

problems = typer.Typer(help="Problems and hidden tests.", no_args_is_help=True)
judge = typer.Typer(help="Judge programs.", no_args_is_help=True)

Files = Annotated[list[Path], typer.Argument(help="Files: .jsonl, .json or .parquet.")]
SandboxOption = Annotated[
    str | None,
    typer.Option("--sandbox", "--tier", help="Isolation: bwrap, userns, or rlimits (weak)."),
]
RulesOption = Annotated[str, typer.Option(help="Rule sets, by comma: real, official.")]
JobsOption = Annotated[int, typer.Option(min=0, help="Programs at a time; 0: one a core.")]


@problems.command("check")
def problems_check(files: Files) -> None:
    """Load rows of the hub's schema; list those that cannot be used. Exit 1 if any is broken."""
    from lcbgrid.problems.check import check_files

    raise typer.Exit(check_files(files, typer.echo))


@problems.command("verify-ids")
def problems_verify_ids(
    source: Annotated[
        Path | None,
        typer.Argument(help="List of ids in release order (.csv, .json); none: the hub's data."),
    ] = None,
    release: Annotated[str, typer.Option(help="Release of the hub's data.")] = "release_v6",
) -> None:
    """Verify lcb_eval_ids.json and lcb_splits.json against the data. Exit 1 on a difference."""
    from lcbgrid.config.problem_spec import DatasetSpec
    from lcbgrid.problems.verify_ids import verify_ids

    hub = DatasetSpec(name="lcb", source="hub", release=release)
    raise typer.Exit(verify_ids(source or hub, typer.echo))


@problems.command("prepare")
def problems_prepare(
    config: ConfigOption = None,
    results: ResultsOption = RESULTS,
) -> None:
    """Load, check and filter the problems of the configuration's data set."""
    from lcbgrid.problems.prepare import prepare

    effective, layout = load(config, results)
    dataset = effective.config.dataset
    manifest = prepare(dataset, layout.problems(dataset.name))
    typer.echo(manifest.summary())


def _spec(rules: str, sandbox: str | None) -> JudgeSpec:
    from lcbgrid.config.base import validate
    from lcbgrid.config.judge_spec import JudgeSpec

    data = {"rules": rules} | ({"sandbox": sandbox} if sandbox else {})
    return validate(JudgeSpec, data, where="command line")


def _specs(rules: str, sandbox: str | None) -> tuple[JudgeSpec, list[RuleSet]]:
    """Return a configuration, and the names of a comma list of rule sets."""
    specs = [_spec(name.strip(), sandbox) for name in rules.split(",")]
    return specs[0], [spec.rules for spec in specs]


@judge.command("run")
def judge_run(
    cell: CellOption,
    config: ConfigOption = None,
    results: ResultsOption = RESULTS,
    workers: Annotated[int, typer.Option(min=1, help="Programs at a time.")] = 1,
) -> None:
    """Judge the predictions of one cell; resumes where it stopped."""
    from lcbgrid.config.grid import find
    from lcbgrid.stages.judge import judge_cell

    effective, layout = load(config, results)
    count = judge_cell(effective, find(effective.cells, cell), layout, workers=workers)
    typer.echo(f"{cell}: {count} verdicts")


@judge.command("cases")
def judge_cases(
    file: Annotated[Path, typer.Argument(help="JSON lines: id, mode, code, tests, expect.")],
    rules: RulesOption = "real",
    sandbox: SandboxOption = None,
    repeat: Annotated[int, typer.Option(min=1, help="How often to judge each case.")] = 1,
    jobs: JobsOption = 0,
) -> None:
    """Judge cases with known verdicts; last line ``matched M of N``. Exit 1 on a mismatch."""
    from lcbgrid.judge.cases import run_cases

    spec, names = _specs(rules, sandbox)
    report = run_cases(file, spec, rules=names, repeat=repeat, jobs=jobs or None, say=typer.echo)
    raise typer.Exit(report.exit_status)


@judge.command("diff")
def judge_diff(
    cases: Annotated[Path | None, typer.Option(help="JSON lines as for `judge cases`.")] = None,
    problems: Annotated[
        list[Path] | None, typer.Option(help="Files with the problems' rows.")
    ] = None,
    submissions: Annotated[
        Path | None, typer.Option(help="JSON lines: question_id, code, graded.")
    ] = None,
    cell: Annotated[
        str | None, typer.Option(help="Path of a judged cell, as below results/runs.")
    ] = None,
    config: ConfigOption = None,
    results: ResultsOption = RESULTS,
    rules: RulesOption = "real,official",
    sandbox: SandboxOption = None,
    jobs: JobsOption = 0,
) -> None:
    """List and explain samples whose verdict differs between two rule sets. Exit 1 if any.

    Of a cell, the verdicts that it stores are compared and nothing is run.
    """
    from lcbgrid.core.errors import UserError
    from lcbgrid.judge.diff import diff_rules
    from lcbgrid.judge.samples import case_samples, submission_samples
    from lcbgrid.problems.lookup import suites_of

    if cell is not None:
        if cases or problems or submissions:
            raise UserError("--cell stands alone", remedy="leave the files out")
        _diff_cell(cell, config, results)
    spec, names = _specs(rules, sandbox)
    if len(names) != 2:
        raise UserError("two rule sets are needed", where="--rules", value=rules)
    if cases:
        samples = case_samples(cases)
    elif problems and submissions:
        samples = submission_samples(suites_of(problems), submissions)
    else:
        raise UserError(
            "nothing to judge", remedy="give --cell, --cases, or --problems and --submissions"
        )
    report = diff_rules(samples, spec, rules=names, jobs=jobs or None, say=typer.echo)
    raise typer.Exit(report.exit_status)


def _diff_cell(cell: str, config: Path | None, results: Path) -> NoReturn:
    from lcbgrid.config.grid import find
    from lcbgrid.judge.cell_diff import diff_cell
    from lcbgrid.problems.store import PreparedProblems

    effective, layout = load(config, results)
    found = find(effective.cells, cell)
    store = PreparedProblems(layout.problems(found.dataset))
    raise typer.Exit(diff_cell(layout.run(found), store, say=typer.echo).exit_status)


@judge.command("submissions")
def judge_submissions(
    problems: Annotated[list[Path], typer.Option(help="Files with the problems' rows.")],
    submissions: Annotated[Path, typer.Option(help="JSON lines: question_id, code, graded.")],
    rules: RulesOption = "real",
    sandbox: SandboxOption = None,
    jobs: JobsOption = 0,
) -> None:
    """Judge graded submissions again; the last line is ``agreed M of N, unknown U``."""
    from lcbgrid.judge.submissions import run_submissions
    from lcbgrid.problems.lookup import suites_of

    spec = _spec(rules, sandbox).model_copy(update={"stop_at_first_failure": True})

    report = run_submissions(
        suites_of(problems), submissions, spec, jobs=jobs or None, say=typer.echo
    )
    raise typer.Exit(report.exit_status)


def doctor() -> None:
    """Say what works on this machine, and how to mend what does not. Exit 3 if judging cannot."""
    from lcbgrid.core.errors import EXIT_INFRASTRUCTURE, EXIT_OK
    from lcbgrid.judge.doctor import check_judge

    rows = check_judge()
    for row in rows:
        remedy = f"; {row.remedy}" if row.remedy and not row.ok else ""
        typer.echo(f"{'ok  ' if row.ok else 'FAIL'} {row.check}: {row.detail}{remedy}")
    raise typer.Exit(EXIT_OK if all(row.ok for row in rows) else EXIT_INFRASTRUCTURE)


def add_to(app: typer.Typer) -> None:
    """Add the groups."""
    app.add_typer(problems, name="problems")
    app.add_typer(judge, name="judge")
    app.command()(doctor)
