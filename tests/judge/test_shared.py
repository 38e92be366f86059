"""Verdicts shared by jobs: found by key, whatever was killed, removed or torn."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import threading
import time
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from lcbgrid.core.jsonl import Journal
from lcbgrid.judge.shared import SharedVerdicts, copy_of, is_copy

RULES = "f" * 64


def key_of(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()


def record_of(name: str, status: str = "passed", rules: str = RULES) -> dict[str, Any]:
    timing = {"question_id": "q", "near_limit": True, "tests": [{"index": 0, "wall_s": 1.0}]}
    return {
        "verdict": {"status": status},
        "timing": timing,
        "key": key_of(name),
        "rules_key": rules,
    }


class Job:
    """One cell's journal, with what it wants."""

    def __init__(self, root: Path, name: str, *wanted: str, rules: str = RULES) -> None:
        self.journal = Journal(root / name / "verdicts.jsonl")
        keys = {key_of(n) for n in wanted}
        self.shared = SharedVerdicts(root / ".verdicts", root, self.journal, rules, keys)


def test_a_verdict_is_found_by_other_jobs_also_by_those_started_before(tmp_path: Path) -> None:
    early = Job(tmp_path, "b", "one", "two")
    assert early.shared.find(key_of("one")) is None
    first = Job(tmp_path, "a", "one", "two")
    first.shared.keep(record_of("two", "wrong_answer"))
    first.shared.keep(record_of("one"))
    for job in (early, Job(tmp_path, "c", "one", "two")):
        found = job.shared.find(key_of("one"))
        assert found == record_of("one")
        assert job.shared.find(key_of("two")) == record_of("two", "wrong_answer")
    other_rules = Job(tmp_path, "d", "one", rules="e" * 64)
    assert other_rules.shared.find(key_of("one")) is None


def test_a_copy_keeps_the_verdict_and_no_measurement() -> None:
    copy = copy_of(record_of("one"))
    assert copy["verdict"] == {"status": "passed"}
    assert copy["timing"] == {
        "question_id": "q",
        "near_limit": True,
        "tests": [],
        "cached": True,
    }
    assert is_copy(copy)
    assert not is_copy(record_of("one"))


def test_faults_of_the_judge_are_not_shared(tmp_path: Path) -> None:
    Job(tmp_path, "a", "one").shared.keep(record_of("one", "infra_error"))
    assert Job(tmp_path, "b", "one").shared.find(key_of("one")) is None


def test_a_removed_or_changed_journal_is_no_verdict(tmp_path: Path) -> None:
    Job(tmp_path, "a", "one").shared.keep(record_of("one"))
    journal = tmp_path / "a" / "verdicts.jsonl"
    journal.write_text("x" + journal.read_text())
    reader = Job(tmp_path, "b", "one")
    assert reader.shared.find(key_of("one")) is None
    journal.unlink()
    assert reader.shared.find(key_of("one")) is None
    reader.shared.keep(record_of("one"))
    assert Job(tmp_path, "c", "one").shared.find(key_of("one")) == record_of("one")


def test_a_kill_between_verdict_and_entry_is_made_good(tmp_path: Path) -> None:
    killed = Job(tmp_path, "a", "one", "two")
    killed.journal.append(record_of("two"))
    killed.journal.append(copy_of(record_of("one")))
    assert Job(tmp_path, "b", "two").shared.find(key_of("two")) is None
    for _ in range(2):  # the second time there is nothing to do
        Job(tmp_path, "a", "one", "two").shared.adopt()
    reader = Job(tmp_path, "b", "one", "two")
    assert reader.shared.find(key_of("two")) == record_of("two")
    assert reader.shared.find(key_of("one")) is None  # a copy is nobody's source
    assert len("".join(p.read_text() for p in tmp_path.rglob("*.index")).splitlines()) == 1


def test_a_torn_entry_costs_itself_only(tmp_path: Path) -> None:
    name = key_of("one")
    writer = Job(tmp_path, "a", "one")
    index = tmp_path / ".verdicts" / RULES[:16] / f"{name[:2]}.index"
    index.write_text(f"{name} 12")
    reader = Job(tmp_path, "b", "one")
    assert reader.shared.find(name) is None
    writer.shared.keep(record_of("one"))
    assert reader.shared.find(name) == record_of("one")


def test_memory_stays_flat_with_a_thousand_jobs(tmp_path: Path) -> None:
    wanted = [f"w{number}" for number in range(50)]
    writer = Job(tmp_path, "a")
    for name in wanted:
        writer.shared.keep(record_of(name))
    folder = tmp_path / ".verdicts" / RULES[:16]
    for number in range(256):
        with open(folder / f"{number:02x}.index", "a") as index:
            index.writelines(f"{number:02x}{'0' * 62} 7 cell/{job}\n" for job in range(1000))
    reader = Job(tmp_path, "b", *wanted)
    tracemalloc.start()
    found = [reader.shared.find(key_of(name)) for name in wanted]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert all(found)
    assert peak < 2_000_000


HOLDER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from test_shared import Job, key_of, record_of
job = Job(Path(sys.argv[1]), "a", "one")
with job.shared.claim(key_of("one")):
    print("held", flush=True)
    sys.stdin.readline()
    if sys.argv[3] == "keep":
        job.shared.keep(record_of("one"))
    else:
        import os
        os._exit(9)
"""


@pytest.mark.parametrize("ending", ["keep", "die"])
def test_a_claim_waits_for_another_process_as_long_as_it_lives(
    tmp_path: Path, ending: str
) -> None:
    here = str(Path(__file__).parent)
    other = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path), here, ending],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert other.stdin is not None
    assert other.stdout is not None
    assert other.stdout.readline() == "held\n"
    job = Job(tmp_path, "b", "one", "two")
    with job.shared.claim(key_of("two")):  # another program is free
        pass
    go = other.stdin
    threading.Timer(0.3, lambda: (go.write("go\n"), go.flush())).start()
    start = time.monotonic()
    with job.shared.claim(key_of("one")):
        found = job.shared.find(key_of("one"))
    assert time.monotonic() - start > 0.2
    assert found == (record_of("one") if ending == "keep" else None)
    other.communicate(timeout=30)


def test_without_locks_the_work_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr("fcntl.lockf", refuse)
    monkeypatch.setattr("fcntl.flock", refuse)
    job = Job(tmp_path, "a", "one")
    with job.shared.claim(key_of("one")):
        job.shared.keep(record_of("one"))
    assert Job(tmp_path, "b", "one").shared.find(key_of("one")) == record_of("one")
