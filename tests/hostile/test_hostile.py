"""Programs that mean harm: none passes, none disturbs the next one, nothing is left behind."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from lcbgrid.config.judge_spec import JudgeSpec
from lcbgrid.judge.inside import kernel
from lcbgrid.judge.judge import Judge
from lcbgrid.judge.limits import Limits
from lcbgrid.problems.schema import TestCase, TestSuite

WRONG, ERROR, LATE, MEMORY = "wrong_answer", "runtime_error", "time_limit", "memory_limit"
ANY_FAILURE = frozenset({WRONG, ERROR, LATE, MEMORY, "compile_error"})


@dataclass(frozen=True)
class Attack:
    """A program, what it gets and should give, and which statuses are right."""

    name: str
    code: str
    allowed: frozenset[str] = ANY_FAILURE
    expected: str = "secret-answer-7391"
    fn_name: str | None = None
    given: str = "1"
    time_s: float = 0.5
    memory_mb: int = 256
    tests: int = 1
    tiers: tuple[str, ...] = field(default=("bwrap", "userns", "rlimits"))
    signals: bool = False


def only(*statuses: str) -> frozenset[str]:
    return frozenset(statuses)


PROCESSES = [
    Attack("fork-bomb", "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass"),
    Attack("fork-and-exit-chain",
           "import os\nwhile True:\n    if os.fork(): os._exit(0)", only(WRONG, LATE, ERROR)),
    Attack("thread-bomb",
           "import threading, time\nwhile True:\n"
           "    threading.Thread(target=time.sleep, args=(60,)).start()",
           only(ERROR, LATE, MEMORY)),
    Attack("thread-that-never-ends",
           "import threading\ndef f():\n    while True: pass\nthreading.Thread(target=f).start()",
           only(LATE)),
    Attack("new-session-daemon",
           "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n"
           "        time.sleep(60)\n    os._exit(0)", only(WRONG)),
    Attack("sleeping-child-holds-every-pipe",
           "import os, time\nif os.fork() == 0:\n    time.sleep(60)", only(WRONG)),
    Attack("child-goes-on-after-parent",
           "import os\nif os.fork() == 0:\n    while True: pass", only(WRONG, LATE)),
    Attack("kill-everybody",
           "import os, signal\nfor n in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL):\n"
           "    os.kill(-1, n)", signals=True),
    Attack("signal-to-the-server", "import os\nos.kill(os.getppid(), 0)", only(ERROR),
           tiers=("rlimits",), signals=True),
    Attack("kill-by-number",
           "import os\nfor pid in [1, os.getppid(), *range(2, 3000)]:\n"
           "    for n in (2, 15, 9, 19):\n"
           "        try: pid != os.getpid() and os.kill(pid, n)\n"
           "        except OSError: pass", only(WRONG), tiers=("bwrap", "userns")),
    Attack("stop-myself", "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)", only(LATE)),
    Attack("stop-parent", "import os, signal\nos.kill(os.getppid(), signal.SIGSTOP)",
           tiers=("bwrap", "userns")),
    Attack("alarm-swallower",
           "import signal\nfor n in range(1, 65):\n    try: signal.signal(n, signal.SIG_IGN)\n"
           "    except (OSError, ValueError): pass\nwhile True: pass", only(LATE)),
    Attack("blocks-all-signals",
           "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\n"
           "while True: pass", only(LATE)),
    Attack("catches-everything",
           "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
           only(LATE)),
    Attack("raises-own-limits",
           "import resource\nfor n in range(16):\n"
           "    try: resource.setrlimit(n, (resource.RLIM_INFINITY,) * 2)\n"
           "    except (OSError, ValueError): pass\nx = bytearray(1 << 30)", only(MEMORY)),
    Attack("server-limits",
           "import resource\nresource.prlimit(1, resource.RLIMIT_CPU, (0, 0))", only(ERROR)),
    Attack("exec-shell", "import os\nos.execv('/bin/sh', ['sh', '-c', 'echo x'])", only(ERROR)),
    Attack("system", "import os\nprint(os.system('echo secret'))", only(WRONG)),
    Attack("spawned-interpreter",
           "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'print(1)'])",
           only(ERROR)),
    Attack("idle-priority",
           "import os\nos.nice(19)\ntry: os.setpriority(os.PRIO_PROCESS, 1, 19)\n"
           "except OSError: pass\nwhile True: pass", only(LATE)),
    Attack("one-core-taken", "import os\nos.sched_setaffinity(0, {0})\nwhile True: pass",
           only(LATE)),
]  # fmt: skip

FLOODS = [
    Attack("memory-at-once", "x = b'x' * (1 << 40)", only(MEMORY)),
    Attack("memory-in-bits", "x = []\nwhile True: x.append(bytearray(1 << 16))",
           only(MEMORY, LATE), time_s=4.0),
    Attack("memory-by-children",
           "import os, time\nfor _ in range(6):\n    if os.fork() == 0:\n"
           "        x = bytearray(b'x') * (200 << 20)\n        time.sleep(30)\n"
           "        os._exit(0)\n"
           "time.sleep(30)", only(MEMORY), time_s=6.0, tiers=("bwrap", "userns")),
    Attack("huge-int", "x = 1\nwhile True: x = x << (1 << 20) | 1", only(MEMORY, LATE)),
    Attack("huge-power", "print(9 ** 9 ** 9)", only(LATE, MEMORY)),
    Attack("constant-folding", "x = " + "'a' * 4000 * " * 8 + "4000"),
    Attack("output", "while True: print('y' * 100000)", only(WRONG, LATE)),
    Attack("output-in-small-writes", "import os\nwhile True: os.write(1, b'y')",
           only(WRONG, LATE)),
    Attack("error-output", "import sys\nwhile True: sys.stderr.write('y' * 100000)", only(LATE)),
    Attack("output-by-child-after-the-end",
           "import os\nif os.fork() == 0:\n    while True: os.write(1, b'y' * 65536)",
           only(WRONG)),
    Attack("one-big-file", "f = open('x', 'wb')\nwhile True: f.write(b'y' * (1 << 20))",
           only(ERROR)),
    Attack("many-files", "for i in range(10 ** 9): open(str(i), 'w')", only(LATE, ERROR)),
    Attack("deep-folders",
           "import os\nfor _ in range(3000):\n    os.mkdir('d'); os.chdir('d')",
           only(WRONG, LATE)),
    Attack("locked-folders",
           "import os\nos.makedirs('a/b')\nopen('a/b/c', 'w')\n"
           "os.chmod('a/b', 0)\nos.chmod('a', 0)",
           only(WRONG)),
    Attack("shared-memory",
           "f = open('/dev/shm/x', 'wb')\nwhile True: f.write(b'y' * (1 << 20))",
           only(ERROR), tiers=("bwrap", "userns")),
    Attack("descriptors", "import os\nx = []\nwhile True: x.append(os.pipe())", only(ERROR)),
    Attack("deep-recursion", "def f(n): return f(n + 1)\nf(0)", only(ERROR)),
    Attack("deep-recursion-in-c",
           "import sys\nsys.setrecursionlimit(10 ** 9)\nx = []\nfor _ in range(10 ** 6): x = [x]\n"
           "print(repr(x)[:3])", only(ERROR, MEMORY, LATE)),
    Attack("deep-source", "x = " + "[" * 100 + "0" + "]" * 100 + "\n" + "if 1:\n " * 1),
    Attack("long-expression", "x = " + "+".join(["1"] * 200_000)),
    Attack("null-bytes", "print('a')\0print('b')", only("compile_error")),
    Attack("null-bytes-in-the-answer", "import os\nos.write(1, b'\\0' * 1000)", only(WRONG)),
    Attack("no-utf-8", "import os\nos.write(1, b'\\xff\\xfe\\x80')", only(WRONG)),
    Attack("surrogates", "import sys\nsys.stdout.write('\\ud800')", only(ERROR)),
    Attack("billion-lines", "import os\nwhile True: os.write(1, b'\\n' * 65536)",
           only(WRONG, LATE)),
    Attack("long-exception", "raise ValueError('x' * (100 << 20))", only(ERROR, MEMORY)),
    Attack("exception-that-fails",
           "class E(Exception):\n    def __str__(self): raise self\nraise E", only(ERROR)),
    Attack("exception-that-never-prints",
           "class E(Exception):\n    def __str__(self):\n        while True: pass\nraise E",
           only(LATE)),
]  # fmt: skip

SPIES = [
    Attack("descriptor-writer",
           "import os\nfor fd in range(3, 256):\n    try: os.write(fd, b'secret-answer-7391\\n')\n"
           "    except OSError: pass", only(WRONG)),
    Attack("descriptor-reader",
           "import os\nfor fd in range(3, 256):\n"
           "    try:\n        os.set_blocking(fd, False)\n        print(os.read(fd, 9999))\n"
           "    except OSError: pass", only(WRONG)),
    Attack("descriptor-closer", "import os\nos.closerange(3, 256)\nos._exit(0)", only(WRONG)),
    Attack("frames",
           "import sys\nf = sys._getframe()\nwhile f:\n    print(f.f_locals)\n    f = f.f_back",
           only(WRONG)),
    Attack("heap",
           "import gc, re\nfor o in gc.get_objects():\n"
           "    for found in re.findall(r'secret-answer-\\d+', str(o)):\n"
           "        print(found); raise SystemExit"),
    Attack("proc-reader",
           "from glob import glob\nnames = glob('/proc/*/environ') + glob('/proc/*/cmdline')\n"
           "for name in names:\n"
           "    try: print(open(name, 'rb').read())\n    except OSError: pass", only(WRONG)),
    Attack("proc-memory",
           "import os\nopen('/proc/%d/mem' % os.getppid(), 'r+b')", only(ERROR)),
    Attack("proc-descriptors", "import os\nprint(os.listdir('/proc/%d/fd' % os.getppid()))",
           only(ERROR)),
    Attack("ptrace",
           "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\n"
           "assert libc.ptrace(16, os.getppid(), 0, 0) == 0, ctypes.get_errno()", only(ERROR)),
    Attack("user-namespace",
           "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
           "assert libc.unshare(0x10000000) == 0", only(ERROR)),
    Attack("mount",
           "import ctypes\nlibc = ctypes.CDLL(None)\n"
           "assert libc.mount(b'none', b'/tmp', b'tmpfs', 0, None) == 0", only(ERROR)),
    Attack("become-root", "import os\nos.setuid(0)", only(ERROR)),
    Attack("network", "import socket\nsocket.create_connection(('127.0.0.1', 22), 1)",
           only(ERROR)),
    Attack("netlink", "import socket\nsocket.socket(socket.AF_NETLINK, socket.SOCK_RAW)",
           only(ERROR)),
    Attack("abstract-socket-server",
           "import socket\ns = socket.socket(socket.AF_UNIX)\ns.bind('\\0x')\ns.listen()\n"
           "s.accept()", only(LATE)),
    Attack("symlink-out",
           "import os\nos.symlink('/etc/shadow', 'x')\nprint(open('x').read())", only(ERROR)),
    Attack("symlink-for-the-wiper",
           "import os\nos.symlink('/', 'root')\nos.symlink('..', 'up')\nos.symlink('x', 'x')",
           only(WRONG)),
    Attack("keeps-an-attribute",
           "import os\nos.setxattr('.', 'user.x', b'1')", only(ERROR)),
    Attack("left-for-the-next-test",
           "import os\nprint('secret-answer-7391' if os.path.exists('x') else '')\nopen('x', 'w')",
           only(WRONG), tests=2),
    Attack("left-in-shared-memory",
           "import os\np = '/dev/shm/x'\n"
           "print('secret-answer-7391' if os.path.exists(p) else '')\nopen(p, 'w')",
           only(WRONG), tests=2, tiers=("bwrap", "userns")),
    Attack("seeks-in-its-input",
           "import os\nos.lseek(0, 0, 0)\nos.write(0, b'secret-answer-7391')", only(ERROR)),
    Attack("rewrites-its-input",
           "open('/proc/self/fd/0', 'w').write('secret-answer-7391')", only(ERROR)),
    Attack("patched-builtins",
           "import builtins, os, sys, marshal, json\nbuiltins.isinstance = lambda *a: True\n"
           "builtins.len = lambda x: 0\nos._exit = lambda code: None\njson.dumps = None",
           ANY_FAILURE),
    Attack("exit-handler-loops",
           "import atexit\n@atexit.register\ndef f():\n    while True: pass", only(LATE)),
    Attack("exit-handler-of-a-thread",
           "import threading, os\nthreading._register_atexit(os._exit, 0)", only(WRONG)),
    Attack("destructor-loops",
           "class A:\n    def __del__(self):\n        while True: pass\na = A()", only(LATE)),
    Attack("hook-loops",
           "import sys\ndef hook(*a):\n    while True: pass\nsys.excepthook = hook\n1 / 0",
           only(LATE)),
    Attack("fork-at-exit",
           "import atexit, os, time\n@atexit.register\ndef f():\n    if os.fork() == 0:\n"
           "        time.sleep(60)", only(WRONG)),
    Attack("right-then-crash", "import os\nprint('secret-answer-7391', flush=True)\nos.abort()",
           only(ERROR)),
    Attack("right-then-exit-code", "print('secret-answer-7391')\nraise SystemExit(1)",
           only(ERROR)),
    Attack("hard-link-out",
           "import os\nos.link('/judge/inside/child.py', 'x')\nopen('x', 'a')", only(ERROR)),
    Attack("pidfd-of-the-server",
           "import os, signal\nfd = os.pidfd_open(1)\nsignal.pidfd_send_signal(fd, 9)",
           tiers=("bwrap", "userns")),
    Attack("own-memory-file-run",
           "import os\nfd = os.memfd_create('x')\nos.write(fd, b'#!/bin/sh\\necho x')\n"
           "os.execve(fd, ['x'], {})", only(ERROR)),
    Attack("right-then-flush-fails",
           "import os\nprint('secret-answer-7391')\nos.close(1)", only(ERROR)),
]  # fmt: skip

LIARS = [
    Attack("equals-everything",
           "class A:\n    def __eq__(s, o): return True\ndef f(n): return A()",
           only(WRONG), "5", "f"),
    Attack("list-that-equals",
           "class L(list):\n    def __eq__(s, o): return True\ndef f(n): return L([0])",
           only(WRONG), "[1, 2]", "f"),
    Attack("int-that-changes",
           "class I(int):\n    def __index__(s): return 5\n    __int__ = __index__\n"
           "def f(n): return I(4)", only(WRONG), "5", "f"),
    Attack("text-that-changes",
           "class S(str):\n    def __str__(s): return 'b'\n    def encode(s, *a): return b'b'\n"
           "def f(n): return S('a')", only(WRONG), '"b"', "f"),
    Attack("endless-list",
           "class L(list):\n    def __iter__(s):\n        while True: yield 1\n"
           "def f(n): return L([0])", only(WRONG), "[1, 2]", "f"),
    Attack("endless-generator",
           "def f(n):\n    while True: yield 1", only(WRONG), "[1, 2]", "f"),
    Attack("circle", "def f(n):\n    x = []\n    x.append(x)\n    return x",
           only(WRONG), "[]", "f"),
    Attack("deep-result",
           "def f(n):\n    x = 0\n    for _ in range(10 ** 5): x = [x]\n    return x",
           only(WRONG), "[]", "f"),
    Attack("wide-result", "def f(n): return [[0] * 1000 for _ in range(100000)]",
           only(WRONG, LATE, MEMORY), "[]", "f", time_s=3.0),
    Attack("forged-frame-and-leave",
           "import os\ndef f(n):\n    p = b'{\"kind\":\"result\",\"value\":4}'\n"
           "    os.write(198, b'%d\\n' % len(p) + p)\n    os._exit(0)", only(WRONG), "5", "f"),
    Attack("rubbish-frame",
           "import os\ndef f(n):\n    os.write(198, b'\\xff' * 1000)\n    return 5",
           only(ERROR), "5", "f"),
    Attack("frame-flood",
           "import os\ndef f(n):\n    while True: os.write(198, b'9' * 65536)",
           only(WRONG, LATE), "5", "f", time_s=3.0),
    Attack("stage-flood",
           "import os\nos.set_blocking(199, False)\ndef f(n):\n    while True:\n"
           "        try: os.write(199, b'L' * 65536)\n        except BlockingIOError: pass",
           only(LATE), "5", "f"),
    Attack("stage-blocks", "import os\ndef f(n):\n    while True: os.write(199, b'SL' * 65536)",
           only(LATE, ERROR), "5", "f"),
    Attack("two-answers",
           "import os\ndef f(n):\n    os.fork()\n    return os.getpid() * 0 + 4",
           only(WRONG), "5", "f"),
    Attack("swallows-exit", "import sys\ndef f(n):\n    try: sys.exit()\n    finally: return 4",
           only(WRONG), "5", "f"),
    Attack("type-that-lies",
           "class M(type):\n    def __instancecheck__(c, o): return True\n"
           "class A(metaclass=M):\n    __class__ = int\ndef f(n): return A()",
           only(WRONG, ERROR), "5", "f"),
    Attack("state-for-the-next-call",
           "import math\ndef f(n):\n    math.k = getattr(math, 'k', 0) + 1\n    return math.k",
           only(WRONG), "2", "f", tests=2),
    Attack("class-of-the-library-for-the-next-call",
           "from collections import Counter\ndef f(n):\n"
           "    Counter.k = Counter.k + 1 if hasattr(Counter, 'k') else 1\n    return Counter.k",
           only(WRONG), "2", "f", tests=2),
    Attack("result-that-unpickles",
           "class A:\n    def __reduce__(s): return (print, ('x',))\ndef f(n): return A()",
           only(WRONG), "5", "f"),
    Attack("dict-that-lies",
           "class D(dict):\n    def items(s): return [('a', 1)]\ndef f(n): return D()",
           only(WRONG), '{"a": 1}', "f"),
    Attack("nan-everywhere", "def f(n): return float('nan')", only(WRONG), "NaN", "f"),
]  # fmt: skip

ATTACKS = [*PROCESSES, *FLOODS, *SPIES, *LIARS]
CHEATS = [attack for attack in SPIES + LIARS if "right-then" not in attack.name]
HONEST = TestSuite("honest", None, (TestCase("20\n", "21\n", "stdin"),), n_public=0)


_TIERS = ["bwrap", pytest.param("userns", marks=pytest.mark.slow), "rlimits"]


@pytest.fixture(scope="module", params=_TIERS)
def judge(request: pytest.FixtureRequest) -> Iterator[Judge]:
    with Judge(JudgeSpec(sandbox=request.param), workers=1) as judge:
        yield judge


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_attack_fails_and_harms_nobody(judge: Judge, attack: Attack) -> None:
    if judge.spec.sandbox not in attack.tiers:
        pytest.skip("a wall that only namespaces build")
    open_to_signals = judge.spec.sandbox == "rlimits" and os.geteuid() != 0
    if attack.signals and open_to_signals and not kernel.can_fence_signals():
        # Never without a wall: it would end everything that this user runs, us included.
        pytest.skip("an ordinary user has no wall against signals here")
    mode = "functional" if attack.fn_name else "stdin"
    test = TestCase(attack.given, attack.expected, mode)
    suite = TestSuite(attack.name, attack.fn_name, (test,) * attack.tests, n_public=0)
    limits = Limits(attack.time_s, attack.memory_mb, output_bytes=4 << 20)
    verdict = judge.judge(attack.code, suite, limits_override=limits)
    assert verdict.status in attack.allowed, verdict
    honest = judge.judge("print(int(input()) + 1)", HONEST)
    assert honest.passed, honest


@pytest.mark.slow
@pytest.mark.parametrize("attack", CHEATS, ids=lambda attack: attack.name)
def test_cheats_fail_by_the_official_rules_too(judge: Judge, attack: Attack) -> None:
    if judge.spec.sandbox != "bwrap" or "next" in attack.name or attack.name == "stage-flood":
        pytest.skip("shared state is official; one tier is enough")
    mode = "functional" if attack.fn_name else "stdin"
    test = TestCase(attack.given, attack.expected, mode)
    suite = TestSuite(attack.name, attack.fn_name, (test,), n_public=0)
    verdict = judge.judge(
        attack.code, suite, limits_override=Limits(0.5, 256, 4 << 20), rules="official"
    )
    assert verdict.status in ANY_FAILURE, verdict
    assert judge.judge("print(int(input()) + 1)", HONEST, rules="official").passed


def _descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def _sandbox_processes(folder: Path) -> list[int]:
    """Pids of children of this process, and of all whose command names the folder."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                status = Path(f"/proc/{name}/status").read_text()
                command = Path(f"/proc/{name}/cmdline").read_bytes()
            except OSError:
                continue
            fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
            ours = int(fields["PPid"]) == os.getpid() or bytes(folder) in command
            if ours and fields["State"][0] != "Z":
                found.append(int(name))
    return found


@pytest.mark.parametrize("tier", ["bwrap", "userns", "rlimits"])
def test_nothing_is_left(tier: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if tier == "rlimits" and os.geteuid() != 0 and not kernel.can_fence_signals():
        pytest.skip("a fork bomb of one's own user cannot be ended as a whole here")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    tmp_path.chmod(0o755)
    before = _descriptors(), _sandbox_processes(tmp_path)
    names = ("fork-bomb", "new-session-daemon", "output", "many-files", "left-for-the-next-test")
    with Judge(JudgeSpec.model_validate({"sandbox": tier}), workers=2) as judge:
        for attack in (attack for attack in ATTACKS if attack.name in names):
            suite = TestSuite("q", None, (TestCase("", "x", "stdin"),), n_public=0)
            judge.judge(attack.code, suite, limits_override=Limits(0.5, 64, 1 << 20))
    deadline = time.monotonic() + 5
    while (_descriptors(), _sandbox_processes(tmp_path)) != before and time.monotonic() < deadline:
        time.sleep(0.05)
    assert (_descriptors(), _sandbox_processes(tmp_path)) == before
    assert list(tmp_path.iterdir()) == []
