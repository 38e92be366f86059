"""The transcript: cache, resume, torn tails, kills, publication, replay."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from lcbgrid.core.errors import BusyError, DataError
from lcbgrid.core.files import dump_json
from lcbgrid.models import CallId, ModelClient, Transcript
from lcbgrid.models.transcript import open_published, tool_key

from .helpers import QUICK, Scripted, ask, call_all, call_one


def store(transcript: Transcript, key: str, **changes: Any) -> None:
    values: dict[str, Any] = {
        "content_key": f"c{key}",
        "call": {"question_id": key, "sample_index": 0, "agent": "a", "step": 0},
        "model": "m",
        "request": {},
        "reply": {"text": "t"},
        "timing": {"latency_s": 1.0},
    }
    transcript.record(key, **(values | changes))


def keys(path: Path) -> list[str]:
    return [json.loads(line)["key"] for line in path.read_bytes().split(b"\n") if line]


def test_r40_samples_differ_and_the_second_run_asks_nothing(
    scripted: Scripted, tmp_path: Path
) -> None:
    requests = [ask(sample=number, seed=1) for number in range(4)]
    path = tmp_path / "t.jsonl"
    with scripted("text {count}") as server:
        first = [reply.text for reply in call_all(server.spec(), path, *requests)]
        again = call_all(server.spec(), path, *requests)
        assert server.requests == 4
    assert len(set(first)) == 4
    assert [reply.text for reply in again] == first
    assert all(reply.cached for reply in again)


def test_r38_each_seed_has_its_text_and_the_cache_repeats_them(
    scripted: Scripted, tmp_path: Path
) -> None:
    requests = [ask(sample=n, seed=100 + n) for n in range(10)]
    with scripted("seed {seed}") as server:
        first = call_all(server.spec(), tmp_path / "t.jsonl", *requests)
        again = call_all(server.spec(), tmp_path / "t.jsonl", *requests)
        assert server.requests == 10
    assert len({reply.text for reply in first}) == 10
    assert [a.to_record() for a in again] == [f.to_record() for f in first]


def test_s7_a_fully_cached_run_needs_no_server(scripted: Scripted, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    with scripted("x") as server:
        spec = server.spec()
        call_one(spec, path)
    assert call_one(spec, path).cached
    assert call_all(spec, path) == []


def test_s8_the_same_call_at_the_same_time_is_made_once(
    scripted: Scripted, tmp_path: Path
) -> None:
    with scripted("text {count}") as server:
        replies = call_all(server.spec(), tmp_path / "t.jsonl", ask(), ask(), ask())
        assert server.requests == 1
    assert {reply.text for reply in replies} == {"text 0"}
    assert [reply.cached for reply in replies] == [False, True, True]


def test_truncated_replies_are_reused_and_errors_are_not(
    scripted: Scripted, tmp_path: Path
) -> None:
    path = tmp_path / "t.jsonl"
    with scripted({"text": "cu", "finish_reason": "length"}) as server:
        call_one(server.spec(), path)
        assert call_one(server.spec(), path).status == "truncated"
        assert server.requests == 1
    with scripted({"status": 503}, {"status": 503}, "fine") as server:
        retry = QUICK.model_copy(update={"max_attempts": 1})
        spec = server.spec(retry=retry)
        for _ in range(2):
            (error,) = call_all(spec, path, ask(question="e"), errors=True)
            assert error.kind == "server_error"
        assert call_one(spec, path, ask(question="e")).text == "fine"


def test_r43_a_torn_tail_is_cut_and_finished_work_is_kept(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "t.jsonl"
    with Transcript(path) as transcript:
        store(transcript, "1")
        store(transcript, "2", reply={"text": "a\x85b\u2028c"})
    with path.open("ab") as handle:
        handle.write(b'{"key": "3", "te')
    with Transcript(path) as transcript:
        assert "torn" in caplog.text
        assert transcript.lookup("3") is None
        store(transcript, "4")
        record = transcript.lookup("2")
        assert record is not None
        assert record["reply"]["text"] == "a\x85b\u2028c"
        store(transcript, "3")
    assert keys(path) == ["1", "2", "4", "3"]


def test_a_torn_tail_is_skipped_when_only_reading(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    with Transcript(path) as transcript:
        store(transcript, "1")
    before = path.read_bytes() + b'{"key'
    path.write_bytes(before)
    with Transcript(path, readonly=True) as transcript:
        assert len(transcript) == 1
        with pytest.raises(DataError, match="only read"):
            store(transcript, "2")
    assert path.read_bytes() == before


def test_a_damaged_line_in_the_middle_is_named(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"kind": "call"}\n')
    with pytest.raises(DataError, match=r"t\.jsonl: line 1"):
        Transcript(path)
    with pytest.raises(DataError):  # and the lock was let go
        Transcript(path)


def test_lone_surrogates_break_nothing(scripted: Scripted, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    request = ask("broken \ud83d here", question="q\udcff")
    with scripted("answer \udc80 and \ud83d\ude00") as server:
        first = call_one(server.spec(), path, request)
        again = call_one(server.spec(), path, request)
        assert server.requests == 1
    assert first.text == again.text == "answer � and 😀"
    with Transcript(path) as transcript:
        transcript.record_tool("k", "bytes \udcff")
        assert transcript.lookup_tool("k") == "bytes �"


def test_a_second_writer_is_refused_by_name(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("lcbgrid.models.transcript.LOCK_WAIT_S", 0.1)
    with Transcript(tmp_path / "t.jsonl"), pytest.raises(BusyError, match=str(os.getpid())):
        Transcript(tmp_path / "t.jsonl")


def test_publication_is_sorted_and_has_nothing_measured(tmp_path: Path) -> None:
    out, timing = tmp_path / "out" / "transcript.jsonl", tmp_path / "out" / "timing.jsonl"
    call = CallId("b", 0, "a", 0)
    with Transcript(tmp_path / "w.jsonl") as transcript:
        store(transcript, "z")
        store(transcript, "a", timing={"latency_s": 0.25, "retries": 1, "waited_s": 0.5})
        transcript.record_tool(tool_key(call, 0, "python_exec", "{}"), "r", call=call)
    with Transcript(tmp_path / "w.jsonl") as transcript:
        transcript.lookup("z")
        transcript.lookup("a")
        store(transcript, "m")
        assert transcript.publish(out, timing) == 3  # the tool line was not used
    assert keys(out) == ["a", "m", "z"]
    assert b"latency" not in out.read_bytes()
    first = json.loads(timing.read_text().split("\n")[0])
    assert first == {"key": "a", "kind": "call", "latency_s": 0.25, "retries": 1, "waited_s": 0.5}


def test_tool_results_are_not_run_again(tmp_path: Path) -> None:
    call = CallId("q", 0, "a", 3)
    key = tool_key(call, 0, "python_exec", ["print(1)", ""])
    assert key != tool_key(call, 1, "python_exec", ["print(1)", ""])
    with Transcript(tmp_path / "t.jsonl") as transcript:
        assert transcript.lookup_tool(key) is None
        transcript.record_tool(key, {"stdout": "1"}, call=call, timing={"wall_s": 0.2})
    with Transcript(tmp_path / "t.jsonl") as transcript:
        assert transcript.lookup_tool(key) == {"stdout": "1"}


def test_earlier_transcripts_answer_and_are_not_written(
    scripted: Scripted, tmp_path: Path
) -> None:
    old, new = tmp_path / "old.jsonl", tmp_path / "new.jsonl"
    with scripted("x") as server:
        spec = server.spec()
        call_one(spec, old)
    before = old.read_bytes()

    async def run(transcript: Transcript) -> bool:
        async with ModelClient("m", spec, transcript) as client:
            return (await client.chat(ask())).cached

    with Transcript(new, seeds_from=[old]) as transcript:
        assert asyncio.run(run(transcript))
        transcript.publish(tmp_path / "o.jsonl", tmp_path / "ti.jsonl")
    assert old.read_bytes() == before
    assert keys(tmp_path / "o.jsonl") == keys(old)


def published(path: Path, out: Path, spec: Any, *requests: Any, replay: bool = False) -> bytes:
    async def run(transcript: Transcript) -> list[Any]:
        async with ModelClient("m", spec, transcript, replay=replay) as client:
            return await asyncio.gather(*map(client.chat, requests))

    out.mkdir(exist_ok=True)
    with open_published(path) if replay else Transcript(path) as transcript:
        replies = asyncio.run(run(transcript))
        transcript.publish(out / "transcript.jsonl", out / "timing.jsonl")
    assert all(reply.cached for reply in replies) or not replay
    return (out / "transcript.jsonl").read_bytes()


def test_a_replay_gives_the_same_bytes_without_any_network(
    scripted: Scripted, tmp_path: Path
) -> None:
    requests = [ask(question=f"q{n}", seed=n) for n in range(5)]
    with scripted("seed {seed}") as server:
        spec = server.spec()
        first = published(tmp_path / "w.jsonl", tmp_path / "a", spec, *requests)
    # Neither the address nor the environment of the run is known when it is replayed.
    elsewhere = spec.model_copy(update={"base_url": None, "model_id": "env"})
    source = tmp_path / "a" / "transcript.jsonl"
    again = published(source, tmp_path / "b", elsewhere, *requests, replay=True)
    assert again == first
    assert (tmp_path / "b/timing.jsonl").read_bytes() == (tmp_path / "a/timing.jsonl").read_bytes()
    replies = call_all(elsewhere, source, *requests, replay=True)
    assert all(reply.latency_s > 0 for reply in replies)
    with pytest.raises(DataError, match=r"q9#2 solver step 4.*no answer of model m"):
        call_all(elsewhere, source, ask(question="q9", sample=2, step=4), replay=True)


def test_a_replay_imports_no_client_library(tmp_path: Path) -> None:
    code = (
        "import sys, asyncio; from lcbgrid.models import *; "
        "from lcbgrid.config.model_spec import ModelSpec\n"
        f"t = Transcript({str(tmp_path / 'none.jsonl')!r}, readonly=True)\n"
        "c = ModelClient('m', ModelSpec(provider='openai', model_id='env'), t, replay=True)\n"
        "asyncio.run(c.__aenter__())\n"
        "print([m for m in ('openai', 'httpx', 'httpx2', 'xllamacpp', 'langchain_core') "
        "if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.stdout.strip() == "[]"


def test_replaying_without_a_transcript_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no transcript to replay from"):
        open_published(tmp_path / "absent.jsonl")


WRITER = """
import asyncio, sys
from pathlib import Path
sys.path.insert(0, sys.argv[3])
from helpers import ask, QUICK
from lcbgrid.config.model_spec import ModelSpec
from lcbgrid.models import ModelClient, Transcript
spec = ModelSpec(provider="openai", model_id="m", base_url=sys.argv[1], max_concurrency=4,
                 retry=QUICK)
async def main():
    with Transcript(sys.argv[2]) as transcript:
        async with ModelClient("m", spec, transcript) as client:
            await asyncio.gather(*[client.chat(ask(question=f"q{n}", seed=n)) for n in range(60)])
        folder = Path(sys.argv[2]).parent
        transcript.publish(folder / "transcript.jsonl", folder / "timing.jsonl")
asyncio.run(main())
"""


def test_kill_minus_nine_loses_and_repeats_nothing(scripted: Scripted, tmp_path: Path) -> None:
    from lcbgrid.config.model_spec import SimulateSpec

    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    outcomes = []
    with scripted("seed {seed}", spec=SimulateSpec(latency_ms=30.0)) as server:
        for name, kills in (("undisturbed", 0), ("killed", 3)):
            journal = tmp_path / name / "journal.jsonl"
            command = [sys.executable, "-c", WRITER, server.base_url, str(journal)]
            command.append(str(Path(__file__).parent))
            lines = 0
            for _ in range(kills):
                with subprocess.Popen(command, env=environment) as process:
                    wait_for_lines(journal, lines + 12)
                    process.send_signal(signal.SIGKILL)
                lines = journal.read_bytes().count(b"\n")
            before, known = server.requests, lines
            subprocess.run(command, env=environment, check=True)
            assert server.requests - before == 60 - known
            assert len(set(keys(journal))) == len(keys(journal)) == 60
            outcomes.append((tmp_path / name / "transcript.jsonl").read_bytes())
    assert outcomes[0] == outcomes[1]


def wait_for_lines(path: Path, count: int) -> None:
    deadline = time.monotonic() + 30.0
    while not path.exists() or path.read_bytes().count(b"\n") < count:
        assert time.monotonic() < deadline
        time.sleep(0.005)


FULL = """
import resource, signal, sys
from lcbgrid.core.errors import InfrastructureError
from lcbgrid.models import CallId, Transcript
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
transcript = Transcript(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, resource.RLIM_INFINITY))
transcript.record_tool("small", "x", call=CallId("q", 0, "a", 0))
try:
    transcript.record_tool("large", "y" * 5000)
except InfrastructureError as error:
    print(error)
transcript.record_tool("next", "z")
transcript.close()
"""


def test_a_full_disk_is_one_clear_line_and_tears_nothing(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(path)],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert "file size limit" in done.stdout
    assert "finished work is kept" in done.stdout
    assert keys(path) == ["small", "next"]


def test_lines_are_found_by_offset_and_not_kept_in_memory(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    with path.open("w") as handle:
        for number in range(300):
            record = {"kind": "tool", "key": str(number), "result": "x" * 100_000}
            handle.write(dump_json(record) + "\n")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with Transcript(path, readonly=True) as transcript:
        grown_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        assert len(transcript.lookup_tool("299")) == 100_000
    assert grown_kb < 15_000


def test_published_lines_are_the_journals_without_what_was_measured(tmp_path: Path) -> None:
    """Lines are cut, not parsed and written again; also those that another hand wrote."""
    timing = {"latency_s": 0.25, "note": 'ends in "}, "timing":{'}
    with Transcript(tmp_path / "work.jsonl") as transcript:
        transcript.record_tool("a", "x é", timing=timing)
        transcript.record_tool("b", {"timing": 1})
    spaced = {"kind": "tool", "key": "c", "result": 3, "timing": {"latency_s": 1.0}}
    with open(tmp_path / "work.jsonl", "a") as journal:
        journal.write(json.dumps(spaced) + "\n")
    with Transcript(tmp_path / "work.jsonl") as transcript:
        for key in "abc":
            transcript.lookup_tool(key)
        transcript.publish(tmp_path / "out.jsonl", tmp_path / "timing.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [(line["key"], line["result"]) for line in lines] == [
        ("a", "x é"),
        ("b", {"timing": 1}),
        ("c", 3),
    ]
    assert all("timing" not in line for line in lines)
    times = [json.loads(line) for line in (tmp_path / "timing.jsonl").read_text().splitlines()]
    assert times[0] == {"key": "a", "kind": "tool", **timing}
    assert times[2] == {"key": "c", "kind": "tool", "latency_s": 1.0}
