"""The judge as its callers see it: lost sandboxes, submissions, the doctor, other users."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lcbgrid.config.judge_spec import JudgeSpec
from lcbgrid.core.errors import DataError, SandboxError
from lcbgrid.judge import pool
from lcbgrid.judge.doctor import check_judge
from lcbgrid.judge.judge import Judge
from lcbgrid.judge.sandbox import Sandbox
from lcbgrid.judge.submissions import run_submissions
from lcbgrid.problems.schema import TestCase, TestSuite

SUITE = TestSuite("q", None, tuple(TestCase(f"{i}\n", f"{i}\n", "stdin") for i in range(3)), 0)
ECHO = "print(input())"


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[Sandbox]:
    """Every sandbox that is started from now on."""
    sandboxes: list[Sandbox] = []
    launch = pool.launch

    def noting(*args, **named) -> Sandbox:
        sandboxes.append(launch(*args, **named))
        return sandboxes[-1]

    monkeypatch.setattr(pool, "launch", noting)
    return sandboxes


def test_a_lost_sandbox_is_replaced_once(started: list[Sandbox]) -> None:
    with Judge(JudgeSpec(), workers=1) as judge:
        judge.probe()
        started[0].kill()
        started[0].usable = True  # nobody has noticed yet
        verdict = judge.judge(ECHO, SUITE)
    assert (verdict.status, len(started)) == ("passed", 2)


def test_a_sandbox_lost_twice_is_no_score(monkeypatch: pytest.MonkeyPatch, started) -> None:
    def dying(sandbox: Sandbox, job) -> None:
        sandbox.kill()
        return run(sandbox, job)

    run = Sandbox.run
    monkeypatch.setattr(Sandbox, "run", dying)
    with Judge(JudgeSpec(), workers=1) as judge:
        verdict = judge.judge(ECHO, SUITE)
        assert (verdict.status, verdict.is_score, verdict.pass_rate) == (
            "infra_error",
            False,
            None,
        )
        assert "lost twice" in verdict.message
        with pytest.raises(SandboxError, match="lost twice"):
            judge.execute(ECHO)
    assert len(started) == 4


def test_an_interrupted_job_does_not_answer_the_next_one(monkeypatch) -> None:
    with Judge(JudgeSpec(), workers=1) as judge:
        judge.probe()

        def interrupted(*args) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(Sandbox, "_follow", interrupted)
            with pytest.raises(KeyboardInterrupt):
                judge.judge("print(1)", SUITE)
        assert judge.judge(ECHO, SUITE).passed


def test_the_judge_stops_at_the_first_failure_if_asked() -> None:
    code = "n = int(input()); print(n if n != 1 else 'no')"
    with Judge(JudgeSpec(stop_at_first_failure=True), workers=1) as judge:
        stopped = judge.judge(code, SUITE)
    with Judge(JudgeSpec(), workers=1) as judge:
        whole = judge.judge(code, SUITE)
    assert (len(stopped.outcomes), stopped.n_passed, stopped.pass_rate) == (2, 1, None)
    assert (len(whole.outcomes), whole.n_passed, whole.pass_rate) == (3, 2, 2 / 3)
    assert stopped.first_failing == whole.first_failing == 1


def test_the_functional_budget_comes_from_the_environment(monkeypatch) -> None:
    monkeypatch.setenv("LCB_FUNCTIONAL_MEMORY_BYTES", str(64 << 20))
    suite = TestSuite("q", "f", (TestCase("1", "1", "functional"),), 0)
    with Judge(JudgeSpec(), workers=1) as judge:
        verdict = judge.judge("def f(n):\n    bytearray(100 << 20)\n    return n", suite)
        assert (verdict.status, verdict.limits["memory_mb"]) == ("memory_limit", 64)
        assert judge.judge("bytearray(100 << 20)\n" + ECHO, SUITE).passed


def test_a_closed_judge_says_so() -> None:
    judge = Judge(JudgeSpec(), workers=1)
    judge.close()
    judge.close()
    with pytest.raises(RuntimeError, match="closed"):
        judge.judge(ECHO, SUITE)


def test_a_refused_tier_names_the_next_one(monkeypatch, tmp_path: Path) -> None:
    stub = tmp_path / "bwrap"
    stub.write_text("#!/bin/sh\necho setting up uid map: Permission denied >&2\nexit 1\n")
    stub.chmod(0o755)
    monkeypatch.setenv("LCBGRID_BWRAP", str(stub))
    with Judge(JudgeSpec(), workers=1) as judge, pytest.raises(SandboxError) as caught:
        judge.judge(ECHO, SUITE)
    assert "Permission denied" in str(caught.value)
    assert "--sandbox userns" in str(caught.value.remedy)
    with Judge(JudgeSpec(sandbox="userns"), workers=1) as judge:
        verdict = judge.judge(ECHO, SUITE)
    assert (verdict.status, verdict.tier) == ("passed", "userns")


def _submission(name: str, code: str, decidable: str, graded: bool, question: str = "q") -> str:
    record = {"id": name, "question_id": question, "code": code, "decidable": decidable}
    return json.dumps(record | {"graded": graded}) + "\n"


def test_submissions_are_compared_in_order(tmp_path: Path) -> None:
    path = tmp_path / "submissions.jsonl"
    path.write_text(
        _submission("s1", ECHO, "yes", True)
        + _submission("s2", ECHO, "yes", False)
        + _submission("s3", "", "must_fail", False)
        + _submission("s4", "1/0", "must_pass", True)
        + _submission("s5", "1/0", "unknown", False)
        + _submission("s6", ECHO, "yes", True, question="elsewhere")
    )
    said: list[str] = []
    report = run_submissions({"q": SUITE}, path, JudgeSpec(), jobs=2, say=said.append)
    assert said == [
        "s2 q: recorded failed, ours passed (all tests passed)",
        "s4 q: recorded passed, ours runtime_error "
        "(test 0: ZeroDivisionError: division by zero (line 1))",
        "agreed 2 of 4, unknown 2",
    ]
    assert report.exit_status == 1


def test_a_damaged_submission_is_named(tmp_path: Path) -> None:
    path = tmp_path / "submissions.jsonl"
    path.write_text(_submission("odd", ECHO, "perhaps", True))
    with pytest.raises(DataError, match="odd"):
        run_submissions({"q": SUITE}, path, JudgeSpec())


@pytest.mark.parametrize("tier", ["bwrap", "userns", "rlimits"])
def test_the_doctor_finds_the_walls(tier) -> None:
    rows = {row.check: row for row in check_judge(tier)}
    for wall in ("no network inside", "no other programs inside", "no privileges inside",
                 "nothing to write outside scratch", "numpy for programs"):  # fmt: skip
        assert rows[wall].ok, rows[wall]


_AS_A_USER = """
from lcbgrid.config.judge_spec import JudgeSpec
from lcbgrid.judge.judge import Judge
code = '''
import os, signal
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
    try: os.kill(1, number)
    except PermissionError: pass
try: open('/proc/1/mem', 'rb'); print('open')
except OSError: print('closed')
'''
import sys
with Judge(JudgeSpec(sandbox=sys.argv[1]), workers=1) as judge:
    for _ in range(2):
        ran = judge.execute(code)
        print(ran.stdout.strip(), ran.exit_code)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="the whole run is that of an ordinary user already")
@pytest.mark.parametrize("tier", ["bwrap", "userns"])
def test_an_ordinary_user_can_judge(tier: str, repository: Path) -> None:
    """Without privileges the sandbox is a user namespace; the server must be safe in it."""
    path = os.pathsep.join([str(repository / "src"), *filter(None, sys.path)])
    ran = None
    for python in (sys.executable, "/usr/bin/python3.11", "/usr/bin/python3"):
        try:
            ran = subprocess.run(
                [python, "-c", _AS_A_USER, tier],
                user=65534,
                group=65534,
                extra_groups=[],
                cwd="/",
                env={"PYTHONPATH": path, "PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"},
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
        except OSError:
            continue
        if ran.returncode == 0:
            break
    if ran is None or "No module named" in ran.stderr or "PermissionError" in ran.stderr:
        pytest.skip("no interpreter here that another user may start with these packages")
    assert ran.stdout == "closed 0\nclosed 0\n", ran.stderr
