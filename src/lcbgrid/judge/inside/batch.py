"""Many calls in one process, each on a freshly executed source.

Only for programs whose text shows that nothing of one call can reach the next (`purity.py`), and
only to *accept*: whatever is not right here is run again in a process of its own.
"""

from __future__ import annotations

import json
import os
import random
import sys
from types import CodeType, ModuleType
from typing import Any, NoReturn

from . import child, jobs, parts, plain


def run(job: jobs.Job, prepared: dict[str, Any]) -> NoReturn:
    """Run call after call and send each result; end at the first that fails."""
    inputs = os.dup(job.fds["data"])
    code = child.load_code(job.fds)
    recursion_limit = sys.getrecursionlimit()
    child.start()
    try:
        for part in parts.read_parts(inputs):
            random.seed(0)
            sys.setrecursionlimit(recursion_limit)
            result = _call(job.function, code, part, prepared)
            child.send(b'{"kind":"result","value":' + result + b"}")
    except BaseException:
        os._exit(0)  # a process of its own will tell why
    os._exit(0)


def _call(name: str, code: CodeType, part: bytes, prepared: dict[str, Any]) -> bytes:
    arguments = [json.loads(line) for line in part.decode("utf-8", "surrogatepass").split("\n")]
    module = ModuleType("solution")
    module.__dict__.update(prepared)
    module.__dict__["__name__"] = "solution"
    sys.modules["solution"] = module
    exec(code, module.__dict__)  # noqa: S102 - what this process is for
    function = child.find(name, module.__dict__, prepared)
    return plain.dumps(function(*arguments))
