"""What the documents say is true: commands exist, files exist, tables are those of the code."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
DOCUMENTS = sorted(
    [REPOSITORY / "README.md", REPOSITORY / "CHANGELOG.md", *REPOSITORY.glob("docs/**/*.md")]
)
_BLOCK = re.compile(r"^```(?:sh|console|bash)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\((?!https?://|#|mailto:)([^)#\s]+)")
_FILE = re.compile(r"`((?:docs|config|benchmarks|src|tests|rules|profiles)/[\w./-]+\.\w+)`")


def _commands(path: Path) -> list[list[str]]:
    """Return the lcbgrid commands of a document's shell blocks."""
    found = []
    for block in _BLOCK.findall(path.read_text(encoding="utf-8")):
        for line in block.replace("\\\n", " ").splitlines():
            words = shlex.split(line.removeprefix("$ "), comments=True)
            if words and words[0] == "lcbgrid":
                found.append(words[1:])
    return found


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_every_lcbgrid_command_in_the_documents_is_one(path: Path) -> None:
    """Options and subcommands are checked against the command line itself."""
    import typer.main

    from lcbgrid.cli.main import app

    root = typer.main.get_command(app)
    for words in _commands(path):
        command, rest = root, list(words)
        while rest and hasattr(command, "commands") and rest[0] in command.commands:
            command = command.commands[rest.pop(0)]
        assert not hasattr(command, "commands") or "--help" in rest or "--version" in rest, words
        known = {name for parameter in command.params for name in parameter.opts}
        known |= {name for parameter in root.params for name in parameter.opts}
        for word in rest:
            if word.startswith("-"):
                assert word.split("=")[0] in known | {"--help"}, words


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_and_named_files_lead_somewhere(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for target in _LINK.findall(text):
        assert (path.parent / target).exists(), target
    for target in _FILE.findall(text):
        assert (REPOSITORY / target).exists(), target


def test_exit_statuses_in_the_documents_are_those_of_the_code() -> None:
    from lcbgrid.core import errors

    text = (REPOSITORY / "docs/design/architecture.md").read_text()
    said = {int(number) for number in re.findall(r"\| (\d+) \|$", text, re.MULTILINE)}
    assert said == {value for name, value in vars(errors).items() if name.startswith("EXIT_")}
