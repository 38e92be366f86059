"""Run one program on many inputs inside a fresh interpreter.

The parent process (``embedded_runner.py``) starts this file with ``python -I``, writes one
JSON request to its standard input and reads one JSON answer from its standard output. All
inputs of a problem share one process, which keeps a run over the whole set short.
"""

import io
import json
import sys
import time
import types
from typing import Any

# The names that a functional LiveCodeBench program may use without importing them. The order
# matters: for example, "builtins" restores the plain pow() after "math" and "operator".
PRELUDE_MODULES = (
    *("string", "re", "datetime", "collections", "heapq", "bisect", "copy", "math", "random"),
    *("statistics", "itertools", "functools", "operator", "io", "sys", "json", "builtins"),
    "typing",
)
PRELUDE = "\n".join(
    [f"from {name} import *" for name in PRELUDE_MODULES]
    + [f"import {name}" for name in PRELUDE_MODULES]
    + ["sys.setrecursionlimit(50000)"]
)


def run_stdin(code: types.CodeType, text: str) -> str:
    """Execute a script with ``text`` as its standard input and return what it printed."""
    sys.stdin = io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8")
    printed = io.BytesIO()
    sys.stdout = io.TextIOWrapper(printed, encoding="utf-8")
    try:
        exec(code, {"__name__": "__main__"})
    except SystemExit as stop:
        if stop.code not in (None, 0):
            raise
    sys.stdout.flush()
    return printed.getvalue().decode()


def run_functional(namespace: dict[str, Any], func_name: str, text: str) -> str:
    """Call ``Solution().func_name`` with one JSON argument per line of ``text``."""
    arguments = [json.loads(line) for line in text.split("\n")]
    sys.stdout = io.StringIO()
    result = getattr(namespace["Solution"](), func_name)(*arguments)
    return json.dumps(result)


def answer(request: dict[str, Any]) -> list[dict[str, Any]]:
    """Run the program of the request on every input and collect outputs or errors."""
    func_name = request["func_name"]
    namespace: dict[str, Any] = {"__name__": "solution"}
    code = compile(request["source"], "<program>", "exec")
    if func_name:
        exec(PRELUDE, namespace)
        exec(code, namespace)
    results: list[dict[str, Any]] = []
    for text in request["inputs"]:
        started = time.process_time()
        try:
            if func_name:
                output = run_functional(namespace, func_name, text)
            else:
                output = run_stdin(code, text)
            result = {"output": output, "error": None}
        except BaseException as error:
            result = {"output": None, "error": f"{type(error).__name__}: {error}"}
        results.append({**result, "seconds": time.process_time() - started})
    return results


def main() -> None:
    """Read the request, run it, and write the answer to the real standard output."""
    out = sys.stdout
    request = json.load(sys.stdin)
    results = answer(request)
    sys.stdout = out
    json.dump(results, out)


if __name__ == "__main__":
    main()
