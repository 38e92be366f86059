"""Verdicts do not depend on the tier, on who runs the judge, or on what else the machine does.

Run by root, each case is also judged by an ordinary user: in a process of its own, with copies of
the interpreter and of the source where that user cannot read them.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

import lcbgrid

_DEFAULT = Path(__file__).resolve().parents[2].parent / "shared" / "data"
_FILE = Path(os.environ.get("LCBGRID_SHARED", _DEFAULT)) / "judge_cases.jsonl"
_NOBODY = 65_534
_BUSY = (
    "import os\nparent = os.getppid()\nwhile os.getppid() == parent:\n    sum(range(100_000))\n"
)
# docs/design/judge.md explains each.
_NOT_REPRODUCED = {"sec-network", "sec-read-expected-frame", "sec-list-subclass"}
_NEEDED = "import ctypes, ssl, zoneinfo"
_LEFT_OUT = ("site-packages", "test", "idlelib", "ensurepip", "__pycache__", "*.a", "tkinter")

_RUN = """
import json, sys
from lcbgrid.config.judge_spec import JudgeSpec
from lcbgrid.core.errors import SandboxError
from lcbgrid.judge.cases import run_cases
from lcbgrid.judge.judge import Judge
path, tier, *rules = sys.argv[1:]
spec = JudgeSpec(sandbox=tier)
with Judge(spec, workers=1) as judge:
    try:
        judge.probe()
    except SandboxError as error:
        print(json.dumps({"no": str(error)}))
        raise SystemExit
said, found = [], {}
for name in rules:
    report = run_cases(path, spec, rules=[name], jobs=2, say=said.append)
    found[name] = [report.matched, report.total, report.mismatched]
print(json.dumps({"said": said, "found": found}))
"""

# One program for each way to end; needs nothing but this file.
_OWN = {
    "passed": "print(int(input()) + 1)",
    "wrong_answer": "print(0)",
    "runtime_error": "import os\nprint(2)\nos.abort()",
    "compile_error": "print(",
    "time_limit": "import time\ntime.sleep(60)",
    "memory_limit": "x = bytearray(1 << 30)",
}


@dataclass(frozen=True)
class Account:
    """Who judges: options for starting a process as that user, and a Python it can read."""

    python: str
    module_path: str
    home: Path
    user: int | None

    def run(self, path: Path, tier: str, *rules: str) -> dict[str, list]:
        options = {"user": self.user, "group": self.user, "extra_groups": []} if self.user else {}
        ran = subprocess.run(
            [self.python, "-c", _RUN, str(path), tier, *rules],
            capture_output=True,
            text=True,
            cwd=self.home,
            env={
                "PATH": "/usr/bin:/bin",
                "HOME": str(self.home),
                "TMPDIR": str(self.home),
                "PYTHONPATH": self.module_path,
                "PYTHONDONTWRITEBYTECODE": "1",
            },
            **options,
        )
        assert ran.returncode == 0, ran.stderr
        answer = json.loads(ran.stdout)
        if "no" in answer:
            pytest.skip(f"{tier} does not work here: {answer['no']}")
        print("\n".join(answer["said"]))  # shown when an assertion fails
        assert list(self.home.iterdir()) == []
        return answer["found"]


@pytest.fixture(scope="module")
def open_folder() -> Iterator[Path]:
    """A folder that all users can reach; pytest's own are for their owner only."""
    folder = Path(tempfile.mkdtemp(prefix="lcbgrid-matrix-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def as_root(open_folder: Path) -> Account:
    if os.geteuid() != 0:
        pytest.skip("not started by root")
    home = open_folder / "root"
    home.mkdir()
    return Account(sys.executable, os.pathsep.join(_module_path()), home, None)


@pytest.fixture(scope="module")
def as_ordinary_user(open_folder: Path) -> Account:
    home = open_folder / "ordinary"
    home.mkdir()
    if os.geteuid() != 0:
        return Account(sys.executable, os.pathsep.join(_module_path()), home, None)
    os.chown(home, _NOBODY, _NOBODY)
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    candidates = [sys.executable, f"/usr/local/bin/{name}", f"/usr/bin/{name}"]
    usable = [each for each in candidates if _nobody_can(each, "-c", _NEEDED)]
    python = usable[0] if usable else _copied_python(open_folder / "python", name)
    folders = []
    for number, folder in enumerate(_module_path()):
        if not _nobody_can(python, "-c", "import os, sys; os.listdir(sys.argv[1])", folder):
            copy = open_folder / f"modules{number}"
            shutil.copytree(folder, copy, symlinks=True)
            folder = str(copy)
        folders.append(folder)
    return Account(python, os.pathsep.join(folders), home, _NOBODY)


def _module_path() -> list[str]:
    """Our own source, and the folder that holds what it imports."""
    packages = Path(sys.modules["pytest"].__file__ or "").resolve().parent.parent
    return [str(Path(lcbgrid.__file__).resolve().parent.parent), str(packages)]


def _nobody_can(*command: str) -> bool:
    try:
        ran = subprocess.run(
            command, user=_NOBODY, group=_NOBODY, extra_groups=[], capture_output=True, cwd="/"
        )
    except OSError:
        return False
    return ran.returncode == 0


def _copied_python(place: Path, name: str) -> str:
    leave_out = shutil.ignore_patterns(*_LEFT_OUT)
    for folder in ("bin", sys.platlibdir):
        shutil.copytree(
            Path(sys.base_prefix) / folder, place / folder, symlinks=True, ignore=leave_out
        )
    python = str(place / "bin" / name)
    if not _nobody_can(python, "-c", _NEEDED):
        pytest.skip("no Python here starts for another user")
    return python


@pytest.fixture(params=["root", "ordinary_user"])
def account(request: pytest.FixtureRequest) -> Account:
    return request.getfixturevalue(f"as_{request.param}")


@pytest.fixture(scope="module")
def shared_cases(open_folder: Path) -> Path:
    if not _FILE.is_file():
        pytest.skip(f"no judge cases at {_FILE} (set LCBGRID_SHARED)")
    return Path(shutil.copy(_FILE, open_folder / "cases.jsonl"))


@contextmanager
def busy_processes(count: int) -> Iterator[None]:
    started = [subprocess.Popen([sys.executable, "-c", _BUSY]) for _ in range(count)]
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()


@pytest.mark.parametrize("tier", ["bwrap", "userns", "rlimits"])
def test_each_way_to_end_is_told_apart(account: Account, tier: str, open_folder: Path) -> None:
    path = open_folder / "own.jsonl"
    tests = [{"input": "1\n", "output": "2\n"}]
    lines = [
        {"id": status, "mode": "stdin", "fn_name": None, "code": code, "tests": tests,
         "expect": status, "options": {"time_s": 2.0, "memory_mb": 512}}
        for status, code in _OWN.items()
    ]  # fmt: skip
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert account.run(path, tier, "real") == {"real": [len(_OWN), len(_OWN), []]}


@pytest.mark.exhaustive
@pytest.mark.parametrize("tier", ["bwrap", "userns", "rlimits"])
def test_every_case_alone(account: Account, tier: str, shared_cases: Path) -> None:
    found = account.run(shared_cases, tier, "real", "official")
    matched, total, mismatched = found["real"]
    assert (matched, mismatched) == (total, [])
    matched, total, mismatched = found["official"]
    assert set(mismatched) <= _NOT_REPRODUCED
    assert matched >= 0.95 * total


@pytest.mark.exhaustive
@pytest.mark.parametrize("tier", ["bwrap", "userns", "rlimits"])
def test_every_case_beside_busy_processes(account: Account, tier: str, shared_cases: Path) -> None:
    with busy_processes(8):
        matched, total, mismatched = account.run(shared_cases, tier, "real")["real"]
    assert (matched, mismatched) == (total, [])
