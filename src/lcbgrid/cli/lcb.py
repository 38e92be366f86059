"""Commands for LiveCodeBench's result files: ``judge from-lcb``, ``export lcb``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lcbgrid.cli.check import judge
from lcbgrid.cli.common import RESULTS, CellOption, ConfigOption, ResultsOption, load

if TYPE_CHECKING:
    from lcbgrid.config.judge_spec import RuleSet
    from lcbgrid.judge.lcb_files.rejudge import Report

export = typer.Typer(help="Write results in the formats of other tools.", no_args_is_help=True)

_HIDDEN_HELP = "Let the metadata hold inputs and expected outputs of hidden tests."
ProblemsOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--problems", help="Files of rows (give it again for more), or one prepared folder."
    ),
]
OutOption = Annotated[Path | None, typer.Option("--out", help="Write our grades there.")]
RulesOption = Annotated[
    str, typer.Option("--rules", help="Rule sets, by comma: real, official; the first one counts.")
]
SandboxOption = Annotated[
    str | None,
    typer.Option("--sandbox", "--tier", help="Isolation: bwrap, userns, or rlimits (weak)."),
]
TimeOption = Annotated[
    float | None, typer.Option("--time-s", min=0.01, help="Time limit of one test, s.")
]
JobsOption = Annotated[
    int, typer.Option("--jobs", min=0, help="Programs at a time; 0: one a core.")
]
CheckersOption = Annotated[
    bool, typer.Option("--checkers/--no-checkers", help="Let checkers look at wrong answers.")
]
HiddenOption = Annotated[bool, typer.Option("--with-hidden-tests", help=_HIDDEN_HELP)]


@judge.command("from-lcb")
def judge_from_lcb(
    file: Annotated[Path, typer.Argument(help="*_eval_all.json, generations, or custom input.")],
    problems: ProblemsOption = None,
    out: OutOption = None,
    rules: RulesOption = "real",
    sandbox: SandboxOption = None,
    time_s: TimeOption = None,
    jobs: JobsOption = 0,
    checkers: CheckersOption = True,
    with_hidden_tests: HiddenOption = False,
) -> None:
    """Judge a result file of LiveCodeBench again. Exit 1 if a grade is another one.

    With several rule sets, the first one decides the exit status, and the last lines say where the
    second differs from it.
    """
    from lcbgrid.config.base import validate
    from lcbgrid.config.judge_spec import JudgeSpec
    from lcbgrid.core.errors import UserError
    from lcbgrid.judge.errata import load_errata
    from lcbgrid.judge.lcb_files.benchmark import open_benchmark
    from lcbgrid.judge.lcb_files.by_rules import report_differences
    from lcbgrid.judge.lcb_files.read import read_results
    from lcbgrid.judge.lcb_files.rejudge import rejudge, summary, write_ours

    if not problems:
        raise UserError("no problems given", remedy="name their rows with --problems FILE")
    chosen = {"sandbox": sandbox, "time_s": time_s}
    given = {key: value for key, value in chosen.items() if value is not None}
    spec = validate(
        JudgeSpec,
        {"rules": [name.strip() for name in rules.split(",")], "stop_at_first_failure": True}
        | given,
        where="command line",
    )
    several = len(spec.rule_sets) > 1
    errata = load_errata(with_checkers=checkers)
    benchmark = open_benchmark(problems)
    found = read_results(file, benchmark)
    reports: dict[RuleSet, Report] = {}
    for name in spec.rule_sets:
        if several:
            typer.echo(f"rules {name}")
        report = reports[name] = rejudge(
            found,
            benchmark,
            spec.by(name),
            errata,
            jobs=jobs or None,
            with_hidden_tests=with_hidden_tests,
            say=typer.echo,
        )
        for line in summary(found, report, errata):
            typer.echo(line)
        if out is not None:
            for line in write_ours(report, out / name if several else out, file):
                typer.echo(line, err=True)
    if several:
        report_differences(found, reports, benchmark, typer.echo)
    raise typer.Exit(reports[spec.rules].exit_status)


@judge.callback(invoke_without_command=True)
def _judge_group(
    context: typer.Context,
    from_lcb: Annotated[
        Path | None, typer.Option("--from-lcb", help="The same as the command from-lcb FILE.")
    ] = None,
    problems: ProblemsOption = None,
    out: OutOption = None,
    rules: RulesOption = "real",
    sandbox: SandboxOption = None,
    time_s: TimeOption = None,
    jobs: JobsOption = 0,
    checkers: CheckersOption = True,
    with_hidden_tests: HiddenOption = False,
) -> None:
    """Judge programs."""
    sources = map(context.get_parameter_source, context.params)
    given = any(source is not None and source.name == "COMMANDLINE" for source in sources)
    if given and (from_lcb is None or context.invoked_subcommand is not None):
        raise typer.BadParameter("options before a command need --from-lcb FILE, and no command")
    if from_lcb is None:
        return
    judge_from_lcb(
        from_lcb, problems, out, rules, sandbox, time_s, jobs, checkers, with_hidden_tests
    )


@export.command("lcb")
def export_lcb(
    cell: CellOption,
    out: Annotated[Path, typer.Option("--out", help="Folder; files go to OUT/MODEL/.")],
    config: ConfigOption = None,
    results: ResultsOption = RESULTS,
    model: Annotated[
        str | None, typer.Option("--model-name", help="Folder name; default: the cell's path.")
    ] = None,
    with_hidden_tests: HiddenOption = False,
) -> None:
    """Write a judged cell as result files that LiveCodeBench's own scripts read."""
    from lcbgrid.config.grid import find
    from lcbgrid.judge.lcb_files.cells import export_cell
    from lcbgrid.problems.store import PreparedProblems

    effective, layout = load(config, results)
    found = find(effective.cells, cell)
    done = export_cell(
        layout.run(found),
        PreparedProblems(layout.problems(found.dataset)),
        out,
        model=model,
        with_hidden_tests=with_hidden_tests,
    )
    typer.echo(f"{done.names.eval_all}: {done.n_problems} problems, {done.n_samples} samples")
    for question_id, status in done.left_out.items():
        typer.echo(f"left out: {question_id} ({status}: the official form has no word for it)")


def add_to(app: typer.Typer) -> None:
    """Add the export group; the commands for judging are in the judge group already."""
    app.add_typer(export, name="export")
