"""The contract of a sandbox; every tier keeps it."""

from __future__ import annotations

import dataclasses
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from lcbgrid.config.judge_spec import JudgeSpec, Tier
from lcbgrid.core.errors import SandboxError
from lcbgrid.judge import tiers
from lcbgrid.judge.interpreter import find_interpreter
from lcbgrid.judge.judge import Judge
from lcbgrid.problems.schema import TestCase, TestSuite

ONE = ("1\n", "1\n")
LOOK = "import os, sys\n"


def test_a_program_reads_and_writes_real_descriptors(ask_any) -> None:
    code = LOOK + "os.write(1, os.read(0, 10)); print(open(0).read(), end='')"
    assert ask_any(code, ("0123456789abc", "0123456789abc")).passed


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("print(os.environ.get('OPENAI_API_KEY'), len(os.environ) < 9)", "None True"),
        ("print(os.listdir('.'))", "[]"),
        ("print(os.getuid() != 0 and os.geteuid() != 0)", "True"),
        ("print(sys.argv, __name__, sys.path[0] == os.getcwd())", "['main.py'] __main__ True"),
        ("print(sys.stdout.encoding, sys.stdin.encoding)", "utf-8 utf-8"),
        ("print(sys.getrecursionlimit(), sys.get_int_max_str_digits())", "50000 50000"),
        ("print(sorted(map(int, os.listdir('/proc/self/fd')))[:3])", "[0, 1, 2]"),
        ("print(pow(2, 3), Counter('aa')['a'], deque([1]), inf)", "8 2 deque([1]) inf"),
        ("print(datetime.date(2020, 1, 1), bisect.bisect([1], 1))", "2020-01-01 1"),
        ("import fractions, sqlite3.dbapi2, concurrent.futures as c; print(c.__name__)",
         "concurrent.futures"),
        ("import encodings.latin_1, json.tool, numpy; print(numpy.arange(3).sum())", "3"),
        ("print(random.random() == random.Random(0).random())", "True"),
        ("print({'b', 'a', 'c'} == set('abc'), hash('a') == hash('a'))", "True True"),
    ],
)  # fmt: skip
def test_what_a_program_finds(ask_any, code: str, expected: str, monkeypatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-of-the-user")
    if "sqlite3" in code:
        pytest.importorskip("sqlite3")
    verdict = ask_any(LOOK + code, ("", expected))
    assert verdict.passed, verdict


@pytest.mark.parametrize(
    ("code", "status", "detail"),
    [
        ("print(2)", "wrong_answer", "line 1 differs"),
        ("print(1); print(1)", "wrong_answer", "2 lines instead of 1"),
        ("1/0", "runtime_error", "ZeroDivisionError: division by zero (line 1)"),
        ("\nraise KeyError('k')", "runtime_error", "KeyError: 'k' (line 2)"),
        ("print(1); raise SystemExit(3)", "runtime_error", "exit code 3"),
        ("raise SystemExit('bye')", "runtime_error", "exit code 1"),
        ("import os; os.abort()", "runtime_error", "SIGABRT"),
        ("import os; os.kill(os.getpid(), 9)", "runtime_error", "SIGKILL"),
        ("raise object()", "runtime_error",
         "TypeError: exceptions must derive from BaseException (line 1)"),
        ("raise ValueError(object())", "runtime_error",
         "ValueError: <object object at 0x…> (line 1)"),
        ("while True: pass", "time_limit", "more than 1 s"),
        ("import time; time.sleep(60)", "time_limit", "more than 1 s"),
        ("bytearray(2 << 30)", "memory_limit", "MemoryError (1024 MiB)"),
        ("x = [bytearray(1 << 20) for _ in range(2000)]", "memory_limit",
         "MemoryError (1024 MiB)"),
        ("", "wrong_answer", "line 1 differs"),
        ("# only a remark", "wrong_answer", "line 1 differs"),
    ],
)  # fmt: skip
def test_outcomes_and_reasons(ask_any, code: str, status: str, detail: str) -> None:
    # Taking a GiB from a busy machine costs CPU time of its own; only a late program has to be.
    verdict = ask_any(code, ONE, time_s=1.0 if status == "time_limit" else 60.0)
    assert (verdict.status, verdict.outcomes[0].detail) == (status, detail)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("def f(:", "SyntaxError: invalid syntax (line 1)"),
        ("print(1)\n  print(2)", "IndentationError: unexpected indent (line 2)"),
        (
            "x = '\0'",  # a ValueError up to Python 3.11.3
            f"{'SyntaxError' if sys.version_info >= (3, 11, 4) else 'ValueError'}: "
            "source code string cannot contain null bytes",
        ),
        ("return 1", "SyntaxError: 'return' outside function (line 1)"),
        ("x = '\ud800'", "SyntaxError: (unicode error) 'utf-8' codec can't decode byte 0xed"),
        ("(" * 5000 + ")" * 5000, "SyntaxError: too many nested parentheses (line 1)"),
        ("-" * 300_000 + "1", ""),
    ],
)
def test_what_does_not_compile(ask_any, code: str, message: str) -> None:
    verdict = ask_any(code, ONE, ONE)
    assert verdict.status == "compile_error"
    assert verdict.message.startswith(message)
    assert (verdict.outcomes, verdict.n_total, verdict.pass_rate) == ((), 2, 0.0)


def test_no_program_is_not_an_empty_program(ask_any) -> None:
    verdict = ask_any(None, ONE)
    assert (verdict.status, verdict.pass_rate) == ("no_code", 0.0)


def test_every_test_starts_afresh(ask_any) -> None:
    code = """
import os, tempfile
seen = os.listdir('.') + os.listdir(tempfile.gettempdir())
open('left', 'w').write('x')
os.makedirs('a/b/c'); os.symlink('/', 'a/root'); os.chmod('a/b', 0)
print(seen)
"""
    assert ask_any(code, ("", "[]"), ("", "[]"), ("", "[]")).passed


@pytest.mark.parametrize(
    "code",
    [
        "import threading, time\ndef f():\n    time.sleep(0.2)\n    print(1)\n"
        "threading.Thread(target=f).start()",
        "import atexit\natexit.register(print, 1)",
        "out = open(1, 'w'); out.write('1')",
        "import sys\nclass Out:\n    def __init__(self): self.parts = []\n"
        "    def write(self, text): self.parts.append(text)\n"
        "    def flush(self): sys.__stdout__.write(''.join(self.parts))\n"
        "sys.stdout = Out()\nprint(1)",
        "class A:\n    def __del__(self): print(1)\na = A()",
        "import sys\nprint(1)\nsys.exit()",
        "from concurrent.futures import ThreadPoolExecutor\n"
        "ThreadPoolExecutor(1).submit(print, 1)",
        "import multiprocessing\n"
        "if __name__ == '__main__':\n"
        "    with multiprocessing.Pool(2) as pool: print(pool.map(abs, [-1])[0])",
        "import asyncio\nasync def f(): print(1)\nasyncio.run(f())",
        "import sys\nprint(1)\nsys.stdout.close()",
    ],
)
def test_a_program_ends_as_in_plain_python(ask_any, code: str) -> None:
    verdict = ask_any(code, ("", "1"), time_s=3.0)
    assert verdict.passed, verdict


def test_functions_are_called_on_fresh_objects(ask_any) -> None:
    code = "class Solution:\n    n = []\n    def f(self, a, b): self.n.append(a); return self.n, b"
    verdict = ask_any(code, ("1\n[2]", "[[1], [2]]"), ("3\n{}", "[[3], {}]"), fn_name="f")
    assert verdict.passed, verdict


@pytest.mark.parametrize(
    ("code", "status", "detail"),
    [
        ("def count(n): return n", "passed", None),
        ("class Solution:\n    pass\ndef count(n): return n", "passed", None),
        ("if __name__ == '__main__': raise SystemExit(1)\ndef count(n): return n", "passed", None),
        ("x = 1", "runtime_error",
         "LookupError: neither Solution.count nor count is defined"),
        ("", "runtime_error", "LookupError: neither Solution.count nor count is defined"),
        ("def count(n): return n + 1", "wrong_answer", "the result differs"),
        ("def count(): return 1", "runtime_error",
         "TypeError: count() takes 0 positional arguments but 1 was given"),
        ("def count(n): return (yield)", "wrong_answer", "the result differs"),
        ("import sys; sys.exit(0)", "runtime_error", "SystemExit: 0 (line 1)"),
        ("import os; os._exit(0)", "runtime_error", "ended without a result"),
        ("def count(n): return bytearray(8 << 30)", "memory_limit", "MemoryError (1024 MiB)"),
        ("while 1: pass", "time_limit", "more than 1 s while loading"),
        ("def count(n):\n    while 1: pass", "time_limit", "more than 1 s"),
    ],
)  # fmt: skip
def test_functional_outcomes(ask_any, code: str, status: str, detail: str | None) -> None:
    verdict = ask_any(code, ("1", "1"), fn_name="count", time_s=1.0)
    assert (verdict.status, verdict.outcomes[0].detail) == (status, detail)


def test_loading_has_a_time_of_its_own(ask_any) -> None:
    code = "import time\ntime.sleep(0.7)\ndef f(n):\n    time.sleep(0.7)\n    return n"
    assert ask_any(code, ("1", "1"), fn_name="f", time_s=1.0).passed


def test_the_same_program_gives_the_same_record(ask_any) -> None:
    code = "import os, random\nprint(random.random(), {'x', 'y', 'z'})\nraise KeyError(object())"
    records = [ask_any(code, ONE, ONE).to_record() for _ in range(3)]
    assert records[0] == records[1] == records[2]


def test_verdicts_name_tier_rules_and_limits(any_judge: Judge, ask_any) -> None:
    verdict = ask_any("print(1)", ONE, time_s=2.0, memory_mb=300)
    assert (verdict.tier, verdict.rules) == (any_judge.spec.sandbox, "real")
    assert verdict.limits["time_s"] == 2.0
    assert verdict.limits["memory_mb"] == 300


def test_a_bounded_crowd_of_processes(ask_any) -> None:
    code = """
import os, time
started = 0
try:
    for _ in range(500):
        if os.fork() == 0:
            time.sleep(30)
            os._exit(0)
        started += 1
except OSError:
    pass
print(started < 200)
"""
    assert ask_any(code, ("", "True"), time_s=3.0).passed
    assert ask_any("print(1)", ONE).passed


@pytest.mark.parametrize(
    ("call", "error"),
    [
        ("os.execv('/bin/true', ['true'])", "PermissionError"),
        ("__import__('subprocess').run(['/bin/true'])", "PermissionError"),
        ("__import__('socket').socket()", "PermissionError"),
        ("os.setuid(0)", "PermissionError"),
        ("open('/etc/shadow')", "OSError"),
        ("open('/root/x', 'w')", "OSError"),
        ("open('/usr/lib/x', 'w')", "OSError"),
        ("os.mkdir('/x')", "OSError"),
        ("os.open('/proc/%d/mem' % os.getppid(), os.O_RDWR)", "OSError"),
        ("os.listdir('/proc/%d/fd' % os.getppid())", "OSError"),
        ("open('/proc/%d/environ' % os.getppid()).read()", "OSError"),
        ("__import__('resource').prlimit(os.getppid(), 7, (1, 1))", "PermissionError"),
    ],
)
def test_what_a_program_may_not_do(ask_any, call: str, error: str) -> None:
    code = f"import os\ntry:\n    {call}\nexcept {error}:\n    print('refused')"
    verdict = ask_any(code, ("", "refused"))
    assert verdict.passed, verdict


@pytest.fixture
def executable_below_tmp() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="lcbgrid-python-", dir="/tmp"))
    folder.chmod(0o755)
    executable = folder / "python"
    shutil.copy(find_interpreter().executable, executable)
    try:
        if subprocess.run([executable, "-c", ""], capture_output=True).returncode != 0:
            pytest.skip("this interpreter does not start from another place")
        yield executable
    finally:
        shutil.rmtree(folder)


@pytest.mark.parametrize("tier", ["bwrap", "userns"])
def test_python_may_lie_below_tmp(
    tier: Tier, executable_below_tmp: Path, monkeypatch: pytest.MonkeyPatch, request
) -> None:
    request.getfixturevalue(f"{tier}_judge")  # skips where this tier does not work
    moved = dataclasses.replace(find_interpreter(), executable=executable_below_tmp)
    monkeypatch.setattr(tiers, "find_interpreter", lambda: moved)
    code = (
        "import tempfile, os\n"
        "with tempfile.TemporaryFile() as file: file.write(b'x')\n"
        "print(os.path.realpath('/proc/self/exe').startswith('/tmp/'), os.access('/tmp', os.W_OK))"
    )
    with Judge(JudgeSpec(sandbox=tier), workers=1) as judge:
        ran = judge.execute(code)
    assert (ran.stdout, ran.stderr) == ("True False\n", "")


@pytest.mark.parametrize("tier", ["bwrap", "userns", "rlimits"])
def test_a_sandbox_that_cannot_start_leaves_nothing(
    tier: Tier, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    absent = dataclasses.replace(find_interpreter(), executable=Path("/absent/python"))
    monkeypatch.setattr(tiers, "find_interpreter", lambda: absent)
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(SandboxError, match=f"{tier}|cannot be started"):
        tiers.launch(tier, numpy=False)
    assert list(tmp_path.iterdir()) == []
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_process_that_cannot_be_set_up_is_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiers, "MAX_PROCESSES", 1)  # the official rules need one more
    suite = TestSuite("q", None, (TestCase("", "1", "stdin"),), n_public=0)
    with Judge(JudgeSpec(), workers=1) as judge:
        assert judge.judge("print(1)", suite).passed
        assert judge.judge("print(1)", suite, rules="official").status == "infra_error"


def test_output_does_not_wait_for_its_reader(ask_any) -> None:
    code = (
        "import os\nos.set_blocking(1, False)\n"
        "print(os.write(1, b'1' * 1_000_000) == 1_000_000, file=open('x', 'w'), flush=True)\n"
        "os.set_blocking(1, True)\nos.write(1, b' ' + open('x').read().encode())"
    )
    assert ask_any(code, ("", "1" * 1_000_000 + " True")).passed


def test_a_tool_run_shows_both_streams(any_judge: Judge) -> None:
    ran = any_judge.execute("import sys\nprint(input()); print('e', file=sys.stderr)\n1/0", "in\n")
    assert ran.stdout == "in\n"
    assert ran.stderr.startswith('e\nTraceback (most recent call last):\n  File "main.py"')
    assert ran.stderr.endswith("ZeroDivisionError: division by zero\n")
    assert (ran.exit_code, ran.timed_out) == (1, False)


def test_a_tool_run_is_cut_to_its_budget(any_judge: Judge) -> None:
    ran = any_judge.execute("print('é' * 1000)", output_chars=10)
    assert (ran.stdout, ran.stdout_truncated, ran.exit_code) == ("é" * 10, True, 0)
    ran = any_judge.execute("while True: print('x')", output_chars=10, time_s=0.5)
    assert (ran.timed_out, ran.exit_code, len(ran.stdout)) == (True, None, 10)


def test_a_tool_run_that_does_not_compile_says_why(any_judge: Judge) -> None:
    ran = any_judge.execute("def f(:")
    assert (ran.exit_code, ran.stderr) == (1, "SyntaxError: invalid syntax (line 1)\n")


def test_a_tool_run_killed_by_a_signal(any_judge: Judge) -> None:
    assert any_judge.execute("import os; os.kill(os.getpid(), 11)").exit_code == -11
