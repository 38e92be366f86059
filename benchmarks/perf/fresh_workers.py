"""What the judge is measured against: a fresh interpreter for each test.

A worker is one long-lived process, in a sandbox of the judge's own making or in none, that starts
``python -I -c`` for every test; so the cost of the sandbox itself is paid once.
"""

from __future__ import annotations

import json
import subprocess

from lcbgrid.judge import bubblewrap
from lcbgrid.judge.interpreter import find_interpreter
from lcbgrid.problems.schema import TestSuite

_CALLER = """
import json, sys
arguments = [json.loads(line) for line in sys.stdin.read().split("\\n")]
print(json.dumps(Solution().{name}(*arguments)))
"""

_WORKER = """
import json, subprocess, sys
for line in sys.stdin:
    request = json.loads(line)
    answers = []
    for given, wanted in request["tests"]:
        ran = subprocess.run([sys.executable, "-I", "-c", request["code"]], input=given,
                             capture_output=True, text=True)
        answers.append(ran.returncode == 0 and ran.stdout.strip() == wanted)
    print(json.dumps(answers), flush=True)
"""


def fresh_program(program: str, fn_name: str | None) -> str:
    """Return what an interpreter has to run for one test."""
    return program + _CALLER.format(name=fn_name) if fn_name else program


class FreshWorker:
    """One worker; all tests of a submission are run, as the judge does."""

    def __init__(self, *, sandboxed: bool) -> None:
        interpreter = find_interpreter()
        prefix: list[str] = []
        if sandboxed:
            options = bubblewrap.bwrap_arguments(interpreter, as_root=False, info_fd=2)
            prefix = [str(bubblewrap.find_bwrap()), *options, "--"]
        self._process = subprocess.Popen(
            [*prefix, str(interpreter.executable), "-I", "-S", "-c", _WORKER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def run_all(self, work: list[tuple[str, TestSuite]]) -> int:
        """Run all submissions; return how many passed."""
        return sum(self._run(program, suite) for program, suite in work)

    def _run(self, program: str, suite: TestSuite) -> bool:
        tests = [(test.input, test.output) for test in suite.tests]
        request = {"code": fresh_program(program, suite.fn_name), "tests": tests}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return all(json.loads(self._process.stdout.readline()))

    def close(self) -> None:
        """End the worker."""
        self._process.communicate()
