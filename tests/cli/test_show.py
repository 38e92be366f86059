"""``lcbgrid show`` on hand-made and on simulated runs, in copied folders."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from lcbgrid.cli.main import main
from lcbgrid.config.effective import resolve
from lcbgrid.core.jsonl import read_jsonl
from lcbgrid.problems.prepare import prepare
from lcbgrid.stages.judge import judge_cell
from lcbgrid.stages.paths import Layout
from lcbgrid.stages.run import run_cell

sys.path.insert(0, str(Path(__file__).parents[1] / "analysis"))
from conversation_files import (
    CELL,
    ESCAPES,
    OTHER,
    call,
    copied,
    hostile_results,
    prediction,
    system,
    user,
    write_cell,
)

SINGLE = "embedded/code_generation/single/r1-freeform/identity/sim/seed0"
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u202e\u2066]")


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory, repository: Path) -> Path:
    """The results folder of a judged cell with tool calls, copied from where it was made."""
    folder = tmp_path_factory.mktemp("simulated")
    models = {"sim": {"provider": "simulated", "model_id": "sim"}}
    (folder / "models.yaml").write_text(json.dumps({"models": models}))
    effective = resolve(
        {
            "dataset": {"filters": {"limit": 2}},
            "grid": {"topologies": ["single"], "models": ["sim"]},
            "run": {"n_samples": 2},
        },
        folders=(folder, repository / "config"),
        where="test",
        environment={},
    )
    layout = Layout(folder / "results")
    prepare(effective.config.dataset, layout.problems("embedded"))
    (cell,) = effective.cells
    run_cell(effective, cell, layout)
    judge_cell(effective, cell, layout)
    return copied(layout.results, folder / "elsewhere" / "copy")


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    return hostile_results(tmp_path / "results")


def show(capsys: pytest.CaptureFixture[str], results: Path, *words: str, status: int = 0) -> str:
    """Run the command; returns what it printed, both streams."""
    assert main(["show", *words, "--results", str(results)]) == status
    out, err = capsys.readouterr()
    return out if status == 0 else err


def test_a_simulated_answer_is_shown_whole(
    simulated: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = simulated / "runs" / SINGLE
    found = next(r for r in read_jsonl(folder / "predictions.jsonl") if r["usage"]["n_tool_calls"])
    name = (found["question_id"], "--sample", str(found["sample_index"]))
    text = show(capsys, simulated, SINGLE, *name)
    for words in (
        "instructions to solver",
        "more lines; --full shows them",
        "-- the task to solver",
        "solver to python_exec: code",
        "python_exec to solver",
        "exit_code: 0",
        "-- solver says",
        f"{found['usage']['total_tokens']} tokens",
        "finish reason tool_calls",
        "rules real, sandbox",
        "(Two Piles of Beads, easy" if "bead" in name[0] else "(Sign in the Back Window, easy",
    ):
        assert words in text, words
    program = "\n".join(f"   {line}" for line in found["predicted_code"].split("\n"))
    assert f"== program\n{program}\n" in text
    assert "not measured" not in text.replace("judge not measured", "")
    full = show(capsys, simulated, SINGLE, *name, "--full")
    assert "--full shows" not in full
    assert len(full) > len(text)


def test_no_hidden_test_is_shown(simulated: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import gzip

    for path in simulated.glob("problems/*/tests/*.json.gz"):
        suite = json.loads(gzip.decompress(path.read_bytes()))
        hidden = [t for t in suite["tests"][suite["n_public"] :] if len(t["input"]) > 12]
        text = show(capsys, simulated, SINGLE, suite["question_id"], "--full")
        for test in hidden:
            assert test["input"].strip() not in text
            assert len(test["output"]) < 12 or test["output"].strip() not in text


def test_lists_of_cells_and_answers(simulated: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert show(capsys, simulated) == f"1 cells with answers\n{SINGLE}\n"
    text = show(capsys, simulated, "embedded/code_generation/sin")
    assert text.startswith(f"{SINGLE}: 4 answers\n")
    assert re.search(r"^emb001_bead_piles #1  +ok +\w+ +\d+/14 +\d+ tokens  Two", text, re.M)


def test_a_path_as_the_shell_completes_it(
    simulated: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = show(capsys, simulated, f"{simulated}/runs/{SINGLE}/")
    assert text.startswith(SINGLE)


def test_unknown_names_get_the_nearest(hostile: Path, capsys: pytest.CaptureFixture[str]) -> None:
    near = CELL.replace("single", "singel")
    assert f"did you mean '{CELL}'?" in show(capsys, hostile, near, status=2)
    assert "did you mean 'q1'?" in show(capsys, hostile, CELL, "q11", status=2)
    wrong = show(capsys, hostile, CELL, "q1", "--sample", "7", status=2)
    assert "no such sample of this question (got 7); there are 0" in wrong
    write_cell(hostile, lines=[], predictions=[prediction("q1")], path=OTHER)
    assert f"2 cells begin like this (got mine); say which: {OTHER}, {CELL}" in show(
        capsys, hostile, "mine", status=2
    )
    assert "there is no run to show" in show(capsys, hostile / "runs", status=2)


@pytest.mark.parametrize(
    "words",
    [
        ["x", "--sample", "1"],
        ["x", "y", "--html", "f", "--full"],
        ["x", "--html", "f", "--sample=1"],
    ],
)
def test_options_that_do_not_fit_are_refused(
    words: list[str], hostile: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    show(capsys, hostile, *words, status=2)


def test_a_cell_of_the_grid_that_was_not_run(
    hostile: Path, tmp_path: Path, repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    models = {"models": {"sim": {"provider": "simulated", "model_id": "sim"}}}
    (tmp_path / "models.yaml").write_text(json.dumps(models))
    grid = {"topologies": ["single"], "models": ["sim"]}
    config = {"grid": grid, "teams_file": str(repository / "config/teams.yaml")}
    (tmp_path / "c.yaml").write_text(json.dumps(config))
    text = show(capsys, hostile, SINGLE, "--config", str(tmp_path / "c.yaml"), status=2)
    assert "the cell is in the grid, but has not been run" in text


def test_damaged_and_missing_transcripts_are_said(
    hostile: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = hostile / "runs" / CELL / "transcript.jsonl"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], "{broken", *lines[1:]]) + "\n")
    text = show(capsys, hostile, CELL, "q1", status=2)
    assert "transcript.jsonl: line 2 is no transcript record" in text
    path.unlink()
    assert "there is no transcript" in show(capsys, hostile, CELL, "q1", status=2)


def test_escapes_of_a_model_do_nothing(hostile: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for question in ("q1", "q2"):
        text = show(capsys, hostile, CELL, question, "--full")
        assert not CONTROLS.search(text)
    text = show(capsys, hostile, CELL, "q1", "--full")
    assert "\\x1b[2J\\x1b]0;title\\x07\\x1b[31mred" in text
    assert "\\u202eevil\\u2066\\ud800\\u2028end" in text
    assert '"漢字 </script>' in text
    show(capsys, hostile, CELL)


def test_a_terminal_gets_colours_but_no_escape_of_the_model(hostile: Path) -> None:
    leader, follower = pty.openpty()
    command = [sys.executable, "-m", "lcbgrid.cli.main", "show", CELL, "q1"]
    with subprocess.Popen(
        [*command, "--results", hostile],
        stdout=follower,
        env={**os.environ, "TERM": "xterm-256color", "PYTHONIOENCODING": "utf-8"},
    ) as process:
        os.close(follower)
        with open(leader, "rb", buffering=0) as handle:
            data = b""
            while True:
                try:
                    block = handle.read(1 << 16)
                except OSError:  # how Linux says that the other end is closed
                    break
                if not block:
                    break
                data += block
    assert process.returncode == 0
    text = data.decode().replace("\r\n", "\n")
    assert "\x1b[" in text
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
    assert not CONTROLS.search(plain)
    assert "== program" in plain


def test_a_terminal_of_another_encoding_is_no_reason_to_fail(hostile: Path) -> None:
    command = [sys.executable, "-m", "lcbgrid.cli.main", "show", CELL, "q1"]
    done = subprocess.run(
        [*command, "--results", hostile],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=True,
    )
    assert b"\\u6f22\\u5b57" in done.stdout


def test_an_answer_without_calls_or_verdict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lost = prediction("q1", program=None, status="infra_error", agents=[], error="HTTP 500")
    write_cell(tmp_path, lines=[], predictions=[lost])
    text = show(capsys, tmp_path, CELL, "q1")
    assert "no model call of this answer is in the transcript" in text
    assert "verdict   not judged" in text
    assert "infra_error, program found as labelled, finish reason stop, HTTP 500" in text
    assert "not_judged" in show(capsys, tmp_path, CELL)


def test_instructions_of_copies_are_shown_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    start = [system(f"Be right.{ESCAPES}"), user("Add two numbers.")]
    lines = [call(name, 0, start, "x") for name in ("coder_0", "coder_1")]
    team = [{"agent": name, "status": "ok", "code": "1", "spent": {}} for name in ("coder_0",)]
    write_cell(tmp_path, lines=lines, predictions=[prediction("q1", agents=team * 2)])
    text = show(capsys, tmp_path, CELL, "q1")
    assert "instructions to coder_1: the same as to coder_0" in text
    assert text.count("Be right.") == 1
    assert "its program was chosen" in text


def test_html_is_written_from_a_copied_folder(
    simulated: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = show(capsys, simulated, SINGLE, "--html", str(tmp_path / "out"))
    assert text == f"{tmp_path}/out/index.html\n"
    page = (tmp_path / "out/index.html").read_text()
    assert page.count('<details class="answer"') == 4
    assert str(tmp_path) not in page


def test_the_command_is_explained_without_templates() -> None:
    code = (
        "import sys\nfrom lcbgrid.cli.main import main\nmain(['show', '--help'])\n"
        "print([m for m in ('jinja2', 'rich', 'pygments') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
