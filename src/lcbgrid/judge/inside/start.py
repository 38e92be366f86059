"""First step inside the sandbox: get a big stack, then become the server."""

from __future__ import annotations

import json
import os
import resource
import sys


def main() -> None:
    """Start up from the JSON in the last argument; does not return."""
    config = json.loads(sys.argv[1])
    _raise_stack_limit(config["stack_bytes"])
    from . import server  # after the stack limit: nothing is imported twice for nothing

    server.serve(config)


def _raise_stack_limit(wanted_bytes: int) -> None:
    """Start the interpreter again under a bigger stack limit: the kernel reads it at exec."""
    soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
    wanted = wanted_bytes if hard == resource.RLIM_INFINITY else min(wanted_bytes, hard)
    if soft != wanted:
        resource.setrlimit(resource.RLIMIT_STACK, (wanted, hard))
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606 - ourselves
