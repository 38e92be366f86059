"""Which functional programs may run all calls in one process, and that verdicts do not change."""

from __future__ import annotations

import ast

import pytest

from lcbgrid.config.judge_spec import JudgeSpec
from lcbgrid.judge.course import Course
from lcbgrid.judge.inside.purity import keeps_nothing
from lcbgrid.judge.judge import Judge

PURE = {
    "plain": "class Solution:\n    def f(self, n): return n",
    "own state": "class Solution:\n    seen = []\n    def f(self, n):\n"
                 "        self.n = n\n        Solution.k = n\n        return n",
    "linked nodes": "class N: pass\ndef f(n):\n    a = N()\n    a.next = N()\n    return n",
    "library": "import heapq, math\nfrom collections import Counter\n"
               "def f(n): return math.gcd(n, 2) + Counter([n])[n]",
    "global": "k = 0\ndef f(n):\n    global k\n    k += 1\n    return k",
    "cache": "from functools import lru_cache\n@lru_cache(None)\ndef f(n): return n",
    "recursion": "import sys\nsys.setrecursionlimit(10 ** 6)\ndef f(n): return n",
    "prepared": "def f(n): return heapq.nlargest(1, [n])[0] + collections.Counter([n])[n]",
    "own name": "def f(string):\n    copy = string\n    return copy",
}  # fmt: skip
DOUBTFUL = {
    "os": "import os\ndef f(n): return n",
    "module attribute": "import math\nmath.k = 1\ndef f(n): return n",
    "prepared module": "def f(n):\n    math.k = n\n    return n",
    "module by another name": "import math\nm = math\ndef f(n): return n",
    "class of the library": "from collections import Counter\nCounter.k = 1\ndef f(n): return n",
    "setattr": "def f(n):\n    setattr(f, 'k', n)\n    return n",
    "getattr": "def f(n): return getattr(f, 'k', n)",
    "file": "def f(n): return len(open('x').read())",
    "decimal context": "from decimal import getcontext\ndef f(n): return n",
    "sys": "import sys\ndef f(n): return len(sys.modules)",
    "sys by another name": "import sys as s\ndef f(n): return n",
    "from sys": "from sys import modules\ndef f(n): return n",
    "dunder": "def f(n): return f.__globals__",
    "builtins": "def f(n):\n    __builtins__['k'] = n\n    return n",
    "exec": "def f(n):\n    exec('k = 1')\n    return n",
    "numpy": "import numpy\ndef f(n): return n",
    "modules of modules": "import random\ndef f(n): return random._os",
    "register": "import collections.abc\ndef f(n): collections.abc.Sequence.register(int)",
    "coroutine": "async def f(n): return n",
    "relative": "from . import x\ndef f(n): return n",
}  # fmt: skip


@pytest.mark.parametrize("name", PURE)
def test_programs_without_lasting_state_are_seen(name: str) -> None:
    assert keeps_nothing(ast.parse(PURE[name]))


@pytest.mark.parametrize("name", DOUBTFUL)
def test_every_doubt_is_a_no(name: str) -> None:
    assert not keeps_nothing(ast.parse(DOUBTFUL[name]))


PROGRAMS = {
    "state in the object": "class Solution:\n    def __init__(self): self.s = []\n"
                           "    def f(self, n):\n        self.s.append(n)\n"
                           "        return len(self.s)",
    "state in the class": "class Solution:\n    s = []\n    def f(self, n):\n"
                          "        self.s.append(n)\n        return len(self.s)",
    "mutable default": "def f(n, s=[]):\n    s.append(n)\n    return len(s)",
    "global": "k = 0\ndef f(n):\n    global k\n    k += 1\n    return k",
    "random": "import random\ndef f(n): return random.randrange(10 ** 6)",
    "recursion limit": "import sys\ndef g(n): return n and g(n - 1)\ndef f(n):\n"
                       "    sys.setrecursionlimit(60 + n)\n    return g(60)",
    "error in the middle": "def f(n): return 1 // (n - 3)",
    "late in the middle": "def f(n):\n    while n == 3: pass\n    return 1",
    "memory in the middle": "def f(n): return len(bytearray(n << 30)) and 1 if n == 3 else 1",
    "exit in the middle": "def f(n):\n    if n == 3: raise SystemExit\n    return 1",
    "own name of a library": "class Counter: pass\ndef f(n): return Counter().__class__ and 1",
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_batches_change_no_verdict(
    name: str, bwrap_judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lcbgrid.judge.limits import Limits
    from lcbgrid.problems.schema import TestCase, TestSuite

    tests = tuple(TestCase(str(n), "1", "functional") for n in range(6))
    suite = TestSuite("q", "f", tests, n_public=0)
    limits = Limits(1.0, 512)
    batched = bwrap_judge.judge(PROGRAMS[name], suite, limits_override=limits)
    real = Course._real
    monkeypatch.setattr(Course, "_real", lambda s, t, may_batch: real(s, t, may_batch=False))
    single = bwrap_judge.judge(PROGRAMS[name], suite, limits_override=limits)
    assert batched.to_record() == single.to_record()


def test_a_batch_saves_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    from lcbgrid.judge.sandbox import Sandbox
    from lcbgrid.problems.schema import TestCase, TestSuite

    kinds: list[str] = []
    run = Sandbox.run
    monkeypatch.setattr(
        Sandbox, "run", lambda box, job: (kinds.append(job.kind), run(box, job))[1]
    )
    tests = tuple(TestCase(str(n), str(n % 7), "functional") for n in range(20))
    with Judge(JudgeSpec(), workers=1) as judge:
        passed = judge.judge("def f(n): return n % 7", TestSuite("q", "f", tests, 0))
        assert (passed.n_passed, kinds) == (20, ["compile", "batch"])
        kinds.clear()
        failed = judge.judge("def f(n): return n", TestSuite("q", "f", tests, 0))
        assert failed.n_passed == 7
        assert kinds.count("batch") == 3
