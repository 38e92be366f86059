"""Run programs of the embedded set in a subprocess and compare their outputs.

This is a small self-contained runner for building and testing the set. It is not a sandbox:
it runs only the reference and wrong programs that are part of this folder.
"""

import json
import subprocess
import sys
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path

CHILD = Path(__file__).with_name("embedded_child.py")


@dataclass(frozen=True)
class Outcome:
    """Result of a program on one input.

    Attributes:
        output: What the program printed, or its return value as JSON; None after an error.
        error: The exception as text, or None.
        seconds: Processor time of this input.
    """

    output: str | None
    error: str | None
    seconds: float


def run_program(
    source: str, func_name: str | None, inputs: list[str], time_limit: float = 60.0
) -> list[Outcome]:
    """Run one program on several inputs in one fresh interpreter.

    Args:
        source: The program text.
        func_name: Method of ``class Solution`` to call, or None for a stdin program.
        inputs: One text per test.
        time_limit: Wall-clock limit in seconds for all inputs together.

    Returns:
        One outcome per input, in the same order.

    Raises:
        RuntimeError: The interpreter died, for example because of a syntax error.
        subprocess.TimeoutExpired: The time limit was reached.
    """
    request = json.dumps({"source": source, "func_name": func_name, "inputs": inputs})
    done = subprocess.run(
        [sys.executable, "-I", str(CHILD)],
        input=request,
        capture_output=True,
        encoding="utf-8",
        timeout=time_limit,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"program could not be run:\n{done.stderr[-2000:]}")
    return [Outcome(**result) for result in json.loads(done.stdout)]


def _same_line(actual: str, expected: str) -> bool:
    """Compare two stripped lines as text, else token by token as exact decimals."""
    if actual == expected:
        return True
    left, right = actual.split(), expected.split()
    if len(left) != len(right):
        return False
    try:
        return [Decimal(token) for token in left] == [Decimal(token) for token in right]
    except InvalidOperation:
        return False


def same_output(actual: str | None, expected: str, func_name: str | None) -> bool:
    """Tell whether an output is accepted.

    Functional results are compared as JSON values. Printed texts are stripped, split into
    lines, and compared line by line.
    """
    if actual is None:
        return False
    if func_name:
        return bool(json.loads(actual) == json.loads(expected))
    left = [line.strip() for line in actual.strip().split("\n")]
    right = [line.strip() for line in expected.strip().split("\n")]
    return len(left) == len(right) and all(map(_same_line, left, right))
