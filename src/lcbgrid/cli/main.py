"""Entry point: subcommands, logging, and the one place where errors become exit statuses."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, NoReturn, TextIO

import typer

from lcbgrid import __version__
from lcbgrid.cli import check, config, lcb, model, optimize, show, stages
from lcbgrid.core.errors import (
    EXIT_BUG,
    EXIT_INTERRUPTED,
    EXIT_USER,
    LcbGridError,
    from_os_error,
)
from lcbgrid.core.secrets import MaskingFormatter, mask

app = typer.Typer(
    name="lcbgrid",
    help="Which agent team, with which prompt optimizer, on which model, solves more programs?",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit status: 0 done; 1 a check found a difference; 2 a mistake in what was asked; "
    "3 the world failed (network, disk, sandbox, model); 70 a bug; 130 interrupted.",
)
stages.add_to(app)
check.add_to(app)
lcb.add_to(app)
config.add_to(app)
model.add_to(app)
show.add_to(app)
optimize.add_to(app)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _root(
    log_file: Annotated[
        Path | None, typer.Option(help="Also write the log to this file.", dir_okay=False)
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Only warnings on stderr.")] = False,
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    del version  # its callback has done all
    set_up_logging(log_file, quiet=quiet)


class _Stderr(logging.StreamHandler[TextIO]):
    """Writes to what standard error is when a line comes, not to what it once was."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write one line."""
        self.stream = sys.stderr
        super().emit(record)


def set_up_logging(
    log_file: Path | None, *, quiet: bool = False, level: str | int = logging.INFO
) -> None:
    """Send progress to stderr, and to a file if one is given; secrets are masked in both."""
    handlers: list[logging.Handler] = [_Stderr()]
    handlers[0].setLevel(logging.WARNING if quiet else level)
    if log_file is not None:
        log_file.parent.mkdir(parents=True, exist_ok=True)
        handlers.append(logging.FileHandler(log_file, mode="a", encoding="utf-8"))
    for handler in handlers:
        handler.setFormatter(MaskingFormatter("%(message)s"))
    logger = logging.getLogger("lcbgrid")
    logger.setLevel(level)
    logger.handlers[:] = handlers
    logger.propagate = False


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return the exit status."""
    return guarded(lambda: app(arguments, standalone_mode=False))


def guarded(work: Callable[[], object]) -> int:
    """Do some work and return the exit status; what it raises is explained on stderr."""
    try:
        code = work()
    except typer.Exit as stop:
        return stop.exit_code
    except (typer.Abort, KeyboardInterrupt, asyncio.CancelledError):
        _say("interrupted; finished work is kept, run the same command again")
        return EXIT_INTERRUPTED
    except Exception as error:
        return _explain(error)
    return code if isinstance(code, int) else 0


def _explain(error: BaseException) -> int:
    known = _first_known(error)
    if known is not None:
        _say(f"error: {known}")
        return known.exit_status
    usage = getattr(error, "format_message", None)  # a usage error of the command line parser
    if usage is not None and hasattr(error, "exit_code"):
        context = getattr(error, "ctx", None)
        where = f" (see '{context.command_path} --help')" if context else ""
        _say(f"error: {usage()}{where}")
        return EXIT_USER
    _say(mask("".join(traceback.format_exception(error))))
    _say("this is a bug in lcbgrid; please report it with the lines above")
    return EXIT_BUG


def _first_known(error: BaseException) -> LcbGridError | None:
    """Find our own error or a disk error, also inside the groups that task groups raise."""
    if isinstance(error, LcbGridError):
        return error
    if isinstance(error, OSError):
        return from_os_error(error)
    if isinstance(error, BaseExceptionGroup):
        found = [_first_known(inner) for inner in error.exceptions]
        if all(found):
            return found[0]
    return None


def _say(text: str) -> None:
    logger = logging.getLogger("lcbgrid")
    if logger.handlers:
        logger.error("%s", text)
    else:  # a mistake in the command line itself, before the log was set up
        sys.stderr.write(mask(text) + "\n")


def run() -> None:
    """Console script."""
    run_script(main)


def run_script(work: Callable[[], int]) -> NoReturn:
    """Do some work and exit; the usual request to end is treated like an interrupt."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(work())


if __name__ == "__main__":
    run()
