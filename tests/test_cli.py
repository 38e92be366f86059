"""The command line as a whole: help, heavy imports, exit statuses."""

from __future__ import annotations

import logging
import subprocess
import sys

import pytest

HEAVY = (
    "pandas",
    "openai",
    "langgraph",
    "langchain_core",
    "datasets",
    "matplotlib",
    "numpy",
    "scipy",
    "seaborn",
    "snakemake",
    "pyarrow",
    "xllamacpp",
    "httpx2",
    "yaml",
    "pydantic",
)


def test_help_imports_nothing_heavy() -> None:
    """Keeps `lcbgrid --help` fast; benchmarks/perf/startup.py shows how fast."""
    code = (
        "import sys\n"
        "from lcbgrid.cli.main import main\n"
        "status = main(['--help'])\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])\n"
        "sys.exit(status)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    "arguments",
    [[], ["run"], ["judge"], ["judge", "cases"], ["problems", "check"], ["config"], ["model"]],
)
def test_every_command_explains_itself(arguments: list[str]) -> None:
    from lcbgrid.cli.main import main

    assert main([*arguments, "--help"]) == 0


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    from lcbgrid import __version__
    from lcbgrid.cli.main import main

    assert main(["--version"]) == 0
    assert capsys.readouterr().out.strip() == __version__


def test_a_bug_shows_its_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from lcbgrid.cli import main as cli

    def broken(*_: object, **__: object) -> None:
        message = "oops"
        raise AssertionError(message)

    monkeypatch.setattr(cli, "app", broken)
    monkeypatch.setattr(logging.getLogger("lcbgrid"), "handlers", [])
    assert cli.main([]) == 70
    assert "AssertionError: oops" in capsys.readouterr().err


def test_interrupts_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    from lcbgrid.cli import main as cli

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "app", interrupted)
    assert cli.main([]) == 130
