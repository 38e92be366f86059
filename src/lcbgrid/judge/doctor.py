"""What works on this machine, found out by running it."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from lcbgrid.config.judge_spec import JudgeSpec, Tier
from lcbgrid.core.errors import SandboxError
from lcbgrid.judge import bubblewrap
from lcbgrid.judge.judge import Judge
from lcbgrid.judge.pool import usable_cores

# Runs inside the sandbox and tries what must not work.
_PROBE = """
import json, os, socket
found = {"uid": os.getuid()}
try:
    socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    found["network"] = True
except OSError:
    found["network"] = False
try:
    os.execv("/bin/true", ["true"])
except PermissionError:
    found["exec"] = False
except OSError:
    found["exec"] = True
try:
    open("/usr/lib/lcbgrid-probe", "w")
    found["write"] = True
except OSError:
    found["write"] = False
found["capabilities"] = [
    line.split()[1] for line in open("/proc/self/status") if line.startswith("CapEff")
][0]
try:
    import numpy
    found["numpy"] = numpy.__version__
except ImportError:
    found["numpy"] = None
print(json.dumps(found))
"""


@dataclass(frozen=True, slots=True)
class Check:
    """One row of the doctor's report."""

    check: str
    ok: bool
    detail: str
    remedy: str | None = None


def check_judge(tier: Tier = "bwrap") -> list[Check]:
    """Return what works of the judge here; every row comes from running something."""
    rows = [_cores(), _waiting_is_counted()]
    if tier == "bwrap":
        try:
            rows.append(Check("bwrap is there", True, str(bubblewrap.find_bwrap())))
        except SandboxError as error:
            return [*rows, Check("bwrap is there", False, error.what, error.remedy)]
    try:
        with Judge(JudgeSpec.model_validate({"sandbox": tier}), workers=1) as judge:
            ran = judge.execute(_PROBE)
    except SandboxError as error:
        return [*rows, Check(f"a program runs in {tier}", False, str(error), error.remedy)]
    try:
        found = json.loads(ran.stdout)
    except ValueError:
        detail = ran.stderr.strip() or f"exit code {ran.exit_code}"
        return [*rows, Check(f"a program runs in {tier}", False, detail, "report this")]
    rows.append(Check(f"a program runs in {tier}", True, f"as user {found['uid']}"))
    return rows + _walls(found)


def _walls(found: dict[str, object]) -> list[Check]:
    powerless = int(str(found["capabilities"]), 16) == 0 and found["uid"] != 0
    weak = "use the bwrap tier, or another machine for programs that you do not trust"
    rows = [
        Check("no network inside", not found["network"], "sockets are refused", weak),
        Check("no other programs inside", not found["exec"], "exec is refused", weak),
        Check("nothing to write outside scratch", not found["write"], "read-only", weak),
        Check("no privileges inside", powerless, f"user {found['uid']}", weak),
        Check(
            "numpy for programs",
            found["numpy"] is not None,
            f"numpy {found['numpy']}",
            "install numpy beside lcbgrid; programs that import it fail otherwise",
        ),
    ]
    return [Check(r.check, r.ok, r.detail if r.ok else "it is not so here",
                  None if r.ok else r.remedy) for r in rows]  # fmt: skip


def _cores() -> Check:
    """A busy machine is no fault, but programs near the time limit may get other verdicts."""
    load, cores = os.getloadavg()[0], usable_cores()
    busy = ", busy: expect more repeated tests" if load > cores else ""
    return Check("cores", True, f"load {load:.1f} on {cores} cores{busy}")


def _waiting_is_counted() -> Check:
    """Without this count a test that is late on a busy machine is only run again alone."""
    counted = Path("/proc/self/schedstat").is_file()
    detail = "schedstat" if counted else "not by this kernel: use fewer --jobs than cores"
    return Check("waiting for a core is counted", True, detail)
